/* SPDX-License-Identifier: MIT */
/* Cells as CSV (RFC 4180) and JSON, for other programs. Not measured is an empty field, or absent. */
#include "machine.h"
#include "memory_curve.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/plain_text.h"

static void csv_number(struct strbuf *out, double value)
{
    strbuf_addc(out, ',');
    if (isfinite(value))
        strbuf_addf(out, "%.10g", value);
}

static void csv_header(const struct report *r, struct strbuf *out)
{
    for (size_t i = 0; i < r->axis_count; i++) {
        csv_add(out, r->axes[i].name);
        strbuf_addc(out, ',');
    }
    strbuf_adds(out, "scenario,trials,counted,outcome,outcomes,reason");
    for (size_t f = 0; f < r->figures.len; f++) {
        static const char *const columns[] = {"", ".n", ".min", ".max", ".cv_pct"};
        for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
            CLEANUP_FREE char *name = xasprintf("%s%s", r->figures.items[f].key, columns[i]);
            strbuf_addc(out, ',');
            csv_add(out, name);
        }
    }
    if (r->sweep->canary_count)
        strbuf_adds(out, ",host_drift_trials"); /* near a canary that left its band */
    strbuf_adds(out, "\r\n");
}

/* "ok:2 crashed:1" */
static void csv_outcomes(const struct cell *c, struct strbuf *out)
{
    const char *between = "";

    for (int o = 0; o < OUTCOMES; o++) {
        if (!c->outcomes[o])
            continue;
        strbuf_addf(out, "%s%s:%zu", between, outcome_name((enum outcome)o), c->outcomes[o]);
        between = " ";
    }
}

static void csv_cell(const struct report *r, const struct cell *c, struct strbuf *out)
{
    for (size_t k = 0; k < r->axis_count; k++) {
        csv_add(out, cell_value(r, c, k));
        strbuf_addc(out, ',');
    }
    csv_add(out, c->scenario);
    strbuf_addf(out, ",%zu,%zu,%s,", c->trial_count, c->counted,
                c->worst ? outcome_name(c->worst->outcome) : "");
    csv_outcomes(c, out);
    strbuf_addc(out, ',');
    csv_add(out, c->worst && c->worst->reason ? c->worst->reason : "");
    for (size_t f = 0; f < r->figures.len; f++) {
        const struct summary *s = &c->figures[f];
        const struct figure *figure = &r->figures.items[f];
        csv_number(out, !figure->finding ? s->median : figure->low_is_bad ? s->min : s->max);
        strbuf_addf(out, ",%zu", s->n);
        csv_number(out, s->min);
        csv_number(out, s->max);
        csv_number(out, s->cv_pct);
    }
    if (r->sweep->canary_count)
        strbuf_addf(out, ",%zu", cell_marked(r, c));
    strbuf_adds(out, "\r\n");
}

void render_csv(const struct report *r, struct strbuf *out)
{
    csv_header(r, out);
    for (size_t i = 0; i < r->cells.len; i++)
        csv_cell(r, &r->cells.items[i], out);
}

#define MEMBER(NAME, HELP)                                                                                   \
    {                                                                                                        \
#NAME, offsetof(struct summary, NAME), HELP                                                          \
    }

const struct summary_member summary_members[] = {
    MEMBER(median, "of the trials that count; percentiles of merged histograms where they are merged"),
    MEMBER(mean, "of the trials that count"),
    MEMBER(min, "the lowest trial"),
    MEMBER(max, "the highest trial"),
    MEMBER(stdev, "sample standard deviation; null with fewer than two trials"),
    MEMBER(cv_pct, "stdev / mean, in percent"),
    MEMBER(low, "of the 95 % confidence interval of the mean"),
    MEMBER(high, "of the 95 % confidence interval of the mean"),
};
const size_t summary_member_count = ARRAY_LEN(summary_members);

static struct json *summary_json(const struct summary *s)
{
    struct json *j = json_new_object();

    json_set_int(j, "n", (int64_t)s->n);
    for (size_t i = 0; i < summary_member_count; i++) {
        double value;
        memcpy(&value, (const char *)s + summary_members[i].offset, sizeof(value));
        json_set_number(j, summary_members[i].name, value);
    }
    return j;
}

static void add_part_json(const struct report *r, const struct cell *c, enum part_kind kind, const char *name,
                          struct json *part)
{
    enum source source = kind == PART_PHASE ? SOURCE_PHASE : SOURCE_REQUEST;
    struct json *figures = json_new_object();

    for (size_t f = 0; f < r->figures.len; f++)
        if (r->figures.items[f].source == source && strcmp(r->figures.items[f].of, name) == 0 &&
            c->figures[f].n)
            json_set(figures, r->figures.items[f].path, summary_json(&c->figures[f]));
    json_set(part, "figures", figures);
}

/* Phases or kinds of request; figures of those that are not the whole load. */
static struct json *parts_json(const struct report *r, const struct cell *c, enum part_kind kind)
{
    const struct trial_parts *p = cell_parts(r, c, kind);
    struct json *list = json_new_array();

    for (size_t i = 0; p && i < p->count[kind]; i++) {
        const struct load_part *part = &p->items[kind][i];
        struct json *j = json_new_object();
        json_set_text(j, "name", part->name);
        if (kind == PART_PHASE) {
            json_set_text(j, "model", part->model);
            json_set_bool(j, "warmup", part->warmup);
            json_set_number(j, "begin_ms", part->begin_ms);
        }
        add_part_json(r, c, kind, part->name, j);
        json_append(list, j);
    }
    return list;
}

static struct json *cell_json(const struct report *r, const struct cell *c)
{
    struct json *j = json_new_object(), *axes = json_new_object(), *outcomes = json_new_object(),
                *figures = json_new_object(), *trials = json_new_array();

    for (size_t i = 0; i < r->axis_count; i++)
        json_set_text(axes, r->axes[i].name, cell_value(r, c, i));
    for (int o = 0; o < OUTCOMES; o++)
        if (c->outcomes[o])
            json_set_int(outcomes, outcome_name((enum outcome)o), (int64_t)c->outcomes[o]);
    for (size_t f = 0; f < r->figures.len; f++)
        if (c->figures[f].n)
            json_set(figures, r->figures.items[f].key, summary_json(&c->figures[f]));
    for (size_t i = 0; i < c->trial_count; i++)
        json_append(trials, marked_trial_json(r, c->trials[i]));
    json_set_text(j, "scenario", c->scenario);
    json_set(j, "axes", axes);
    json_set_int(j, "trials_counted", (int64_t)c->counted);
    json_set_text(j, "outcome", c->worst ? outcome_name(c->worst->outcome) : NULL);
    json_set_text(j, "reason", c->worst ? c->worst->reason : NULL);
    json_set_bool(j, "contaminated", c->contaminated);
    json_set_bool(j, "merged", c->merged);
    json_set_text(j, "model", c->load ? c->load->model : NULL);
    json_set_text(j, "corrected", c->load ? c->load->corrected : NULL);
    limiting_json(r, c, j);
    json_set(j, "phases", parts_json(r, c, PART_PHASE));
    json_set(j, "requests", parts_json(r, c, PART_REQUEST));
    json_set(j, "outcomes", outcomes);
    json_set(j, "figures", figures);
    json_set(j, "trials", trials);
    return j;
}

/* As a part of a larger document, `indent` (at most 4) deep in it; takes `j` over. A text of JSON has no line
 * breaks. */
static void add_indented(struct strbuf *out, struct json *j, size_t indent)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = out->max};

    json_write(j, JSON_STYLE_INDENTED, &text);
    json_free(j);
    for (const char *line = strbuf_text(&text); *line;) {
        size_t n = strcspn(line, "\n");
        strbuf_add(out, line, n);
        line += n;
        if (*line++ != '\n')
            break;
        strbuf_add(out, "\n    ", 1 + indent);
    }
    out->overflow |= text.overflow;
}

/* The members of `j`, each followed by a comma; takes it over. */
static void add_members(struct strbuf *out, struct json *j)
{
    for (void *it = json_iter(j); it; it = json_iter_next(j, it)) {
        strbuf_addf(out, "  \"%s\": ", json_iter_key(it));
        add_indented(out, json_clone(json_iter_value(it)), 2);
        strbuf_adds(out, ",\n");
    }
    json_free(j);
}

/* Scenario after scenario: a sweep's records as one tree would take six times as much memory as its text. */
void render_json(const struct report *r, struct strbuf *out)
{
    struct json *head = json_new_object();

    json_set_text(head, "title", r->title);
    json_set_bool(head, "complete", r->sweep->complete);
    discrimination_json(r, head);
    canary_json(r, head);
    controls_json(r, head);
    contrasts_json(r, head);
    if (r->interaction_count)
        json_set(head, "interactions", interactions_json(r));
    json_set(head, "sweep", r->sweep->info ? json_clone(r->sweep->info) : json_new_null());
    strbuf_adds(out, "{\n");
    add_members(out, head);
    strbuf_adds(out, "  \"scenarios\": [");
    for (size_t i = 0; i < r->cells.len; i++) {
        strbuf_adds(out, i ? ",\n    " : "\n    ");
        add_indented(out, cell_json(r, &r->cells.items[i]), 4);
    }
    strbuf_adds(out, r->cells.len ? "\n  ],\n  \"memory_curve\": " : "],\n  \"memory_curve\": ");
    add_indented(out, memory_curves_json(r), 2);
    strbuf_adds(out, "\n}\n");
}
