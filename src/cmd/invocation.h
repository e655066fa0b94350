/* SPDX-License-Identifier: MIT */
/* How a sweep was called, as its run directory remembers it. */
#ifndef BENCHCTL_CMD_INVOCATION_H
#define BENCHCTL_CMD_INVOCATION_H

#include "benchctl/bundle.h"
#include "benchctl/plan.h"

/* The journal's first record `begin` says it; should that be lost, this file does, which holds the same. */
#define INVOCATION_FILE BUNDLE_INVOCATION_FILE

struct invocation {
    struct json *record; /* matrix, sets, filters, trials, seed, ...; an empty object when nobody knows */
    bool known;
};
void invocation_release(struct invocation *i);
/* ERROR_USAGE when `dir` is no run directory, or one in which no sweep was begun; ERROR_INVALID, with the
 * place, when `sets` or `filters` are not lists of texts. */
int invocation_read(const char *dir, struct invocation *ret, struct error *err) MUST_CHECK;

/* The way from a run directory to its matrix when they share more than the root, else NULL; both absolute.
 * The caller frees. */
char *invocation_near(const char *dir, const char *matrix);

/* Where the matrix is: as it was named, else where it lies now that the run directory was moved together with
 * it, else the run directory's copy. The caller frees. */
int invocation_matrix(const struct invocation *i, const char *dir, char **ret_path,
                      struct error *err) MUST_CHECK;

/* When nobody knows how the sweep was called: is the plan that the matrix by itself makes the one that
 * plan.json holds? Else ERROR_INVALID. */
int invocation_check_plan(const struct invocation *i, const char *dir, const struct plan *p,
                          struct error *err) MUST_CHECK;

/* All containers and networks of this run directory are known by its name; where it had another, by these
 * (NULL-terminated; the caller frees both). */
char **invocation_run_ids(const char *dir);
void invocation_run_ids_free(char **ids);

#endif
