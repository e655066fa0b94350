/* SPDX-License-Identifier: MIT */
/* A layout's entries, sorted, as tables. */
#include "layout.h"
#include "memory_curve.h"

#include <assert.h>
#include <string.h>

/* An axis is often called as the figure of what it limits: no table has two columns of one name. */
const char *figure_name(const struct report *r, size_t figure)
{
    const char *name = r->figures.items[figure].name;

    if (report_axis(r, name) == r->axis_count)
        return name;
    return figure == FIGURE_MEMORY ? "used" : arena_printf(r->arena, "%s measured", name);
}

static const char *figure_label(struct report *r, size_t figure)
{
    const struct figure *f = &r->figures.items[figure];

    const char *name = figure_name(r, figure);

    return f->measure[0] ? arena_printf(r->arena, "%s %s", name, f->measure) : name;
}

static struct column shown_column(struct report *r, size_t shown)
{
    if (shown == SHOWN_COUNT)
        return (struct column){"n", "", true};
    if (shown == SHOWN_OUTCOME)
        return (struct column){"outcome", "", false};
    if (shown == SHOWN_MODEL)
        return (struct column){"model", "", false};
    return (struct column){figure_name(r, shown), r->figures.items[shown].measure, true};
}

static void fill_columns(struct layout *l, struct table *t)
{
    for (size_t i = 0; i < l->rows.len; i++)
        t->columns[i].name =
            l->rows.items[i] == DIMENSION_FIGURES ? REPORT_FIGURE : l->r->axes[l->rows.items[i]].name;
    for (size_t i = 0; i < l->columns.len; i++) {
        struct column *c = &t->columns[l->rows.len + i];
        if (l->cols == DIMENSION_FIGURES)
            *c = shown_column(l->r, l->shown.items[l->columns.items[i]]);
        else
            *c = (struct column){l->r->axes[l->cols].values[l->columns.items[i]], "", true};
    }
}

static const char *row_head(struct layout *l, const struct entry *e, size_t dimension)
{
    if (dimension != DIMENSION_FIGURES)
        return cell_value(l->r, e->cell, dimension);
    size_t shown = l->shown.items[e->figure];
    return shown == SHOWN_COUNT     ? "n"
           : shown == SHOWN_OUTCOME ? "outcome"
           : shown == SHOWN_MODEL   ? "model"
                                    : figure_label(l->r, shown);
}

/* The axes that a table is about; those that have one value only say nothing. */
static void add_combination(struct layout *l, const struct entry *e, const char *before, struct strbuf *out)
{
    for (size_t i = 0; i < l->tables.len; i++) {
        size_t d = l->tables.items[i];
        if (d == DIMENSION_FIGURES || l->r->axes[d].used < 2)
            continue;
        strbuf_addf(out, "%s%s %s", before, l->r->axes[d].name, cell_value(l->r, e->cell, d));
        before = ", ";
    }
}

static const char *table_heading(struct layout *l, const struct entry *e)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (layout_figures_are_tables(l)) {
        const struct figure *f = &l->r->figures.items[l->shown.items[e->figure]];
        bool counts = f->unit == UNIT_COUNT || !f->measure[0];
        strbuf_addf(&text, "%s%s%s by %s", f->heading, counts ? "" : " in ", counts ? "" : f->measure,
                    l->r->axes[l->cols].name);
        add_combination(l, e, ": ", &text);
        return arena_strdup(l->r->arena, strbuf_text(&text));
    }
    add_combination(l, e, "", &text);
    return text.len ? arena_strdup(l->r->arena, strbuf_text(&text)) : "Results";
}

static const char *count_text(struct report *r, const struct cell *c)
{
    return c->counted == c->trial_count ? arena_printf(r->arena, "%zu", c->trial_count)
                                        : arena_printf(r->arena, "%zu of %zu", c->counted, c->trial_count);
}

/* A figure whose row or column does not say what became of its scenario: it says so itself. */
static struct field lonely_field(struct layout *l, const struct cell *c, size_t figure)
{
    struct report *r = l->r;
    bool finding = r->figures.items[figure].finding, ok = c->worst && c->worst->outcome == OUTCOME_OK;
    struct field f = {figure_text(r, c, figure), figure_range(r, c, figure), figure_tone(c, figure)};

    if (!c->figures[figure].n && !c->counted)
        f = (struct field){.text = c->became, .tone = cell_tone(c)}; /* that is why */
    else if (!ok && (!finding || !c->figures[figure].n))
        f = (struct field){arena_printf(r->arena, "%s (%s)", f.text, c->became), f.more, TONE_WARN};
    else if (c->counted < l->most && !finding && c->figures[figure].n == c->counted)
        f.text = arena_printf(r->arena, "%s (n %zu)", f.text, c->counted);
    if (r->models_differ && c->figures[figure].n && strncmp(r->figures.items[figure].key, "load.", 5) == 0)
        f.text = arena_printf(r->arena, "%s (%s)", f.text, c->model);
    return f;
}

/* Figures of a load that is of no one model belong to its phases. */
static struct field model_field(const struct report *r, const struct cell *c)
{
    if (c->mixed && !r->chosen && cell_has_part_rows(r, c, PART_PHASE))
        return (struct field){.text = "mixed: see Phases", .tone = TONE_WARN};
    if (c->mixed)
        return (struct field){.text = "mixed", .tone = TONE_WARN};
    return (struct field){.text = c->model[0] ? c->model : NOT_MEASURED};
}

static struct field shown_field(struct layout *l, const struct cell *c, size_t shown)
{
    struct report *r = l->r;

    if (shown == SHOWN_COUNT)
        return (struct field){.text = count_text(r, c)};
    if (shown == SHOWN_OUTCOME)
        return (struct field){.text = c->became, .tone = cell_tone(c)};
    if (shown == SHOWN_MODEL)
        return model_field(r, c);
    if (layout_figures_are_tables(l))
        return lonely_field(l, c, shown);
    return (struct field){figure_text(r, c, shown), figure_range(r, c, shown), figure_tone(c, shown)};
}

static size_t column_of(const struct layout *l, size_t rank)
{
    size_t low = 0, high = l->columns.len;

    while (low + 1 < high) {
        size_t middle = (low + high) / 2;
        if (l->columns.items[middle] <= rank)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct table *begin_table(struct layout *l, const struct entry *e)
{
    struct section *s = section_new(l->r, table_heading(l, e));

    s->table = table_new(l->r, l->rows.len + l->columns.len, l->rows.len);
    fill_columns(l, s->table);
    l->next_value = 0;
    return s->table;
}

/* What no entry fills is a combination that the sweep does not have. */
static struct field *blank_row(struct layout *l, struct table *t)
{
    struct field *row = table_row(l->r, t);

    for (size_t i = 0; i < l->columns.len; i++)
        row[l->rows.len + i] = (struct field){.text = NO_SCENARIO, .tone = TONE_FAINT};
    return row;
}

/* Rows for the values below `end` that the table has no scenario of. What a search might have asked for and
 * did not is not missing. */
static void add_absent_rows(struct layout *l, struct table *t, size_t end)
{
    for (; l->next_value < end; l->next_value++) {
        const struct axis *axis = &l->r->axes[l->rows.items[0]];
        const char *value = axis->values[l->next_value];
        if (!search_candidate(l->r, axis->name, value))
            blank_row(l, t)[0] = (struct field){.text = value};
    }
}

static struct field *begin_row(struct layout *l, struct table *t, const struct entry *e)
{
    if (l->value_rows) {
        size_t value = layout_place(e, l->rows.items[0]);
        add_absent_rows(l, t, value);
        l->next_value = value + 1;
    }
    struct field *row = blank_row(l, t);
    for (size_t i = 0; i < l->rows.len; i++)
        row[i] = (struct field){.text = row_head(l, e, l->rows.items[i])};
    return row;
}

static void write_entry(struct layout *l, struct field *row, const struct entry *e)
{
    if (l->cols != DIMENSION_FIGURES) {
        row[column_of(l, e->cell->ranks[l->cols])] = shown_field(l, e->cell, l->shown.items[e->figure]);
        return;
    }
    for (size_t i = 0; i < l->shown.len; i++)
        row[i] = shown_field(l, e->cell, l->shown.items[i]);
}

/* --- what the table does not say by itself --- */

/* What occurs in a layout's tables, and so needs a word. */
struct occurring {
    bool spread, range, failing, left_out, merged, not_merged, absent, unmeasured, parts;
};

static struct occurring look_at(const struct layout *l)
{
    struct occurring o = {0};

    for (size_t i = 0; i < l->r->cells.len; i++) {
        const struct cell *c = &l->r->cells.items[i];
        o.spread |= c->counted > 1;
        o.merged |= c->merged;
        o.not_merged |= c->counted > 1 && !c->merged;
        o.failing |= c->contaminated;
        o.left_out |= c->counted < c->trial_count;
    }
    for (size_t i = 0; i < l->r->asked.len; i++)
        o.parts |= figure_of_part(&l->r->figures.items[l->r->asked.items[i]]);
    for (size_t i = l->first_section; i < l->r->sections.len; i++) {
        const struct table *t = l->r->sections.items[i].table;
        for (size_t k = 0; k < t->rows.len * t->column_count; k++) {
            const char *text = t->rows.items[k / t->column_count].fields[k % t->column_count].text;
            o.absent |= k % t->column_count >= t->heads && strcmp(text, NO_SCENARIO) == 0;
            bool unmeasured = text_starts(text, NOT_MEASURED); /* also with what became of it */
            o.unmeasured |= unmeasured;
            o.range |= k % t->column_count >= t->heads && strstr(text, "–") && !unmeasured;
        }
    }
    return o;
}

/* Below the last of the tables. */
static void write_caption(struct layout *l)
{
    struct section *last = &l->r->sections.items[l->r->sections.len - 1];
    struct occurring o = look_at(l);

    if (o.spread)
        section_line(
            last, "Medians over trials, each a start on fresh containers; ± is the coefficient of variation "
                  "between trials.");
    if (o.merged)
        section_line(last, o.not_merged ? "Percentiles of scenarios whose trials all left a histogram are of "
                                          "these, merged; the others are medians."
                           : o.parts    ? "Percentiles of a whole load are of the merged histograms of all "
                                          "trials, those of its parts are medians."
                                        : "Percentiles are of the merged histograms of all trials.");
    if (o.range)
        section_line(last, "Two numbers with a dash are the lowest and the highest trial.");
    list_drains(l->r, last);
    if (layout_figures_are_tables(l))
        section_line(last, arena_printf(l->r->arena, "n = %zu trial%s unless a figure says otherwise.",
                                        l->most, plural(l->most)));
    if (o.left_out)
        section_line(last,
                     "Figures are those of trials that ran to their end and, where there are any, neither "
                     "crashed nor restarted; restarts and OOM kills are those of all.");
    if (o.failing)
        section_line(last,
                     "Where every trial crashed, restarted or lost a process to the OOM killer, the figures "
                     "are those of a service that was failing.");
    if (o.unmeasured || o.absent)
        section_line(last, !o.absent      ? "–: not measured."
                           : o.unmeasured ? "–: no trial measured it; not measured: not part of the sweep."
                                          : "Not measured: not part of the sweep.");
}

void layout_write(struct layout *l)
{
    struct table *table = NULL;
    struct field *row = NULL;

    assert(l->entries.items);
    l->first_section = l->r->sections.len;
    for (size_t i = 0; i < l->entries.len; i++) {
        const struct entry *e = &l->entries.items[i], *before = i ? e - 1 : NULL;
        bool new_table = !before || layout_compare(before, e, l->tables.items, l->tables.len) != 0;
        bool new_row = new_table || layout_compare(before, e, l->rows.items, l->rows.len) != 0 ||
                       l->cols == DIMENSION_FIGURES ||
                       layout_place(before, l->cols) == layout_place(e, l->cols);
        if (new_table) {
            if (table)
                add_absent_rows(l, table, l->value_rows);
            table = begin_table(l, e);
        }
        if (new_row)
            row = begin_row(l, table, e);
        write_entry(l, row + l->rows.len, e);
    }
    add_absent_rows(l, table, l->value_rows);
    write_caption(l);
}

/* --- tables of one scenario a row --- */

static bool cell_has_any(const struct cell *c, const size_t *figures, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c->figures[figures[i]].n)
            return true;
    return false;
}

static void cell_row(struct report *r, struct table *t, const struct cell *c, const size_t *figures)
{
    struct field *row = table_row(r, t);

    for (size_t i = 0; i < r->axis_count; i++)
        row[i] = (struct field){.text = cell_value(r, c, i)};
    for (size_t i = t->heads; i < t->column_count; i++) {
        size_t f = figures[i - t->heads];
        row[i] = (struct field){figure_text(r, c, f), figure_range(r, c, f), figure_tone(c, f)};
    }
}

struct section *figure_section(struct report *r, const char *heading, unsigned table)
{
    return figure_section_where(r, heading, table, NULL);
}

struct section *figure_section_where(struct report *r, const char *heading, unsigned table,
                                     bool (*keep)(const struct cell *c))
{
    VEC(size_t) figures = {0};
    struct section *s = NULL;

    for (size_t f = 0; f < r->figures.len; f++)
        if ((r->figures.items[f].tables & table) && figure_shown(r, f))
            vec_push(&figures, f);
    if (figures.len) {
        s = section_new(r, heading);
        s->table = table_new(r, r->axis_count + figures.len, r->axis_count);
        for (size_t i = 0; i < r->axis_count; i++)
            s->table->columns[i] = (struct column){r->axes[i].name, "", false};
        for (size_t i = 0; i < figures.len; i++)
            s->table->columns[r->axis_count + i] = shown_column(r, figures.items[i]);
        for (size_t i = 0; i < r->cells.len; i++)
            if (cell_has_any(&r->cells.items[i], figures.items, figures.len) &&
                (!keep || keep(&r->cells.items[i])))
                cell_row(r, s->table, &r->cells.items[i], figures.items);
    }
    vec_release(&figures);
    return s;
}
