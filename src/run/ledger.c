/* SPDX-License-Identifier: MIT */
#include "ledger.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include "benchctl/base/strbuf.h"

#define OOM_BURST_NS INT64_C(100000000)

void ledger_release(struct ledger *l)
{
    vec_release(&l->starts);
    vec_release(&l->exits);
    free(l->last_started_at);
    free(l->state_error);
    *l = (struct ledger){0};
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static void record_exit(struct ledger *l, int64_t wall_ns, int code)
{
    vec_push(&l->exits, (struct ledger_exit){
                            .wall_ns = wall_ns,
                            .code = code,
                            .oom = l->oom_since_start,
                            .by_us = l->ours_to_end,
                            .foreign_signal = l->foreign_signal,
                        });
    l->running = false;
    l->last_code = code;
}

/* Inspect may be faster than the event of the same death. */
static void die_event(struct ledger *l, const struct engine_event *ev)
{
    struct ledger_exit *last = l->exits.len ? &l->exits.items[l->exits.len - 1] : NULL;

    if (last && last->by_inspect && l->exits.len >= l->starts.len && last->code == ev->exit_code) {
        last->by_inspect = false;
        last->oom |= l->oom_since_start;
        if (!last->foreign_signal)
            last->foreign_signal = l->foreign_signal;
    } else {
        record_exit(l, ev->wall_ns, ev->exit_code);
    }
}

/* Version 1 of cgroups notifies whenever memory is out, which it is until the victim is gone: a burst of
 * events is one kill. */
static void oom_event(struct ledger *l, const struct engine_event *ev)
{
    if (!l->oom_since_start || ev->wall_ns - l->last_oom_ns > OOM_BURST_NS)
        l->oom_events++;
    l->oom_since_start = true;
    l->last_oom_ns = ev->wall_ns;
}

void ledger_event(struct ledger *l, const struct engine_event *ev)
{
    if (strcmp(ev->action, "start") == 0) {
        vec_push(&l->starts, (struct ledger_start){.wall_ns = ev->wall_ns});
        l->running = true;
        l->oom_since_start = false;
        l->foreign_signal = 0;
    } else if (strcmp(ev->action, "oom") == 0) {
        oom_event(l, ev);
    } else if (strcmp(ev->action, "die") == 0) {
        die_event(l, ev);
    } else if (strcmp(ev->action, "kill") == 0) {
        if (!l->ours_to_end)
            l->foreign_signal = ev->signal;
    } else if (!text_starts(ev->action, "health_status") && strcmp(ev->action, "pause") != 0 &&
               strcmp(ev->action, "unpause") != 0) {
        return; /* create, attach, exec_*, destroy: nothing that inspect would tell */
    }
    l->stale = true;
}

void ledger_gap(struct ledger *l)
{
    l->gap = true;
    l->stale = true;
}

/* The end of the last run as inspect has it: FinishedAt is the truth, a die event's time is late. */
static void settle_exit(struct ledger *l, const struct engine_state *s)
{
    int lives = most((int)l->starts.len, l->distinct_starts); /* events may be on their way */
    bool known = l->exits.len > 0 && (int)l->exits.len >= lives;

    if (s->running || s->restarting || s->finished_wall_ns < 0)
        return;
    if (!known && lives)
        record_exit(l, s->finished_wall_ns, s->exit_code);
    if (!l->exits.len)
        return;
    struct ledger_exit *last = &l->exits.items[l->exits.len - 1];
    last->by_inspect |= !known;
    if (last->code == s->exit_code && llabs(last->wall_ns - s->finished_wall_ns) < INT64_C(1000000000))
        last->wall_ns = s->finished_wall_ns;
    if (s->oom_killed && s->exit_code != 0)
        last->oom = true;
}

void ledger_inspect(struct ledger *l, const struct engine_state *s)
{
    l->stale = false;
    if (s->started_at && s->started_wall_ns >= 0 && !text_equal(s->started_at, l->last_started_at)) {
        free(l->last_started_at);
        l->last_started_at = xstrdup(s->started_at);
        l->distinct_starts++;
        if (l->gap && (int)l->starts.len < l->distinct_starts) /* the event was lost */
            vec_push(&l->starts, (struct ledger_start){.wall_ns = s->started_wall_ns});
    }
    /* The engine counts a restart when it plans it: while it waits out the back-off the last one has not
     * happened. */
    l->restart_count = s->restart_count - (s->restarting && s->restart_count > 0 ? 1 : 0);
    l->oom_flag |= s->oom_killed;
    settle_exit(l, s);
    l->running = s->running && !s->restarting;
    l->terminal = s->dead || text_equal(s->status, "exited") || text_equal(s->status, "dead") ||
                  text_equal(s->status, "removing");
    if (l->terminal)
        l->last_code = s->exit_code;
    if (s->error && s->error[0]) {
        free(l->state_error);
        l->state_error = xstrdup(s->error);
    }
}

void ledger_gone(struct ledger *l)
{
    l->stale = l->running = false;
    l->terminal = true;
}

int ledger_restarts(const struct ledger *l, bool *ret_uncertain)
{
    int by_events = l->starts.len ? (int)l->starts.len - 1 : 0;
    int by_count = (int)l->restart_count;
    int by_inspect = l->distinct_starts ? l->distinct_starts - 1 : 0;

    if (ret_uncertain) /* inspect looks now and then: seeing fewer is no contradiction */
        *ret_uncertain = l->gap || by_events < by_inspect || (by_count && by_count != by_events);
    return most(by_events, most(by_count, by_inspect));
}

double ledger_oom_kills(const struct ledger *l, double cgroup_kills)
{
    double seen = l->oom_events;

    for (size_t i = 0, flagged = 0; i < l->exits.len; i++) {
        flagged += l->exits.items[i].oom;
        if ((double)flagged > seen)
            seen = (double)flagged;
    }
    if (l->oom_flag && seen < 1)
        seen = 1;
    return cgroup_kills > seen ? cgroup_kills : seen;
}

int ledger_deaths(const struct ledger *l)
{
    int n = 0;

    for (size_t i = 0; i < l->exits.len; i++)
        n += !l->exits.items[i].by_us;
    return n;
}

double ledger_uptime_pct(const struct ledger *l, int64_t begin, int64_t end)
{
    int64_t up = 0;

    if (end <= begin)
        return NAN;
    for (size_t i = 0; i < l->starts.len; i++) {
        int64_t from = l->starts.items[i].wall_ns;
        int64_t to = i < l->exits.len ? l->exits.items[i].wall_ns : end;
        from = from < begin ? begin : from;
        to = to > end ? end : to;
        if (to > from)
            up += to - from;
    }
    double pct = 100.0 * (double)up / (double)(end - begin);
    return pct > 100 ? 100 : pct;
}

char *ledger_cause(const struct ledger_exit *e, double memory_pct)
{
    int signal = e->code > 128 && e->code < 128 + 65 ? e->code - 128 : 0;
    const char *name = signal ? sigabbrev_np(signal) : NULL;

    if (e->by_us)
        return xstrdup("killed by benchctl");
    if (e->oom)
        return xstrdup("oom");
    if (e->foreign_signal && (signal == e->foreign_signal || signal == SIGKILL || e->code == 0))
        return xasprintf("killed by somebody else (signal %d)", e->foreign_signal);
    if (signal == SIGKILL && !isnan(memory_pct))
        return xasprintf("sigkill, cause unknown (memory was %.0f %% of the limit at the last sample)",
                         memory_pct);
    if (signal == SIGKILL)
        return xstrdup("sigkill, cause unknown");
    if (signal)
        return xasprintf("signal %d (%s)", signal, name ? name : "?");
    return xasprintf("exit %d", e->code);
}
