/* SPDX-License-Identifier: MIT */
/* What `run` and `resume` share: the conductor's callbacks into a run directory, the ending with report and
 * bundle. */
#ifndef BENCHCTL_CMD_SWEEP_COMMAND_H
#define BENCHCTL_CMD_SWEEP_COMMAND_H

#include "benchctl/bundle.h"
#include "benchctl/plan.h"
#include "cmd.h"

/* What stands in the journal for a secret value of --set. */
#define SECRET_MASK "***"

struct sweep_options {
    const char *matrix_path, *engine_url;
    struct option_list filters, sets;
    int64_t trials, seed, budget_ns;
    bool keep, no_parity, strict;
    bool fresh; /* the run directory was made for this call */
};

/* Reads the matrix and makes the plan as the options say. */
int sweep_plan(const struct sweep_options *o, struct matrix **ret_matrix, struct plan **ret_plan,
               struct error *err) MUST_CHECK;

/* Writes matrix.yaml, plan.json and inputs/ of a new run directory, and how it was called for resume. */
int sweep_record_inputs(struct rundir *dir, const struct sweep_options *o, const struct plan *p,
                        struct error *err) MUST_CHECK;

/* Runs what is not sealed yet, writes report and bundle; the exit code. Prints. `dir` is closed before the
 * bundle is written. */
int sweep_execute(struct rundir **dir, const struct sweep_options *o, const struct plan *p);

#endif
