/* SPDX-License-Identifier: MIT */
/* The canary of a plan: which scenario it repeats, and when its turn comes. */
#include "canary.h"

#include <assert.h>
#include <string.h>

#include "search.h"

/* The digits of the scenario with this id; filters do not matter. */
static bool find_any(const struct plan *p, const char *id, uint32_t *ret_digits,
                     const struct include_rule **ret_include)
{
    size_t axes = p->grid.axis_count, include;
    uint32_t combo;

    *ret_include = NULL;
    if (grid_parse_id(&p->grid, id, ret_digits) && grid_combo(&p->grid, ret_digits, &combo))
        return !(p->excluded[combo / 64] >> combo % 64 & 1);
    include = grid_value(&p->include_ids, id);
    if (include == SIZE_MAX)
        return false;
    memcpy(ret_digits, p->include_digits + include * axes, axes * sizeof(*ret_digits));
    *ret_include = &p->m->includes[include];
    return true;
}

/* The first that no search decides about; where all are searched, the largest size of the first search: the
 * most likely to do. */
static size_t first_choice(const struct plan *p)
{
    const struct candidates *c = &p->candidates;

    if (!c->len)
        return 0;
    return p->kept_includes_len ? p->kept_len : c->items[c->first[0] + candidates_count(c, 0) - 1];
}

/* Is a scenario's id that of the canary, or does it begin with it? Then their directories would be one. */
static int check_names(const struct plan *p, struct error *err)
{
    const struct grid *g = &p->grid;
    size_t value = g->axis_count ? grid_value(&g->axes[0].by_part, PLAN_CANARY_ID) : SIZE_MAX;
    CLEANUP_FREE uint32_t *digits = xmalloc((g->axis_count + 1) * sizeof(*digits));
    const struct include_rule *include;

    for (size_t i = 0; value != SIZE_MAX && i < p->counts.scenarios; i++) {
        plan_digits(p, i, digits, &include);
        if (digits[0] != value)
            continue;
        position_error(err, g->axes[0].axis->at,
                       "the value '" PLAN_CANARY_ID "' of axis '%s' begins an id as the canary's trials do",
                       g->axes[0].axis->name);
        return error_hint(err, "they are kept in trials/" PLAN_CANARY_ID "; give the value another name");
    }
    return 0;
}

int plan_find_canary(struct plan *p, struct error *err)
{
    const struct canary_settings *c = p->m->canary;
    char shown[SHOWN_SIZE];

    if (!c)
        return 0;
    p->canary_digits = arena_array(p->arena, uint32_t, p->grid.axis_count + 1);
    if (check_names(p, err) < 0)
        return -1;
    if (!c->scenario)
        plan_digits(p, first_choice(p), p->canary_digits, &p->canary_include);
    else if (!find_any(p, c->scenario, p->canary_digits, &p->canary_include)) {
        position_error(err, c->at, "canary: there is no scenario '%s'", text_shown(c->scenario, shown));
        return error_hint(err, "an id as `benchctl plan --format ids` lists them");
    }
    p->counts.canaries =
        p->counts.trials / (uint64_t)c->every + 1 + (p->counts.trials % (uint64_t)c->every > 0);
    return 0;
}

const char *plan_canary_base(const struct plan *p, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;

    if (!p->canary_digits)
        return NULL;
    grid_id(&p->grid, p->canary_digits, &id);
    return arena_strdup(a, strbuf_text(&id));
}

/* --- turns --- */

bool canary_is_due(const struct canary_turns *c, bool more)
{
    if (!c->every)
        return false;
    return !c->told || c->since >= c->every || (!more && c->since);
}

void canary_told(struct canary_turns *c)
{
    c->told++;
    c->since = 0;
}

uint64_t canary_left(const struct canary_turns *c, double trials)
{
    uint64_t left = trials > 0 ? (uint64_t)trials : 0, n = !c->told, since = c->told ? c->since : 0;

    if (!c->every)
        return 0;
    since += left;
    return n + since / c->every + (since % c->every > 0);
}
