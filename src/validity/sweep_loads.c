/* SPDX-License-Identifier: MIT */
/* Loads of one sweep in words, and what is true under several of them said once. */
#include "sweep_internal.h"

#include <math.h>

static double users(const struct arm *a)
{
    return a->concurrency;
}

static double offered(const struct arm *a)
{
    return a->offered;
}

const char *load_name(struct sweep_judge *j, const struct group *g)
{
    double count = round(median_of(j, g, users)), rate = median_of(j, g, offered);

    if (g->open && rate > 0)
        return arena_printf(j->arena, "%s requests/s", digits(j->arena, rate));
    if (count >= 1)
        return arena_printf(j->arena, "%s user%s", digits(j->arena, count), count > 1 ? "s" : "");
    return arena_printf(j->arena, "the load of %s", g->arms[0]->scenario);
}

size_t join_groups(struct sweep_judge *j, const bool *members, struct group *ret)
{
    size_t len = 0, groups = 0;

    for (size_t i = 0; i < j->group_count; i++)
        len += members[i] ? j->groups[i].len : 0;
    *ret = (struct group){.arms = arena_array(j->arena, struct arm *, len + 1)};
    for (size_t i = 0; i < j->group_count; i++) {
        if (!members[i])
            continue;
        if (!groups++) {
            ret->open = j->groups[i].open;
            ret->input = j->groups[i].input;
        }
        for (size_t k = 0; k < j->groups[i].len; k++)
            ret->arms[ret->len++] = j->groups[i].arms[k];
    }
    return groups;
}

const char *under_loads(struct sweep_judge *j, size_t groups)
{
    return groups > 1 ? arena_printf(j->arena, "under each of %zu loads: ", groups) : "";
}

const char *under_load(struct sweep_judge *j, const struct group *g)
{
    return j->group_count > 1 ? arena_printf(j->arena, "at %s: ", load_name(j, g)) : "";
}
