/* SPDX-License-Identifier: MIT */
/*
 * The tables of results. Axes and figures are dimensions; each is a row's, a column's or a table's. Entries
 * (a cell, or a cell and a figure) are sorted by their places in that order and then written down as they
 * come.
 */
#include "layout.h"

#include <string.h>

#define TABLES_MAX 200

static void layout_release(struct layout *l)
{
    vec_release(&l->tables);
    vec_release(&l->rows);
    vec_release(&l->shown);
    vec_release(&l->columns);
    vec_release(&l->entries);
}

/* --- which dimension goes where --- */

bool layout_has(const size_t *items, size_t count, size_t dimension)
{
    for (size_t i = 0; i < count; i++)
        if (items[i] == dimension)
            return true;
    return false;
}

bool layout_figures_are_tables(const struct layout *l)
{
    return layout_has(l->tables.items, l->tables.len, DIMENSION_FIGURES);
}

static size_t dimension_of(const struct report *r, const char *name)
{
    size_t axis = report_axis(r, name);

    return axis == r->axis_count && strcmp(name, REPORT_FIGURE) == 0 ? DIMENSION_FIGURES : axis;
}

/* report_axes() has refused unknown names among the rows. */
static int place_rows(struct layout *l, const struct report_options *o, struct error *err)
{
    for (size_t i = 0; i < o->row_count; i++) {
        size_t d = dimension_of(l->r, o->rows[i]);
        if (d == l->cols && o->cols)
            return error_set(err, ERROR_USAGE, "'%s' cannot be in the rows and in the columns", o->rows[i]);
        if (!layout_has(l->rows.items, l->rows.len, d))
            vec_push(&l->rows, d);
    }
    if (layout_has(l->rows.items, l->rows.len, DIMENSION_FIGURES) && !o->cols) {
        (void)error_set(err, ERROR_USAGE, "the rows are figures, but nothing is in the columns");
        return error_hint(err, "name an axis with --cols");
    }
    return 0;
}

static int place_dimensions(struct layout *l, const struct report_options *o, struct error *err)
{
    l->cols = o->cols ? dimension_of(l->r, o->cols) : DIMENSION_FIGURES;
    if (l->cols == l->r->axis_count)
        return report_unknown_axis(l->r, o->cols, err);
    if (place_rows(l, o, err) < 0)
        return -1;
    if (l->cols != DIMENSION_FIGURES && !layout_has(l->rows.items, l->rows.len, DIMENSION_FIGURES))
        vec_push(&l->tables, DIMENSION_FIGURES);
    for (size_t i = 0; i < l->r->axis_count; i++) {
        if (i == l->cols || layout_has(l->rows.items, l->rows.len, i))
            continue;
        if (o->row_count)
            vec_push(&l->tables, i);
        else
            vec_push(&l->rows, i);
    }
    return 0;
}

/* --- what is shown --- */

bool figure_shown(const struct report *r, size_t figure)
{
    const struct figure *f = &r->figures.items[figure];

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct summary *s = &r->cells.items[i].figures[figure];
        if (s->n && (f->show == SHOW_MEASURED || (f->show == SHOW_NONZERO && s->max > 0) ||
                     (f->show == SHOW_BELOW_100 && s->min < 100)))
            return true;
    }
    return false;
}

static void choose_figures(struct layout *l)
{
    struct report *r = l->r;

    if (!layout_figures_are_tables(l)) {
        vec_push(&l->shown, SHOWN_COUNT);
        vec_push(&l->shown, SHOWN_OUTCOME);
        if (r->models_differ)
            vec_push(&l->shown, SHOWN_MODEL);
    }
    for (size_t i = 0; i < r->asked.len; i++)
        vec_push(&l->shown, r->asked.items[i]);
    for (size_t f = 0; f < r->figures.len && !r->asked.len; f++)
        if ((r->figures.items[f].tables & TABLE_MAIN) && figure_shown(r, f))
            vec_push(&l->shown, f);
}

static void make_entries(struct layout *l)
{
    for (size_t i = 0; i < l->r->cells.len; i++) {
        const struct cell *c = &l->r->cells.items[i];
        size_t times = l->cols == DIMENSION_FIGURES ? 1 : l->shown.len;
        for (size_t k = 0; k < times; k++)
            vec_push(&l->entries, (struct entry){c, k});
        if (c->counted > l->most)
            l->most = c->counted;
    }
}

static void make_columns(struct layout *l)
{
    if (l->cols == DIMENSION_FIGURES) {
        for (size_t i = 0; i < l->shown.len; i++)
            vec_push(&l->columns, i);
        return;
    }
    const struct axis *axis = &l->r->axes[l->cols];
    CLEANUP_FREE bool *used = xcalloc(axis->value_count + 1, sizeof(*used));
    for (size_t i = 0; i < l->r->cells.len; i++)
        used[l->r->cells.items[i].ranks[l->cols]] = true;
    for (size_t k = 0; k < axis->value_count; k++)
        if (used[k])
            vec_push(&l->columns, k);
}

/* By an axis, with one axis in the rows: what the sweep knows and a table lacks is a row of it, too. */
static void count_value_rows(struct layout *l)
{
    if (l->cols == DIMENSION_FIGURES || l->rows.len != 1 || l->rows.items[0] == DIMENSION_FIGURES)
        return;
    const struct axis *axis = &l->r->axes[l->rows.items[0]];
    if (axis->value_count - axis->used <= ABSENT_ROWS_MAX)
        l->value_rows = axis->value_count;
}

/* --- order --- */

size_t layout_place(const struct entry *e, size_t dimension)
{
    return dimension == DIMENSION_FIGURES ? e->figure : e->cell->ranks[dimension];
}

int layout_compare(const struct entry *a, const struct entry *b, const size_t *dimensions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t x = layout_place(a, dimensions[i]), y = layout_place(b, dimensions[i]);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int compare_entries(const void *a, const void *b, void *data)
{
    const struct layout *l = data;
    int order = layout_compare(a, b, l->tables.items, l->tables.len);

    if (!order)
        order = layout_compare(a, b, l->rows.items, l->rows.len);
    if (!order && l->cols != DIMENSION_FIGURES)
        order = layout_compare(a, b, &l->cols, 1);
    if (!order) {
        const struct entry *x = a, *y = b;
        order = strcmp(x->cell->scenario, y->cell->scenario);
    }
    return order;
}

static int count_tables(struct layout *l, struct error *err)
{
    size_t tables = l->entries.len > 0;

    for (size_t i = 1; i < l->entries.len; i++)
        tables += layout_compare(&l->entries.items[i - 1], &l->entries.items[i], l->tables.items,
                                 l->tables.len) != 0;
    if (tables <= TABLES_MAX)
        return 0;
    (void)error_set(err, ERROR_USAGE, "that would be %zu tables, %d at most", tables, TABLES_MAX);
    return error_hint(err, "axes that --rows and --cols do not name become tables: name more of them");
}

int report_layout(struct report *r, const struct report_options *o, struct error *err)
{
    CLEANUP_VALUE(layout_release) struct layout l = {.r = r};

    if (place_dimensions(&l, o, err) < 0)
        return -1;
    choose_figures(&l);
    make_entries(&l);
    make_columns(&l);
    count_value_rows(&l);
    if (!l.entries.len)
        return 0;
    qsort_r(l.entries.items, l.entries.len, sizeof(*l.entries.items), compare_entries, &l);
    if (count_tables(&l, err) < 0)
        return -1;
    layout_write(&l);
    return 0;
}
