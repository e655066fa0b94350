/* SPDX-License-Identifier: MIT */
/*
 * An engine that goes away in the middle of a trial, and comes back: the trial is lost, the sweep is not.
 * What stands in the engine afterwards is as it has left it, and is removed as usual.
 */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

#define PATIENCE_NS (120 * NS_PER_S) /* a restart takes seconds, half a minute with many containers */
#define TWICE_NS (200 * NS_PER_MS)   /* one call that fails proves nothing */
/* The stream of events is opened again after pauses of at most 2 s. */
#define EVENTS_BACK_NS (3 * NS_PER_S)
#define EVENTS_LOOK_NS (20 * NS_PER_MS)
#define LOOK_NS (500 * NS_PER_MS)

static bool answers_after(struct sweep_run *s, int64_t pause_ns)
{
    struct error ignored = ERROR_INIT;

    return loop_sleep_until(s->loop, clock_now_ns() + pause_ns, &ignored) == 0 && engine_answers(s->engine);
}

static bool wait_until_back(struct sweep_run *s)
{
    int64_t patience_ns = s->options->engine_patience_ns > 0 ? s->options->engine_patience_ns : PATIENCE_NS;
    int64_t deadline_ns = clock_now_ns() + patience_ns;
    char text[32];

    if (s->engine_given_up)
        return false;
    warn("the engine does not answer any more: waiting for it, %s at most",
         duration_human(patience_ns, text));
    progress_step(s, "engine");
    while (clock_now_ns() < deadline_ns && !loop_interrupted(s->loop))
        if (answers_after(s, LOOK_NS))
            return true;
    return false;
}

void trial_look_for_engine(struct trial_run *t)
{
    struct sweep_run *s = t->sweep;
    int64_t begin_ns = clock_now_ns();

    if (t->engine_lost || loop_interrupted(s->loop))
        return;
    if (engine_answers(s->engine) || answers_after(s, TWICE_NS) || loop_interrupted(s->loop)) {
        s->engine_given_up = false;
        return;
    }
    trial_event(t, "gap", "engine", NULL);
    bool back = wait_until_back(s);
    s->engine_given_up = !back;
    double away_s = clock_ms_since(begin_ns) / 1000;
    t->engine_lost = back ? arena_printf(t->arena,
                                         "the engine was restarted during the trial: nobody answered for "
                                         "%.1f s",
                                         away_s)
                          : arena_printf(t->arena,
                                         "the engine went away during the trial, and was not back "
                                         "after %.0f s",
                                         away_s);
}

static void await_events(struct sweep_run *s)
{
    int64_t deadline_ns = clock_now_ns() + EVENTS_BACK_NS;

    while (!engine_events_connected(s->events) && clock_now_ns() < deadline_ns) {
        struct error ignored = ERROR_INIT;
        if (loop_sleep_until(s->loop, clock_now_ns() + EVENTS_LOOK_NS, &ignored) < 0)
            return;
    }
}

void trial_await_events(struct trial_run *t)
{
    struct sweep_run *s = t->sweep;

    if (!s->events || engine_events_connected(s->events))
        return;
    trial_look_for_engine(t);
    await_events(s);
}

/* Its own containers, and those that stand: an event of theirs that nobody has heard would change the trial's
 * story. */
void trial_hear_again(struct trial_run *t)
{
    struct sweep_run *s = t->sweep;
    struct error e = ERROR_INIT;
    int missed = 0;

    if (!s->events || t->engine_lost || !engine_events_connected(s->events))
        return;
    if (engine_events_verify(s->events, t->begin_ns + t->wall_minus_mono_ns, &missed, &e) < 0) {
        trial_note(t, "whether every event was heard is not known: %s", e.message);
        trial_look_for_engine(t);
    }
    if (!missed)
        return;
    warn("the engine's event stream had gone silent: it has been opened anew");
    trial_note(t,
               "the engine's event stream had gone silent: %d event%s of the trial came only when asked for",
               missed, missed == 1 ? "" : "s");
}

int engine_between_trials(struct sweep_run *s, struct error *err)
{
    int64_t begin_ns = clock_now_ns();

    if (!s->events || (!s->faults.doubted && engine_events_connected(s->events)))
        return 0;
    bool there = engine_answers(s->engine) || answers_after(s, TWICE_NS) || wait_until_back(s);
    if (loop_interrupted(s->loop))
        return error_set(err, ERROR_INTERRUPTED, "interrupted while the engine was waited for");
    s->engine_given_up = !there;
    if (!there) {
        (void)error_set(
            err, ERROR_ENVIRONMENT,
            "the engine went away between two trials, and was not back after %.0f s; the sweep stops",
            clock_ms_since(begin_ns) / 1e3);
        return error_hint(err, "start it and go on with `benchctl resume`");
    }
    await_events(s);
    note("everything is started afresh: the engine was restarted, was not heard for a while, or did not "
         "remove "
         "something");
    sweep_start_afresh(s);
    return 0;
}

/* It came back before anybody missed it: what it did to its containers tells. */
void trial_judge_gap(struct trial_run *t)
{
    if (t->engine_lost || !t->gap_wall_ns)
        return;
    vec_each (p, &t->sweep->units) {
        const struct unit *u = *p;
        if (!trial_has(t, u) || !ledger_engine_restarted(&u->ledger, t->gap_wall_ns))
            continue;
        t->engine_lost = arena_printf(t->arena,
                                      "the engine was restarted during the trial: its event stream was "
                                      "interrupted, and '%s' ended about then",
                                      u->role);
        return;
    }
    trial_note(t, "the engine's event stream was interrupted during the trial; no container was affected");
}
