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
    struct journal journal;
    struct seals seals;
    VEC(struct input) inputs; /* added by this process */
};

/* Holds what the journal says against what is on disk, both ways (trials.c). */
int rundir_prove(struct rundir *r, struct error *err) MUST_CHECK;

#endif
