/* SPDX-License-Identifier: MIT */
/* What is known of a container's lives while they are lived: as events, and how it was at each end. */
#include "run_internal.h"

#include <math.h>
#include "benchctl/base/clock.h"

void unit_life_ready(struct unit *u, int64_t wall_ns)
{
    ledger_ready(&u->ledger, wall_ns);
}

/* --- how it was at its end --- */

static double memory_pct(const struct trial_run *t, const struct unit *u, int64_t begin_wall_ns)
{
    int64_t begin_ns = begin_wall_ns - t->wall_minus_mono_ns; /* older ones are of a life before */
    double usage = sampler_recent_usage(t->sampler, u->role, begin_ns), limit = u->effective.memory_bytes;

    return isfinite(limit) && limit > 0 ? 100.0 * usage / limit : NAN;
}

/* Programs that end at once do so several times a second: a note is of the end that it is nearest to. */
static bool is_nearest(const struct ledger *l, size_t exit, int64_t wall_ns)
{
    int64_t distance_ns = llabs(l->exits.items[exit].wall_ns - wall_ns);

    vec_each (e, &l->exits)
        if (llabs(e->wall_ns - wall_ns) < distance_ns)
            return false;
    return distance_ns < DEATH_NOTE_NEAR_NS;
}

const struct death_note *unit_death_note(const struct unit *u, size_t exit)
{
    vec_each (n, &u->notes)
        if (is_nearest(&u->ledger, exit, n->wall_ns))
            return n;
    return NULL;
}

void unit_note_death(struct sweep_run *s, struct unit *u)
{
    const struct trial_run *t = s->trial;
    const struct ledger *l = &u->ledger;

    if (!t || !t->sampler || !l->exits.len)
        return;
    const struct ledger_exit *e = &l->exits.items[l->exits.len - 1];
    if (unit_death_note(u, l->exits.len - 1))
        return;
    vec_push(&u->notes,
             (struct death_note){.wall_ns = e->wall_ns,
                                 .memory_pct = memory_pct(t, u, l->starts.items[l->exits.len - 1].wall_ns),
                                 .kernel_kills = sampler_oom_kills(t->sampler, u->role)});
}

/* --- as events --- */

static struct json *with_engine_time(const struct trial_run *t, int64_t wall_ns)
{
    struct json *j = json_new_object();

    json_set_number(j, "engine_at_ms",
                    (double)(wall_ns - t->wall_minus_mono_ns - t->begin_ns) / (double)NS_PER_MS);
    return j;
}

static void tell_start(struct trial_run *t, const struct unit *u, size_t i, const char *witness)
{
    const struct ledger *l = &u->ledger;
    const struct ledger_start *start = &l->starts.items[i];
    struct json *j = start->inferred ? json_new_object() : with_engine_time(t, start->wall_ns);

    json_set_text(j, "witness", start->inferred ? "none" : witness);
    trial_event(t, "start", u->role, j);
    if (i == 0)
        return;
    j = json_new_object();
    json_set_int(j, "number", (int64_t)i);
    if (!start->inferred)
        json_set_number(j, "down_ms",
                        (double)(start->wall_ns - l->exits.items[i - 1].wall_ns) / (double)NS_PER_MS);
    trial_event(t, "restart", u->role, j);
}

static void tell_die(struct trial_run *t, const struct unit *u, size_t i, const char *witness)
{
    const struct ledger_exit *e = &u->ledger.exits.items[i];
    struct json *j = with_engine_time(t, e->wall_ns);

    if (e->code >= 0)
        json_set_int(j, "code", e->code);
    if (exit_code_signal(e->code))
        json_set_int(j, "signal", exit_code_signal(e->code));
    json_set_bool(j, "oom", e->oom);
    json_set_text(j, "witness", e->inferred ? "none" : witness);
    trial_event(t, "die", u->role, j);
}

void unit_tell_lives(struct trial_run *t, struct unit *u, const char *witness)
{
    const struct ledger *l = &u->ledger;

    for (;;) {
        bool start = u->told_starts <= u->told_exits && u->told_starts < l->starts.len;
        if (!start && u->told_exits >= l->exits.len)
            return;
        if (t && start)
            tell_start(t, u, u->told_starts, witness);
        else if (t)
            tell_die(t, u, u->told_exits, witness);
        u->told_starts += start;
        u->told_exits += !start;
    }
}

/* The engine's words for what is no start and no end; what it only does for us is not told. */
void unit_tell_event(struct trial_run *t, struct unit *u, const struct engine_event *ev)
{
    static const struct {
        const char *action, *event;
    } words[] = {{"oom", "oom"},       {"kill", "kill"},
                 {"pause", "paused"},  {"unpause", "unpaused"},
                 {"create", "create"}, {"destroy", "destroy"},
                 {"stop", "stop"},     {"update", "update"},
                 {"rename", "rename"}, {"restart", "restarted by hand"}};
    const char *health = "health_status: ";
    const char *what = text_starts(ev->action, health) ? "health" : NULL;

    for (size_t i = 0; i < ARRAY_LEN(words) && !what; i++)
        if (strcmp(ev->action, words[i].action) == 0)
            what = words[i].event;
    if (!what)
        return;
    struct json *j = with_engine_time(t, ev->wall_ns);
    if (ev->signal)
        json_set_int(j, "signal", ev->signal);
    if (strcmp(what, "health") == 0)
        json_set_text(j, "status", ev->action + strlen(health));
    trial_event(t, what, u->role, j);
}
