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
#include "benchctl/trial.h"

struct plan;

struct plan_options {
    const char *const
        *filters; /* "axis=value,value", "axis!=value", "memory<=256m"; several are anded; globs */
    size_t filter_count;
    bool keep_dropped; /* remember for every combination which rule made, changed or dropped it (--explain) */
};

/* How many combinations each step left: shown by check and plan. With a search, the scenarios are what it may
 * choose from, and the trials are how many there can be at most. The canaries are beside the trials. */
struct plan_counts {
    uint64_t product, zipped_away, excluded, included, filtered, scenarios, trials;
    uint64_t canaries;
    uint64_t controls; /* of `scenarios`: the last ones */
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

/*
 * The canary stands in the place of a scenario's index wherever one is taken (plan_scenario, plan_resolve,
 * plan_settings, plan_overrides): the values of the scenario that it repeats, its settings with what the
 * matrix sets for the canary, and an id of its own, which no scenario has.
 */
#define PLAN_CANARY SIZE_MAX
#define PLAN_CANARY_ID "canary"
/* The id of the scenario that it repeats; NULL: the matrix has no canary. */
const char *plan_canary_base(const struct plan *p, struct arena *a);

/*
 * Controls are scenarios like others, with the axes' values of the one that they repeat and ids of their own,
 * behind all others: so that they take part in every round. Their trials are no results (struct trial,
 * `control`).
 */
enum plan_control { PLAN_NO_CONTROL, PLAN_AA, PLAN_HANDICAP };
#define PLAN_AA_ID "control-aa"
#define PLAN_HANDICAP_ID "control-handicap"
enum plan_control plan_control(const struct plan *p, size_t i);
const char *plan_control_name(enum plan_control c); /* "aa", "handicap"; NULL: it is none */
/* The id of the scenario that they repeat; NULL: there are none. */
const char *plan_control_base(const struct plan *p, struct arena *a);

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

/*
 * Does the axis change nothing? No reference and no override's condition names it, and the settings of two
 * scenarios that differ by it alone have one digest; those two are told. Cheap: two scenarios are resolved,
 * however many there are.
 */
struct plan_idle_axis {
    const char *name;
    struct position at;
    const char *one, *other; /* ids */
};
bool plan_axis_is_idle(const struct plan *p, size_t axis, struct arena *a, struct plan_idle_axis *ret);

/* The settings alone, at a third of the cost. */
int plan_settings(const struct plan *p, size_t i, struct arena *a, struct settings *ret,
                  struct error *err) MUST_CHECK;

/* Which overrides apply to scenario i: flags into an array of override_count. */
void plan_overrides(const struct plan *p, size_t i, bool *ret_flags);

/*
 * Trial `k` of plan_counts()->trials, in the order of execution: scenario index and trial number (from 1). In
 * constant time, and without canaries. Listed: scenario by scenario, each with all its trials. Interleaved:
 * rounds of one trial of every scenario, each round shuffled anew by the seed. Random: all trials shuffled by
 * the seed. Not of a plan with a search, whose order depends on outcomes: that is the schedule's.
 */
struct planned_trial {
    size_t scenario; /* or PLAN_CANARY */
    int trial;       /* canaries are counted on their own, from 1 */
};
struct planned_trial plan_trial(const struct plan *p, uint64_t k);

/*
 * A search (matrix.h, struct axis_search) is made for each combination of the other axes, over those of its
 * sizes that are left by excludes and filters. Scenarios that an include adds are no part of it: they are run
 * as ever.
 */
struct plan_search {
    const char *id;        /* the values of the other axes joined by '/'; the axis' own name if it is alone */
    const size_t *sizes;   /* scenario indexes, smallest size first */
    size_t len;            /* at least 1 */
    const char *from, *to; /* text of the first and last */
    uint64_t max_probes, max_trials;
};
size_t plan_search_count(const struct plan *p); /* 0: nothing is searched */
void plan_search(const struct plan *p, size_t i, struct arena *a, struct plan_search *ret);
bool plan_is_candidate(const struct plan *p, size_t scenario); /* run only if its search asks for it */

/* How many trials there will be, by the guess that half of the sizes in the middle pass. Without a search it
 * is known. */
double plan_expected_trials(const struct plan *p);

/*
 * The order of execution as it comes: which trial is next, given what became of the ones before. Without a
 * search it is plan_trial(0), plan_trial(1), ... With one: rounds over the combinations, each round shuffled
 * by the seed (listed: one combination after the other), in which each gets the next trial that its search
 * wants. The same seed and outcomes give the same order on every machine, so a sweep that goes on tells the
 * outcomes that it has and comes to where it was. With a canary it also gives that one's trials: before
 * everything, after so many others each time, and at the end. What becomes of them changes nothing.
 *
 *     while (plan_schedule_next(s, &t))
 *         plan_schedule_tell(s, OUTCOME OF t);
 */
struct plan_schedule;
struct plan_schedule *plan_schedule_new(const struct plan *p); /* the plan must outlive it */
void plan_schedule_free(struct plan_schedule *s);
DEFINE_CLEANUP(struct plan_schedule *, plan_schedule_free);

/* false when all has been told. Asked again, it gives the same one until that has been told. */
bool plan_schedule_next(struct plan_schedule *s, struct planned_trial *ret);
/* What became of that trial, after its last retry. */
void plan_schedule_tell(struct plan_schedule *s, enum outcome o);

/* No more trials, whatever is left; what plan_schedule_next() gave and nobody told is forgotten. A canary for
 * the end, if trials came after the last one. */
void plan_schedule_end(struct plan_schedule *s);

struct plan_progress {
    uint64_t told, left_at_most;           /* trials, without canaries */
    double left_expected;                  /* the same as left_at_most without a search */
    bool round_begins;                     /* the next trial is the first one of a round */
    uint64_t round_trials;                 /* how many that round can have, at most */
    uint64_t canaries_told, canaries_left; /* left: by what is expected */
    uint64_t round_canaries;               /* those that come within that round */
};
void plan_schedule_progress(struct plan_schedule *s, struct plan_progress *ret);

/* What search `i` has come to. */
struct plan_finding {
    bool done;            /* it has its answer */
    bool certain;         /* `fails` failed by its own fault, not by the environment's or the load's */
    size_t passes, fails; /* scenarios: the smallest that passed, the largest that failed; SIZE_MAX: none */
    enum outcome failed;  /* of the trial by which `fails` failed */
    int failed_trial;     /* its number */
    uint64_t probes;      /* sizes tried to the end */
};
void plan_schedule_finding(const struct plan_schedule *s, size_t i, struct plan_finding *ret);

/* Time estimate of one trial: fixed costs plus warm-up, load, readiness guess, at most the trial's timeout;
 * and its cooldown. */
int64_t plan_estimate_ns(const struct settings *s);
int64_t plan_estimate_trial_ns(const struct settings *s); /* without the cooldown */

/* The estimate of the whole sweep, canaries included. Of more than `limit` scenarios that many are looked at,
 * chosen by a fixed shuffle; *ret_looked_at says how many. */
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
