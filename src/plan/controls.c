/* SPDX-License-Identifier: MIT */
/* Twins of one scenario: the last ones of a plan's scenarios. */
#include "controls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const ids[] = {
    [PLAN_NO_CONTROL] = NULL, [PLAN_AA] = PLAN_AA_ID, [PLAN_HANDICAP] = PLAN_HANDICAP_ID};
static const char *const names[] = {[PLAN_NO_CONTROL] = NULL, [PLAN_AA] = "aa", [PLAN_HANDICAP] = "handicap"};

const char *plan_control_name(enum plan_control c)
{
    return names[c];
}

const char *plan_control_id(enum plan_control c)
{
    return ids[c];
}

enum plan_control plan_control(const struct plan *p, size_t i)
{
    size_t others = p->kept_len + p->kept_includes_len;

    return i >= others && i - others < p->control_count ? p->controls[i - others] : PLAN_NO_CONTROL;
}

int plan_find_control(const struct plan *p, const char *id, size_t *ret_index)
{
    for (size_t i = 0; i < p->control_count; i++) {
        if (strcmp(ids[p->controls[i]], id) != 0)
            continue;
        *ret_index = p->kept_len + p->kept_includes_len + i;
        return 0;
    }
    return -1;
}

const char *plan_control_base(const struct plan *p, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;

    if (!p->control_count)
        return NULL;
    grid_id(&p->grid, p->control_digits, &id);
    return arena_strdup(a, strbuf_text(&id));
}

/* Their trials are kept in trials/ID: no other scenario's may be there. */
static int check_name(const struct plan *p, const char *id, struct error *err)
{
    const struct grid *g = &p->grid;

    if (!g->axis_count || grid_value(&g->axes[0].by_part, id) == SIZE_MAX)
        return 0;
    position_error(err, g->axes[0].axis->at,
                   "the value '%s' of axis '%s' begins an id as a control's trials do", id,
                   g->axes[0].axis->name);
    return error_hint(err, "they are kept in trials/%s; give the value another name", id);
}

static int find_base(struct plan *p, const struct controls_settings *c, struct error *err)
{
    char shown[SHOWN_SIZE];
    size_t base = 0;

    p->control_digits = arena_array(p->arena, uint32_t, p->grid.axis_count + 1);
    if (c->scenario && plan_find(p, c->scenario, &base) < 0) {
        position_error(err, c->at, "controls: there is no scenario '%s'", text_shown(c->scenario, shown));
        return error_hint(err,
                          "an id as `benchctl plan --format ids` lists them; filters take scenarios away");
    }
    plan_digits(p, base, p->control_digits, &p->control_include);
    return 0;
}

int plan_add_controls(struct plan *p, struct error *err)
{
    const struct controls_settings *c = p->m->controls;

    if (!c)
        return 0;
    if (matrix_searched(p->m) < p->m->axis_count) {
        position_error(err, c->at, "'controls' and an axis that is searched exclude each other");
        return error_hint(err, "a search has no rounds in which a twin could stand beside its scenario");
    }
    if (find_base(p, c, err) < 0)
        return -1;
    if (c->aa)
        p->controls[p->control_count++] = PLAN_AA;
    if (c->handicap)
        p->controls[p->control_count++] = PLAN_HANDICAP;
    for (size_t i = 0; i < p->control_count; i++)
        if (check_name(p, ids[p->controls[i]], err) < 0)
            return -1;
    p->counts.controls = p->control_count;
    p->counts.scenarios += p->control_count;
    return 0;
}

/* {app: {cpus: N}}: N is that of the handicap, or half of what the scenario has. */
int plan_handicap_set(const struct plan *p, const struct settings *base, struct arena *a,
                      const struct node **ret, struct error *err)
{
    const struct handicap_settings *h = p->m->controls->handicap;
    double cpus = isnan(h->cpus) ? base->app.cpus / 2 : h->cpus;
    char text[32];

    if (!(cpus > 0) || (base->app.cpus > 0 && cpus >= base->app.cpus)) {
        position_error(err, h->at, "%s",
                       isnan(h->cpus) ? "the handicap is half of app.cpus, which the scenario does not have"
                                      : "the handicap is none: the scenario has no more CPUs");
        return error_hint(err, "say cpus under app, and fewer under handicap");
    }
    (void)snprintf(text, sizeof(text), "%.6g", cpus);
    struct node *empty = node_new(a, NODE_MAP, h->at);
    return node_set_path(a, empty, "app.cpus", node_new_text(a, text, h->at), ret, err);
}
