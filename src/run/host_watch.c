/* SPDX-License-Identifier: MIT */
#include "host_watch.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* What is counted (steal, throttling) needs two looks; a tick of /proc/stat is 10 ms. */
#define SHORT_LOOK_NS (500 * NS_PER_MS)

struct host_watch {
    struct host_view last; /* at the sweep's begin, when a trial began, or when one ended */
    bool looked;
};

/* The new look, and in *ret_before the one before, which the caller releases; false: there was none. */
static bool look(struct sweep_run *s, struct host_view *ret_before)
{
    if (!s->host_watch)
        s->host_watch = xcalloc(1, sizeof(*s->host_watch));
    struct host_watch *w = s->host_watch;
    bool looked = w->looked;

    *ret_before = w->last;
    host_view_take(looked ? ret_before : NULL, s->options->run_dir, &w->last);
    w->looked = true;
    return looked;
}

static void look_anew(struct sweep_run *s)
{
    CLEANUP_VALUE(host_view_release) struct host_view before = {0};

    (void)look(s, &before);
}

static int refuse(const char *why, const char *hints, struct error *err)
{
    error_set(err, ERROR_ENVIRONMENT, "the host is not what the matrix requires: %s", why);
    return error_hint(err, "%s; `benchctl doctor MATRIX` says more", hints);
}

int host_watch_open(struct sweep_run *s, struct error *err)
{
    const struct host_settings *wanted = &s->matrix->host;
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT, hints = STRBUF_INIT;

    if (!wanted->require.len)
        return 0;
    look_anew(s);
    if (host_conditions_count(&wanted->require)) {
        if (loop_sleep_until(s->loop, clock_now_ns() + SHORT_LOOK_NS, err) < 0)
            return -1;
        look_anew(s);
    }
    if (!host_violations(&wanted->require, &s->host_watch->last, &why, &hints))
        return 0;
    if (wanted->on_violation == ON_PROBLEM_FAIL)
        return refuse(strbuf_text(&why), strbuf_text(&hints), err);
    warn("the host is not what the matrix requires: %s", strbuf_text(&why));
    return 0;
}

void host_watch_close(struct sweep_run *s)
{
    if (!s->host_watch)
        return;
    host_view_release(&s->host_watch->last);
    free(TAKE(s->host_watch));
}

int host_watch_begin(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    const struct host_settings *wanted = &s->matrix->host;
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT, hints = STRBUF_INIT;

    look_anew(s);
    if (!wanted->require.len)
        return 0;
    if (!host_violations(&wanted->require, &s->host_watch->last, &why, &hints))
        trial_validity(t, "host-required", "PASS", "every condition of host.require held");
    else if (wanted->on_violation == ON_PROBLEM_FAIL)
        return refuse(strbuf_text(&why), strbuf_text(&hints), err);
    else
        trial_validity(t, "host-required", "WARN", "not as the matrix requires: %s", strbuf_text(&why));
    return 0;
}

/* What heat did within the measured window is told by a rule of its own. */
static void add_throttling(const struct trial_run *t, const struct host_view *from,
                           const struct host_view *to, struct strbuf *out)
{
    double in_window = t->record.host.throttled > 0 ? t->record.host.throttled : 0;
    double outside = to->throttle_events - from->throttle_events - in_window;

    if (outside > 0)
        strbuf_addf(out, "%sprocessors were slowed down by heat %.0f time%s outside of the measured window",
                    out->len ? "; " : "", outside, outside == 1 ? "" : "s");
}

void host_watch_end(struct trial_run *t)
{
    struct host_watch *w = t->sweep->host_watch;
    CLEANUP_VALUE(host_view_release) struct host_view before = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf changes = STRBUF_INIT, seen = STRBUF_INIT;

    if (!w || !engine_facts(t->sweep->engine)->local || !look(t->sweep, &before))
        return;
    (void)host_changes(&before, &w->last, &changes);
    add_throttling(t, &before, &w->last, &changes);
    (void)host_compared(&before, &w->last, &seen);
    if (changes.len)
        trial_validity(t, "host-steady", "WARN", "during the trial %s", strbuf_text(&changes));
    else
        trial_validity(t, "host-steady", "PASS", "as before the trial: %s", strbuf_text(&seen));
}
