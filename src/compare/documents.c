/* SPDX-License-Identifier: MIT */
/* A comparison as a table, as Markdown, as JSON. */
#include <string.h>

#include "words.h"

#define COLUMNS (2 + COMPARE_FIGURES)

/* --- the cells that both tables have --- */

struct row {
    char *cells[COLUMNS];
};

static void row_release(struct row *r)
{
    for (size_t i = 0; i < COLUMNS; i++)
        free(r->cells[i]);
}

static void fill_head(struct row *r)
{
    r->cells[0] = xstrdup("scenario");
    r->cells[1] = xstrdup("outcomes");
    for (int f = 0; f < COMPARE_FIGURES; f++)
        r->cells[2 + f] = xstrdup(compare_figure_label((enum compare_figure)f));
}

static void add_outcomes(const struct comparison *c, const struct compared_scenario *s, struct strbuf *out)
{
    bool same =
        s->then_n == s->now_n && memcmp(s->then_outcomes, s->now_outcomes, sizeof(s->now_outcomes)) == 0;

    words_outcomes(s->then_outcomes, out);
    if (same)
        return;
    strbuf_adds(out, " -> ");
    words_outcomes(s->now_outcomes, out);
    if (!s->then_n || !s->now_n)
        strbuf_addf(out, " (only in %s)", s->then_n ? c->then_name : c->now_name);
}

static void fill_row(const struct comparison *c, const struct compared_scenario *s, struct row *r)
{
    struct strbuf text = STRBUF_INIT;

    r->cells[0] = xstrdup(s->name);
    add_outcomes(c, s, &text);
    r->cells[1] = strbuf_detach(&text);
    for (int f = 0; f < COMPARE_FIGURES; f++) {
        struct strbuf cell = STRBUF_INIT;
        compare_figure_text(c, &s->figures[f], &cell);
        r->cells[2 + f] = strbuf_detach(&cell);
    }
}

/* How to read it. */
static void add_legend(const struct comparison *c, struct strbuf *out)
{
    strbuf_addf(
        out,
        "Ratios are %s : %s, of geometric means over trials, with 95 %% intervals. reproduced: the 90 %% "
        "interval is within ",
        c->now_name, c->then_name);
    words_percent(c->margin, out);
    strbuf_addf(
        out,
        "; differs: farther from 1 than that, and Holm's test over all scenarios is sure of it at 5 %%; "
        "undecided: more trials would tell; not judged: fewer than %d trials on a side. Values of 0 have no "
        "ratio.\n",
        COMPARE_TRIALS_MIN);
}

/* --- for a terminal --- */

static void measure(const struct row *r, size_t width[COLUMNS])
{
    for (size_t i = 0; i < COLUMNS; i++)
        if (strlen(r->cells[i]) > width[i])
            width[i] = strlen(r->cells[i]);
}

static void add_line(const struct row *r, const size_t width[COLUMNS], struct strbuf *out)
{
    for (size_t i = 0; i < COLUMNS; i++)
        strbuf_addf(out, "%-*s%s", i + 1 < COLUMNS ? (int)width[i] : 0, r->cells[i],
                    i + 1 < COLUMNS ? "  " : "\n");
}

void compare_table(const struct comparison *c, struct strbuf *out)
{
    struct row *rows = xcalloc(c->len + 1, sizeof(*rows));
    size_t width[COLUMNS] = {0};

    fill_head(&rows[0]);
    for (size_t i = 0; i < c->len; i++)
        fill_row(c, &c->scenarios[i], &rows[i + 1]);
    for (size_t i = 0; i <= c->len; i++)
        measure(&rows[i], width);
    for (size_t i = 0; i <= c->len; i++) {
        add_line(&rows[i], width, out);
        row_release(&rows[i]);
    }
    free(rows);
    strbuf_adds(out, "\n");
    add_legend(c, out);
    compare_headline(c, out);
    strbuf_adds(out, "\n");
}

/* --- Markdown --- */

static void add_cell(const char *text, struct strbuf *out)
{
    strbuf_adds(out, " ");
    for (; *text; text++)
        strbuf_addf(out, strchr("|\\`*_<", *text) ? "\\%c" : "%c", *text);
    strbuf_adds(out, " |");
}

static void add_row(const struct row *r, struct strbuf *out)
{
    strbuf_adds(out, "|");
    for (size_t i = 0; i < COLUMNS; i++)
        add_cell(r->cells[i], out);
    strbuf_adds(out, "\n");
}

void compare_markdown(const struct comparison *c, const char *title, struct strbuf *out)
{
    CLEANUP_VALUE(row_release) struct row head = {0};

    strbuf_addf(out, "# %s\n\n", title);
    compare_headline(c, out);
    strbuf_adds(out, ".\n\n");
    fill_head(&head);
    add_row(&head, out);
    strbuf_adds(out, "|");
    for (size_t i = 0; i < COLUMNS; i++)
        strbuf_adds(out, "---|");
    strbuf_adds(out, "\n");
    for (size_t i = 0; i < c->len; i++) {
        CLEANUP_VALUE(row_release) struct row r = {0};
        fill_row(c, &c->scenarios[i], &r);
        add_row(&r, out);
    }
    strbuf_adds(out, "\n");
    add_legend(c, out);
}

/* --- JSON --- */

static struct json *outcomes_json(const size_t counts[OUTCOMES])
{
    struct json *j = json_new_object();

    for (int o = 0; o < OUTCOMES; o++)
        if (counts[o])
            json_set_int(j, outcome_name((enum outcome)o), (int64_t)counts[o]);
    return j;
}

static struct json *figure_json(const struct compared_figure *f)
{
    struct json *j = json_new_object();

    json_set_number(j, "then", f->then);
    json_set_number(j, "now", f->now);
    json_set_int(j, "then_n", (int64_t)f->ratio.base_n);
    json_set_int(j, "now_n", (int64_t)f->ratio.other_n);
    json_set_int(j, "then_zeros", (int64_t)f->ratio.base_zeros);
    json_set_int(j, "now_zeros", (int64_t)f->ratio.other_zeros);
    json_set_number(j, "ratio", f->ratio.ratio);
    json_set_number(j, "low", f->low);
    json_set_number(j, "high", f->high);
    json_set_number(j, "p", f->p);
    json_set_text(j, "verdict", compare_verdict_name(f->verdict));
    return j;
}

struct json *compare_json(const struct comparison *c)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf headline = STRBUF_INIT;
    struct json *j = json_new_object(), *list = json_new_array();

    compare_headline(c, &headline);
    json_set_text(j, "headline", strbuf_text(&headline));
    json_set_number(j, "margin", c->margin);
    json_set_text(j, "then", c->then_name);
    json_set_text(j, "now", c->now_name);
    json_set_int(j, "outcomes_differ", (int64_t)c->outcomes_differ);
    for (size_t i = 0; i < c->len; i++) {
        const struct compared_scenario *s = &c->scenarios[i];
        struct json *one = json_new_object(), *figures = json_new_object();
        json_set_text(one, "scenario", s->name);
        json_set_bool(one, "outcomes_differ", s->outcomes_differ);
        json_set(one, "then_outcomes", outcomes_json(s->then_outcomes));
        json_set(one, "now_outcomes", outcomes_json(s->now_outcomes));
        for (int f = 0; f < COMPARE_FIGURES; f++)
            json_set(figures, compare_figure_name((enum compare_figure)f), figure_json(&s->figures[f]));
        json_set(one, "figures", figures);
        json_append(list, one);
    }
    json_set(j, "scenarios", list);
    return j;
}
