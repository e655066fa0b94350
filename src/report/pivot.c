/* SPDX-License-Identifier: MIT */
/* Rows by some axes, columns by one: the comparison tables of articles, one per figure. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

struct pivot {
    struct report *report;
    size_t column_axis;
    VEC(const char *) columns;     /* values of the column axis, in order */
    VEC(const struct cell *) rows; /* the first cell of each row */
};

static bool same_row(const struct pivot *p, const struct cell *a, const struct cell *b)
{
    for (size_t i = 0; i < p->report->axis_count; i++)
        if (i != p->column_axis && strcmp(a->values[i], b->values[i]) != 0)
            return false;
    return true;
}

static void collect(struct pivot *p)
{
    for (size_t i = 0; i < p->report->cells.len; i++) {
        const struct cell *c = &p->report->cells.items[i];
        bool known = false;
        for (size_t k = 0; k < p->columns.len && !known; k++)
            known = strcmp(p->columns.items[k], c->values[p->column_axis]) == 0;
        if (!known)
            vec_push(&p->columns, c->values[p->column_axis]);
        known = false;
        for (size_t k = 0; k < p->rows.len && !known; k++)
            known = same_row(p, p->rows.items[k], c);
        if (!known)
            vec_push(&p->rows, c);
    }
}

static const struct cell *find(const struct pivot *p, const struct cell *row, const char *column)
{
    for (size_t i = 0; i < p->report->cells.len; i++) {
        const struct cell *c = &p->report->cells.items[i];
        if (same_row(p, row, c) && strcmp(c->values[p->column_axis], column) == 0)
            return c;
    }
    return NULL;
}

/* The figure; a scenario that has none shows what became of it instead, and one that crashed is marked. */
static struct field pivot_field(struct report *r, const struct cell *c, enum figure f)
{
    if (!c)
        return (struct field){.text = "", .tone = TONE_FAINT};
    if (!c->figures[f].n)
        return (struct field){.text = outcome_name(c->outcome), .tone = outcome_tone(c->outcome)};
    if (c->contaminated)
        return (struct field){
            .text = arena_printf(r->arena, "%s (%s)", figure_text(r, c, f), outcome_name(c->outcome)),
            .tone = TONE_WARN};
    return (struct field){.text = figure_text(r, c, f)};
}

static void pivot_table(struct pivot *p, enum figure f)
{
    struct report *r = p->report;
    size_t heads = r->axis_count - 1, k = 0;
    struct section *s = section_new(r, figure_kinds[f].pivot);
    struct table *t = s->table = table_new(r, heads + p->columns.len);

    for (size_t i = 0; i < r->axis_count; i++)
        if (i != p->column_axis)
            table_column(t, k++, r->axes[i], false);
    for (size_t i = 0; i < p->columns.len; i++)
        table_column(t, heads + i,
                     arena_printf(r->arena, "%s %s", r->axes[p->column_axis], p->columns.items[i]), true);
    for (size_t n = 0; n < p->rows.len; n++) {
        struct field *row = table_row(r, t);
        k = 0;
        for (size_t i = 0; i < r->axis_count; i++)
            if (i != p->column_axis)
                row[k++] = (struct field){.text = p->rows.items[n]->values[i]};
        for (size_t i = 0; i < p->columns.len; i++)
            row[heads + i] = pivot_field(r, find(p, p->rows.items[n], p->columns.items[i]), f);
    }
}

int report_pivots(struct report *r, const struct report_options *o, struct error *err)
{
    struct pivot p = {.report = r};

    if (!o->cols || !r->cells.len)
        return 0;
    while (p.column_axis < r->axis_count && strcmp(r->axes[p.column_axis], o->cols) != 0)
        p.column_axis++;
    if (p.column_axis == r->axis_count)
        return error_set(err, ERROR_USAGE, "the sweep has no axis '%s'", o->cols);
    collect(&p);
    for (int f = 0; f < FIGURES; f++) {
        bool any = false;
        for (size_t i = 0; i < r->cells.len; i++)
            any |= r->cells.items[i].figures[f].n > 0;
        if (figure_kinds[f].pivot && any)
            pivot_table(&p, (enum figure)f);
    }
    vec_release(&p.columns);
    vec_release(&p.rows);
    return 0;
}
