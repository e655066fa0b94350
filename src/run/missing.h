/* SPDX-License-Identifier: MIT */
/* What a sweep needs and does not have, said at once: things with the same reason stand together. */
#ifndef BENCHCTL_RUN_MISSING_H
#define BENCHCTL_RUN_MISSING_H

#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"

struct missing_thing {
    char *kind, *name, *reason;
};
struct missing {
    VEC(struct missing_thing) things;
};

void missing_release(struct missing *m);
/* "image", "space/micronaut:jvm", "is not in the engine ...". The same twice is one. */
void missing_add(struct missing *m, const char *kind, const char *name, const char *reason);
/* Fills err (ERROR_ENVIRONMENT) with all of them; returns -1. */
int missing_error(const struct missing *m, struct error *err);

#endif
