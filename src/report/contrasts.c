/* SPDX-License-Identifier: MIT */
/*
 * The matrix' contrasts, answered: every pair of values of an axis, all other axes being equal. All pairs of
 * all contrasts are one family of tests. Trials of one round are pairs.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>

#define PAIRS_MAX 500 /* further ones are counted */

struct asking {
    struct report *r;
    VEC(struct compare_trial) base, other;
    VEC(const char *) contrasts; /* of each pair, in the order in which they are made */
    size_t left_out;
};

/* A trial that restarted or was killed has no speed. */
static struct compare_trial take(const struct trial *t, const char *name)
{
    struct compare_trial ret;

    compare_take(t, &ret);
    ret.scenario = name;
    for (int f = 0; f < COMPARE_FIGURES && (t->app.restarts > 0 || t->app.oom_kills > 0); f++)
        ret.figures[f] = NAN;
    return ret;
}

/* All axes but one, and that one is not the same. */
static bool is_pair(const struct report *r, const struct cell *a, const struct cell *b, size_t axis)
{
    for (size_t i = 0; i < r->axis_count; i++)
        if ((a->ranks[i] == b->ranks[i]) == (i == axis))
            return false;
    return true;
}

/* "imperative : reactive at micronaut, 256m" */
static const char *pair_name(struct report *r, const struct cell *a, const struct cell *b, size_t axis)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *before = " at ";

    strbuf_addf(&text, "%s : %s", cell_value(r, b, axis), cell_value(r, a, axis));
    for (size_t i = 0; i < r->axis_count; i++) {
        if (i == axis || r->axes[i].used < 2)
            continue;
        strbuf_addf(&text, "%s%s", before, cell_value(r, a, i));
        before = ", ";
    }
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void add_pair(struct asking *q, const struct cell *a, const struct cell *b, size_t axis,
                     const char *contrast)
{
    if (q->contrasts.len == PAIRS_MAX) {
        q->left_out++;
        return;
    }
    const char *name = pair_name(q->r, a, b, axis);
    for (size_t i = 0; i < a->trial_count; i++)
        vec_push(&q->base, take(a->trials[i], name));
    for (size_t i = 0; i < b->trial_count; i++)
        vec_push(&q->other, take(b->trials[i], name));
    vec_push(&q->contrasts, contrast);
}

static void ask(struct asking *q, size_t axis, const char *contrast)
{
    const struct report *r = q->r;

    for (size_t i = 0; i < r->cells.len; i++)
        for (size_t k = 0; k < r->cells.len; k++) {
            const struct cell *a = &r->cells.items[i], *b = &r->cells.items[k];
            if (a->trial_count && b->trial_count && a->ranks[axis] < b->ranks[axis] && is_pair(r, a, b, axis))
                add_pair(q, a, b, axis, contrast);
        }
}

void report_contrasts(struct report *r)
{
    const struct json *list = json_get(r->sweep->plan, "contrasts");
    struct asking q = {.r = r};

    for (size_t i = 0; i < json_len(list); i++) {
        const char *axis = json_get_text(json_at(list, i), "axis"),
                   *text = json_get_text(json_at(list, i), "contrast");
        size_t at = axis ? report_axis(r, axis) : r->axis_count;
        if (at < r->axis_count && !json_get_text(json_at(list, i), "by"))
            ask(&q, at, text ? text : axis);
    }
    if (q.contrasts.len) {
        const struct compare_set base = {"base", q.base.items, q.base.len},
                                 other = {"other", q.other.items, q.other.len};
        const struct compare_options o = {.margin = COMPARE_MARGIN_WITHIN, .paired = true};
        compare_sets(&base, &other, &o, &r->contrasts);
    }
    r->contrasts_left_out = q.left_out;
    vec_release(&q.base);
    vec_release(&q.other);
    vec_release(&q.contrasts);
}

/* --- shown --- */

static const char *words_of(struct report *r, const struct compared_scenario *s, enum compare_figure f)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    compare_words(r->contrasts, f, &s->figures[f], &text);
    return arena_strdup(r->arena, strbuf_text(&text));
}

static enum tone tone_of(const struct report *r, const struct compared_scenario *s, enum compare_figure f)
{
    static const enum tone tones[] = {[COMPARE_MORE] = TONE_PLAIN,
                                      [COMPARE_LESS] = TONE_PLAIN,
                                      [COMPARE_EQUAL] = TONE_PLAIN,
                                      [COMPARE_OPEN] = TONE_FAINT,
                                      [COMPARE_NO_WORD] = TONE_FAINT};

    return tones[compare_word(r->contrasts, &s->figures[f])];
}

void list_contrasts(struct report *r)
{
    static const struct column columns[] = {{"compared", "", false},
                                            {"throughput", "", false},
                                            {"p99", "", false},
                                            {"memory peak", "", false},
                                            {"", "", false}};
    static const enum compare_figure shown[] = {COMPARE_GOODPUT, COMPARE_P99, COMPARE_MEMORY};

    if (!r->contrasts)
        return;
    struct section *s = section_new(r, "Contrasts");
    s->table = table_new(r, ARRAY_LEN(columns), 1);
    memcpy(s->table->columns, columns, sizeof(columns));
    for (size_t i = 0; i < r->contrasts->len; i++) {
        const struct compared_scenario *c = &r->contrasts->scenarios[i];
        struct field *row = table_row(r, s->table);
        CLEANUP_VALUE(strbuf_release) struct strbuf seen = STRBUF_INIT;
        row[0].text = arena_strdup(r->arena, c->name);
        for (size_t f = 0; f < ARRAY_LEN(shown); f++)
            row[1 + f] = (struct field){.text = words_of(r, c, shown[f]), .tone = tone_of(r, c, shown[f])};
        compare_detectable(r->contrasts, &c->figures[COMPARE_GOODPUT], &seen);
        row[4] = (struct field){.text = arena_strdup(r->arena, strbuf_text(&seen)), .tone = TONE_FAINT};
    }
    section_line(s, "Declared in the matrix before anything ran; all pairs are one family (Holm, 5 %). "
                    "Ratios of geometric means "
                    "over trials with 95 % intervals, by rounds where both sides have the same; equal: the "
                    "90 % interval is within "
                    "1 %. Last: the difference in throughput that so many trials would have shown.");
    if (r->contrasts_left_out)
        section_line(s, arena_printf(r->arena, "%zu more pairs are left out.", r->contrasts_left_out));
    if (r->models_differ)
        section_line(
            s, "Some scenarios were loaded in different ways: what is of a mixed load is of no one model.");
}

void contrasts_json(const struct report *r, struct json *out)
{
    if (!r->contrasts)
        return;
    struct json *j = compare_json(r->contrasts), *list = json_new_array();
    for (size_t i = 0; i < r->contrasts->len; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        compare_words(r->contrasts, COMPARE_GOODPUT, &r->contrasts->scenarios[i].figures[COMPARE_GOODPUT],
                      &text);
        json_append(list, json_new_text(strbuf_text(&text)));
    }
    json_set(j, "words", list); /* of throughput, in the order of `scenarios` */
    json_set(out, "contrasts", j);
}
