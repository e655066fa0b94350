/* SPDX-License-Identifier: MIT */
/*
 * Leaving nothing behind. What is known is removed by its id; then the engine is asked what still carries
 * this run's label, since a container may exist whose creation was never answered, or whose removal failed.
 */
#include "run_internal.h"

#include "benchctl/base/log.h"

static bool is_kept(const struct sweep_run *s, const char *id)
{
    for (size_t i = 0; i < s->kept.len; i++)
        if (strcmp(s->kept.items[i], id) == 0)
            return true;
    return false;
}

static bool is_ours_to_keep(const struct sweep_run *s, const struct engine_object *o)
{
    if (is_kept(s, o->id) || (o->is_network && text_equal(o->id, s->network_id)))
        return true;
    vec_each (u, &s->units)
        if (text_equal((*u)->id, o->id))
            return true;
    return false;
}

/* Containers first: a network with somebody in it stays. */
static int remove_strays(struct sweep_run *s, struct error *err)
{
    CLEANUP_VALUE(engine_objects_release) struct engine_objects all = {0};
    struct error first = ERROR_INIT;

    if (engine_list_ours(s->engine, s->options->run_id, &all, err) < 0)
        return -1;
    for (int networks = 0; networks <= 1; networks++) {
        for (size_t i = 0; i < all.len; i++) {
            const struct engine_object *o = &all.items[i];
            struct error e = ERROR_INIT;
            if (o->is_network != (networks == 1) || is_ours_to_keep(s, o))
                continue;
            int rc = o->is_network ? engine_network_remove(s->engine, o->id, &e)
                                   : engine_container_remove(s->engine, o->id, &e);
            if (rc < 0 && first.kind == ERROR_NONE)
                first = e;
        }
    }
    if (first.kind == ERROR_NONE)
        return 0;
    *err = first;
    return -1;
}

/* If it cannot be removed now, it is a stray. */
static void remove_network(struct sweep_run *s)
{
    struct error ignored = ERROR_INIT;

    if (s->network_id)
        (void)!engine_network_remove(s->engine, s->network_id, &ignored);
    free(s->network_id);
    s->network_id = NULL;
}

void sweep_start_afresh(struct sweep_run *s)
{
    struct error e = ERROR_INIT, ignored = ERROR_INIT;

    loop_shield(s->loop, +1);
    standing_drop_all(s);
    (void)!removals_wait(s, &ignored); /* what is left after that is a stray */
    if (remove_strays(s, &e) < 0)
        note("not everything of the failed trial could be removed yet: %s", e.message);
    loop_shield(s->loop, -1);
}

void sweep_tear_down(struct sweep_run *s)
{
    struct error e = ERROR_INIT, ignored = ERROR_INIT;

    if (!s->engine || s->torn_down)
        return;
    s->torn_down = true;
    loop_shield(s->loop, +1);
    database_leave(s); /* what we made on an existing server goes; in our container it goes with it */
    standing_drop_all(s);
    (void)!removals_wait(s, &ignored);
    if (!s->kept.len)
        remove_network(s);
    if (remove_strays(s, &e) < 0)
        warn("containers or the network may be left: %s; `benchctl clean` removes them", e.message);
    loop_shield(s->loop, -1);
}
