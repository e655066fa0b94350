/* SPDX-License-Identifier: MIT */
/*
 * Matrices made by hand, so that the planner is tested apart from the reader. Every rule gets a line of its
 * own, counted from 10, in the order of the calls; axes first, then zips, then rules.
 */
#ifndef BENCHCTL_TESTS_PLAN_FIXTURE_H
#define BENCHCTL_TESTS_PLAN_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/plan.h"

#define FIXTURE_MAX 8192

struct fixture {
    struct matrix m;
    int line;
    struct axis axes[64];
    struct zip_group zips[8];
    struct condition excludes[FIXTURE_MAX];
    struct override_rule overrides[FIXTURE_MAX];
    struct include_rule includes[FIXTURE_MAX];
};

static inline struct position fixture_line(struct fixture *f)
{
    return (struct position){.file = f->m.file, .line = f->line++, .column = 5};
}

static inline struct fixture *fixture_new(void)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->m = (struct matrix){
        .file = "m.yaml", .dir = "/m", .name = "m", .trials = 1, .seed = 1, .order = ORDER_LISTED};
    f->m.arena = arena_new();
    f->m.axes = f->axes;
    f->m.zip.items = f->zips;
    f->m.excludes = f->excludes;
    f->m.overrides = f->overrides;
    f->m.includes = f->includes;
    f->line = 10;
    return f;
}

static inline void fixture_free(struct fixture *f)
{
    arena_free(f->m.arena);
    free(f);
}
DEFINE_CLEANUP(struct fixture *, fixture_free);

/* Splits at `separator`; the pieces live in the fixture. Returns how many. */
static inline size_t fixture_split(struct fixture *f, const char *text, char separator, const char ***ret)
{
    size_t count = 0;

    *ret = arena_array(f->m.arena, const char *, strlen(text) + 1);
    for (const char *c = text;; c++) {
        size_t len = (size_t)(strchrnul(c, separator) - c);
        (*ret)[count++] = arena_strndup(f->m.arena, c, len);
        c += len;
        if (!*c)
            return count;
    }
}

/* "a,b,c" */
static inline void fixture_axis(struct fixture *f, const char *name, const char *values)
{
    struct axis *axis = &f->axes[f->m.axis_count++];
    const char **texts = NULL;

    *axis = (struct axis){.name = name, .at = fixture_line(f)};
    axis->len = *values ? fixture_split(f, values, ',', &texts) : 0;
    axis->values = arena_array(f->m.arena, struct axis_value, axis->len + 1);
    for (size_t i = 0; i < axis->len; i++)
        axis->values[i] = (struct axis_value){.text = texts[i], .at = axis->at};
}

/* The values v0..vN-1. */
static inline void fixture_axis_of(struct fixture *f, const char *name, size_t count)
{
    struct axis *axis = &f->axes[f->m.axis_count++];

    *axis = (struct axis){.name = name, .len = count, .at = fixture_line(f)};
    axis->values = arena_array(f->m.arena, struct axis_value, count);
    for (size_t i = 0; i < count; i++)
        axis->values[i] = (struct axis_value){.text = arena_printf(f->m.arena, "v%zu", i), .at = axis->at};
}

static inline size_t fixture_find_axis(struct fixture *f, const char *name)
{
    for (size_t a = 0; a < f->m.axis_count; a++)
        if (strcmp(f->axes[a].name, name) == 0)
            return a;
    fail_msg("no axis %s", name);
    return 0;
}

/* "a,b" */
static inline void fixture_zip(struct fixture *f, const char *axes)
{
    const char **names;
    size_t len = fixture_split(f, axes, ',', &names);
    size_t *indexes = arena_array(f->m.arena, size_t, len);

    for (size_t i = 0; i < len; i++)
        indexes[i] = fixture_find_axis(f, names[i]);
    f->zips[f->m.zip.len++] = (struct zip_group){.axes = indexes, .len = len};
}

static inline struct condition_term fixture_term(struct fixture *f, const char *text)
{
    const char **sides, **texts;
    fixture_split(f, text, '=', &sides);
    struct condition_term term = {.axis = fixture_find_axis(f, sides[0])};
    const struct axis *axis = &f->axes[term.axis];

    term.len = fixture_split(f, sides[1], ',', &texts);
    uint32_t *values = arena_array(f->m.arena, uint32_t, term.len);
    for (size_t i = 0; i < term.len; i++) {
        while (strcmp(axis->values[values[i]].text, texts[i]) != 0)
            assert_true(++values[i] < axis->len);
    }
    term.values = values;
    return term;
}

/* "axis=value,value;axis=value"; "" always matches */
static inline struct condition fixture_condition(struct fixture *f, const char *text)
{
    const char **terms;
    struct condition c = {.at = fixture_line(f)};

    c.len = *text ? fixture_split(f, text, ';', &terms) : 0;
    c.terms = arena_array(f->m.arena, struct condition_term, c.len + 1);
    for (size_t i = 0; i < c.len; i++)
        c.terms[i] = fixture_term(f, terms[i]);
    return c;
}

static inline void fixture_exclude(struct fixture *f, const char *condition)
{
    f->excludes[f->m.exclude_count++] = fixture_condition(f, condition);
}

static inline void fixture_override(struct fixture *f, const char *condition)
{
    f->overrides[f->m.override_count++].when = fixture_condition(f, condition);
}

/* "a/b/c" */
static inline void fixture_include(struct fixture *f, const char *values)
{
    struct include_rule *rule = &f->includes[f->m.include_count++];

    rule->at = fixture_line(f);
    assert_int_equal(fixture_split(f, values, '/', &rule->values), f->m.axis_count);
}

static inline struct plan *fixture_plan_filtered(struct fixture *f, size_t count, const char *const *filters)
{
    struct plan *p = NULL;
    struct error err = ERROR_INIT;
    struct plan_options options = {.filters = filters, .filter_count = count};

    if (plan_make(&f->m, &options, &p, &err) < 0)
        fail_msg("%s", err.message);
    return p;
}

static inline struct plan *fixture_plan(struct fixture *f)
{
    return fixture_plan_filtered(f, 0, NULL);
}

/* All ids, each followed by a space. The caller frees. */
static inline char *fixture_ids(const struct plan *p)
{
    struct strbuf out = STRBUF_INIT;
    CLEANUP(arena_free) struct arena *a = arena_new();

    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct scenario s;
        plan_scenario(p, i, a, &s);
        strbuf_addf(&out, "%s ", s.id);
    }
    return strbuf_detach(&out);
}

static inline void assert_ids(const struct plan *p, const char *expected)
{
    CLEANUP_FREE char *ids = fixture_ids(p);

    assert_string_equal(ids, expected);
}

/* Planning fails with this kind and a message that contains `part`. */
static inline void assert_plan_fails(struct fixture *f, size_t filter_count, const char *const *filters,
                                     enum error_kind kind, const char *part)
{
    struct plan *p = NULL;
    struct error err = ERROR_INIT;
    struct plan_options options = {.filters = filters, .filter_count = filter_count};

    assert_int_equal(plan_make(&f->m, &options, &p, &err), -1);
    assert_null(p);
    if (!strstr(err.message, part) && !strstr(err.hint, part))
        fail_msg("'%s' not in: %s (%s)", part, err.message, err.hint);
    assert_int_equal(err.kind, kind);
}

#endif
