/* SPDX-License-Identifier: MIT */
/*
 * Every number of every trial as long ("tidy") CSV: one row per trial and metric, which is what data frames
 * are made from. What was not measured has no row, so that no program can take it for 0.
 */
#include "machine.h"

#include <string.h>
#include "benchctl/base/plain_text.h"

static const char *const fixed_columns[] = {"scenario", "trial",  "position", "round", "outcome",
                                            "counted",  "metric", "value",    "unit"};

/* An axis may be called like a column of ours. */
static void add_axis_name(struct strbuf *out, const char *axis)
{
    CLEANUP_FREE char *other = xasprintf("axis.%s", axis);
    bool taken = false;

    for (size_t i = 0; i < ARRAY_LEN(fixed_columns); i++)
        taken |= strcmp(fixed_columns[i], axis) == 0;
    csv_add(out, taken ? other : axis);
}

static void tidy_header(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out, fixed_columns[0]);
    for (size_t i = 0; i < r->axis_count; i++) {
        strbuf_addc(out, ',');
        add_axis_name(out, r->axes[i].name);
    }
    for (size_t i = 1; i < ARRAY_LEN(fixed_columns); i++)
        strbuf_addf(out, ",%s", fixed_columns[i]);
    strbuf_adds(out, "\r\n");
}

struct rows {
    struct strbuf *out;
    struct strbuf begin; /* what all rows of the trial have in common */
};

static void tidy_row(const char *name, double value, const char *unit, void *data)
{
    struct rows *rows = data;

    strbuf_add(rows->out, rows->begin.data, rows->begin.len);
    csv_add(rows->out, name);
    strbuf_addc(rows->out, ',');
    machine_number(rows->out, value);
    strbuf_addf(rows->out, ",%s\r\n", unit);
}

/* In an interleaved sweep the first trial of each scenario is the first round, and so on. */
static bool has_rounds(const struct report *r)
{
    return text_equal(json_get_text(json_get(r->sweep->info, "order"), "mode"), "interleaved");
}

static void tidy_trial(const struct report *r, const struct cell *c, const struct trial *t, struct rows *rows)
{
    strbuf_clear(&rows->begin);
    csv_add(&rows->begin, c->scenario);
    for (size_t i = 0; i < r->axis_count; i++) {
        strbuf_addc(&rows->begin, ',');
        csv_add(&rows->begin, cell_value(r, c, i));
    }
    strbuf_addf(&rows->begin, ",%d,%zu,", t->trial, (size_t)(t - r->sweep->trials) + 1);
    if (has_rounds(r))
        strbuf_addf(&rows->begin, "%d", t->trial);
    strbuf_addf(&rows->begin, ",%s,%s,", outcome_name(t->outcome),
                trial_counts(c, t, NULL) ? "true" : "false");
    trial_numbers(r, t, tidy_row, rows);
}

void render_tidy(const struct report *r, struct strbuf *out)
{
    struct rows rows = {.out = out};

    tidy_header(r, out);
    for (size_t i = 0; i < r->cells.len; i++)
        for (size_t k = 0; k < r->cells.items[i].trial_count; k++)
            tidy_trial(r, &r->cells.items[i], r->cells.items[i].trials[k], &rows);
    strbuf_release(&rows.begin);
}
