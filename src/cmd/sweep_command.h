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

struct rerun_record;
struct sweep_options {
    const char *matrix_path, *engine_url;
    struct option_list filters, sets;
    int64_t trials, seed, budget_ns;
    bool keep, no_parity, strict;
    bool fresh; /* the run directory was made for this call */
    bool with_images;
    struct rerun_record *rerun;        /* it runs a bundle again; NULL: it does not */
    const char *const *run_ids_before; /* of earlier calls of the same directory, NULL-terminated; or NULL */
};

/* Reads the matrix and makes the plan as the options say. */
int sweep_plan(const struct sweep_options *o, struct matrix **ret_matrix, struct plan **ret_plan,
               struct error *err) MUST_CHECK;

/* Writes matrix.yaml, plan.json and inputs/ of a new run directory, and how it was called for resume. */
int sweep_record_inputs(struct rundir *dir, const struct sweep_options *o, const struct plan *p,
                        struct error *err) MUST_CHECK;

/* How it was called, for resume: the journal's record `begin`. */
int sweep_write_invocation(struct rundir *dir, const struct sweep_options *o, const char *run_id,
                           struct error *err) MUST_CHECK;

/* Report files and the bundle, from what is in the directory: the same that `report` would show. Prints. */
struct sweep_ending {
    const struct plan *plan;
    bool measured, strict;
    bool with_images; /* the bundle has them, too; that they cannot be had is an error after all is written */
    const char *engine_url;
};
int sweep_write_results(const char *dir, const struct sweep_ending *e, int *ret_code,
                        struct error *err) MUST_CHECK;

/* The report files of a sweep that is not over, which say so; no bundle. */
int sweep_write_unfinished(const char *dir, struct error *err) MUST_CHECK;

/* The images that the sweep used, out of the engine into DIR/images. Those that are there need no engine. */
int sweep_save_images(const char *dir, const char *engine_url, struct error *err) MUST_CHECK;

/* Runs what is not sealed yet, writes report and bundle; the exit code. Prints. `dir` is
 * held until all is written. */
int sweep_execute(struct rundir **dir, const struct sweep_options *o, const struct plan *p);

#endif
