/* SPDX-License-Identifier: MIT */
/* Why a combination is a scenario or not. Nothing is remembered while planning: the rules are asked again. */
#include <string.h>

#include "plan_internal.h"

struct explainer {
    const struct plan *p;
    struct strbuf id, scratch;
    bool *overrides;
    plan_explain_fn *visit;
    void *data;
};

static int explain(struct explainer *x, const uint32_t *digits, const struct include_rule *include,
                   struct error *err)
{
    const struct plan *p = x->p;
    struct plan_explanation e = {.include = include, .overrides = x->overrides};

    strbuf_clear(&x->id);
    grid_id(&p->grid, digits, &x->id);
    e.id = strbuf_text(&x->id);
    plan_match_overrides(p, digits, x->overrides);
    const struct filter *f = filters_stop(p->filters, p->filter_count, &p->grid, digits, &x->scratch);
    if (f) {
        e.fate = PLAN_FILTERED;
        e.filter = f->text;
    }
    for (size_t i = 0; i < p->m->exclude_count && !include; i++) {
        if (rule_matches(&p->excludes[i], digits)) {
            e.fate = PLAN_EXCLUDED;
            e.exclude = i;
            break;
        }
    }
    return x->visit(&e, x->data, err);
}

int plan_explain(const struct plan *p, plan_explain_fn *visit, void *data, struct error *err)
{
    struct explainer x = {.p = p, .visit = visit, .data = data};
    CLEANUP_FREE uint32_t *digits = xmalloc((p->grid.axis_count + 1) * sizeof(*digits));
    int result = 0;

    x.overrides = xcalloc(p->m->override_count + 1, sizeof(*x.overrides));
    for (uint32_t combo = 0; combo < p->grid.combos && result == 0; combo++) {
        grid_digits(&p->grid, combo, digits);
        result = explain(&x, digits, NULL, err);
    }
    for (size_t i = 0; i < p->m->include_count && result == 0; i++)
        result = explain(&x, p->include_digits + i * p->grid.axis_count, &p->m->includes[i], err);
    free(x.overrides);
    strbuf_release(&x.id);
    strbuf_release(&x.scratch);
    return result;
}
