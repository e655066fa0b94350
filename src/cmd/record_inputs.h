/* SPDX-License-Identifier: MIT */
/* What a matrix needs beside itself, into a run directory: inputs.json and inputs/. */
#ifndef BENCHCTL_CMD_RECORD_INPUTS_H
#define BENCHCTL_CMD_RECORD_INPUTS_H

#include "benchctl/bundle.h"
#include "benchctl/plan.h"

/* The values of environment variables that the matrix reads and that look secret: masked in whatever is
 * written from here on. Before anything is recorded. */
void record_learn_secrets(const struct matrix *m);

/* Files and directories that the plan's scenarios refer to, and what scripts include by a relative path;
 * adapters; environment variables that the matrix reads, secret ones by name only. */
int record_inputs(struct rundir *dir, const struct plan *p, struct error *err) MUST_CHECK;

/* Adapter file KIND/NAME.yaml as this matrix finds it; NULL: none. *ret_own: not one of benchctl's own. The
 * caller frees. */
char *adapter_file_of(const char *matrix_dir, const char *kind, const char *name, bool *ret_own);

/* The environment variables that a matrix names (record_env.c). Texts go into `a`. */
struct env_names {
    VEC(const char *) plain, secret;
};
void env_names_collect(const struct matrix *m, struct arena *a, struct env_names *ret);
void env_names_release(struct env_names *n);

#endif
