/* SPDX-License-Identifier: MIT */
/* What invalid trials measured: to see what went wrong, apart from everything that may be compared. */
#include "report_internal.h"

#include <math.h>

struct invalid {
    struct report *r;
    VEC(size_t) figures;
    VEC(const struct cell *) cells; /* of each row */
    VEC(size_t) trials;             /* places in them */
};

static bool has_any(const struct report *r, const struct cell *c, size_t trial)
{
    for (size_t f = 0; f < r->figures.len; f++)
        if ((r->figures.items[f].tables & TABLE_MAIN) && !r->figures.items[f].finding &&
            !isnan(cell_trial_value(r, c, trial, f)))
            return true;
    return false;
}

static void find_rows(struct invalid *v)
{
    for (size_t i = 0; i < v->r->cells.len; i++) {
        const struct cell *c = &v->r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++) {
            if (c->trials[k]->outcome != OUTCOME_INVALID || !has_any(v->r, c, k))
                continue;
            vec_push(&v->cells, c);
            vec_push(&v->trials, k);
        }
    }
}

static bool shown(const struct invalid *v, size_t figure)
{
    const struct figure *f = &v->r->figures.items[figure];

    for (size_t i = 0; i < v->cells.len; i++) {
        double value = cell_trial_value(v->r, v->cells.items[i], v->trials.items[i], figure);
        if (!isnan(value) && (f->show != SHOW_NONZERO || value > 0))
            return true;
    }
    return false;
}

static void choose_figures(struct invalid *v)
{
    for (size_t i = 0; i < v->r->asked.len; i++)
        vec_push(&v->figures, v->r->asked.items[i]);
    for (size_t f = 0; f < v->r->figures.len && !v->r->asked.len; f++)
        if ((v->r->figures.items[f].tables & TABLE_MAIN) && shown(v, f))
            vec_push(&v->figures, f);
}

static void add_row(struct invalid *v, struct table *t, size_t row)
{
    const struct cell *c = v->cells.items[row];
    struct report *r = v->r;
    struct field *fields = table_row(r, t);
    char text[32];

    for (size_t i = 0; i < r->axis_count; i++)
        fields[i].text = cell_value(r, c, i);
    fields[r->axis_count].text = arena_printf(r->arena, "#%d", c->trials[v->trials.items[row]]->trial);
    for (size_t i = 0; i < v->figures.len; i++) {
        size_t f = v->figures.items[i];
        figure_format(&r->figures.items[f], cell_trial_value(r, c, v->trials.items[row], f), text);
        fields[r->axis_count + 1 + i] =
            (struct field){.text = arena_strdup(r->arena, text), .tone = TONE_FAINT};
    }
}

static void write_table(struct invalid *v)
{
    struct report *r = v->r;
    struct section *s = section_new(r, "Invalid trials: not for comparison");
    size_t heads = r->axis_count + 1;

    s->table = table_new(r, heads + v->figures.len, heads);
    for (size_t i = 0; i < r->axis_count; i++)
        s->table->columns[i].name = r->axes[i].name;
    s->table->columns[r->axis_count].name = "trial";
    for (size_t i = 0; i < v->figures.len; i++) {
        const struct figure *f = &r->figures.items[v->figures.items[i]];
        s->table->columns[heads + i] = (struct column){figure_name(r, v->figures.items[i]), f->measure, true};
    }
    for (size_t i = 0; i < v->cells.len && i < LINES_MAX; i++)
        add_row(v, s->table, i);
    if (v->cells.len > LINES_MAX)
        section_line(
            s, arena_printf(r->arena, "and %zu more, in the trials' records", v->cells.len - LINES_MAX));
    section_line(s, "Of single trials, and in no median: the findings say why they cannot be trusted.");
}

void list_invalid(struct report *r)
{
    struct invalid v = {.r = r};

    find_rows(&v);
    choose_figures(&v);
    if (v.cells.len && v.figures.len)
        write_table(&v);
    vec_release(&v.figures);
    vec_release(&v.cells);
    vec_release(&v.trials);
}
