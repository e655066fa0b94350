/* SPDX-License-Identifier: MIT */
/* Values of the matrix's checks, and why those that could not be evaluated have none. */
#include "layout.h"
#include "remarks.h"

#include <math.h>
#include <string.h>

static const struct check_result *check_of(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->check_count; i++)
        if (text_equal(t->checks[i].name, name))
            return &t->checks[i];
    return NULL;
}

static bool evaluated(const struct check_result *c)
{
    return c->value || !c->message;
}

/* What a scenario's trials have of one check. */
struct check_seen {
    size_t trials, missing; /* that have it; of which it could not be evaluated */
    const char *text;       /* the first value */
    bool differs;           /* another trial's is another */
    bool failed;            /* not as expected */
};

static struct check_seen look_at(const struct cell *c, const char *name)
{
    struct check_seen seen = {0};

    for (size_t i = 0; i < c->trial_count; i++) {
        const struct check_result *check = check_of(c->trials[i], name);
        if (!check)
            continue;
        seen.trials++;
        seen.missing += !evaluated(check);
        seen.failed |= check->gated && !check->passed;
        if (check->value && seen.text)
            seen.differs |= !text_equal(check->value, seen.text);
        else if (check->value)
            seen.text = check->value;
    }
    return seen;
}

static struct field check_field(struct report *r, const struct cell *c, size_t figure)
{
    struct check_seen seen = look_at(c, r->figures.items[figure].of);
    struct field f = {.tone = seen.failed ? TONE_BAD : seen.missing ? TONE_WARN : TONE_PLAIN};

    if (!seen.trials)
        return (struct field){.text = NOT_MEASURED, .tone = TONE_FAINT};
    if (seen.missing == seen.trials)
        return (struct field){.text = "not evaluated", .tone = f.tone};
    if (c->figures[figure].n)
        f.text = figure_text(r, c, figure);
    else
        f.text = seen.text ? seen.text : NOT_MEASURED;
    if (!c->figures[figure].n && seen.differs)
        f.text = arena_printf(r->arena, "%s, and others", f.text);
    if (seen.missing)
        f.text = arena_printf(r->arena, "%s (%zu of %zu not evaluated)", f.text, seen.missing, seen.trials);
    return f;
}

static bool has_checks(const struct cell *c)
{
    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->check_count)
            return true;
    return false;
}

static void check_table(struct report *r, struct section *s, const size_t *figures, size_t count)
{
    s->table = table_new(r, r->axis_count + count, r->axis_count);
    for (size_t i = 0; i < r->axis_count; i++)
        s->table->columns[i].name = r->axes[i].name;
    for (size_t i = 0; i < count; i++)
        s->table->columns[r->axis_count + i] = (struct column){r->figures.items[figures[i]].name, "", true};
    for (size_t k = 0; k < r->cells.len; k++) {
        const struct cell *c = &r->cells.items[k];
        if (!has_checks(c))
            continue;
        struct field *row = table_row(r, s->table);
        for (size_t i = 0; i < r->axis_count; i++)
            row[i].text = cell_value(r, c, i);
        for (size_t i = 0; i < count; i++)
            row[r->axis_count + i] = check_field(r, c, figures[i]);
    }
}

static void why_not(struct remarks *all, const struct trial *t, const struct check_result *check)
{
    const struct said said = {
        .label = arena_printf(all->r->arena, "%s: not evaluated: ", check->name ? check->name : "?"),
        .message = check->message,
        .by_rule = true,
        .tone = TONE_WARN,
        .count = NAN,
        .at_ms = NAN};

    remark_on(all, t, &said);
}

void list_checks(struct report *r)
{
    struct remarks all = {.r = r};
    VEC(size_t) figures = {0};

    for (size_t f = 0; f < r->figures.len; f++)
        if (r->figures.items[f].tables & TABLE_CHECKS)
            vec_push(&figures, f);
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        for (size_t k = 0; k < c->trial_count; k++)
            for (size_t n = 0; n < c->trials[k]->check_count; n++)
                if (!evaluated(&c->trials[k]->checks[n]))
                    why_not(&all, c->trials[k], &c->trials[k]->checks[n]);
    }
    struct section *s = figures.len || all.items.len ? section_new(r, "Checks") : NULL;
    if (figures.len)
        check_table(r, s, figures.items, figures.len);
    add_remarks(&all, s);
    vec_release(&figures);
}
