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
    uint64_t trial, trials;      /* k of n, from 1 */
    const char *scenario, *step; /* step: "app start", "ready", "warm-up", "load", ... */
    int64_t elapsed_ns, eta_ns;  /* of the sweep; eta -1 while unknown */
    int64_t step_elapsed_ns;
    double memory_bytes, cpu_cores; /* the app's last sample; NAN */
    const struct trial *finished;   /* just sealed, or NULL */
};

struct run_callbacks {
    void (*progress)(const struct progress *p, void *data);
    int (*trial_begin)(const char *scenario, int trial, char **ret_dir, void *data, struct error *err);
    int (*trial_done)(const struct trial *t, void *data, struct error *err);
    int (*event)(const char *event, struct json *fields, void *data, struct error *err); /* journal */
    int (*info)(const struct json *info, void *data, struct error *err); /* sweep.json, at begin and end */
    bool (*trial_sealed)(const char *scenario, int trial, const char *digest, void *data);
    void *data;
};

struct run_options {
    const char *engine_url;
    const char *run_id; /* hex; labels carry it */
    const char *run_dir;
    bool no_parity;                  /* skip the parity checks */
    bool keep;                       /* leave the last failed trial's containers */
    int64_t budget_ns;               /* 0: none */
    int max_infrastructure_failures; /* in a row, then stop; default 5 */
};

struct run_summary {
    uint64_t executed, kept, by_outcome[OUTCOMES];
    bool interrupted;
};

/*
 * Runs every trial of the plan that is not sealed yet. 0 when each was executed or skipped by the budget; -1
 * when the sweep cannot go on (ERROR_ENVIRONMENT) or was interrupted (ERROR_INTERRUPTED, resumable).
 * Everything that it made in the engine has been removed in either case.
 */
int run_sweep(struct loop *l, const struct plan *p, const struct run_options *o,
              const struct run_callbacks *cb, struct run_summary *ret, struct error *err) MUST_CHECK;

/* --- leftovers --- */

struct clean_options {
    bool dry_run;    /* only tell */
    const char *dir; /* only what belongs to this run directory; NULL: every dead sweep's */
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
};
/* Looks, changes nothing. Texts go into `a`. Never fails: what cannot be seen is a line that says so. */
void run_doctor(struct loop *l, const struct doctor_options *o, struct arena *a, struct doctor_report *ret);

#endif
