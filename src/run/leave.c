/* SPDX-License-Identifier: MIT */
/*
 * Leaving nothing behind. What is known is removed by its id; then the engine is asked what still carries
 * this run's label, since a container may exist whose creation was never answered, or whose removal failed.
 */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* All of it together: an engine that answers nothing any more must not hold up the end for ever. */
#define AFRESH_NS (120 * NS_PER_S)
#define TEAR_DOWN_NS (180 * NS_PER_S)
#define LAST_TRY_NS (5 * NS_PER_S) /* what did not go in a minute, or an engine that has gone */

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

static int remove_one(struct sweep_run *s, const struct engine_object *o, int64_t deadline_ns,
                      struct error *err)
{
    engine_set_deadline(s->engine, deadline_ns);
    return o->is_network ? engine_network_remove(s->engine, o->id, err)
                         : engine_container_remove(s->engine, o->id, err);
}

/* Containers first: a network with somebody in it stays. What is left behind already gets one more try at the
 * end, and none before. */
static int remove_strays(struct sweep_run *s, bool last, int64_t deadline_ns, struct error *err)
{
    CLEANUP_VALUE(engine_objects_release) struct engine_objects all = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf names = STRBUF_INIT;
    int64_t soon_ns = clock_now_ns() + LAST_TRY_NS; /* for all that is left behind */
    struct error first = ERROR_INIT;

    if (engine_list_ours(s->engine, s->options->run_id, &all, err) < 0)
        return -1;
    for (int networks = 0; networks <= 1; networks++) {
        for (size_t i = 0; i < all.len; i++) {
            const struct engine_object *o = &all.items[i];
            struct error e = ERROR_INIT;
            if (o->is_network != (networks == 1) || is_ours_to_keep(s, o) ||
                (!last && is_left_behind(s, o->id)))
                continue;
            bool left = is_left_behind(s, o->id) && soon_ns < deadline_ns;
            if (remove_one(s, o, left ? soon_ns : deadline_ns, &e) == 0)
                continue;
            strbuf_addf(&names, "%s'%s'", names.len ? ", " : "", o->name);
            if (!last && e.kind != ERROR_INTERRUPTED && engine_answers(s->engine)) {
                CLEANUP_FREE char *name =
                    xasprintf("%s '%s'", o->is_network ? "network" : "container", o->name);
                leave_behind(s, o->id, name, e.message);
            }
            if (first.kind == ERROR_NONE)
                first = e;
        }
    }
    if (first.kind == ERROR_NONE)
        return 0;
    *err = first;
    return error_wrap(err, "%s", names.data);
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

    s->faults.doubted = false;
    if (s->engine_given_up)
        return;
    loop_shield(s->loop, +1);
    int64_t deadline_ns = clock_now_ns() + AFRESH_NS;
    engine_set_deadline(s->engine, deadline_ns);
    standing_drop_all(s);
    (void)!removals_wait(s, &ignored); /* what is left after that is a stray */
    if (!s->kept.len) {
        free(s->network_id); /* a stray, too: the engine may have lost it, or somebody is left in it */
        s->network_id = NULL;
    }
    if (remove_strays(s, false, deadline_ns, &e) < 0)
        note("not everything of the failed trial could be removed yet: %s", e.message);
    engine_set_deadline(s->engine, LOOP_FOREVER);
    s->faults.doubted = false; /* whatever was left behind just now: the next network is another one */
    loop_shield(s->loop, -1);
}

void sweep_tear_down(struct sweep_run *s)
{
    struct error e = ERROR_INIT, ignored = ERROR_INIT;

    if (!s->engine || s->torn_down)
        return;
    s->torn_down = true;
    jvm_forget(s);
    loop_shield(s->loop, +1);
    int64_t deadline_ns = clock_now_ns() + (s->engine_given_up ? LAST_TRY_NS : TEAR_DOWN_NS);
    engine_set_deadline(s->engine, deadline_ns);
    database_leave(s); /* what we made on an existing server goes; in our container it goes with it */
    standing_drop_all(s);
    (void)!removals_wait(s, &ignored);
    if (!s->kept.len)
        remove_network(s);
    if (remove_strays(s, true, deadline_ns, &e) < 0)
        warn("containers or the network may be left: %s; `benchctl clean` removes them", e.message);
    engine_set_deadline(s->engine, LOOP_FOREVER);
    loop_shield(s->loop, -1);
}
