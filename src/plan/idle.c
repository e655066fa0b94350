/* SPDX-License-Identifier: MIT */
/* Axes that change nothing: their name was written down, and then used nowhere. */
#include <string.h>

#include "benchctl/base/interpolate.h"
#include "plan_internal.h"

/* So many scenarios are looked at for one with a sibling: with excludes and filters the first may have none.
 */
#define SCENARIOS_TRIED 64

/* Is it the axis itself, `${memory}`, or a field of its values, `${memory.heap}`? */
static int is_axis(const char *name, void *data, struct error *err)
{
    const char *axis = data;
    size_t len = strlen(axis);

    (void)err;
    return strncmp(name, axis, len) == 0 && (!name[len] || name[len] == '.') ? -1 : 0;
}

static bool refers_to(const struct node *n, const char *axis)
{
    struct error ignored = ERROR_INIT;

    if (!n || !n->refers)
        return false;
    if (n->kind == NODE_SCALAR)
        return each_reference(n->text, is_axis, (void *)(uintptr_t)axis, &ignored) < 0;
    for (size_t i = 0; i < n->len; i++)
        if (refers_to(n->items[i], axis))
            return true;
    return false;
}

static bool is_used(const struct matrix *m, size_t axis)
{
    const char *name = m->axes[axis].name;

    if (refers_to(m->base, name))
        return true;
    for (size_t i = 0; i < m->override_count; i++) {
        const struct override_rule *o = &m->overrides[i];
        for (size_t t = 0; t < o->when.len; t++)
            if (o->when.terms[t].axis == axis)
                return true;
        if (refers_to(o->set, name))
            return true;
    }
    return false;
}

static bool same_digest(const struct plan *p, size_t one, size_t other, struct arena *a)
{
    struct error ignored = ERROR_INIT;
    struct resolved x, y;

    return plan_resolve(p, one, a, &x, &ignored) == 0 && plan_resolve(p, other, a, &y, &ignored) == 0 &&
           strcmp(x.digest, y.digest) == 0;
}

/* A scenario that differs from this one by its value of the axis alone; -1 when there is none. */
static int find_sibling(const struct plan *p, size_t axis, size_t scenario, struct arena *a, size_t *ret)
{
    const struct grid *g = &p->grid;
    uint32_t *digits = arena_array(a, uint32_t, g->axis_count + 1);
    const struct include_rule *include;

    plan_digits(p, scenario, digits, &include);
    uint32_t own = digits[axis];
    for (size_t i = 0; i < p->m->axes[axis].len && !include; i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf id = STRBUF_INIT;
        digits[axis] = (uint32_t)i;
        if (i == own)
            continue;
        grid_id(g, digits, &id);
        if (plan_find(p, strbuf_text(&id), ret) == 0)
            return 0;
    }
    return -1;
}

bool plan_axis_is_idle(const struct plan *p, size_t axis, struct arena *a, struct plan_idle_axis *ret)
{
    size_t count = p->counts.scenarios < SCENARIOS_TRIED ? p->counts.scenarios : SCENARIOS_TRIED;

    if (p->m->axes[axis].len < 2 || is_used(p->m, axis))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct scenario one, other;
        size_t sibling;
        if (find_sibling(p, axis, i, a, &sibling) < 0)
            continue;
        if (!same_digest(p, i, sibling, a))
            return false;
        plan_scenario(p, i, a, &one);
        plan_scenario(p, sibling, a, &other);
        *ret = (struct plan_idle_axis){
            .name = p->m->axes[axis].name, .at = p->m->axes[axis].at, .one = one.id, .other = other.id};
        return true;
    }
    return false;
}
