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
    bool (*trial_sealed)(const char *scenario, int trial, const char *digest, void *data);
    void *data;
};

struct run_options {
    const char *engine_url;
    const char *run_id; /* hex; labels carry it */
    const char *run_dir;
    bool keep;                       /* leave the last failed trial's containers */
    int64_t budget_ns;               /* 0: none */
    int max_infrastructure_failures; /* in a row, then stop; default 5 */
};

struct run_summary {
    uint64_t executed, kept, by_outcome[OUTCOMES];
    bool interrupted;
};

/* What the sweep needs and does not have, each with what would provide it: images, generator, refs. Empty:
 * ready. */
struct missing_list {
    char **items;
    size_t len;
};

/*
 * Runs every trial of the plan that is not sealed yet. 0 when each was executed or skipped by the budget; -1
 * when the sweep cannot go on (ERROR_ENVIRONMENT) or was interrupted (ERROR_INTERRUPTED, resumable).
 * Everything that it made in the engine has been removed in either case.
 */
int run_sweep(struct loop *l, const struct plan *p, const struct run_options *o,
              const struct run_callbacks *cb, struct run_summary *ret, struct json **ret_info,
              struct error *err) MUST_CHECK;

#endif
