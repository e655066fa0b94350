/* SPDX-License-Identifier: MIT */
/* The memory curve as tables and JSON. */
#include "memory_curve.h"

#include <math.h>

static const struct {
    const char *name, *json;
    size_t figure;
} curve_figures[] = {
    {"ok/s", "goodput_rps", FIGURE_GOODPUT},
    {"p99", "p99_ms", FIGURE_P99},
    {"used", "used_peak_bytes", FIGURE_MEMORY},
    {"OOM", "oom_kills", FIGURE_OOM},
};

/* --- minimum viable memory: one row per combination --- */

static size_t name_combination(struct report *r, const struct memory_curves *m, const struct curve *c,
                               struct field *row)
{
    size_t n = 0;

    for (size_t i = 0; i < r->axis_count; i++)
        if (i != m->axis)
            row[n++].text = cell_value(r, c->points[0].cell, i);
    return n;
}

static struct table *combination_table(struct report *r, const struct memory_curves *m, size_t columns)
{
    size_t heads = r->axis_count - 1, n = 0;
    struct table *t = table_new(r, heads + columns, heads);

    for (size_t i = 0; i < r->axis_count; i++)
        if (i != m->axis)
            t->columns[n++] = (struct column){r->axes[i].name, "", false};
    return t;
}

/* How many there were and between what: the probes of a search are too many to be named. */
static const char *probed_text(struct report *r, const struct curve *c)
{
    return arena_printf(r->arena, "%zu, %s to %s", c->len, c->points[0].limit, c->points[c->len - 1].limit);
}

static void viable_row(struct report *r, const struct memory_curves *m, const struct curve *c,
                       struct table *t)
{
    struct field *row = table_row(r, t);
    size_t n = name_combination(r, m, c, row);
    bool known = c->viable < c->len;
    const struct curve_point *p = &c->points[c->viable];
    size_t memory = FIGURE_MEMORY;

    row[n++] = (struct field){.text = known ? p->limit : "none", .tone = known ? TONE_GOOD : TONE_BAD};
    row[n++] = (struct field){.text = c->words, .tone = c->broken ? TONE_WARN : TONE_PLAIN};
    row[n++].text = known ? figure_text(r, p->cell, memory) : NOT_MEASURED;
    row[n++].text = probed_text(r, c);
    row[n] = (struct field){.text = curve_cause(c) ? curve_cause(c) : "",
                            .tone = cause_is_memory(curve_cause(c)) ? TONE_PLAIN : TONE_WARN};
}

static const char *broken_text(struct report *r, const struct memory_curves *m, const struct curve *c)
{
    const char *name = curve_name(r, m, c);

    return arena_printf(r->arena, "%s%s%s", name, name[0] ? ": " : "", c->broken);
}

/* "ok", or "ok or degraded" when that was asked for */
static const char *passing_words(struct report *r, const struct memory_curves *m)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (int o = 0; o < OUTCOMES; o++)
        if (m->passes[o])
            strbuf_addf(&text, "%s%s", text.len ? " or " : "", outcome_name((enum outcome)o));
    return arena_strdup(r->arena, strbuf_text(&text));
}

static void say_search(struct report *r, const struct memory_curves *m, struct section *s)
{
    const struct json *search = json_get(r->sweep->plan, "search");
    const char *from = json_get_text(search, "from"), *to = json_get_text(search, "to"),
               *step = json_get_text(search, "step");

    if (m->searched && from && to && step)
        section_line(s,
                     arena_printf(r->arena,
                                  "Searched by halving between %s and %s in steps of %s: sizes that were not "
                                  "asked for have no trials.",
                                  from, to, step));
}

static void list_viable(struct report *r, const struct memory_curves *m)
{
    struct section *s = section_new(r, "Minimum viable memory");
    struct table *t = combination_table(r, m, 5);
    size_t n = t->heads;

    t->columns[n++] = (struct column){"minimum", "", true};
    t->columns[n++] = (struct column){"cliff", "", false};
    t->columns[n++] = (struct column){"used there", "MiB", true};
    t->columns[n++] = (struct column){"limits tried", "", false};
    t->columns[n] = (struct column){"why", "", false};
    t->wide = true;
    vec_each (c, &m->items)
        viable_row(r, m, c, t);
    s->table = t;
    s->draw = html_memory;
    vec_each (c, &m->items)
        if (c->broken && s->lines.len < LINES_MAX)
            vec_push(&s->lines, (struct line){broken_text(r, m, c), NULL, TONE_WARN});
    section_line(s,
                 arena_printf(r->arena,
                              "The smallest %s from which on every trial was %s; trials that the environment "
                              "spoilt (error, invalid, skipped) are not counted.",
                              r->axes[m->axis].name, passing_words(r, m)));
    vec_each (c, &m->items) {
        if (cause_is_memory(curve_cause(c)))
            continue;
        section_line(s,
                     "A cliff is one of memory only where 'why' says so: elsewhere more memory is not known "
                     "to help.");
        break;
    }
    say_search(r, m, s);
}

/* --- the curve: one row per combination and limit --- */

static const char *ok_text(struct report *r, const struct curve_point *p)
{
    if (!p->decided)
        return NOT_MEASURED;
    return arena_printf(r->arena, "%zu of %zu", p->ok, p->decided);
}

static void curve_rows(struct report *r, const struct memory_curves *m, const struct curve *c,
                       struct table *t)
{
    for (size_t i = 0; i < c->len; i++) {
        const struct curve_point *p = &c->points[i];
        struct field *row = table_row(r, t);
        size_t n = name_combination(r, m, c, row);
        row[n++].text = p->limit;
        row[n++] = (struct field){.text = ok_text(r, p), .tone = point_ok(p) ? TONE_GOOD : TONE_WARN};
        row[n++] = (struct field){.text = p->cell->became, .tone = cell_tone(p->cell)};
        for (size_t k = 0; k < ARRAY_LEN(curve_figures); k++) {
            size_t f = curve_figures[k].figure;
            row[n++] = (struct field){figure_text(r, p->cell, f), figure_range(r, p->cell, f),
                                      figure_tone(p->cell, f)};
        }
        row[n++].text = i == c->viable ? "minimum" : i == c->failing ? "largest that failed" : "";
        row[n] = (struct field){.text = p->cause ? p->cause : "",
                                .tone = cause_is_memory(p->cause) ? TONE_PLAIN : TONE_WARN};
    }
}

static void list_curve(struct report *r, const struct memory_curves *m)
{
    struct section *s = section_new(r, "Memory curve");
    struct table *t = combination_table(r, m, 5 + ARRAY_LEN(curve_figures));
    size_t n = t->heads++;

    t->columns[n++] = (struct column){r->axes[m->axis].name, "", true};
    t->columns[n++] = (struct column){"ok", "trials", true};
    t->columns[n++] = (struct column){"outcome", "", false};
    for (size_t k = 0; k < ARRAY_LEN(curve_figures); k++)
        t->columns[n++] =
            (struct column){curve_figures[k].name, r->figures.items[curve_figures[k].figure].measure, true};
    t->columns[n++].name = "cliff";
    t->columns[n].name = "why";
    vec_each (c, &m->items)
        curve_rows(r, m, c, t);
    s->table = t;
    s->detail = true;
}

void list_memory(struct report *r)
{
    struct memory_curves m;

    if (!memory_curves_of(r, &m))
        return;
    list_viable(r, &m);
    list_curve(r, &m);
    memory_curves_release(&m);
}

/* --- for programs --- */

const char *memory_curve_member(size_t i)
{
    return i < ARRAY_LEN(curve_figures) ? curve_figures[i].json : NULL;
}

static struct json *point_json(const struct curve_point *p)
{
    struct json *j = json_new_object();

    json_set_text(j, "limit", p->limit);
    if (isfinite(p->bytes))
        json_set_number(j, "limit_bytes", p->bytes);
    else
        json_set_text(j, "limit_bytes", "unlimited");
    json_set_text(j, "scenario", p->cell->scenario);
    json_set_text(j, "outcome", p->cell->worst ? outcome_name(p->cell->worst->outcome) : NULL);
    json_set_int(j, "trials", (int64_t)p->cell->trial_count);
    json_set_int(j, "ok", (int64_t)p->ok);
    json_set_text(j, "cause", p->cause);
    for (size_t k = 0; k < ARRAY_LEN(curve_figures); k++) {
        const struct summary *s = &p->cell->figures[curve_figures[k].figure];
        json_set_number(j, curve_figures[k].json, curve_figures[k].figure == FIGURE_OOM ? s->max : s->median);
    }
    return j;
}

static struct json *curve_json(const struct report *r, const struct memory_curves *m, const struct curve *c)
{
    struct json *j = json_new_object(), *axes = json_new_object(), *points = json_new_array();
    bool known = c->viable < c->len;

    for (size_t i = 0; i < r->axis_count; i++)
        if (i != m->axis)
            json_set_text(axes, r->axes[i].name, cell_value(r, c->points[0].cell, i));
    for (size_t i = 0; i < c->len; i++)
        json_append(points, point_json(&c->points[i]));
    json_set_text(j, "axis", r->axes[m->axis].name);
    json_set(j, "axes", axes);
    json_set_text(j, "minimum_viable", known ? c->points[c->viable].limit : NULL);
    json_set_number(j, "minimum_viable_bytes", known ? c->points[c->viable].bytes : (double)NAN);
    json_set_text(j, "largest_not_ok", c->failing < c->len ? c->points[c->failing].limit : NULL);
    json_set_bool(j, "monotone", !c->broken);
    json_set_text(j, "cliff", c->words);
    json_set_text(j, "cause", curve_cause(c));
    json_set(j, "points", points);
    return j;
}

struct json *memory_curves_json(const struct report *r)
{
    struct json *list = json_new_array();
    struct memory_curves m;

    if (!memory_curves_of(r, &m))
        return list;
    vec_each (c, &m.items)
        json_append(list, curve_json(r, &m, c));
    memory_curves_release(&m);
    return list;
}
