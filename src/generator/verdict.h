/* SPDX-License-Identifier: MIT */
/* Did the generator make the load that was asked for, or was it itself what was measured? Pure. */
#ifndef BENCHCTL_GENERATOR_VERDICT_H
#define BENCHCTL_GENERATOR_VERDICT_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/strbuf.h"

#define VERDICT_DROPPED_SHARE 0.01
#define VERDICT_LAG_MS 1.0
#define VERDICT_LAG_SHARE 0.05 /* of the median response time */
#define VERDICT_CPU_SHARE 0.8

struct verdict_facts {
    uint64_t planned, dropped; /* of open phases */
    double lag_p99_ms;         /* NAN: no open phase */
    double response_p50_ms;
    double cpu_share; /* of one core, the busiest process in its busiest second; NAN */
    uint64_t generator_errors;
    const char *generator_detail; /* of the first of them; may be NULL */
    const char *lost;             /* a process that died; NULL */
};

/* True: it kept up. Else `why` gets one sentence (no full stop) with the reasons. */
bool verdict(const struct verdict_facts *f, struct strbuf *why);

#endif
