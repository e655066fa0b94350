/* SPDX-License-Identifier: MIT */
/*
 * The conductor: takes a plan, an engine and a run directory to sealed trials. A trial is an array of steps,
 * each with a do and an undo; whatever happens, undos of what was begun run in reverse. Finished trials go to
 * a callback, so that a crash keeps what is finished and a test plugs in a list. Prints nothing: progress
 * goes to a callback too.
 */
#ifndef BENCHCTL_RUN_H
#define BENCHCTL_RUN_H

#include "benchctl/engine.h"
#include "benchctl/parity.h"
#include "benchctl/plan.h"
#include "benchctl/trial.h"

struct progress {
    uint64_t trial, trials;      /* k of n, from 1; with a search n is how many there can be at most */
    const char *scenario, *step; /* step: "app start", "ready", "warm-up", "load", ... */
    int64_t elapsed_ns, eta_ns;  /* of the sweep; eta -1 while unknown */
    int64_t step_elapsed_ns;
    double memory_bytes, cpu_cores; /* the app's last sample; NAN */
    const struct trial *finished;   /* just sealed, or NULL */
    bool at_most;                   /* n may become less: a search decides */
    uint64_t canary, canaries;      /* the current one is canary k of n, beside the trials; 0: it is none */
    int64_t trial_limit_ns; /* until the current trial is over, at most; -1: there is none, or no limit */
};

/* A trial of which an earlier run may have a result that still counts. */
struct sealed_query {
    const char *scenario, *digest;
    int trial;
    double *ret_duration_ms; /* how long it took, NAN when that is not known; may be NULL */
};

struct run_callbacks {
    void (*progress)(const struct progress *p, void *data);
    int (*trial_begin)(const char *scenario, int trial, char **ret_dir, void *data, struct error *err);
    int (*trial_done)(const struct trial *t, void *data, struct error *err);
    int (*event)(const char *event, struct json *fields, void *data, struct error *err); /* journal */
    int (*info)(const struct json *info, void *data, struct error *err); /* sweep.json, at begin and end */
    /* Is there a result of it already? Then *ret_outcome is what it was. Asked as often as it is of use. */
    bool (*trial_sealed)(const struct sealed_query *q, enum outcome *ret_outcome, void *data);
    /* It was the turn of one that is sealed, which is kept: once for each. May be NULL. */
    void (*trial_kept)(const char *scenario, enum outcome o, void *data);
    void *data;
};

/* What somebody who watches wants, asked for from callbacks of the loop; the conductor looks at its next
 * wait. */
struct run_control {
    bool skip_trial; /* end the current trial now; it is recorded as `skipped`. The conductor clears it */
    bool stop_after; /* end the sweep when the current trial is sealed: ERROR_INTERRUPTED, resumable */
    bool show_log;   /* hand the last lines of the app's log to log_tail(); the conductor clears it */
    /* "" when there are none. It costs the engine one call, in the middle of whatever is going on. */
    void (*log_tail)(const char *text, void *data);
    void *data;
    /* Set by whoever sees it: how long the process itself has been stopped so far (job control). A trial
     * whose load went on meanwhile is not to be trusted. */
    int64_t stood_still_ns;
};

struct run_options {
    const char *engine_url;
    const char *run_id; /* hex; labels carry it */
    const char *run_dir;
    /* What the environment is to blame for is tried again, apart from what `retry` allows: at most so often
     * (0: three times, -1: never), after pauses of which the first is back_off_ns (0: 1 s) and the others 5
     * and 15 times that. */
    int infrastructure_retries;
    int64_t back_off_ns;
    int64_t removal_patience_ns;       /* how long a removal may take before it is left behind; 0: a minute */
    bool no_parity;                    /* skip the parity checks */
    bool keep;                         /* leave the last failed trial's containers */
    int64_t budget_ns;                 /* 0: none */
    int max_infrastructure_failures;   /* in a row, then stop; default 5 */
    struct run_control *control;       /* NULL: nobody asks for anything */
    int64_t engine_patience_ns;        /* how long an engine that went away is waited for; 0: two minutes */
    const char *const *run_ids_before; /* of dead calls of the same directory, which may have had another name
                                          then; NULL-terminated, or NULL */
    /* An array of {"key", "id"}: images that are taken as they are, neither pulled nor built; NULL: none. */
    const struct json *images;
};

/* What sweep.json says of an engine; the caller frees. */
struct json *run_engine_facts(const struct engine *e);
/*
 * A name for the image of a container that is the same wherever the matrix lies: of an image by name that
 * name, of one that is built where from and how. sweep.json's `images` have it as `key`. The caller frees.
 */
char *run_image_key(const struct matrix *m, const struct container_settings *c);

struct run_summary {
    uint64_t executed, kept, by_outcome[OUTCOMES];
    bool interrupted;
};

/*
 * Runs every trial that the plan's schedule asks for and that is not sealed yet. 0 when each was executed or
 * skipped by the budget; -1 when the sweep cannot go on (ERROR_ENVIRONMENT) or was interrupted
 * (ERROR_INTERRUPTED, resumable). Everything that it made in the engine has been removed in either case.
 */
int run_sweep(struct loop *l, const struct plan *p, const struct run_options *o,
              const struct run_callbacks *cb, struct run_summary *ret, struct error *err) MUST_CHECK;

/* --- leftovers --- */

struct clean_options {
    bool dry_run;               /* only tell */
    const char *dir;            /* only what belongs to this run directory; NULL: every dead sweep's */
    const char *const *run_ids; /* with dir: also what carries one of these ids; NULL-terminated, or NULL */
};
struct clean_counts {
    int removed, alive, failed; /* alive: objects of sweeps that are still running, never touched */
};
/* Removes what dead sweeps left in the engine, found by label and owner. `tell` is called for each object
 * that goes. */
int run_clean(struct engine *e, const struct clean_options *o,
              void (*tell)(const struct engine_object *object, void *data), void *data,
              struct clean_counts *ret, struct error *err) MUST_CHECK;

/* --- is this host fit to measure? --- */

enum fitness { FITNESS_OK, FITNESS_WARN, FITNESS_FAIL };
struct doctor_line {
    enum fitness fitness;
    const char *name, *text, *hint; /* hint: NULL when there is nothing to do */
};
struct doctor_report {
    struct doctor_line *lines;
    size_t len;
};
struct doctor_options {
    const char *engine_url;
    const char *const *programs; /* generators to look for, NULL-terminated */
    const char *dir;             /* whose free disk space counts; NULL: here */
    const struct plan *plan;     /* whose needs are looked at too, instead of `programs`; NULL: none */
};
/* Looks, changes nothing. Texts go into `a`. Never fails: what cannot be seen is a line that says so. */
void run_doctor(struct loop *l, const struct doctor_options *o, struct arena *a, struct doctor_report *ret);

#endif
