/* SPDX-License-Identifier: MIT */
/* Workloads from text. */
#ifndef BENCHCTL_TESTS_WORKLOAD_FIXTURE_H
#define BENCHCTL_TESTS_WORKLOAD_FIXTURE_H

#include "unit/check.h"

#include "workload_internal.h"

#define TARGET "target: http://localhost:8080\n"

/* The file is called w.yaml, in /w. */
static inline int try_workload(const char *text, struct arena *a, struct workload *ret, struct error *err)
{
    const struct node *n;

    if (tree_parse(text, strlen(text), "w.yaml", a, &n, err) < 0)
        return -1;
    return workload_read(n, "/w", a, ret, err);
}

static inline struct workload read_workload(const char *text, struct arena *a)
{
    struct workload w = {0};
    struct error err = ERROR_INIT;

    if (try_workload(text, a, &w, &err) < 0)
        fail_msg("refused: %s (%s)\n%s", err.message, err.hint, text);
    return w;
}

static inline void refused(const char *text, const char *message, const char *hint)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct workload w;
    struct error err = ERROR_INIT;

    if (try_workload(text, a, &w, &err) == 0)
        fail_msg("accepted, wanted '%s':\n%s", message, text);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

/* The only phase of a workload. */
static inline struct workload_phase read_phase(const char *phase, struct arena *a)
{
    const char *text = arena_printf(a, TARGET "phases:\n  - %s\n", phase);
    struct workload w = read_workload(text, a);

    assert_int_equal(w.phases.len, 1);
    return *(const struct workload_phase *)w.phases.items;
}

static inline const struct workload_phase *phase_at(const struct workload *w, size_t i)
{
    assert_true(i < w->phases.len);
    return (const struct workload_phase *)w->phases.items + i;
}

static inline const struct workload_request *request_at(const struct workload *w, size_t i)
{
    assert_true(i < w->requests.len);
    return (const struct workload_request *)w->requests.items + i;
}

#endif
