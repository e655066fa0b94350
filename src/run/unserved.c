/* SPDX-License-Identifier: MIT */
/*
 * A probe that is answered proves that the process lives; whether it works only requests tell. Many
 * applications answer for their health on a thread of its own while everything else stands still.
 */
#include "unserved.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "run_internal.h"

/* Nothing has failed yet, but no answer was that slow before: then it does not come. */
#define SLOWER_THAN_EVER 3

/* --- seconds --- */

static void close_stretch(struct unserved *u, bool to_end)
{
    const struct unserved_stretch *s = &u->now;
    bool hopeless = s->failed > 0 || (to_end && s->asked_ms > SLOWER_THAN_EVER * u->slowest_ms);

    if (u->open && hopeless && s->asked_ms >= u->after_ms) {
        if (u->count++ == 0)
            u->first = *s;
        u->total_ms += s->to_ms - s->from_ms;
        u->failed += s->failed;
        u->answered |= s->answered;
        u->to_end = to_end;
    }
    u->open = false;
    u->waiting_ms = 0;
}

/* Of this second: how long was something asked? Where nobody tells what is under way only failures do; what
 * fails by a time-out was asked in the seconds before, in which nothing ended. */
static double asked_ms(struct unserved *u, const struct load_second *s)
{
    double span_ms = s->end_ms - s->begin_ms, ms = 0;

    if (!isnan(s->started))
        return u->under_way > 0 || s->started > 0 ? span_ms : 0;
    if (s->failed > 0) {
        ms = u->waiting_ms + span_ms;
        u->waiting_ms = 0;
    } else {
        u->waiting_ms += span_ms;
    }
    return ms;
}

void unserved_second(struct unserved *u, const struct load_second *s, bool elsewhere)
{
    double ms = asked_ms(u, s);

    if (!isnan(s->started)) {
        u->under_way += s->started - s->ok - s->failed - (isnan(s->aborted) ? 0 : s->aborted);
        u->under_way = u->under_way > 0 ? u->under_way : 0;
    }
    if (elsewhere || s->ok > 0) {
        close_stretch(u, false);
        return;
    }
    if (ms <= 0)
        return;
    if (!u->open)
        u->now = (struct unserved_stretch){.from_ms = s->end_ms - ms};
    u->open = true;
    u->now.to_ms = s->end_ms;
    u->now.asked_ms += ms;
    u->now.failed += s->failed;
    u->now.answered |= s->answered;
}

void unserved_end(struct unserved *u)
{
    close_stretch(u, true);
}

/* --- of a trial --- */

struct look {
    const struct container_result *app;
    struct unserved u;
};

static bool overlaps(double from, double to, const struct load_second *s)
{
    return s->end_ms > from && (isnan(to) || s->begin_ms < to);
}

/* Not up for all of the second, or silent in it. */
static bool is_elsewhere(const struct container_result *c, const struct load_second *s)
{
    bool up = !c->life_count;

    for (size_t i = 0; i < c->silence_count; i++)
        if (overlaps(c->silences[i].from_ms, c->silences[i].to_ms, s))
            return true;
    for (size_t i = 0; i < c->life_count; i++) {
        const struct container_life *l = &c->lives[i];
        double from = isnan(l->ready_ms) ? l->start_ms : l->ready_ms;
        up |= !(from > s->begin_ms) && !(l->end_ms < s->end_ms);
    }
    return !up;
}

static void look_at(const struct load_second *s, void *data)
{
    struct look *l = data;

    unserved_second(&l->u, s, is_elsewhere(l->app, s));
}

static const char *probe_path(const struct trial_run *t)
{
    const struct container_settings *c = &t->settings->app;

    if (c->liveness && c->liveness->http)
        return c->liveness->http;
    return c->ready && !database_is_counted(t->settings) ? c->ready->http : NULL;
}

void tell_unserved(struct trial_run *t)
{
    const struct liveness_settings *l = t->settings->app.liveness;
    int64_t after_ns = l ? l->after_ns : LIVENESS_AFTER_S * NS_PER_S;
    const char *path = probe_path(t);
    struct look look = {
        .app = &t->record.app,
        .u = {.after_ms = (double)after_ns / (double)NS_PER_MS, .slowest_ms = t->record.load.latency_ms.max}};
    const struct unserved *u = &look.u;

    if (!t->app || t->app->port <= 0 || after_ns <= 0 || !load_each_second(t, look_at, &look))
        return;
    unserved_end(&look.u);
    if (!u->count)
        return;
    const struct trial_happening h = {.id = "unserving",
                                      .role = "app",
                                      .at_ns = t->load_begin_ns + (int64_t)(u->first.from_ms * NS_PER_MS),
                                      .count = u->count};
    t->unserved_ms = u->total_ms;
    t->unserved_to_end = u->to_end;
    t->unserved = arena_printf(t->arena, "no request %s from %.1f s of the load on for %.1f s%s",
                               u->answered ? "succeeded" : "was answered", u->first.from_ms / 1e3,
                               u->total_ms / 1e3, u->count > 1 ? ", in several pieces" : "");
    trial_finding(t, &h, "%s, though the application was alive: %.0f failed%s; %s%s%s", t->unserved,
                  u->failed, u->answered ? ", answered with what was not expected" : "",
                  path ? "the probe asks for '" : "the probe only asks whether the port answers",
                  path ? path : "", path ? "', which may be answered by itself" : "");
}
