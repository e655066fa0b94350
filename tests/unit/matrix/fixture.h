/* SPDX-License-Identifier: MIT */
/* Matrices from text, and the settings of one of their combinations. */
#ifndef BENCHCTL_TESTS_MATRIX_FIXTURE_H
#define BENCHCTL_TESTS_MATRIX_FIXTURE_H

#include "unit/check.h"

#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/matrix.h"

#define HEAD "benchctl: 1\nname: m\n"
#define APP "app: {image: i, port: 80}\n"
#define LOAD "load: {adapter: wrk, duration: 10s}\n"
#define REST APP LOAD

/* NULL, and `err` filled, when it is refused. The file is called /m/m.yaml, so the directory is /m. */
static inline struct matrix *try_matrix_with(const char *text, const struct matrix_options *o,
                                             struct error *err)
{
    struct matrix *m = NULL;

    return matrix_parse(text, strlen(text), "/m/m.yaml", o, &m, err) < 0 ? NULL : m;
}

static inline struct matrix *read_matrix(const char *text)
{
    struct error err = ERROR_INIT;
    struct matrix *m = try_matrix_with(text, NULL, &err);

    if (!m)
        fail_msg("refused: %s", err.message);
    return m;
}

static inline void matrix_refused(const char *text, const char *message, const char *hint)
{
    struct error err = ERROR_INIT;
    struct matrix *m = try_matrix_with(text, NULL, &err);

    if (m)
        fail_msg("accepted, wanted: %s", message);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

/* The combination of value `digits[i]` of each axis, with the overrides whose bit is set. */
static inline int resolve(const struct matrix *m, const size_t *digits, unsigned overrides, struct arena *a,
                          struct settings *ret, const struct node **ret_tree, struct error *err)
{
    const struct axis_value *values[16];
    bool flags[16];

    assert_true(m->axis_count <= 16 && m->override_count <= 16);
    for (size_t i = 0; i < m->axis_count; i++)
        values[i] = &m->axes[i].values[digits ? digits[i] : 0];
    for (size_t i = 0; i < m->override_count; i++)
        flags[i] = overrides >> i & 1;
    const struct matrix_combination c = {.values = values, .overrides = flags};
    return matrix_resolve(m, &c, a, ret, ret_tree, err);
}

static inline struct settings resolve_ok(const struct matrix *m, const size_t *digits, unsigned overrides,
                                         struct arena *a)
{
    struct settings s;
    struct error err = ERROR_INIT;

    if (resolve(m, digits, overrides, a, &s, NULL, &err) < 0)
        fail_msg("not resolved: %s", err.message);
    return s;
}

/* A whole matrix whose first combination is refused. */
static inline void settings_refused(const char *text, const char *message, const char *hint)
{
    CLEANUP(matrix_free) struct matrix *m = read_matrix(text);
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s;
    struct error err = ERROR_INIT;

    if (resolve(m, NULL, ~0u, a, &s, NULL, &err) == 0)
        fail_msg("accepted, wanted: %s", message);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

static inline void settings_accepted(const char *text)
{
    CLEANUP(matrix_free) struct matrix *m = read_matrix(text);
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)resolve_ok(m, NULL, ~0u, a);
}

#endif
