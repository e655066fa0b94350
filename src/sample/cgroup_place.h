/* SPDX-License-Identifier: MIT */
/*
 * Which directories hold a process' cgroup. Each controller may live in a version 1 hierarchy of its own or
 * in the one version 2 hierarchy, and a hybrid host mixes them, so that every controller is looked up by
 * itself.
 */
#ifndef BENCHCTL_SAMPLE_CGROUP_PLACE_H
#define BENCHCTL_SAMPLE_CGROUP_PLACE_H

#include "benchctl/sample.h"

enum controller {
    CONTROLLER_MEMORY,
    CONTROLLER_CPUACCT,
    CONTROLLER_CPU,
    CONTROLLER_PIDS,
    CONTROLLER_CPUSET,
    CONTROLLERS
};

struct cgroup_place {
    char *dir[CONTROLLERS];   /* NULL: the host has no such controller */
    int version[CONTROLLERS]; /* 1 or 2; meaningless without a directory */
};

/* ERROR_NOT_FOUND when the process has gone or none of its directories is visible. */
int cgroup_place_find(const struct cgroup_roots *roots, int64_t pid, struct cgroup_place *ret,
                      struct error *err) MUST_CHECK;
void cgroup_place_release(struct cgroup_place *p);

#endif
