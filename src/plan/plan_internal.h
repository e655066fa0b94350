/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_PLAN_INTERNAL_H
#define BENCHCTL_PLAN_INTERNAL_H

#include "benchctl/plan.h"
#include "candidates.h"
#include "filter.h"
#include "grid.h"
#include "rules.h"

struct plan {
    const struct matrix *m;
    struct arena *arena;
    struct grid grid;
    struct condition *excludes, *overrides;
    struct filter *filters;
    size_t filter_count;
    uint64_t *excluded; /* a bit per combination */
    uint32_t *kept;     /* combinations that are scenarios, ascending */
    size_t kept_len;
    uint32_t *include_digits;      /* axis_count per include */
    struct name_index include_ids; /* → index of the include */
    uint32_t *kept_includes;       /* includes that are scenarios, ascending; they come after the product */
    size_t kept_includes_len;
    struct plan_counts counts;
    struct candidates candidates;
    uint32_t *canary_digits; /* of the scenario that the canary repeats; NULL: none */
    const struct include_rule *canary_include;
    enum plan_control controls[2];
    size_t control_count;
    uint32_t *control_digits; /* of the scenario that they repeat */
    const struct include_rule *control_include;
};

/* The outcomes that pass, of a plan that searches. */
unsigned plan_until(const struct plan *p);

/* Digits of scenario `i`; *ret_include is its include or NULL. */
void plan_digits(const struct plan *p, size_t i, uint32_t *ret_digits,
                 const struct include_rule **ret_include);

void plan_match_overrides(const struct plan *p, const uint32_t *digits, bool *ret_flags);

/* The settings as JSON with paths relative to the matrix; for_digest leaves out what is descriptive. The
 * caller frees. */
struct json *plan_settings_json(const struct matrix *m, const struct settings *s, bool for_digest,
                                struct arena *a);
void plan_digest(const struct matrix *m, const struct settings *s, struct arena *a,
                 char hex[SHA256_HEX_SIZE]);

#endif
