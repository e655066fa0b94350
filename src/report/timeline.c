/* SPDX-License-Identifier: MIT */
#include "timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const state_names[STATES] = {
    [STATE_NONE] = "not known",      [STATE_UP] = "up",     [STATE_STARTING] = "starting, not ready",
    [STATE_SILENT] = "unresponsive", [STATE_DOWN] = "down",
};

/* --- which container --- */

const struct container_result *trial_container(const struct trial *t, size_t i)
{
    if (i == 0)
        return &t->app;
    return i <= t->service_count ? &t->services[i - 1] : NULL;
}

const char *container_role(const struct trial *t, const struct container_result *c)
{
    return c->role ? c->role : c == &t->app ? "app" : "?";
}

bool exit_is_ours(const struct container_exit *e)
{
    return e->cause && text_ends(e->cause, " by benchctl");
}

bool container_failed(const struct container_result *c)
{
    for (size_t i = 0; i < c->exit_count; i++)
        if (!exit_is_ours(&c->exits[i]))
            return true;
    return c->silence_count || c->restarts > 0 || c->oom_kills > 0;
}

bool trial_failed(const struct trial *t)
{
    for (size_t i = 0; trial_container(t, i); i++)
        if (container_failed(trial_container(t, i)))
            return true;
    return false;
}

const struct finding *trial_finding_of(const struct trial *t, const char *id,
                                       const struct container_result *c)
{
    for (size_t i = 0; i < t->finding_count; i++)
        if (text_equal(t->findings[i].id, id) && text_equal(t->findings[i].role, container_role(t, c)))
            return &t->findings[i];
    return NULL;
}

/* --- the states over time --- */

double timeline_share(const struct timeline *l, double at_ms)
{
    double share = (at_ms - l->from_ms) / (l->to_ms - l->from_ms);

    return share > 0 ? fmin(share, 1) : 0; /* NAN: the beginning */
}

static void paint(struct timeline *l, enum state state, double from_ms, double to_ms)
{
    if (!(to_ms >= from_ms) || !(to_ms >= l->from_ms) || !(from_ms <= l->to_ms))
        return;
    size_t from = (size_t)(timeline_share(l, from_ms) * TIMELINE_COLUMNS),
           to = (size_t)ceil(timeline_share(l, to_ms) * TIMELINE_COLUMNS);
    if (to <= from)
        to = from + 1;
    for (size_t i = from; i < to && i < TIMELINE_COLUMNS; i++)
        if (l->states[i] < state)
            l->states[i] = (unsigned char)state;
}

static double or_end(const struct timeline *l, double ms)
{
    return isnan(ms) ? l->to_ms : ms;
}

static void paint_lives(struct timeline *l, const struct container_result *c)
{
    for (size_t i = 0; i < c->life_count; i++) {
        const struct container_life *life = &c->lives[i];
        double end = or_end(l, life->end_ms), ready = fmin(or_end(l, life->ready_ms), end);
        if (isnan(life->start_ms))
            continue;
        l->told = true;
        paint(l, STATE_STARTING, life->start_ms, ready);
        if (end > ready)
            paint(l, STATE_UP, ready, end);
        if (!isnan(life->end_ms))
            paint(l, STATE_DOWN, end, or_end(l, i + 1 < c->life_count ? life[1].start_ms : NAN));
    }
    for (size_t i = 0; i < c->silence_count; i++)
        paint(l, STATE_SILENT, c->silences[i].from_ms, or_end(l, c->silences[i].to_ms));
}

/* --- what is shown: the window, and what happened before and after it --- */

static void include(struct timeline *l, double at_ms)
{
    if (!isfinite(at_ms))
        return;
    l->from_ms = fmin(l->from_ms, at_ms);
    l->to_ms = fmax(l->to_ms, at_ms);
}

static const struct step_time *step_of(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->step_count; i++)
        if (text_equal(t->steps[i].name, name))
            return &t->steps[i];
    return NULL;
}

static double warmup_of(const struct trial *t)
{
    const struct step_time *warmup = step_of(t, "warm-up"), *load = step_of(t, "load");

    return warmup && load && warmup->duration_ms >= 1 ? warmup->start_ms - load->start_ms : (double)NAN;
}

/* Of a load that gave no figures its step; 0: there was none. */
static double window_of(const struct trial *t)
{
    const struct step_time *load = step_of(t, "load");
    double window = t->has_load ? t->load.window_ms : load ? load->duration_ms : 0;

    return isfinite(window) ? window : 0;
}

bool timeline_of(const struct trial *t, const struct container_result *c, struct timeline *ret)
{
    struct timeline l = {.begin_ms = NAN, .end_ms = NAN, .warmup_ms = warmup_of(t)};

    if (window_of(t) > 0) {
        l.begin_ms = 0;
        l.end_ms = window_of(t);
        include(&l, l.end_ms);
        include(&l, l.warmup_ms);
    }
    for (size_t i = 0; i < c->life_count; i++) {
        include(&l, c->lives[i].start_ms);
        include(&l, c->lives[i].ready_ms);
        include(&l, c->lives[i].end_ms);
    }
    for (size_t i = 0; i < c->exit_count; i++)
        include(&l, c->exits[i].at_ms);
    for (size_t i = 0; i < c->silence_count; i++) {
        include(&l, c->silences[i].from_ms);
        include(&l, c->silences[i].to_ms);
    }
    if (!(l.to_ms > l.from_ms) || !isfinite(l.to_ms - l.from_ms))
        return false;
    paint_lives(&l, c);
    *ret = l;
    return true;
}

/* --- deaths --- */

/* Both lists come from one ledger, by different roundings. */
#define SAME_MOMENT_MS 2

static void tell_after(struct death *d, const struct container_life *next)
{
    if (!next) {
        d->after = AFTER_NOTHING;
        return;
    }
    bool ready = !isnan(next->ready_ms);
    d->after = ready ? AFTER_READY : AFTER_NOTREADY;
    d->down_ms = (ready ? next->ready_ms : next->start_ms) - d->exit->at_ms;
}

struct death *deaths_of(const struct container_result *c, struct arena *a)
{
    struct death *deaths = arena_array(a, struct death, c->exit_count + 1);
    size_t life = 0;

    for (size_t i = 0; i < c->exit_count; i++) {
        double at = c->exits[i].at_ms;
        deaths[i] = (struct death){.exit = &c->exits[i], .requests = NAN, .down_ms = NAN};
        while (life < c->life_count && !(c->lives[life].end_ms >= at - SAME_MOMENT_MS))
            life++;
        if (life == c->life_count || !(c->lives[life].end_ms <= at + SAME_MOMENT_MS))
            continue; /* no life that ended then: the next one may */
        deaths[i].requests = c->lives[life].requests;
        tell_after(&deaths[i], life + 1 < c->life_count ? &c->lives[life + 1] : NULL);
        life++;
    }
    return deaths;
}

size_t deaths_alike(const struct death *d, size_t count, double *ret_every_ms)
{
    size_t n = 1;

    while (n < count && text_equal(d[n].exit->cause, d[0].exit->cause) && d[n].exit->code == d[0].exit->code)
        n++;
    if (n < FOLD_MIN)
        return 1;
    *ret_every_ms = (d[n - 1].exit->at_ms - d[0].exit->at_ms) / (double)(n - 1);
    return n;
}

/* --- as text --- */

const char *seconds_text(double ms, char *buf)
{
    double s = fabs(ms / 1e3);

    if (!isfinite(ms))
        return NOT_MEASURED;
    if (s >= 1e9)
        (void)snprintf(buf, 32, "%.3g s", ms / 1e3);
    else
        (void)snprintf(buf, 32, "%.*f s", s < 9.995 ? 2 : s < 99.95 ? 1 : 0, s < 0.005 ? 0 : ms / 1e3);
    return buf;
}

const char *death_mark(const struct container_exit *e, char *buf)
{
    const char *cause = e->cause ? e->cause : "", *signal = strstr(cause, "SIG");
    size_t len = signal ? strspn(signal, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") : 0;

    if (strcmp(cause, "oom") == 0)
        return "OOM";
    if (strstr(cause, "host out of memory"))
        return "host OOM";
    if (strstr(cause, "java heap"))
        return "Java heap";
    if (exit_is_ours(e))
        return "benchctl";
    if (strstr(cause, "somebody else"))
        return "killed";
    if (signal && len < 12)
        (void)snprintf(buf, 32, "%.*s", (int)len, signal);
    else if (e->code > 128 && sigabbrev_np(e->code - 128))
        (void)snprintf(buf, 32, "signal %d", e->code - 128);
    else
        (void)snprintf(buf, 32, "exit %d", e->code);
    return buf;
}
