/* SPDX-License-Identifier: MIT */
/*
 * Which scenarios a matrix means and in which order their trials run. Pure: the same matrix, options and seed
 * give the same plan on every machine. Holds indexes only, so that a million scenarios fit; a scenario's
 * settings are resolved when asked for.
 */
#ifndef BENCHCTL_PLAN_H
#define BENCHCTL_PLAN_H

#include "benchctl/base/hash.h"
#include "benchctl/matrix.h"

struct plan;

struct plan_options {
    const char *const
        *filters; /* "axis=value,value", "axis!=value", "memory<=256m"; several are anded; globs */
    size_t filter_count;
    bool keep_dropped; /* remember for every combination which rule made, changed or dropped it (--explain) */
};

/* How many combinations each step left: shown by check and plan. */
struct plan_counts {
    uint64_t product, zipped_away, excluded, included, filtered, scenarios, trials;
};

/* ERROR_INVALID for every rule of the contract: a rule that matches nothing, unknown axes, duplicates, an
 * empty result, an include that an exclude matches. The matrix must outlive the plan. */
int plan_make(const struct matrix *m, const struct plan_options *options, struct plan **ret,
              struct error *err) MUST_CHECK;
void plan_free(struct plan *p);
DEFINE_CLEANUP(struct plan *, plan_free);

const struct plan_counts *plan_counts(const struct plan *p);
const struct matrix *plan_matrix(const struct plan *p);
size_t plan_bytes(const struct plan *p); /* memory held */

/* Scenario `i` of plan_counts()->scenarios, in the order written. */
struct scenario {
    size_t index;
    const struct axis_value *const *values; /* one per axis */
    const struct node *extra;
    const char *id; /* "micronaut/imperative/jvm/256m" */
};
/* Filled into `a`. */
void plan_scenario(const struct plan *p, size_t i, struct arena *a, struct scenario *ret);
int plan_find(const struct plan *p, const char *id, size_t *ret_index); /* -1 when there is none */

/*
 * The settings, the merged tree, and the digest of what affects the measurement: SHA-256 of the settings as
 * canonical JSON, defaults filled in, without descriptive fields and secrets, and with paths relative to the
 * matrix. Names of axes, vars, matrix and scenario are no part of it.
 */
struct resolved {
    struct settings settings;
    const struct node *tree;
    char digest[SHA256_HEX_SIZE];
};
int plan_resolve(const struct plan *p, size_t i, struct arena *a, struct resolved *ret,
                 struct error *err) MUST_CHECK;

/* The settings alone, at a third of the cost. */
int plan_settings(const struct plan *p, size_t i, struct arena *a, struct settings *ret,
                  struct error *err) MUST_CHECK;

/* Which overrides apply to scenario i: flags into an array of override_count. */
void plan_overrides(const struct plan *p, size_t i, bool *ret_flags);

/*
 * Trial `k` of plan_counts()->trials, in the order of execution: scenario index and trial number (from 1). In
 * constant time. Listed: scenario by scenario, each with all its trials. Interleaved: rounds of one trial of
 * every scenario, each round shuffled anew by the seed. Random: all trials shuffled by the seed.
 */
struct planned_trial {
    size_t scenario;
    int trial;
};
struct planned_trial plan_trial(const struct plan *p, uint64_t k);

/* Time estimate of one trial: fixed costs plus warm-up, load, cooldown, readiness guess; at most the trial's
 * timeout. */
int64_t plan_estimate_ns(const struct settings *s);

/* The estimate of the whole sweep. Of more than `limit` scenarios that many are looked at, chosen by a fixed
 * shuffle; *ret_looked_at says how many. */
int plan_estimate_total_ns(const struct plan *p, size_t limit, int64_t *ret_ns, size_t *ret_looked_at,
                           struct error *err) MUST_CHECK;

/* What became of a combination of the axes, or of an include. */
enum plan_fate { PLAN_SCENARIO, PLAN_EXCLUDED, PLAN_FILTERED };
struct plan_explanation {
    enum plan_fate fate;
    const char *id;
    const struct include_rule *include; /* made by; NULL: by the axes */
    size_t exclude;                     /* the first one that matches, when excluded */
    const char *filter;                 /* the first one not passed, when filtered */
    const bool *overrides;              /* override_count flags: which change it */
};
/* Calls `visit` for every combination in order, then for the includes. Stops and returns -1 when visit does.
 */
typedef int plan_explain_fn(const struct plan_explanation *e, void *data, struct error *err);
int plan_explain(const struct plan *p, plan_explain_fn *visit, void *data, struct error *err) MUST_CHECK;

/* What differs between two plans, scenario by scenario: matched by id, and where the id is new, by digest. */
enum plan_change { PLAN_ADDED, PLAN_REMOVED, PLAN_RENAMED, PLAN_CHANGED };
struct plan_difference {
    enum plan_change change;
    const char *id;
    const char *old_id; /* renamed: the same settings had this id */
    /* changed: the settings that differ ("app.env.X"), before and after; NULL is absent */
    const struct plan_setting {
        const char *path, *before, *after;
    } * settings;
    size_t setting_count;
};
typedef int plan_diff_fn(const struct plan_difference *d, void *data, struct error *err);
/* Added, renamed and changed in the order of `now`, then removed in the order of `before`. *ret_same:
 * unchanged scenarios. */
int plan_diff(const struct plan *now, const struct plan *before, plan_diff_fn *visit, void *data,
              size_t *ret_same, struct error *err) MUST_CHECK;

/* plan.json: seed, mode, counts, scenarios with axes, digest and settings, order. Streams to fd. */
int plan_write_json(const struct plan *p, int fd, bool with_settings, struct error *err) MUST_CHECK;

/* Safe for file names and labels: letters, digits, `._-+`, other bytes as %XX; "." and ".." escaped. Appends.
 */
void scenario_id_part(const char *text, struct strbuf *out);

#endif
