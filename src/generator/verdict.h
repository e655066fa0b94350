/* SPDX-License-Identifier: MIT */
/* Did the generator make the load that was asked for, or was it itself what was measured? Pure. */
#ifndef BENCHCTL_GENERATOR_VERDICT_H
#define BENCHCTL_GENERATOR_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/strbuf.h"

#define VERDICT_DROPPED_SHARE 0.01
/* Of the lag's 90th percentile: that one request in a hundred was sent late is the machine's scheduler, and
 * is told beside the figures; that one in ten was is a generator that did not keep up. */
#define VERDICT_LAG_MS 1.0
#define VERDICT_LAG_SHARE 0.05 /* of the median response time */
#define VERDICT_CPU_SHARE 0.8
#define VERDICT_STALL_MS 1000.0
#define VERDICT_STALL_SHARE 0.1
#define VERDICT_VUS_LATE_MS 1000.0
#define VERDICT_VUS_LATE_SHARE 0.1
#define VERDICT_SENDS_MIN 100 /* fewer say nothing about one in ten */

struct verdict_facts {
    uint64_t planned, dropped; /* of open phases */
    double lag_p90_ms;         /* NAN: no open phase */
    double response_p50_ms;
    double cpu_share;      /* of one core, a process on average; NAN */
    double stall_ms;       /* the longest time for which a process's loop did not turn */
    double stall_share;    /* of the measured phase that had the most of it; NAN */
    double vus_late_ms;    /* closed: the latest begin of a VU behind its moment ... */
    double vus_late_share; /* ... and what that is of its phase */
    uint64_t sends;        /* whose lag was measured */
    uint64_t generator_errors;
    const char *generator_detail; /* of the first of them; may be NULL */
    const char *lost;             /* a process that died; NULL */
};

/* True: it kept up. Else `why` gets one sentence (no full stop) with the reasons. */
bool verdict(const struct verdict_facts *f, struct strbuf *why);

#endif
