/* SPDX-License-Identifier: MIT */
/* One scenario of a plan: its values, id, overrides and settings. */
#include <assert.h>
#include <string.h>

#include "controls.h"

void plan_digits(const struct plan *p, size_t i, uint32_t *ret_digits,
                 const struct include_rule **ret_include)
{
    size_t axes = p->grid.axis_count;

    *ret_include = NULL;
    if (i == PLAN_CANARY) {
        assert(p->canary_digits);
        memcpy(ret_digits, p->canary_digits, axes * sizeof(*ret_digits));
        *ret_include = p->canary_include;
        return;
    }
    assert(i < p->counts.scenarios);
    if (i < p->kept_len) {
        grid_digits(&p->grid, p->kept[i], ret_digits);
        return;
    }
    if (plan_control(p, i)) {
        memcpy(ret_digits, p->control_digits, axes * sizeof(*ret_digits));
        *ret_include = p->control_include;
        return;
    }
    size_t include = p->kept_includes[i - p->kept_len];
    *ret_include = &p->m->includes[include];
    memcpy(ret_digits, p->include_digits + include * axes, axes * sizeof(*ret_digits));
}

void plan_scenario(const struct plan *p, size_t i, struct arena *a, struct scenario *ret)
{
    const struct grid *g = &p->grid;
    CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;
    uint32_t *digits = arena_array(a, uint32_t, g->axis_count + 1);
    const struct axis_value **values = arena_array(a, const struct axis_value *, g->axis_count + 1);
    const struct include_rule *include;

    plan_digits(p, i, digits, &include);
    for (size_t x = 0; x < g->axis_count; x++)
        values[x] = g->axes[x].values[digits[x]];
    grid_id(g, digits, &id);
    const char *own = i == PLAN_CANARY ? PLAN_CANARY_ID : plan_control_id(plan_control(p, i));
    *ret = (struct scenario){
        .index = i,
        .values = values,
        .extra = include ? include->extra : NULL,
        .id = own ? own : arena_strdup(a, strbuf_text(&id)),
    };
}

/* The place of `wanted` in an ascending list, or -1. */
static int find_ascending(const uint32_t *list, size_t len, uint32_t wanted, size_t *ret)
{
    size_t low = 0, high = len;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == len || list[low] != wanted)
        return -1;
    *ret = low;
    return 0;
}

int plan_find(const struct plan *p, const char *id, size_t *ret_index)
{
    CLEANUP_FREE uint32_t *digits = xmalloc((p->grid.axis_count + 1) * sizeof(*digits));
    uint32_t combo;
    size_t at, include;

    if (plan_find_control(p, id, ret_index) == 0)
        return 0;
    if (grid_parse_id(&p->grid, id, digits) && grid_combo(&p->grid, digits, &combo))
        return find_ascending(p->kept, p->kept_len, combo, ret_index);
    include = grid_value(&p->include_ids, id);
    if (include == SIZE_MAX ||
        find_ascending(p->kept_includes, p->kept_includes_len, (uint32_t)include, &at) < 0)
        return -1;
    *ret_index = p->kept_len + at;
    return 0;
}

void plan_match_overrides(const struct plan *p, const uint32_t *digits, bool *ret_flags)
{
    for (size_t o = 0; o < p->m->override_count; o++)
        ret_flags[o] = rule_matches(&p->overrides[o], digits);
}

void plan_overrides(const struct plan *p, size_t i, bool *ret_flags)
{
    CLEANUP_FREE uint32_t *digits = xmalloc((p->grid.axis_count + 1) * sizeof(*digits));
    const struct include_rule *include;

    plan_digits(p, i, digits, &include);
    plan_match_overrides(p, digits, ret_flags);
}

static int resolve(const struct plan *p, size_t i, struct arena *a, struct resolved *ret, struct error *err)
{
    struct scenario scenario;
    bool *flags = arena_array(a, bool, p->m->override_count + 1);

    plan_scenario(p, i, a, &scenario);
    plan_overrides(p, i, flags);
    struct matrix_combination combination = {.values = scenario.values,
                                             .extra = scenario.extra,
                                             .overrides = flags,
                                             .set = i == PLAN_CANARY ? p->m->canary->set : NULL};
    int result = matrix_resolve(p->m, &combination, a, &ret->settings, &ret->tree, err);
    if (result == 0 && plan_control(p, i) == PLAN_HANDICAP)
        result = plan_handicap_set(p, &ret->settings, a, &combination.set, err) < 0
                     ? -1
                     : matrix_resolve(p->m, &combination, a, &ret->settings, &ret->tree, err);
    if (result == 0)
        return 0;
    /* the message begins with the position, so the scenario goes behind the advice */
    const char *advice = arena_strdup(a, err->hint);
    return error_hint(err, "%.500s%sin scenario '%.400s'", advice, *advice ? "; " : "", scenario.id);
}

int plan_settings(const struct plan *p, size_t i, struct arena *a, struct settings *ret, struct error *err)
{
    struct resolved resolved;

    if (resolve(p, i, a, &resolved, err) < 0)
        return -1;
    *ret = resolved.settings;
    return 0;
}

int plan_resolve(const struct plan *p, size_t i, struct arena *a, struct resolved *ret, struct error *err)
{
    struct resolved resolved;

    if (resolve(p, i, a, &resolved, err) < 0)
        return -1;
    plan_digest(p->m, &resolved.settings, a, resolved.digest);
    *ret = resolved;
    return 0;
}
