/* SPDX-License-Identifier: MIT */
/*
 * Removing containers without waiting, and waiting before the next application starts: nothing of one trial
 * may run beside another. An engine that never gets one removed must not hold up the sweep: what has not gone
 * in time is remembered, told, and not waited for again.
 */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* A removal takes 0.1 s; with a busy disk some seconds. */
#define PATIENCE_NS (60 * NS_PER_S)
#define LEAST_STATUS 200 /* above any errno: the engine has answered */

void leave_behind(struct sweep_run *s, const char *id, const char *name, const char *why)
{
    if (is_left_behind(s, id))
        return;
    warn("%s (%.12s) could not be removed and is left behind: %s", name, id, why);
    vec_push(&s->faults.left,
             (struct left_behind){.id = xstrdup(id), .name = xstrdup(name), .why = xstrdup(why)});
    s->faults.doubted = true; /* it is still on the network, under a name that the next one wants */
}

bool is_left_behind(const struct sweep_run *s, const char *id)
{
    for (size_t i = 0; i < s->faults.left.len; i++)
        if (strcmp(s->faults.left.items[i].id, id) == 0)
            return true;
    return false;
}

void tell_left_behind(struct trial_run *t)
{
    vec_each (l, &t->sweep->faults.left)
        trial_note(t, "%s could not be removed and may be running beside this trial: %s", l->name, l->why);
}

void removal_begin(struct sweep_run *s, const char *id, const char *role)
{
    struct removal r = {.id = xstrdup(id)};
    struct error err = ERROR_INIT;

    if (s->trial)
        r.name = xasprintf("container '%s' of trial %d of '%s'", role, s->trial->record.trial,
                           s->trial->scenario.id);
    else
        r.name = xasprintf("container '%s'", role);
    if (engine_remove_async(s->engine, id, &r.call, &err) == 0) {
        vec_push(&s->removals, r);
        return;
    }
    warn("%s (%.12s) may be left: %s", r.name, id, err.message);
    free(r.id);
    free(r.name);
}

/* A connection that broke on the way may have brought the call to the engine, or not: asked for once more. */
static int finish(struct sweep_run *s, struct removal *r, int64_t deadline_ns, struct error *err)
{
    if (engine_call_wait_until(r->call, deadline_ns, err) == 0)
        return 0;
    if (err->kind == ERROR_INTERRUPTED || err->kind == ERROR_TIMEOUT || err->code >= LEAST_STATUS)
        return -1;
    CLEANUP(engine_call_free) struct engine_call *again = NULL;
    struct error e = ERROR_INIT;
    if (engine_remove_async(s->engine, r->id, &again, &e) == 0 &&
        engine_call_wait_until(again, deadline_ns, &e) == 0)
        return 0;
    *err = e;
    return -1;
}

static void forget(struct removal *r)
{
    engine_call_free(r->call);
    free(r->id);
    free(r->name);
}

int removals_wait(struct sweep_run *s, struct error *err)
{
    int64_t patience_ns = s->options->removal_patience_ns;
    int64_t deadline_ns = clock_now_ns() + (patience_ns > 0 ? patience_ns : PATIENCE_NS);
    struct error first = ERROR_INIT;

    while (s->removals.len) {
        struct removal *r = &s->removals.items[s->removals.len - 1];
        struct error e = ERROR_INIT;
        int rc = finish(s, r, deadline_ns, &e);
        if (rc < 0 && e.kind == ERROR_INTERRUPTED) {
            *err = e; /* it stays under way: the clean-up waits for it */
            return -1;
        }
        if (rc < 0 && (e.code >= LEAST_STATUS || engine_answers(s->engine)))
            leave_behind(s, r->id, r->name, e.message);
        else if (rc < 0 && first.kind == ERROR_NONE)
            first = e; /* nobody is there: what it left is found by its label when somebody is */
        forget(r);
        s->removals.len--;
    }
    if (first.kind == ERROR_NONE)
        return 0;
    *err = first;
    return error_wrap(err, "removing a container");
}
