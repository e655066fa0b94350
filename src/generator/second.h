/* SPDX-License-Identifier: MIT */
/*
 * What was counted since the last second began: the unit in which workers report, in which it is merged and
 * written. Everything in it adds up exactly, so that N processes give the same figures as one.
 */
#ifndef BENCHCTL_GENERATOR_SECOND_H
#define BENCHCTL_GENERATOR_SECOND_H

#include "benchctl/generator.h"
#include "benchctl/histogram.h"

#define STATUS_CODES 1000

/* Requests of one kind in one phase. */
struct tally {
    uint64_t count[REQUEST_ERRORS];                  /* by how they ended */
    uint64_t status[STATUS_CODES];                   /* whole answers by HTTP status */
    uint64_t received_bytes, connections, fallbacks; /* fallbacks: among those that were ok */
    struct histogram *response, *service;            /* of whole answers, whatever they said; owned */
};

/* A phase as a worker sees it. */
struct phase_part {
    uint64_t planned, started, dropped; /* iterations; planned: due so far (or all, where their number is) */
    uint64_t sends, bunched, close; /* open: starts, closer than 20 us, than 1/10 of the planned spacing */
    uint64_t backoffs, backoff_ns, think_ns;
    uint64_t stalled_ns;      /* the process's loop was blocked for so long while it ran */
    int64_t vus_late_ns;      /* closed: the latest begin of a VU behind its moment */
    int64_t vus;              /* that may begin iterations; a gauge */
    int64_t begin_ns, end_ns; /* since the load began; gauges; -1: not yet */
};

/* The first of each kind of error. */
struct error_example {
    int64_t at_ns; /* since the load began; -1: there is none */
    size_t kind;   /* of request */
    int status, grpc_status;
    char detail[96];
};

struct second {
    uint64_t index;   /* it ends `index` + 1 seconds after the load began ... */
    int64_t begin_ns; /* since the load began; -1: nobody told of it */
    int64_t end_ns;   /* ... or here, when that was the end of all, or when the process stood still */
    size_t phases, kinds;
    struct tally **cells; /* [phase * kinds + kind]; NULL: nothing yet */
    struct phase_part *parts;
    struct histogram *lag; /* open, measured: start of the exchange minus planned */
    int64_t cpu_ns;        /* spent by all processes */
    int64_t
        cpu_most_ns;  /* by the busiest of them; of all seconds the sum, that of whichever it was in each */
    double cpu_share; /* the busiest process, of one core; NAN: too short to say */
    int64_t max_rss_bytes; /* sum of the processes' peaks */
    int64_t late_ns;       /* the longest time for which a process's loop did not turn */
    struct error_example examples[REQUEST_ERRORS];
};

struct tally *tally_new(void);
void tally_free(struct tally *t);
DEFINE_CLEANUP(struct tally *, tally_free);
void tally_clear(struct tally *t);
void tally_add(struct tally *into, const struct tally *from);
uint64_t tally_requests(const struct tally *t); /* ended by themselves: ok and failed, not aborted */
uint64_t tally_failed(const struct tally *t);
bool tally_empty(const struct tally *t);

struct second *second_new(size_t phases, size_t kinds);
void second_free(struct second *s);
DEFINE_CLEANUP(struct second *, second_free);
/* Counts to zero; gauges and storage stay. */
void second_clear(struct second *s);
struct tally *second_cell(struct second *s, size_t phase, size_t kind); /* made when it is not there */
/* Counts add up; VUs add up; the earliest begin and the latest end. `into` must have been cleared with
 * second_reset() before the first. */
void second_add(struct second *into, const struct second *from);
void second_reset(struct second *s); /* counts and gauges */

/* ---- as bytes, between processes of one program ---- */
void second_encode(const struct second *s, struct strbuf *out);
/* Adds what is encoded to `into`, which has the same phases and kinds. */
int second_decode(const char *bytes, size_t len, struct second *into, struct error *err) MUST_CHECK;
/* Only its index. */
uint64_t second_index(const char *bytes);

#endif
