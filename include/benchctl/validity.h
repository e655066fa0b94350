/* SPDX-License-Identifier: MIT */
/*
 * May a number be believed? Rules over the record of one trial, over all trials of a sweep, and over figures
 * that somebody published. Pure: they take numbers and give verdicts with the evidence; they read no files,
 * and decide nothing about what was run. The rules stand in one table, which is their documentation too
 * (docs/validity.md; a test holds the two against each other). What was not measured is not judged.
 *
 * Not for comparing scenarios with each other: that is what statistics are for.
 */
#ifndef BENCHCTL_VALIDITY_H
#define BENCHCTL_VALIDITY_H

#include "benchctl/base/arena.h"
#include "benchctl/trial.h"

enum validity_scope { VALIDITY_OF_TRIAL, VALIDITY_OF_SWEEP, VALIDITY_OF_TABLE };

struct validity_facts;
struct judgement; /* where a rule says what it found: src/validity/trial_rules.h */
typedef void validity_rule_fn(const struct validity_facts *f, struct judgement *j);

struct validity_rule {
    const char *check; /* "V9"; NULL: none */
    const char *id;    /* "generator-busy": what trial.json and reports call it */
    enum validity_scope scope;
    const char *question; /* "Did the load generator have time?" */
    const char *rule;     /* what decides, with its thresholds */
    const char *effect; /* what a WARN and a FAIL do: "invalid", "mark", "out of the comparison of speeds" */
    validity_rule_fn *judge; /* of one trial; NULL: of a sweep, or only ever said by somebody else */
};
extern const struct validity_rule validity_rules[];
extern const size_t validity_rule_count;

/* NULL: there is none of that id. */
const struct validity_rule *validity_rule_find(const char *id);

/* --- one trial --- */

/* One of the trial's containers. */
struct validity_container {
    const struct container_result *result; /* role, what it used, what the engine and the kernel applied */
    struct {
        double memory_bytes, swap_bytes, cpus, pids; /* INFINITY: unlimited; NAN: left to the engine */
        const char *cpuset;                          /* NULL: any */
    } asked;
    bool restarts_uncertain; /* the witnesses disagree */
    bool address_changed;    /* it came back with another address */
};

/* What somebody else has found already: the generator about itself, a step of the run. It takes the place of
 * the rule's own judgement. */
struct validity_said {
    const char *id, *verdict, *message;
};

/* What the record does not hold. NAN and NULL: unknown. `(struct validity_facts){0}` is not "unknown": see
 * validity_facts_init(). */
struct validity_facts {
    const struct trial *trial;
    const struct validity_container *containers; /* the application's first */
    size_t container_count;
    const struct validity_said *said;
    size_t said_count;
    double app_cores, database_cores; /* what each could use: quota, cpuset, the machine */
    double generator_cores;
    double host_cores;
    bool local; /* the engine is on this machine: its figures are those of the containers' host */
    size_t constant_phases, ramping_phases; /* of the measured load; both 0: unknown */
    double pool_pending;                    /* the most that waited for a database connection; NAN: unknown */
    double commits_per_request;             /* expected by the matrix; NAN: not said */
    double metrics_known;                   /* names that the metric adapter has */
    double load1_before, load1_allowed;     /* the one-minute load average when the trial began */
    double suspended_s, suspended_in_window_s; /* how long the machine slept */
    double clock_step_s;                       /* how far the wall clock was stepped, during the trial */
};
/* Everything unknown. */
void validity_facts_init(struct validity_facts *f, const struct trial *t);

/* Verdicts in the order of the table, PASS included; rules that have nothing to judge give none. What was
 * said under an id that the table does not have comes last. Texts and the array go into `a`. */
void validity_judge_trial(const struct validity_facts *f, struct arena *a, struct validity_result **ret,
                          size_t *ret_len);

/* --- a sweep --- */

/* One scenario with its trials. */
struct validity_arm {
    const char *scenario;
    const struct trial *const *trials;
    size_t count;
};
/* One scenario that was repeated through the sweep, beside all others. */
#define VALIDITY_CANARIES_MAX ((size_t)2000) /* of more no trend is looked for */
struct validity_canary_facts {
    const struct trial *const *trials; /* the canary's, in order of execution */
    const double *values;              /* what each measured; NAN: nothing */
    const size_t *after;               /* of each: how many of the other trials ran before it */
    size_t count;
    size_t trial_count; /* the others */
    const char *metric; /* what the values are called */
    double band;        /* a share; NAN: by their own spread */
    bool interleaved;   /* the others' order was shuffled */
};
struct validity_canary {
    size_t measured, failed;
    double median, low, high;
    double spread;      /* standard deviation from one to the next, as a share; NAN: too few */
    double band, worst; /* shares; the farthest from the median, with its sign */
    size_t worst_at;    /* place of that canary */
    bool *good;         /* per canary: measured, and within the band */
    const char **marks; /* per other trial, in order of execution: why it is marked; NULL: it is not */
    size_t marked;
};

/* What kept a scenario from being faster. */
enum validity_limit_kind {
    LIMITED_UNKNOWN, /* not enough was measured to say */
    LIMITED_BY_NOTHING,
    LIMITED_APP_CPU,
    LIMITED_THROTTLED, /* the application, by its CPU quota */
    LIMITED_MEMORY,
    LIMITED_DATABASE,
    LIMITED_GENERATOR,
    LIMITED_UPSTREAM
};
#define VALIDITY_LIMITS 8
const char *validity_limit_name(enum validity_limit_kind k); /* "app CPU", "none", ... */
struct validity_limit {
    const char *scenario;
    enum validity_limit_kind kind;
    const char *evidence; /* NULL: LIMITED_UNKNOWN */
};

/* Twins of one scenario that ran in every round; count 0: there was none. */
struct validity_controls_facts {
    struct validity_arm base, aa, handicap;
    const char *what; /* "cpus 1 instead of 2"; NULL: not known */
};
struct validity_control_ratio {
    double ratio, low, high; /* twin : base by rounds, and its interval (97.5 % of aa, 95 % of handicap); NAN:
                                fewer than two trials */
    size_t n;                /* rounds in which both were measured */
};
struct validity_control {
    struct validity_control_ratio goodput, p50;
    size_t trials, failed, base_failed; /* failed: no figures of an undisturbed run */
    bool seen, unseen;                  /* of a handicap; both false: too few trials to say */
};

struct validity_sweep_facts {
    const struct validity_arm *arms;
    size_t count;
    double host_cores;                              /* of the machine that the engine runs on; NAN: unknown */
    const struct validity_canary_facts *canary;     /* NULL: there was none */
    const struct validity_controls_facts *controls; /* NULL: there were none */
};
struct validity_sweep {
    struct validity_result *results; /* in the order of the table, PASS included */
    size_t len;
    bool judged; /* enough was measured to say whether the workload can tell its scenarios apart */
    bool discriminates;
    const char *words; /* what was probably measured instead, and the evidence; NULL when it discriminates */
    struct validity_canary canary;        /* marks: NULL without one */
    struct validity_control aa, handicap; /* trials 0: there was none */
    struct validity_limit *limits;        /* one per arm, in their order */
    size_t limit_count;
};
/*
 * Scenarios that were loaded alike are compared with each other. The workload cannot tell them apart when
 * most of them wait (nothing of theirs is near a limit, and a lone request is not their own work) and their
 * results are one: within 2 % of one value, or no further apart than their own trials. Texts and arrays go
 * into `a`.
 */
void validity_judge_sweep(const struct validity_sweep_facts *f, struct arena *a, struct validity_sweep *ret);

/* --- figures that somebody published --- */

#define AUDIT_FILE_MAX ((size_t)16 << 20)

/* For rows that do not say; NAN: not known. */
struct audit_options {
    double users, think_ms, duration_s;
};
struct audit_result {
    const char *id, *check; /* of the table of rules; check: NULL for a rule without a number */
    const char *verdict, *message;
    const char *rows; /* "lines 2 to 5, 8"; NULL: all of them, or the table itself */
};
struct audit_column {
    const char *name, *meaning; /* meaning: "p50 in ms", "label", "metric" */
};
struct audit {
    size_t rows;
    struct audit_column *columns;
    size_t column_count;
    struct audit_result *results; /* in the order of the table of rules */
    size_t len, failed;
    const char *words; /* what all of it says together, or NULL */
};
/*
 * The rules that need no samples, over a table as CSV (docs/audit.md has its columns). `name` is for
 * messages, which give NAME:LINE:COLUMN; ERROR_INVALID for what is no such table. Texts and arrays go into
 * `a`.
 */
int validity_audit(const char *bytes, size_t len, const char *name, const struct audit_options *o,
                   struct arena *a, struct audit *ret, struct error *err) MUST_CHECK;
/* Names of columns that are understood, in groups: {"p50", "median, med, ..., in ns, us, ms, s"}. */
struct audit_name {
    const char *field, *aliases, *unit; /* aliases: separated by blanks */
};
extern const struct audit_name audit_names[];
extern const size_t audit_name_count;

#endif
