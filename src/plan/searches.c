/* SPDX-License-Identifier: MIT */
/* What a plan's searches are, before any of them has begun. */
#include <assert.h>

#include "plan_internal.h"
#include "search.h"

size_t plan_search_count(const struct plan *p)
{
    return p->candidates.len;
}

bool plan_is_candidate(const struct plan *p, size_t scenario)
{
    return p->candidates.len && scenario < p->kept_len;
}

/* The id without the part of the searched axis. */
static const char *search_id(const struct plan *p, const uint32_t *digits, struct arena *a)
{
    const struct grid *g = &p->grid;
    CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;

    for (size_t x = 0; x < g->axis_count; x++) {
        if (x == p->candidates.axis)
            continue;
        strbuf_adds(&id, id.len ? "/" : "");
        strbuf_adds(&id, g->axes[x].parts[digits[x]]);
    }
    return arena_strdup(a, id.len ? strbuf_text(&id) : g->axes[p->candidates.axis].axis->name);
}

static const char *size_of(const struct plan *p, size_t scenario, struct arena *a)
{
    struct scenario s;

    plan_scenario(p, scenario, a, &s);
    return s.values[p->candidates.axis]->text;
}

void plan_search(const struct plan *p, size_t i, struct arena *a, struct plan_search *ret)
{
    const struct candidates *c = &p->candidates;
    struct search s;
    const struct include_rule *include;

    assert(i < c->len);
    size_t len = candidates_count(c, i), *sizes = arena_array(a, size_t, len);
    uint32_t *digits = arena_array(a, uint32_t, p->grid.axis_count);
    for (size_t k = 0; k < len; k++)
        sizes[k] = c->items[c->first[i] + k];
    plan_digits(p, sizes[0], digits, &include);
    search_init(&s, (int64_t)len, p->m->trials, plan_until(p));
    *ret = (struct plan_search){
        .id = search_id(p, digits, a),
        .sizes = sizes,
        .len = len,
        .from = size_of(p, sizes[0], a),
        .to = size_of(p, sizes[len - 1], a),
        .max_probes = (uint64_t)search_probes_left(&s),
        .max_trials = (uint64_t)search_trials_left(&s),
    };
}

double plan_expected_trials(const struct plan *p)
{
    const struct candidates *c = &p->candidates;

    if (!c->len)
        return (double)p->counts.trials;
    double expected = (double)p->kept_includes_len * (double)p->m->trials;
    for (size_t i = 0; i < c->len; i++) {
        struct search s;
        search_init(&s, (int64_t)candidates_count(c, i), p->m->trials, plan_until(p));
        expected += search_trials_expected(&s);
    }
    return expected;
}
