/* SPDX-License-Identifier: MIT */
/* Inside of a run directory's handle. */
#ifndef BENCHCTL_BUNDLE_RUNDIR_H
#define BENCHCTL_BUNDLE_RUNDIR_H

#include "internal.h"

struct input {
    char *path, *name;
};

struct rundir {
    char *path; /* absolute */
    int lock_fd;
    char *above; /* the deepest one above that was there before; NULL: so was this */
    struct journal journal;
    struct seals seals;
    VEC(struct input) inputs; /* added by this process */
};

/* The names of `dir`, which lies in the run directory, and of those above it onto the disk: a directory that
 * was made is not there after a power cut before the one that it lies in was synced. */
int rundir_sync_above(const struct rundir *r, const char *dir, struct error *err) MUST_CHECK;

/* Removes what a dead process had not put in place yet, in the directory and beside it (stale.c). */
void rundir_remove_stale(const struct rundir *r);

/* Holds what the journal says against what is on disk, both ways (trials.c). */
int rundir_prove(struct rundir *r, struct error *err) MUST_CHECK;

#endif
