/* SPDX-License-Identifier: MIT */
#include "memory_curve.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

#define LIMIT_TOLERANCE 0.01 /* kernels round limits to pages, adapters to units */

static double limit_bytes(const char *value)
{
    struct error ignored = ERROR_INIT;
    int64_t bytes;

    if (!value || size_parse(value, &bytes, &ignored) < 0)
        return NAN;
    return bytes == SIZE_UNLIMITED ? (double)INFINITY : (double)bytes;
}

/* --- which axis --- */

static double planned_limit(const struct report *r, const char *scenario)
{
    const struct json *memory = json_get(json_get(planned_settings(r, scenario), "app"), "memory");

    return json_text(memory) ? limit_bytes(json_text(memory)) : json_number(memory);
}

static bool same_limit(double a, double b)
{
    return a == b || (isfinite(b) && fabs(a - b) <= LIMIT_TOLERANCE * b);
}

/* Is it this axis that limits the application? By the plan where it says, else by what was applied. */
static bool limits_the_app(const struct report *r, size_t axis)
{
    bool known = false;

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        double value = limit_bytes(cell_value(r, c, axis)), asked = planned_limit(r, c->scenario);
        for (size_t k = 0; k < c->trial_count && isnan(asked); k++)
            asked = c->trials[k]->app.memory_bytes.limit;
        if (isnan(asked))
            continue;
        known = true;
        if (!same_limit(asked, value))
            return false;
    }
    return known || strcasestr(r->axes[axis].name, "mem");
}

static bool all_sizes(const struct report *r, size_t axis)
{
    for (size_t i = 0; i < r->cells.len; i++)
        if (isnan(limit_bytes(cell_value(r, &r->cells.items[i], axis))))
            return false;
    return r->cells.len > 0;
}

/* --- a search --- */

static const struct json *search_of(const struct report *r)
{
    return json_get(r->sweep->plan, "search");
}

bool search_candidate(const struct report *r, const char *axis, const char *value)
{
    const struct json *search = search_of(r);
    double bytes = limit_bytes(value), from = json_get_number(search, "from_bytes"),
           to = json_get_number(search, "to_bytes"), step = json_get_number(search, "step_bytes");

    if (!search || !text_equal(json_get_text(search, "axis"), axis))
        return false;
    return bytes == to || (bytes >= from && bytes < to && step > 0 && fmod(bytes - from, step) == 0);
}

static void read_search(const struct report *r, struct memory_curves *m)
{
    const struct json *search = search_of(r), *until = json_get(search, "until");
    enum outcome o;

    m->passes[OUTCOME_OK] = true;
    m->searched = text_equal(json_get_text(search, "axis"), r->axes[m->axis].name);
    for (size_t i = 0; m->searched && i < json_len(until) && i < OUTCOMES; i++) {
        if (i == 0)
            m->passes[OUTCOME_OK] = false;
        if (json_text(json_at(until, i)) && outcome_parse(json_text(json_at(until, i)), &o) == 0)
            m->passes[o] = true;
    }
}

static bool find_axis(const struct report *r, size_t *ret)
{
    size_t searched = json_get_text(search_of(r), "axis")
                          ? report_axis(r, json_get_text(search_of(r), "axis"))
                          : r->axis_count;

    if (searched < r->axis_count && all_sizes(r, searched) && limits_the_app(r, searched)) {
        *ret = searched;
        return true;
    }
    for (size_t i = 0; i < r->axis_count; i++) {
        if (r->axes[i].used < 2 || !all_sizes(r, i) || !limits_the_app(r, i))
            continue;
        *ret = i;
        return true;
    }
    return false;
}

/* --- one curve --- */

bool point_ok(const struct curve_point *p)
{
    return p->decided && p->ok == p->decided;
}

static bool point_failed(const struct curve_point *p)
{
    return p->ok < p->decided;
}

static struct curve_point make_point(const struct report *r, const struct memory_curves *m,
                                     const struct cell *c)
{
    struct curve_point p = {.limit = cell_value(r, c, m->axis), .cell = c};
    /* trials that the environment spoilt say nothing about the application */
    static const enum outcome telling[] = {OUTCOME_OK, OUTCOME_DEGRADED, OUTCOME_CRASHED, OUTCOME_NOT_READY};

    p.bytes = limit_bytes(p.limit);
    for (size_t i = 0; i < ARRAY_LEN(telling); i++) {
        p.decided += c->outcomes[telling[i]];
        p.ok += m->passes[telling[i]] ? c->outcomes[telling[i]] : 0;
    }
    return p;
}

static int compare_points(const void *a, const void *b)
{
    const struct curve_point *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->cell->scenario, y->cell->scenario);
}

/* From the largest down to the first that is not ok. */
static void find_cliff(struct curve *c)
{
    size_t i = c->len;

    c->viable = c->failing = c->stray = c->len;
    for (; i > 0 && !point_failed(&c->points[i - 1]); i--)
        if (point_ok(&c->points[i - 1]))
            c->viable = i - 1;
    if (i == 0)
        return;
    c->failing = i - 1;
    for (; i > 0 && c->stray == c->len; i--)
        if (point_ok(&c->points[i - 1]))
            c->stray = i - 1;
}

static const struct curve_point *largest_decided(const struct curve *c)
{
    size_t i = c->len;

    while (i > 0 && !c->points[i - 1].decided)
        i--;
    return i ? &c->points[i - 1] : NULL;
}

static const char *cliff_words(const struct report *r, const struct curve *c)
{
    const struct curve_point *p = c->points, *top = largest_decided(c);

    if (!top)
        return "not known";
    if (c->viable == c->len)
        return arena_printf(r->arena, "none up to %s", top->limit);
    if (c->failing == c->len)
        return arena_printf(r->arena, "everything ok down to %s", p[c->viable].limit);
    return arena_printf(r->arena, "between %s and %s", p[c->failing].limit, p[c->viable].limit);
}

static const char *broken_words(const struct report *r, const struct curve *c)
{
    if (c->stray == c->len)
        return NULL;
    return arena_printf(r->arena, "not monotone: %s was ok, but %s, which is more, was not",
                        c->points[c->stray].limit, c->points[c->failing].limit);
}

/* --- all of them --- */

static bool same_combination(const struct report *r, const struct cell *a, const struct cell *b, size_t axis)
{
    for (size_t i = 0; i < r->axis_count; i++)
        if (i != axis && a->ranks[i] != b->ranks[i])
            return false;
    return true;
}

struct by_combination {
    const struct report *r;
    size_t axis;
};

/* Cells of one combination together, combinations in the order of the report. */
static int compare_cells(const void *a, const void *b, void *data)
{
    const struct by_combination *by = data;
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;

    for (size_t i = 0; i < by->r->axis_count; i++)
        if (i != by->axis && x->ranks[i] != y->ranks[i])
            return x->ranks[i] < y->ranks[i] ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void add_curve(const struct report *r, struct memory_curves *m, const struct cell **cells,
                      size_t count)
{
    struct curve c = {.points = arena_array(r->arena, struct curve_point, count)};

    for (size_t i = 0; i < count; i++)
        if (cells[i]->trial_count)
            c.points[c.len++] = make_point(r, m, cells[i]);
    if (c.len < (m->searched ? 1 : 2))
        return;
    qsort(c.points, c.len, sizeof(*c.points), compare_points);
    find_cliff(&c);
    for (size_t i = 0; i < c.len; i++)
        c.points[i].cause = memory_cause(r, m, &c, i);
    c.words = cliff_words(r, &c);
    c.broken = broken_words(r, &c);
    vec_push(&m->items, c);
}

bool memory_curves_of(const struct report *r, struct memory_curves *ret)
{
    struct memory_curves m = {0};

    if (!find_axis(r, &m.axis))
        return false;
    read_search(r, &m);
    const struct cell **cells = arena_array(r->arena, const struct cell *, r->cells.len);
    for (size_t i = 0; i < r->cells.len; i++)
        cells[i] = &r->cells.items[i];
    qsort_r(cells, r->cells.len, sizeof(*cells), compare_cells, &(struct by_combination){r, m.axis});
    for (size_t i = 0, n; i < r->cells.len; i += n) {
        for (n = 1; i + n < r->cells.len && same_combination(r, cells[i], cells[i + n], m.axis);)
            n++;
        add_curve(r, &m, cells + i, n);
    }
    *ret = m;
    return m.items.len > 0;
}

void memory_curves_release(struct memory_curves *m)
{
    vec_release(&m->items);
}

const char *curve_cause(const struct curve *c)
{
    return c->failing < c->len ? c->points[c->failing].cause : NULL;
}

const char *curve_name(const struct report *r, const struct memory_curves *m, const struct curve *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < r->axis_count; i++)
        if (i != m->axis && r->axes[i].used > 1)
            strbuf_addf(&text, "%s%s", text.len ? ", " : "", cell_value(r, c->points[0].cell, i));
    return arena_strdup(r->arena, strbuf_text(&text));
}
