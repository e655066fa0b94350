/* SPDX-License-Identifier: MIT */
/* Whatever happened: a last look at every container while it is there, and its story is complete. */
#include "host_watch.h"
#include "run_internal.h"

#include <signal.h>
#include "benchctl/base/clock.h"

#define SETTLED_NS NS_PER_S

/* Is there an end, just now or for good, that no event explains yet? */
static bool unexplained(const struct ledger *l)
{
    const struct ledger_exit *last = l->exits.len ? &l->exits.items[l->exits.len - 1] : NULL;

    if (!last)
        return l->terminal;
    bool killed = last->code == 128 + SIGKILL && !last->oom && !last->foreign_signal;
    bool fresh = clock_wall_ns() - last->wall_ns < SETTLED_NS;
    return !last->by_us && (last->by_inspect || last->inferred || killed) && (l->terminal || fresh);
}

/* The flag or the event may come a moment after the exit: give them up to a second before deciding. */
static void settle(struct trial_run *t)
{
    int64_t deadline = clock_now_ns() + SETTLED_NS;

    while (t->app && t->app->id && unexplained(&t->app->ledger) && clock_now_ns() < deadline) {
        struct error ignored = ERROR_INIT;
        if (loop_sleep_until(t->sweep->loop, clock_now_ns() + 20 * NS_PER_MS, &ignored) < 0 ||
            (t->sweep->wake && sweep_attend(t->sweep, &ignored) < 0))
            return; /* interrupted, or the engine has gone: there is nobody to wait for */
    }
}

/* The last look at every container. Without one at the app nobody knows whether it was well to the end. */
static int look_at_all(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    int rc = 0;

    vec_each (p, &s->units) {
        struct error e = ERROR_INIT, unsaved = ERROR_INIT;
        struct unit *u = *p;
        if (!trial_has(t, u))
            continue;
        if (unit_inspect(s, u, &e) < 0 && u == t->app) {
            *err = e;
            rc = error_wrap(err, "container '%s'", u->role);
        }
        if (u->ledger.paused && !t->interference)
            t->interference =
                arena_printf(t->arena, "somebody else touched '%s' during the trial: it is paused", u->role);
        if (trial_is_current(s, u) && save_log(t, u, &unsaved) < 0)
            trial_note(t, "the log of '%s' was not saved: %s", u->role, unsaved.message);
    }
    return rc;
}

/* Was one of them ended by somebody else? An engine that shuts down does so first. */
static bool ended_by_another(const struct trial_run *t)
{
    vec_each (p, &t->sweep->units) {
        const struct ledger *l = &(*p)->ledger;
        if (trial_has(t, *p) && l->exits.len && l->exits.items[l->exits.len - 1].foreign_signal)
            return true;
    }
    return false;
}

/* Always runs, also after a failure: this is the evidence. */
int step_collect(struct trial_run *t, struct error *err)
{
    settle(t);
    if (ended_by_another(t))
        trial_look_for_engine(t);
    trial_await_events(t);
    trial_hear_again(t);
    int rc = look_at_all(t, err);
    save_artifacts(t);
    tell_everybody(t);
    tell_jvm(t);
    tell_silences(t);
    tell_first_silence(t);
    tell_unserved(t);
    tell_served(t);
    tell_host(t);
    host_watch_end(t);
    if (t->app)
        t->record.startup_ms = t->app->startup_ms;
    if (t->settings->app.startup && t->load_begin_ns && isnan(t->record.startup_ms))
        trial_note(t, "the startup time is not known: no line of the log matched '%s'",
                   t->settings->app.startup->log);
    if (rc == 0 && t->sampler && sampler_flush(t->sampler, err) < 0)
        return error_wrap(err, "samples.csv");
    return rc;
}
