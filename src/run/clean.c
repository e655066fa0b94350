/* SPDX-License-Identifier: MIT */
/* What dead sweeps left behind: found by label, told from the living by their owner, containers before
 * networks. */
#include "run_internal.h"

static bool wanted(const struct engine_object *o, const struct clean_options *options)
{
    if (!options->dir || text_equal(o->dir, options->dir))
        return true;
    for (size_t i = 0; options->run_ids && options->run_ids[i]; i++)
        if (text_equal(o->run, options->run_ids[i]))
            return true;
    return false;
}

static int remove_object(struct engine *e, const struct engine_object *o, struct error *err)
{
    return o->is_network ? engine_network_remove(e, o->id, err) : engine_container_remove(e, o->id, err);
}

int run_clean(struct engine *e, const struct clean_options *options,
              void (*tell)(const struct engine_object *object, void *data), void *data,
              struct clean_counts *ret, struct error *err)
{
    struct engine_objects all = {0};
    struct error first = ERROR_INIT;

    *ret = (struct clean_counts){0};
    if (engine_list_ours(e, NULL, &all, err) < 0)
        return -1;
    for (int networks = 0; networks <= 1; networks++) {
        for (size_t i = 0; i < all.len; i++) {
            const struct engine_object *o = &all.items[i];
            struct error one = ERROR_INIT;
            if (o->is_network != (networks == 1) || !wanted(o, options))
                continue;
            if (engine_owner_alive(o->owner)) {
                ret->alive++;
                continue;
            }
            if (tell)
                tell(o, data);
            if (options->dry_run || remove_object(e, o, &one) == 0) {
                ret->removed++;
                continue;
            }
            ret->failed++;
            if (first.kind == ERROR_NONE)
                first = one;
        }
    }
    engine_objects_release(&all);
    if (first.kind == ERROR_NONE)
        return 0;
    *err = first;
    return -1;
}
