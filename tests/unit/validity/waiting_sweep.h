/* SPDX-License-Identifier: MIT */
/* A sweep that waits, and what may be said of it. */
#ifndef BENCHCTL_TESTS_WAITING_SWEEP_H
#define BENCHCTL_TESTS_WAITING_SWEEP_H

#include "sweep_fixture.h"

/* 20 users of an application that waits 50 ms for an upstream. */
static inline void waiting(struct sweep_fixture *s, size_t trials)
{
    static const struct found found[] = {
        {376, 53.1, 1.1, 20, 51.9}, {374, 53.4, 1.7, 20, 52.2}, {377.5, 52.9, 0.8, 20, 51.7}};
    static const char *const names[] = {"plain", "heavy", "light"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        for (size_t k = 0; k < trials; k++) {
            struct found f = found[i];
            f.rps *= 1 + 0.004 * (double)k;
            add_trial(s, names[i], &f);
        }
}

static inline void assert_cannot(const struct validity_sweep *v)
{
    assert_true(v->judged);
    assert_false(v->discriminates);
    assert_non_null(v->words);
}

static inline void assert_can(const struct validity_sweep *v)
{
    assert_true(v->judged);
    assert_true(v->discriminates);
    assert_null(v->words);
}

#endif
