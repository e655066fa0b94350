/* SPDX-License-Identifier: MIT */
/* What the files share that see to what a sweep needs. */
#ifndef BENCHCTL_RUN_PREPARE_H
#define BENCHCTL_RUN_PREPARE_H

#include "missing.h"
#include "run_internal.h"

struct preparation {
    struct sweep_run *sweep;
    struct missing missing;
    struct missing absent; /* images that are missing and passed over, by `if_missing: skip` */
    size_t skipped;        /* scenarios that are, for want of them */
    bool building;         /* second pass: everything is there, build what is to be built */
    bool must;             /* nothing of the current scenario can be passed over: the canary's */
    char *good_metrics;    /* the metric adapters that were read last, with ',' between */
    bool pull_useless;     /* a pull failed for want of a registry: the next would too, after the same wait */
};

/* images.c: every image of the scenario is looked for, once. What is not there goes to `missing` or `absent`;
 * -1 when the engine failed. */
int prepare_images(struct preparation *p, const struct settings *st, struct error *err) MUST_CHECK;

#endif
