/* SPDX-License-Identifier: MIT */
/* Twins of one scenario: how far apart two that are alike came out, and whether a handicap was seen. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

static const struct json *planned_control(const struct report *r, const char *name)
{
    const struct json *plan = json_get(r->sweep->plan, "scenarios");

    for (size_t i = 0; i < json_len(plan); i++)
        if (text_equal(json_get_text(json_at(plan, i), "control"), name))
            return json_at(plan, i);
    return NULL;
}

/* The scenario that they repeat: as the plan says, else the one with the same values. */
static const struct cell *base_cell(const struct report *r, const struct trial *twin)
{
    const char *id = json_get_text(planned_control(r, twin->control), "of");

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        bool same = twin->axis_count > 0;
        for (size_t k = 0; k < twin->axis_count && c->trial_count; k++)
            same &= strcmp(axis_value(c->trials[0]->axes, c->trials[0]->axis_count, twin->axes[k].axis),
                           twin->axes[k].value ? twin->axes[k].value : "") == 0;
        if (id ? strcmp(c->scenario, id) == 0 : same)
            return c;
    }
    return NULL;
}

static struct validity_arm arm_of(struct report *r, const char *name)
{
    const struct sweep *s = r->sweep;
    const struct trial **trials = arena_array(r->arena, const struct trial *, s->control_count + 1);
    struct validity_arm arm = {.trials = trials};

    for (size_t i = 0; i < s->control_count; i++) {
        if (!text_equal(s->controls[i].control, name))
            continue;
        trials[arm.count++] = &s->controls[i];
        arm.scenario = s->controls[i].scenario;
    }
    return arm;
}

/* What the engine applied to the one and to the other. */
static const char *handicap_words(struct report *r, const struct validity_controls_facts *f)
{
    double less = f->handicap.count ? f->handicap.trials[0]->app.effective.cpus : NAN,
           full = f->base.count ? f->base.trials[0]->app.effective.cpus : NAN;

    if (!isfinite(less))
        return NULL;
    return isfinite(full) ? arena_printf(r->arena, "%.3g CPUs instead of %.3g", less, full)
                          : arena_printf(r->arena, "%.3g CPUs", less);
}

const struct validity_controls_facts *controls_facts(struct report *r)
{
    const struct cell *base = r->sweep->control_count ? base_cell(r, &r->sweep->controls[0]) : NULL;

    if (!base)
        return NULL;
    struct validity_controls_facts *f = arena_new_of(r->arena, struct validity_controls_facts);
    f->base = (struct validity_arm){base->scenario, base->trials, base->trial_count};
    f->aa = arm_of(r, "aa");
    f->handicap = arm_of(r, "handicap");
    f->what = handicap_words(r, f);
    return f;
}

/* --- shown --- */

static const char *ratio_text(struct report *r, const struct validity_control_ratio *x)
{
    if (isnan(x->ratio))
        return NOT_MEASURED;
    if (isnan(x->low))
        return arena_printf(r->arena, "%.3f", x->ratio);
    return arena_printf(r->arena, "%.3f [%.3f, %.3f]", x->ratio, x->low, x->high);
}

static void add_row(struct report *r, struct table *t, const char *name, const struct validity_control *c)
{
    if (!c->trials)
        return;
    struct field *row = table_row(r, t);
    row[0].text = name;
    row[1].text = arena_printf(r->arena, "%zu", c->trials);
    row[2].text = ratio_text(r, &c->goodput);
    row[3].text = ratio_text(r, &c->p50);
    row[4].text = c->failed ? arena_printf(r->arena, "%zu failed", c->failed) : "";
    row[4].tone = TONE_WARN;
}

void list_controls(struct report *r)
{
    const struct validity_sweep *v = &r->verdict;

    if (!v->aa.trials && !v->handicap.trials)
        return;
    struct section *s = section_new(r, "Controls");
    s->table = table_new(r, 5, 1);
    s->table->columns[0] = (struct column){"twin", "", false};
    s->table->columns[1] = (struct column){"trials", "", true};
    s->table->columns[2] = (struct column){"ok/s, twin : scenario", "", true};
    s->table->columns[3] = (struct column){"p50, twin : scenario", "", true};
    s->table->columns[4] = (struct column){"outcome", "", false};
    const struct validity_controls_facts *f = controls_facts(r);
    add_row(r, s->table, "alike", &v->aa);
    add_row(r, s->table, f && f->what ? arena_printf(r->arena, "handicapped: %s", f->what) : "handicapped",
            &v->handicap);
    section_line(
        s, arena_printf(r->arena,
                        "Twins of %s in every round, and in no table of results. Ratios of the pairs of each "
                        "round, with intervals (97.5 %% of the one alike, 95 %% of the handicapped one); "
                        "what the alike one's interval reaches to is what this sweep can resolve.",
                        f ? f->base.scenario : "one scenario"));
}

static struct json *ratio_json(const struct validity_control_ratio *x)
{
    struct json *j = json_new_object();

    json_set_number(j, "ratio", x->ratio);
    json_set_number(j, "low", x->low);
    json_set_number(j, "high", x->high);
    json_set_int(j, "n", (int64_t)x->n);
    return j;
}

static void add_control(struct json *list, const char *name, const struct validity_control *c)
{
    struct json *j = c->trials ? json_new_object() : NULL;

    if (!j)
        return;
    json_set_text(j, "control", name);
    json_set_int(j, "trials", (int64_t)c->trials);
    json_set_int(j, "failed", (int64_t)c->failed);
    json_set(j, "goodput_rps", ratio_json(&c->goodput));
    json_set(j, "p50_ms", ratio_json(&c->p50));
    if (strcmp(name, "handicap") == 0)
        json_set(j, "seen", c->seen || c->unseen ? json_new_bool(c->seen) : json_new_null());
    json_append(list, j);
}

void controls_json(const struct report *r, struct json *out)
{
    struct json *list;

    if (!r->sweep->control_count)
        return;
    list = json_new_array();
    add_control(list, "aa", &r->verdict.aa);
    add_control(list, "handicap", &r->verdict.handicap);
    json_set(out, "controls", list);
}
