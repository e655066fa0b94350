/* SPDX-License-Identifier: MIT */
/* What somebody who watches asks for: to skip a trial, to stop after it, to see the application's log. */
#include "run_internal.h"

#include "benchctl/base/clock.h"

#define LOG_LINES 20 /* as many as are read at a glance */
/* Nothing else is served meanwhile, an interruption neither: an engine that does not answer must not hold up
 * the trial. */
#define LOG_NS (2 * NS_PER_S)
/* Shorter ones happen to any process; of the machine's own sleep rule V18 allows as much. */
#define STILL_NS (100 * NS_PER_MS)

/* Looks at the wishes: from a callback of the loop, so it only marks what the next wait does. */
void control_look(struct sweep_run *s)
{
    struct run_control *c = s->options->control;

    if (!c)
        return;
    if (c->skip_trial && s->trial)
        loop_interrupt_piece(s->loop);
    c->skip_trial = false; /* between trials there is nothing to skip */
    if (c->show_log)
        s->wake = true;
    if (c->stop_after && !s->trial && !s->retrying)
        loop_interrupt(s->loop); /* no trial runs: it stops now */
}

/* The wait that is going on has returned to serve it. */
void control_serve(struct sweep_run *s)
{
    struct run_control *c = s->options->control;
    CLEANUP_FREE char *tail = NULL;
    struct error ignored = ERROR_INIT;

    if (!c || !c->show_log)
        return;
    c->show_log = false;
    const struct unit *app = s->trial ? s->trial->app : NULL;
    if (!c->log_tail)
        return;
    engine_set_deadline(s->engine, clock_now_ns() + LOG_NS);
    loop_shield(s->loop, +1);
    int rc = app && app->id ? engine_logs_tail(s->engine, app->id, LOG_LINES, &tail, &ignored) : -1;
    loop_shield(s->loop, -1);
    engine_set_deadline(s->engine, s->trial ? s->trial->deadline_ns : LOOP_FOREVER);
    c->log_tail(rc == 0 && tail ? tail : "", c->data);
}

/* Did a step end because the trial is to be skipped? What failed by itself before keeps its own story. */
bool control_skipped(struct trial_run *t)
{
    if (!loop_piece_over(t->sweep->loop))
        return false;
    if (!t->failed)
        t->skipped = true;
    return true;
}

/* A wish that came too late, when the trial was being cleaned up, is not the next one's. */
void control_trial_over(struct trial_run *t)
{
    (void)!loop_piece_over(t->sweep->loop);
}

int control_stop(const struct sweep_run *s, struct error *err)
{
    if (!s->options->control || !s->options->control->stop_after)
        return 0;
    return error_set(err, ERROR_INTERRUPTED, "stopped as it was asked to, after %llu trial%s",
                     (unsigned long long)s->summary.executed, s->summary.executed == 1 ? "" : "s");
}

/* --- standing still --- */

static int64_t stood_still_ns(const struct trial_run *t)
{
    const struct run_control *c = t->sweep->options->control;

    return c ? c->stood_still_ns : 0;
}

void control_trial_begin(struct trial_run *t)
{
    t->still_before_ns = stood_still_ns(t);
}

void control_window(struct trial_run *t, bool begin)
{
    if (begin)
        t->still_at_load_ns = stood_still_ns(t);
    else
        t->still_in_load_ns = stood_still_ns(t) - t->still_at_load_ns;
}

/* The load generator, the containers and their timers went on meanwhile; nobody looked. */
void control_judge(struct trial_run *t)
{
    int64_t all_ns = stood_still_ns(t) - t->still_before_ns;

    if (t->still_in_load_ns > STILL_NS)
        trial_validity(t, "clock", "FAIL",
                       "benchctl itself was stopped for %.1f s during the measured window",
                       (double)t->still_in_load_ns / 1e9);
    else if (all_ns > STILL_NS)
        trial_validity(
            t, "clock", "WARN",
            "benchctl itself was stopped for %.1f s during the trial, outside of the measured window",
            (double)all_ns / 1e9);
}
