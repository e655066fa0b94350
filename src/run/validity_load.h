/* SPDX-License-Identifier: MIT */
/* Is what the generator measured to be trusted? Pure: rules over a result, each with a stable name. */
#ifndef BENCHCTL_RUN_VALIDITY_LOAD_H
#define BENCHCTL_RUN_VALIDITY_LOAD_H

#include "benchctl/trial.h"

struct load_facts {
    const struct load_result *load;
    double cores;            /* that the generator could use; NAN: unknown */
    double corrected_p99_ms; /* p99 had the stalls not kept requests back; NAN: unknown */
};

#define RULING_SIZE 400
struct load_ruling {
    const char *id, *verdict; /* "WARN", "FAIL" */
    char text[RULING_SIZE];
};

#define LOAD_RULES_MAX 8
/* What is to be said against it; how many. */
size_t load_rules_apply(const struct load_facts *f, struct load_ruling ret[LOAD_RULES_MAX]);

#endif
