/* SPDX-License-Identifier: MIT */
/*
 * Contrasts of contrasts: "stack x memory" asks whether the ratio that the stack makes is another one at 256m
 * than without a limit. Two tables that somebody compares by eye do not say; a ratio of ratios with an
 * interval does. Of throughput; all of them are one family of tests.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>

#define INTERACTIONS_MAX 200
#define ALPHA 0.05

/* Four scenarios: the axis' values a and b, each at the other axis' values c and d. */
struct quad {
    const struct cell *ac, *bc, *ad, *bd;
};

static const struct trial *of_round(const struct cell *c, int round)
{
    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->trial == round)
            return c->trials[i];
    return NULL;
}

/* NAN: it has none that is its own. */
static double throughput(const struct trial *t)
{
    bool counts = t && (t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED) && t->has_load;

    return counts && !(t->app.restarts > 0) && !(t->app.oom_kills > 0) ? t->load.goodput_rps : NAN;
}

/* By rounds: what both met in the same hour goes out of the ratio. */
static void ratio_of(struct report *r, const struct cell *a, const struct cell *b, struct stats_ratio *ret)
{
    double *x = arena_array(r->arena, double, a->trial_count + 1),
           *y = arena_array(r->arena, double, a->trial_count + 1);

    for (size_t i = 0; i < a->trial_count; i++) {
        x[i] = throughput(a->trials[i]);
        y[i] = throughput(of_round(b, a->trials[i]->trial));
    }
    stats_ratio_paired(x, y, a->trial_count, ret);
}

static const struct cell *with_value(const struct report *r, const struct cell *of, size_t axis, size_t rank)
{
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        bool same = c->trial_count > 0 && c->ranks[axis] == rank;
        for (size_t k = 0; k < r->axis_count && same; k++)
            same = k == axis || c->ranks[k] == of->ranks[k];
        if (same)
            return c;
    }
    return NULL;
}

static const char *name_of(struct report *r, const struct quad *q, size_t axis, size_t by)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s : %s, at %s against %s", cell_value(r, q->bc, axis), cell_value(r, q->ac, axis),
                cell_value(r, q->ad, by), cell_value(r, q->ac, by));
    for (size_t i = 0; i < r->axis_count; i++)
        if (i != axis && i != by && r->axes[i].used >= 2)
            strbuf_addf(&text, ", %s", cell_value(r, q->ac, i));
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void add_quad(struct report *r, const struct quad *q, size_t axis, size_t by)
{
    struct stats_ratio at_c, at_d;

    if (r->interaction_count == INTERACTIONS_MAX)
        return;
    struct interaction *x = &r->interactions[r->interaction_count++];
    ratio_of(r, q->ac, q->bc, &at_c);
    ratio_of(r, q->ad, q->bd, &at_d);
    stats_ratio_of_ratios(&at_c, &at_d, &x->ratio);
    x->name = name_of(r, q, axis, by);
}

/* The first value of the one and of the other axis is what the others are held against. */
static void ask(struct report *r, size_t axis, size_t by)
{
    for (size_t i = 0; i < r->cells.len; i++) {
        struct quad q = {.ac = &r->cells.items[i]};
        for (size_t b = 1;
             q.ac->trial_count && !q.ac->ranks[axis] && !q.ac->ranks[by] && b < r->axes[axis].value_count;
             b++)
            for (size_t d = 1; d < r->axes[by].value_count; d++) {
                q.bc = with_value(r, q.ac, axis, b);
                q.ad = with_value(r, q.ac, by, d);
                q.bd = q.bc ? with_value(r, q.bc, by, d) : NULL;
                if (q.bc && q.ad && q.bd)
                    add_quad(r, &q, axis, by);
            }
    }
}

void report_interactions(struct report *r)
{
    const struct json *list = json_get(r->sweep->plan, "contrasts");

    r->interactions = arena_array(r->arena, struct interaction, INTERACTIONS_MAX);
    for (size_t i = 0; i < json_len(list); i++) {
        const char *axis = json_get_text(json_at(list, i), "axis"),
                   *by = json_get_text(json_at(list, i), "by");
        if (axis && by && report_axis(r, axis) < r->axis_count && report_axis(r, by) < r->axis_count)
            ask(r, report_axis(r, axis), report_axis(r, by));
    }
    double *p = arena_array(r->arena, double, r->interaction_count + 1);
    for (size_t i = 0; i < r->interaction_count; i++) {
        const struct stats_ratio *x = &r->interactions[i].ratio;
        p[i] = x->base_n >= COMPARE_TRIALS_MIN && x->other_n >= COMPARE_TRIALS_MIN ? x->p : NAN;
    }
    stats_holm(p, r->interaction_count, p);
    for (size_t i = 0; i < r->interaction_count; i++)
        r->interactions[i].p = p[i];
}

static const char *words_of(struct report *r, const struct interaction *x)
{
    size_t n = x->ratio.base_n < x->ratio.other_n ? x->ratio.base_n : x->ratio.other_n;
    double low, high;

    if (isnan(x->ratio.ratio))
        return "not compared: no figure of one of the four";
    stats_ratio_interval(&x->ratio, 0.95, &low, &high);
    if (isnan(x->p))
        return arena_printf(r->arena, "%.2f times as much (n = %zu: no verdict)", x->ratio.ratio, n);
    return arena_printf(r->arena, "%s: %.2f times as much [%.2f, %.2f]",
                        x->p < ALPHA ? "changes" : "not known to change", x->ratio.ratio, low, high);
}

void list_interactions(struct report *r)
{
    if (!r->interaction_count)
        return;
    struct section *s = section_new(r, "Contrasts of contrasts");
    s->table = table_new(r, 2, 1);
    s->table->columns[0] = (struct column){"ratio of throughputs", "", false};
    s->table->columns[1] = (struct column){"change", "", false};
    for (size_t i = 0; i < r->interaction_count; i++) {
        const struct interaction *x = &r->interactions[i];
        struct field *row = table_row(r, s->table);
        row[0].text = x->name;
        row[1] = (struct field){.text = words_of(r, x), .tone = x->p < ALPHA ? TONE_PLAIN : TONE_FAINT};
    }
    section_line(s, "Whether the ratio of two values is another one along the other axis: the ratio of both "
                    "ratios, by rounds, with "
                    "its 95 % interval; all of them are one family (Holm, 5 %).");
}

struct json *interactions_json(const struct report *r)
{
    struct json *list = json_new_array();

    for (size_t i = 0; i < r->interaction_count; i++) {
        const struct interaction *x = &r->interactions[i];
        struct json *j = json_new_object();
        double low, high;
        stats_ratio_interval(&x->ratio, 0.95, &low, &high);
        json_set_text(j, "name", x->name);
        json_set_number(j, "ratio", x->ratio.ratio);
        json_set_number(j, "low", low);
        json_set_number(j, "high", high);
        json_set_number(j, "p", x->p);
        json_append(list, j);
    }
    return list;
}
