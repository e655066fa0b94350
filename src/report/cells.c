/* SPDX-License-Identifier: MIT */
/* Trials to cells: which trials' numbers count, and what the worst of them was. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

/* How bad, for "the worst": a crash is worse than numbers that cannot be trusted. */
static int badness(enum outcome o)
{
    static const int rank[OUTCOMES] = {
        [OUTCOME_OK] = 0,    [OUTCOME_SKIPPED] = 1,   [OUTCOME_DEGRADED] = 2, [OUTCOME_INVALID] = 3,
        [OUTCOME_ERROR] = 4, [OUTCOME_NOT_READY] = 5, [OUTCOME_CRASHED] = 6,
    };
    return rank[o];
}

static bool unstable(const struct trial *t)
{
    return t->app.restarts > 0 || t->app.oom_kills > 0 || t->outcome == OUTCOME_CRASHED;
}

/* Failed trials have no numbers in a report: only a reason. */
static bool has_numbers(const struct trial *t)
{
    return t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED || t->outcome == OUTCOME_CRASHED;
}

/* The axes in the order asked for, the rest behind them in their own order. */
static int order_axes(struct report *r, const struct report_options *o, const struct trial *first,
                      struct error *err)
{
    size_t n = first ? first->axis_count : 0;

    r->axes = arena_array(r->arena, const char *, n + 1);
    for (size_t i = 0; i < o->row_count; i++) {
        size_t k = 0;
        while (k < n && strcmp(first->axes[k].axis, o->rows[i]) != 0)
            k++;
        if (k == n)
            return error_set(err, ERROR_USAGE, "the sweep has no axis '%s'", o->rows[i]);
        r->axes[r->axis_count++] = first->axes[k].axis;
    }
    for (size_t k = 0; k < n; k++) {
        bool there = false;
        for (size_t i = 0; i < r->axis_count; i++)
            there |= strcmp(r->axes[i], first->axes[k].axis) == 0;
        if (!there)
            r->axes[r->axis_count++] = first->axes[k].axis;
    }
    return 0;
}

static const char *axis_value(const struct trial *t, const char *axis)
{
    for (size_t i = 0; i < t->axis_count; i++)
        if (strcmp(t->axes[i].axis, axis) == 0)
            return t->axes[i].value;
    return "";
}

static struct cell *cell_of(struct report *r, const struct trial *t)
{
    for (size_t i = 0; i < r->cells.len; i++)
        if (strcmp(r->cells.items[i].scenario, t->scenario) == 0)
            return &r->cells.items[i];
    struct cell c = {.scenario = t->scenario,
                     .values = arena_array(r->arena, const char *, r->axis_count + 1)};
    for (size_t i = 0; i < r->axis_count; i++)
        c.values[i] = axis_value(t, r->axes[i]);
    c.trials = arena_array(r->arena, const struct trial *, r->sweep->trial_count);
    vec_push(&r->cells, c);
    return &r->cells.items[r->cells.len - 1];
}

static void add_trial(struct cell *c, const struct trial *t)
{
    c->trials[c->trial_count++] = t;
    c->outcomes[t->outcome]++;
    if (c->trial_count == 1 || badness(t->outcome) > badness(c->outcome)) {
        c->outcome = t->outcome;
        c->reason = t->reason;
    }
}

/* Steady trials where there are any; otherwise those that crashed, marked as such: never the mean of both. */
static void summarise(struct report *r, struct cell *c)
{
    double *values = arena_array(r->arena, double, c->trial_count + 1);
    size_t steady = 0;

    for (size_t i = 0; i < c->trial_count; i++)
        steady += has_numbers(c->trials[i]) && !unstable(c->trials[i]);
    for (int f = 0; f < FIGURES; f++) {
        bool all = f == FIGURE_RESTARTS || f == FIGURE_OOM || f == FIGURE_READY || f == FIGURE_STARTUP;
        size_t n = 0;
        c->counted = 0;
        for (size_t i = 0; i < c->trial_count; i++) {
            bool counts = has_numbers(c->trials[i]) && (steady == 0 || !unstable(c->trials[i]));
            c->counted += counts;
            if (counts || (all && c->trials[i]->outcome != OUTCOME_ERROR))
                values[n++] = figure_of((enum figure)f, c->trials[i]);
        }
        stats_summary(values, n, &c->figures[f]);
    }
    c->contaminated = steady == 0 && c->counted > 0;
}

/* The sweep's own order of scenarios: by the axes' values as the matrix lists them. */
static size_t value_rank(const struct report *r, const char *axis, const char *value)
{
    const struct json *axes = json_get(r->sweep->info, "axes");

    for (size_t i = 0; i < json_len(axes); i++) {
        const struct json *values = json_get(json_at(axes, i), "values");
        if (!text_equal(json_get_text(json_at(axes, i), "name"), axis))
            continue;
        for (size_t k = 0; k < json_len(values); k++)
            if (text_equal(json_text(json_at(values, k)), value))
                return k;
        return json_len(values);
    }
    return 0;
}

static int compare_cells(const struct report *r, const struct cell *a, const struct cell *b)
{
    for (size_t i = 0; i < r->axis_count; i++) {
        size_t x = value_rank(r, r->axes[i], a->values[i]), y = value_rank(r, r->axes[i], b->values[i]);
        if (x != y)
            return x < y ? -1 : 1;
        int c = strcmp(a->values[i], b->values[i]);
        if (c)
            return c;
    }
    return strcmp(a->scenario, b->scenario);
}

static int compare_for_sort(const void *a, const void *b, void *r)
{
    return compare_cells(r, a, b);
}

int report_cells(struct report *r, const struct report_options *o, struct error *err)
{
    const struct sweep *s = r->sweep;

    if (order_axes(r, o, s->trial_count ? &s->trials[0] : NULL, err) < 0)
        return -1;
    for (size_t i = 0; i < s->trial_count; i++)
        add_trial(cell_of(r, &s->trials[i]), &s->trials[i]);
    for (size_t i = 0; i < r->cells.len; i++)
        summarise(r, &r->cells.items[i]);
    if (r->cells.len)
        qsort_r(r->cells.items, r->cells.len, sizeof(*r->cells.items), compare_for_sort, r);
    return 0;
}
