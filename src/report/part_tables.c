/* SPDX-License-Identifier: MIT */
/* Tables of phases and of kinds of request, and what the ends of open loads took. */
#include "report_internal.h"

#include <math.h>
#include "part_figures.h"

#define DRAIN_SHARE 0.02 /* of the planned time: less changes no figure that is read */
#define DRAINS_NAMED 4

/* The first trial that has them, one whose figures count where there is one. */
const struct trial_parts *cell_parts(const struct report *r, const struct cell *c, enum part_kind kind)
{
    const struct trial_parts *found = NULL;

    for (size_t i = 0; i < c->trial_count; i++) {
        const struct trial_parts *p = &r->parts[c->trials[i] - r->sweep->trials];
        if (p->count[kind] && trial_counts(c, c->trials[i], NULL))
            return p;
        if (p->count[kind] && !found)
            found = p;
    }
    return found;
}

size_t part_first_figure(const struct report *r, enum part_kind kind, const char *name)
{
    const size_t *at = name_index_get(&r->part_names[kind].index, name);

    return at ? r->part_names[kind].items.items[*at].first : SIZE_MAX;
}

/* --- one table --- */

struct part_table {
    struct report *r;
    enum part_kind kind;
    struct table *t;
    size_t columns[PART_FIGURES], column_count; /* of part_figures */
    bool warmup, spread;
};

static bool measured(const struct report *r, const struct cell *c, enum part_kind kind, size_t column)
{
    const struct trial_parts *p = cell_parts(r, c, kind);

    for (size_t i = 0; p && p->count[kind] > 1 && i < p->count[kind]; i++) {
        size_t first = part_first_figure(r, kind, p->items[kind][i].name);
        if (first != SIZE_MAX && c->figures[first + column].n)
            return true;
    }
    return false;
}

static void choose_columns(struct part_table *pt)
{
    for (size_t f = 0; f < PART_FIGURES; f++) {
        bool any = false;
        for (size_t i = 0; i < pt->r->cells.len && !any; i++)
            any = measured(pt->r, &pt->r->cells.items[i], pt->kind, f);
        if (any)
            pt->columns[pt->column_count++] = f;
    }
}

static void begin_table(struct part_table *pt)
{
    struct report *r = pt->r;
    struct section *s = section_new(r, pt->kind == PART_PHASE ? "Phases" : "Requests");
    size_t heads = r->axis_count + 1, model = pt->kind == PART_PHASE;

    pt->t = s->table = table_new(r, heads + model + pt->column_count, heads);
    for (size_t i = 0; i < r->axis_count; i++)
        pt->t->columns[i].name = r->axes[i].name;
    pt->t->columns[r->axis_count].name = pt->kind == PART_PHASE ? "phase" : "request";
    if (model)
        pt->t->columns[heads].name = "model";
    for (size_t i = 0; i < pt->column_count; i++) {
        const struct part_figure *f = &part_figures[pt->columns[i]];
        pt->t->columns[heads + model + i] = (struct column){f->name, f->measure, true};
    }
}

static void part_row(struct part_table *pt, const struct cell *c, const struct load_part *p, size_t first)
{
    struct report *r = pt->r;
    struct field *row = table_row(r, pt->t);
    size_t at = r->axis_count;

    for (size_t i = 0; i < r->axis_count; i++)
        row[i].text = cell_value(r, c, i);
    row[at++].text = p->warmup ? arena_printf(r->arena, "%s (warm-up)", p->name) : p->name;
    if (pt->kind == PART_PHASE)
        row[at++].text = p->model ? p->model : NOT_MEASURED;
    for (size_t i = 0; i < pt->column_count; i++) {
        size_t f = first + pt->columns[i];
        row[at++] = (struct field){figure_text(r, c, f), figure_range(r, c, f), figure_tone(c, f)};
        pt->spread |= c->figures[f].n > 1;
    }
    pt->warmup |= p->warmup;
}

static void cell_rows(struct part_table *pt, const struct cell *c)
{
    const struct trial_parts *p = cell_parts(pt->r, c, pt->kind);

    for (size_t i = 0; p && p->count[pt->kind] > 1 && i < p->count[pt->kind]; i++) {
        size_t first = part_first_figure(pt->r, pt->kind, p->items[pt->kind][i].name);
        bool any = false;
        for (size_t f = 0; f < PART_FIGURES && first != SIZE_MAX && !any; f++)
            any = c->figures[first + f].n;
        if (any)
            part_row(pt, c, &p->items[pt->kind][i], first);
    }
}

static void list_kind(struct report *r, enum part_kind kind)
{
    struct part_table pt = {.r = r, .kind = kind};

    choose_columns(&pt);
    if (!pt.column_count)
        return;
    begin_table(&pt);
    for (size_t i = 0; i < r->cells.len; i++)
        cell_rows(&pt, &r->cells.items[i]);
    struct section *s = &r->sections.items[r->sections.len - 1];
    if (pt.spread)
        section_line(s, "Medians over trials.");
    if (pt.warmup)
        section_line(s, "Warm-up phases are in no other table.");
}

bool cell_has_part_rows(const struct report *r, const struct cell *c, enum part_kind kind)
{
    bool any = false;

    for (size_t f = 0; f < PART_FIGURES && !any; f++)
        any = measured(r, c, kind, f);
    return any;
}

void list_parts(struct report *r)
{
    list_kind(r, PART_PHASE);
    list_kind(r, PART_REQUEST);
}

/* --- answers that came after the last planned request --- */

static double drain_share(const struct trial_parts *p)
{
    return p->planned_ms > 0 ? p->drain_ms / p->planned_ms : 0;
}

static const struct trial_parts *parts_of(const struct report *r, const struct trial *t)
{
    return &r->parts[t - r->sweep->trials];
}

static const struct trial *longest_drain(const struct report *r, const struct cell *c)
{
    const struct trial *found = NULL;

    for (size_t i = 0; i < c->trial_count; i++) {
        double share = drain_share(parts_of(r, c->trials[i]));
        if (trial_counts(c, c->trials[i], NULL) && share > DRAIN_SHARE &&
            (!found || share > drain_share(parts_of(r, found))))
            found = c->trials[i];
    }
    return found;
}

void list_drains(struct report *r, struct section *s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    size_t cells = 0;

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        const struct trial *t = longest_drain(r, c);
        if (!t || cells++ >= DRAINS_NAMED)
            continue;
        const struct trial_parts *p = parts_of(r, t);
        strbuf_addf(&text, "%s %s #%d %.2f s after %.2f s (%.0f %%)", text.len ? ";" : "", c->scenario,
                    t->trial, p->drain_ms / 1e3, p->planned_ms / 1e3, 100 * drain_share(p));
    }
    if (!cells)
        return;
    if (cells > DRAINS_NAMED)
        strbuf_addf(&text, "; and %zu more scenarios", cells - DRAINS_NAMED);
    section_line(s, arena_printf(r->arena,
                                 "ok/s counts until the last answer, which came later than the load was "
                                 "planned to end:%s.",
                                 strbuf_text(&text)));
}
