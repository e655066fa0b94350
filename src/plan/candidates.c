/* SPDX-License-Identifier: MIT */
#include "candidates.h"

/* The combination without the searched axis: a number that is the same for all its sizes. */
static uint32_t group_of(const struct grid_dim *d, uint32_t combo)
{
    return combo / (d->stride * d->len) * d->stride + combo % d->stride;
}

/* Leaves out the combinations that have lost all their sizes to excludes and filters. */
static void close_gaps(struct candidates *c, size_t groups)
{
    for (size_t i = 0; i < groups; i++) {
        if (c->first[i + 1] > c->first[i])
            c->first[c->len++] = c->first[i];
    }
    c->first[c->len] = c->first[groups];
}

void candidates_init(struct candidates *c, const struct grid *g, const uint32_t *kept, size_t kept_len)
{
    *c = (struct candidates){.axis = matrix_searched(g->m)};
    if (c->axis == g->axis_count || !kept_len)
        return;
    const struct grid_dim *d = &g->dims[g->axes[c->axis].dim];
    size_t groups = g->combos / d->len;
    CLEANUP_FREE uint32_t *fill = xcalloc(groups + 1, sizeof(*fill));

    c->items = xmalloc(kept_len * sizeof(*c->items));
    c->first = xcalloc(groups + 2, sizeof(*c->first));
    for (size_t i = 0; i < kept_len; i++)
        c->first[group_of(d, kept[i]) + 1]++;
    for (size_t i = 0; i < groups; i++) {
        c->first[i + 1] += c->first[i];
        fill[i] = c->first[i];
    }
    for (size_t i = 0; i < kept_len; i++) /* ascending, so sizes come smallest first */
        c->items[fill[group_of(d, kept[i])]++] = (uint32_t)i;
    close_gaps(c, groups);
}

void candidates_release(struct candidates *c)
{
    free(c->items);
    free(c->first);
    *c = (struct candidates){0};
}

size_t candidates_count(const struct candidates *c, size_t i)
{
    return c->first[i + 1] - c->first[i];
}
