/* SPDX-License-Identifier: MIT */
/* Plans of matrices written as YAML, for tests that need settings. */
#ifndef BENCHCTL_TESTS_PLAN_WRITTEN_H
#define BENCHCTL_TESTS_PLAN_WRITTEN_H

#include "../check.h"
#include "benchctl/plan.h"

struct written {
    struct matrix *m;
    struct plan *p;
};

static inline void written_release(struct written *w)
{
    plan_free(w->p);
    matrix_free(w->m);
    *w = (struct written){0};
}

/* `file` decides the directory that paths are relative to. */
static inline int written_try(const char *yaml, const char *file, struct written *ret, struct error *err)
{
    *ret = (struct written){0};
    if (matrix_parse(yaml, strlen(yaml), file, NULL, &ret->m, err) < 0)
        return -1;
    return plan_make(ret->m, NULL, &ret->p, err);
}

static inline struct written written_plan(const char *yaml, const char *file)
{
    struct written w;
    struct error err = ERROR_INIT;

    if (written_try(yaml, file, &w, &err) < 0)
        fail_msg("%s (%s)", err.message, err.hint);
    return w;
}

static inline void written_resolve(const struct written *w, size_t i, struct arena *a, struct resolved *ret)
{
    struct error err = ERROR_INIT;

    if (plan_resolve(w->p, i, a, ret, &err) < 0)
        fail_msg("%s (%s)", err.message, err.hint);
}

#endif
