/* SPDX-License-Identifier: MIT */
/* plan.json, written as it is made: one line per scenario and per trial. */
#include "canary.h"
#include "controls.h"
#include "secrets.h"

#include <math.h>

#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"

#define FLUSH_AT ((size_t)64 << 10)

struct plan_writer {
    const struct plan *p;
    int fd;
    bool with_settings;
    int64_t estimate_ms; /* of one trial of each scenario */
    double canary_ms;    /* of all canaries */
    struct strbuf out;
};

static int flush(struct plan_writer *w, size_t threshold, struct error *err)
{
    if (w->out.len < threshold)
        return 0;
    if (fs_write_all(w->fd, w->out.data, w->out.len, "plan", err) < 0)
        return -1;
    strbuf_clear(&w->out);
    return 0;
}

static void add_member(struct plan_writer *w, const char *key, struct json *value, bool more)
{
    strbuf_addf(&w->out, "  \"%s\": ", key);
    json_write(value, JSON_STYLE_COMPACT, &w->out);
    strbuf_adds(&w->out, more ? ",\n" : "\n");
    json_free(value);
}

static struct json *counts_json(const struct plan_counts *c)
{
    struct json *j = json_new_object();

    json_set_number(j, "product", (double)c->product);
    json_set_number(j, "zipped_away", (double)c->zipped_away);
    json_set_int(j, "excluded", (int64_t)c->excluded);
    json_set_int(j, "included", (int64_t)c->included);
    json_set_int(j, "filtered", (int64_t)c->filtered);
    json_set_int(j, "scenarios", (int64_t)c->scenarios);
    json_set_int(j, "trials", (int64_t)c->trials);
    if (c->controls)
        json_set_int(j, "controls", (int64_t)c->controls); /* of the scenarios */
    return j;
}

/* For who draws the curve: which axis, between what, and how fine. */
static struct json *search_json(const struct plan *p)
{
    const struct axis *x = p->grid.axes[p->candidates.axis].axis;
    const struct axis_search *s = x->search;
    struct json *j = json_new_object(), *until = json_new_array();
    char text[32];

    json_set_text(j, "axis", x->name);
    json_set_text(j, "from", size_format(s->from_bytes, text));
    json_set_text(j, "to", size_format(s->to_bytes, text));
    json_set_text(j, "step", size_format(s->step_bytes, text));
    json_set_int(j, "from_bytes", s->from_bytes);
    json_set_int(j, "to_bytes", s->to_bytes);
    json_set_int(j, "step_bytes", s->step_bytes);
    for (int o = 0; o < OUTCOMES; o++) {
        if (s->until >> o & 1)
            json_append(until, json_new_text(outcome_name((enum outcome)o)));
    }
    json_set(j, "until", until);
    json_set_int(j, "searches", (int64_t)p->candidates.len);
    return j;
}

static struct json *contrasts_json(const struct matrix *m)
{
    struct json *list = json_new_array();

    for (size_t i = 0; i < m->contrast_count; i++) {
        struct json *j = json_new_object();
        json_set_text(j, "contrast", m->contrasts[i].text);
        json_set_text(j, "axis", m->axes[m->contrasts[i].axis].name);
        if (m->contrasts[i].by != SIZE_MAX)
            json_set_text(j, "by", m->axes[m->contrasts[i].by].name);
        json_append(list, j);
    }
    return list;
}

static void write_head(struct plan_writer *w)
{
    static const char *const modes[] = {
        [ORDER_LISTED] = "listed", [ORDER_INTERLEAVED] = "interleaved", [ORDER_RANDOM] = "random"};
    const struct matrix *m = w->p->m;
    struct json *axes = json_new_array();

    for (size_t a = 0; a < m->axis_count; a++)
        json_append(axes, json_new_text(m->axes[a].name));
    strbuf_adds(&w->out, "{\n");
    add_member(w, "benchctl", json_new_int(1), true);
    add_member(w, "name", json_new_text(m->name), true);
    add_member(w, "title", json_new_text(m->title), true);
    add_member(w, "axes", axes, true);
    add_member(w, "trials", json_new_int(m->trials), true);
    add_member(w, "mode", json_new_text(modes[m->order]), true);
    add_member(w, "seed", json_new_int(m->seed), true);
    add_member(w, "counts", counts_json(&w->p->counts), true);
    if (w->p->candidates.len)
        add_member(w, "search", search_json(w->p), true);
    if (m->contrast_count)
        add_member(w, "contrasts", contrasts_json(m), true);
}

static struct json *shown_settings(const struct plan *p, size_t i, const struct resolved *r, struct arena *a)
{
    CLEANUP_VALUE(secrets_release) struct secrets secrets = {0};
    CLEANUP(json_free) struct json *all = plan_settings_json(p->m, &r->settings, false, a);

    secrets_add(&secrets, p, i, r->tree, a);
    return secrets.texts.len ? secrets_hide_json(&secrets, all) : TAKE(all);
}

/* For who looks at what the host did: what is repeated, how often, and what makes it that. */
static int write_canary(struct plan_writer *w, struct error *err)
{
    const struct canary_settings *c = w->p->m->canary;
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(json_free) struct json *j = NULL;
    struct resolved r;

    if (!c)
        return 0;
    if (plan_resolve(w->p, PLAN_CANARY, a, &r, err) < 0)
        return -1;
    int64_t estimate_ms = plan_estimate_ns(&r.settings) / NS_PER_MS;
    struct canary_turns turns = {.every = (uint64_t)c->every};
    w->canary_ms = (double)estimate_ms * (double)canary_left(&turns, round(plan_expected_trials(w->p)));
    j = json_new_object();
    json_set_text(j, "scenario", plan_canary_base(w->p, a));
    json_set_int(j, "every", c->every);
    json_set_number(j, "band", c->band);
    json_set_text(j, "metric", c->metric);
    json_set_int(j, "trials", (int64_t)w->p->counts.canaries);
    json_set_text(j, "digest", r.digest);
    json_set_int(j, "estimate_ms", estimate_ms);
    if (w->with_settings)
        json_set(j, "settings", shown_settings(w->p, PLAN_CANARY, &r, a));
    add_member(w, "canary", TAKE(j), true);
    return 0;
}

static int write_scenario(struct plan_writer *w, size_t i, struct arena *a, struct error *err)
{
    const struct matrix *m = w->p->m;
    struct scenario s;
    struct resolved r;
    CLEANUP(json_free) struct json *line = json_new_object();
    struct json *axes = json_new_object();

    plan_scenario(w->p, i, a, &s);
    json_set_text(line, "id", s.id);
    for (size_t x = 0; x < m->axis_count; x++)
        json_set_text(axes, m->axes[x].name, s.values[x]->text);
    json_set(line, "axes", axes);
    if (plan_control(w->p, i)) {
        json_set_text(line, "control", plan_control_name(plan_control(w->p, i)));
        json_set_text(line, "of", plan_control_base(w->p, a));
    }
    if (plan_resolve(w->p, i, a, &r, err) < 0)
        return -1;
    json_set_text(line, "digest", r.digest);
    int64_t estimate_ms = plan_estimate_ns(&r.settings) / NS_PER_MS;
    w->estimate_ms += estimate_ms;
    json_set_int(line, "estimate_ms", estimate_ms);
    if (w->with_settings)
        json_set(line, "settings", shown_settings(w->p, i, &r, a));
    json_write(line, JSON_STYLE_COMPACT, &w->out);
    return 0;
}

static int write_scenarios(struct plan_writer *w, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    for (size_t i = 0; i < w->p->counts.scenarios; i++) {
        strbuf_adds(&w->out, i ? ",\n    " : "    ");
        if (write_scenario(w, i, a, err) < 0 || flush(w, FLUSH_AT, err) < 0)
            return -1;
        arena_reset(a);
    }
    return 0;
}

static int write_order(struct plan_writer *w, struct error *err)
{
    CLEANUP_FREE uint32_t *digits = xmalloc((w->p->grid.axis_count + 1) * sizeof(*digits));
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(w->p);
    const struct include_rule *include;
    const char *before = "    {\"scenario\": \"";
    struct planned_trial t;

    while (!w->p->candidates.len && plan_schedule_next(s, &t)) {
        bool canary = t.scenario == PLAN_CANARY;
        const char *own = canary ? PLAN_CANARY_ID : plan_control_id(plan_control(w->p, t.scenario));
        plan_digits(w->p, t.scenario, digits, &include);
        strbuf_adds(&w->out, before);
        if (own)
            strbuf_adds(&w->out, own);
        else
            grid_id(&w->p->grid, digits, &w->out); /* an id has no byte that JSON would escape */
        strbuf_addf(&w->out, "\", \"trial\": %d%s}", t.trial, canary ? ", \"canary\": true" : "");
        before = ",\n    {\"scenario\": \"";
        plan_schedule_tell(s, OUTCOME_OK);
        if (flush(w, FLUSH_AT, err) < 0)
            return -1;
    }
    return 0;
}

int plan_write_json(const struct plan *p, int fd, bool with_settings, struct error *err)
{
    struct plan_writer w = {.p = p, .fd = fd, .with_settings = with_settings};
    int result = 0;

    write_head(&w);
    result = write_canary(&w, err);
    strbuf_adds(&w.out, "  \"scenarios\": [\n");
    if (result == 0)
        result = write_scenarios(&w, err);
    strbuf_adds(&w.out, "\n  ],\n");
    double each_ms = (double)w.estimate_ms / (double)p->counts.scenarios;
    add_member(&w, "estimate_ms", json_new_number(round(each_ms * plan_expected_trials(p) + w.canary_ms)),
               true);
    strbuf_adds(&w.out, "  \"order\": [\n");
    if (result == 0)
        result = write_order(&w, err);
    strbuf_adds(&w.out, "\n  ]\n}\n");
    if (result == 0)
        result = flush(&w, 0, err);
    strbuf_release(&w.out);
    return result;
}
