/* SPDX-License-Identifier: MIT */
/* What was counted, as report.json (docs/load.md describes its members). Pure. */
#ifndef BENCHCTL_GENERATOR_OUTCOME_H
#define BENCHCTL_GENERATOR_OUTCOME_H

#include "benchctl/base/json.h"
#include "second.h"

struct outcome_facts {
    const struct workload *workload;
    const struct second *total; /* the sum of all seconds */
    int64_t begin_wall_ns;
    size_t processes;
    const char *transport;
    bool interrupted;
    const char *lost; /* a process that died; NULL */
};

struct json *outcome_report(const struct outcome_facts *f); /* the caller frees */

/* ---- its parts (outcome_parts.c) ---- */

double outcome_ms(int64_t ns); /* with whole microseconds */
/* Counts, error kinds, status codes, received bytes. */
void outcome_counts(struct json *into, const struct tally *t);
/* latency_ms, service_ms. */
void outcome_latencies(struct json *into, const struct tally *t);
struct json *outcome_quantiles(const struct histogram *h);
/* Requests and good ones per second of `window_ns`. */
void outcome_rates(struct json *into, const struct tally *t, int64_t window_ns);
/* Null: nothing to correct. Adds the answers of the phase, as they would have been without waiting, to `into`
 * (may be NULL). */
struct json *outcome_corrected(const struct tally *t, const struct phase_part *p, struct histogram *into);
/* How long it took from the last moment at which a request could begin until the last answer. */
int64_t outcome_drain_ns(const struct workload_phase *f, const struct phase_part *p);
/* outcome_users.c: `concurrency` and `think_ms` of closed phases, null where others are among them. */
void outcome_users(struct json *into, const struct outcome_facts *f, int64_t window_ns);
/* `fallbacks` of a kind of request, or of all; null where nobody looked. */
void outcome_fallbacks(struct json *into, const struct workload *w, size_t kind, const struct tally *t);
struct json *outcome_phase(const struct workload *w, const struct second *total, size_t phase);
struct json *outcome_requests(const struct workload *w, const struct second *total, int64_t window_ns);

#endif
