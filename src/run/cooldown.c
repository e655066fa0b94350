/* SPDX-License-Identifier: MIT */
#include "cooldown.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"
#include "ports.h"

/* Sensors, load average and socket counters change slowly: nothing is gained by looking more often. */
#define LOOK_NS NS_PER_S

/* --- pure --- */

static bool too_warm(const struct cooldown_view *v, const struct cooldown_goal *g)
{
    return v->temperature_c > g->temperature_c;
}

static bool too_busy(const struct cooldown_view *v, const struct cooldown_goal *g)
{
    return v->load1 > g->load1;
}

static bool too_many_sockets(const struct cooldown_view *v, const struct cooldown_goal *g)
{
    return g->sockets >= 0 && v->sockets > g->sockets;
}

bool cooldown_reached(const struct cooldown_view *v, const struct cooldown_goal *g)
{
    return !too_warm(v, g) && !too_busy(v, g) && !too_many_sockets(v, g);
}

void cooldown_words(const struct cooldown_view *v, const struct cooldown_goal *g, char *buf, size_t size)
{
    size_t len = 0;

    buf[0] = '\0';
    if (too_warm(v, g))
        (void)snprintf(buf, size, "%.0f °C, waiting for %.0f °C", v->temperature_c, g->temperature_c);
    len = strlen(buf);
    if (too_busy(v, g))
        (void)snprintf(buf + len, size - len, "%sload %.2f, waiting for %.15g", len ? "; " : "", v->load1,
                       g->load1);
    len = strlen(buf);
    if (too_many_sockets(v, g))
        (void)snprintf(buf + len, size - len, "%s%lld closed connections, waiting for %lld", len ? "; " : "",
                       (long long)v->sockets, (long long)g->sockets);
}

/* --- the machine --- */

static void look(const struct cooldown_settings *c, struct cooldown_view *ret)
{
    *ret = (struct cooldown_view){
        .temperature_c = isnan(c->temperature_c) ? NAN : host_temperature_c(),
        .load1 = isnan(c->load) ? NAN : host_load1(),
        .sockets = c->sockets ? host_time_wait() : -1,
    };
}

void cooldown_begin(struct sweep_run *s)
{
    s->cooldown = (struct cooldown_state){
        .begin_c = host_temperature_c(), .begin_sockets = host_time_wait(), .waited_ms = NAN};
}

/* Said once a sweep of each kind: scenarios may wait for different ones. */
static void tell_unreadable(struct sweep_run *s, const struct cooldown_view *v)
{
    const struct cooldown_settings *c = &s->last_cooldown;

    struct cooldown_told *told = &s->cooldown.told;

    if (!isnan(c->temperature_c) && isnan(v->temperature_c) && !told->temperature)
        warn("cooldown: no temperature of a processor can be read here: it is not waited for");
    if (!isnan(c->load) && isnan(v->load1) && !told->load)
        warn("cooldown: the load average cannot be read here: it is not waited for");
    if (c->sockets && v->sockets < 0 && !told->sockets)
        warn("cooldown: closed connections cannot be counted here: they are not waited for");
    told->temperature |= !isnan(c->temperature_c);
    told->load |= !isnan(c->load);
    told->sockets |= c->sockets;
}

static struct cooldown_goal goal_of(const struct sweep_run *s)
{
    const struct cooldown_settings *c = &s->last_cooldown;
    int64_t settled = ports_settled();
    struct cooldown_goal g = {.temperature_c = c->temperature_c, .load1 = c->load, .sockets = -1};

    if (c->relative)
        g.temperature_c += s->cooldown.begin_c; /* NAN: it could not be read then, and is not waited for */
    if (c->sockets)
        g.sockets = s->cooldown.begin_sockets > settled ? s->cooldown.begin_sockets : settled;
    return g;
}

/* --- waiting --- */

static void show(struct sweep_run *s, const struct cooldown_view *v, const struct cooldown_goal *g)
{
    struct cooldown_state *c = &s->cooldown;

    (void)snprintf(c->shown, sizeof(c->shown), "cooldown: ");
    cooldown_words(v, g, c->shown + strlen(c->shown), sizeof(c->shown) - strlen(c->shown));
    s->progress.step = c->shown; /* the ticker tells of it */
}

static int wait_until(struct sweep_run *s, int64_t until_ns, struct error *err)
{
    return loop_sleep_until(s->loop, until_ns, err);
}

/* Until the goal is reached, or the time is up. */
static int settle(struct sweep_run *s, int64_t deadline_ns, struct error *err)
{
    struct cooldown_state *c = &s->cooldown;
    const struct cooldown_goal g = goal_of(s);
    int64_t begin_ns = clock_now_ns();
    struct cooldown_view first, now;
    char waited[32];

    look(&s->last_cooldown, &first);
    tell_unreadable(s, &first);
    cooldown_words(&first, &g, c->text, sizeof(c->text));
    for (now = first; !cooldown_reached(&now, &g); look(&s->last_cooldown, &now)) {
        int64_t now_ns = clock_now_ns();
        if (now_ns >= deadline_ns) {
            c->timed_out = true;
            cooldown_words(&now, &g, c->text, sizeof(c->text));
            note("cooldown: no more than %s: %s; going on",
                 duration_human(s->last_cooldown.at_most_ns, waited), c->text);
            break;
        }
        show(s, &now, &g);
        if (wait_until(s, now_ns + LOOK_NS < deadline_ns ? now_ns + LOOK_NS : deadline_ns, err) < 0)
            return -1;
    }
    c->settled_ms = clock_ms_since(begin_ns);
    return 0;
}

int cooldown_wait(struct sweep_run *s, struct error *err)
{
    const struct cooldown_settings *c = &s->last_cooldown;
    bool more = !isnan(c->temperature_c) || !isnan(c->load) || c->sockets;
    int64_t begin_ns = clock_now_ns();

    s->cooldown.waited_ms = NAN;
    s->cooldown.timed_out = false;
    s->cooldown.text[0] = '\0';
    if (c->time_ns <= 0 && !more)
        return 0;
    progress_step(s, "cooldown");
    if (c->time_ns > 0 && wait_until(s, begin_ns + c->time_ns, err) < 0)
        return -1;
    int rc = more ? settle(s, begin_ns + c->at_most_ns, err) : 0;
    s->progress.step = "cooldown"; /* what it was shown as is overwritten by the next one */
    s->cooldown.waited_ms = clock_ms_since(begin_ns);
    return rc;
}

void cooldown_record(struct trial_run *t)
{
    struct cooldown_state *c = &t->sweep->cooldown;

    t->record.cooldown_ms = c->waited_ms;
    if (c->timed_out)
        trial_validity(t, "cooled-down", "WARN", "the cooldown before it ended after %.0f s with %s",
                       c->waited_ms / 1e3, c->text);
    else if (c->text[0])
        trial_note(t, "cooldown: waited %.1f s, %.1f s of it to settle: at first %s", c->waited_ms / 1e3,
                   c->settled_ms / 1e3, c->text);
    c->waited_ms = NAN;
    c->timed_out = false;
    c->text[0] = '\0';
}
