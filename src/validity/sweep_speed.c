/* SPDX-License-Identifier: MIT */
/* V1, V3, V4 and V5 over a sweep: is what was measured the application's, and do scenarios differ? */
#include "sweep_internal.h"

#include <math.h>

#define PACED_SHARE 0.8 /* of its users' time that pauses and p50 must explain, for the pauses to decide */

struct range {
    double low, high;
};

static struct range range_of(const struct group *g, double (*value)(const struct arm *a))
{
    struct range r = {INFINITY, -INFINITY};

    for (size_t i = 0; i < g->len; i++) {
        r.low = fmin(r.low, value(g->arms[i]));
        r.high = fmax(r.high, value(g->arms[i]));
    }
    return r.low <= r.high ? r : (struct range){NAN, NAN};
}

static double goodput(const struct arm *a)
{
    return a->goodput;
}

static double offered(const struct arm *a)
{
    return a->offered;
}

static double delivered(const struct arm *a)
{
    return a->delivered;
}

static double p50(const struct arm *a)
{
    return a->p50;
}

static double users(const struct arm *a)
{
    return a->concurrency;
}

static double think(const struct arm *a)
{
    return a->think_ms;
}

/* Groups of which `judge` says `wanted`, as one. */
static size_t join_those(struct sweep_judge *j, int (*judge)(const struct group *g), int wanted,
                         struct group *ret)
{
    bool *members = arena_array(j->arena, bool, j->group_count + 1);

    for (size_t i = 0; i < j->group_count; i++)
        members[i] = judge(&j->groups[i]) == wanted;
    return join_groups(j, members, ret);
}

/* --- V1 --- */

enum { OFFERED_IS_GOT, OFFERED_IS_NOT_GOT, PAUSES_DECIDE };

static int input_kind(const struct group *g)
{
    if (g->open && g->input)
        return OFFERED_IS_GOT;
    if (g->open && !isnan(range_of(g, delivered).low))
        return OFFERED_IS_NOT_GOT;
    return g->input ? PAUSES_DECIDE : -1;
}

/* Arms whose users did nothing but pause and wait: others' were kept from it, by a service that was silent or
 * down. */
static void keep_paced(struct group *g)
{
    size_t kept = 0;

    for (size_t i = 0; i < g->len; i++) {
        const struct arm *a = g->arms[i];
        double paced = a->goodput * (a->think_ms + a->p50) / 1e3;
        if (!(paced < PACED_SHARE * a->concurrency))
            g->arms[kept++] = g->arms[i];
    }
    g->len = kept;
}

static void throughput_is_input(struct sweep_judge *j)
{
    struct arena *a = j->arena;

    for (int kind = OFFERED_IS_GOT; kind <= PAUSES_DECIDE; kind++) {
        struct group g;
        size_t groups = join_those(j, input_kind, kind, &g);
        if (groups && kind == PAUSES_DECIDE)
            keep_paced(&g);
        if (!groups || !g.len)
            continue;
        struct range got = range_of(&g, goodput), asked = range_of(&g, offered), many = range_of(&g, users),
                     pause = range_of(&g, think), wait = range_of(&g, p50);
        const char *rates = from_to(a, got.low, got.high), *loads = under_loads(j, groups);
        if (kind == OFFERED_IS_GOT)
            sweep_say(
                j, "throughput-is-input", "WARN",
                "%s%s requests/s were offered and %s delivered in %s: the throughput is the input, not a "
                "result; compare latency and CPU",
                loads, from_to(a, asked.low, asked.high), rates,
                g.len == 1 ? g.arms[0]->scenario : arena_printf(a, "all %zu scenarios", g.len));
        else if (kind == OFFERED_IS_NOT_GOT)
            sweep_say(j, "throughput-is-input", "PASS",
                      "%s%s requests/s were offered and %s delivered: not every scenario kept up", loads,
                      from_to(a, asked.low, asked.high), rates);
        else
            sweep_say(j, "throughput-is-input", "WARN",
                      "%s%s users pause %s ms between an answer and the next request, and wait %s ms for it: "
                      "the pause makes the throughput of %s requests/s; compare latency and CPU",
                      loads, from_to(a, many.low, many.high), from_to(a, pause.low, pause.high),
                      from_to(a, wait.low, wait.high), rates);
    }
}

/* --- V3 --- */

static const char *recorded(const struct arm *a, const char *id)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->counted[i]->validity_count; k++)
            if (text_equal(a->counted[i]->validity[k].id, id))
                return a->counted[i]->validity[k].verdict;
    return NULL;
}

static double lone_share(const struct arm *a)
{
    return a->lone_ms / a->p50;
}

/* NAN: nothing is known; the trial's own verdict stands where the figures do not tell. */
static double at_floor(const struct arm *a)
{
    const char *said = recorded(a, "latency-floor");

    if (!isnan(lone_share(a)) && !isnan(own_share(a)))
        return a->lone_ms >= ASKING_MS && lone_share(a) >= FLOOR_SHARE && own_share(a) < OWN_SHARE;
    return said ? text_equal(said, "WARN") : NAN;
}

static double lone(const struct arm *a)
{
    return a->lone_ms;
}

static double lone_cpu(const struct arm *a)
{
    return isnan(a->lone_cpu_ms) ? a->request_cpu_ms : a->lone_cpu_ms;
}

/* -1: nothing is known of this group. */
static int most_at_floor(const struct group *g)
{
    size_t known = 0, at = 0;

    for (size_t k = 0; k < g->len; k++) {
        known += !isnan(at_floor(g->arms[k]));
        at += at_floor(g->arms[k]) > 0;
    }
    return known ? (double)at >= MOST * (double)known : -1;
}

static void latency_floor(struct sweep_judge *j)
{
    for (int most = 1; most >= 0; most--) {
        struct group g;
        size_t groups = join_those(j, most_at_floor, most, &g), measured = 0;
        if (!groups)
            continue;
        for (size_t k = 0; k < g.len; k++)
            measured += g.arms[k]->lone_measured;
        struct range alone = range_of(&g, lone), cpu = range_of(&g, lone_cpu), all = range_of(&g, p50);
        sweep_say(j, "latency-floor-everywhere", most ? "WARN" : "PASS",
                  "%s%s took %s ms, %s ms of it CPU time of the application; p50 under load was %s ms: %s",
                  under_loads(j, groups),
                  measured ? "one request at a time" : "the fastest request under load",
                  from_to(j->arena, alone.low, alone.high), from_to(j->arena, cpu.low, cpu.high),
                  from_to(j->arena, all.low, all.high),
                  most ? "the latency is that of what the application waits for, not its own"
                       : "the latency is the application's own work, or comes with the load");
    }
}

/* --- V4 --- */

static double generator_share(const struct arm *a)
{
    return a->generator_cores / a->generator_allowed;
}

/* NAN: not known. */
static double idle(const struct arm *a)
{
    const char *said = recorded(a, "nothing-stressed");

    if (isnan(busy_share(a)))
        return said ? text_equal(said, "WARN") : NAN;
    return a->state != ARM_WORKING && busy_share(a) < IDLE_SHARE && !(a->service_share >= IDLE_SHARE) &&
           !(generator_share(a) >= IDLE_SHARE) && !(a->throttled >= THROTTLED_ANY) && !(a->pool_pending > 0);
}

static double service_share(const struct arm *a)
{
    return a->service_share;
}

static int most_idle(const struct group *g)
{
    size_t known = 0, resting = 0;

    for (size_t k = 0; k < g->len; k++) {
        known += !isnan(idle(g->arms[k]));
        resting += idle(g->arms[k]) > 0;
    }
    return known ? (double)resting >= MOST * (double)known : -1;
}

static void nothing_stressed(struct sweep_judge *j)
{
    struct arena *a = j->arena;

    for (int most = 1; most >= 0; most--) {
        struct group g;
        size_t groups = join_those(j, most_idle, most, &g);
        if (!groups)
            continue;
        struct range app = range_of(&g, busy_share), other = range_of(&g, service_share),
                     generator = range_of(&g, generator_share);
        sweep_say(j, "nothing-stressed-anywhere", most ? "WARN" : "PASS",
                  "%sof the processors that each could use the application took at most %s%s%s%s%s%s",
                  under_loads(j, groups), percent(a, app.high),
                  isnan(other.high) ? "" : ", a service at most ",
                  isnan(other.high) ? "" : percent(a, other.high),
                  isnan(generator.high) ? "" : ", the load generator at most ",
                  isnan(generator.high) ? "" : percent(a, generator.high),
                  most ? ": nothing was near a limit" : "");
    }
}

/* --- V5 --- */

static void separable(struct sweep_judge *j)
{
    struct arena *a = j->arena;

    for (size_t i = 0; i < j->group_count; i++) {
        const struct group *g = &j->groups[i];
        const struct stats_components *c = &g->components;
        const char *what = arena_printf(a, "%s%s", under_load(j, g), g->input ? "p50" : "throughput");
        if (!g->repeated)
            continue;
        const char *numbers =
            arena_printf(a,
                         "standard deviation between %zu scenarios %s (90 %% confidence interval %s to %s), "
                         "between trials of one %s",
                         c->groups, percent(a, sqrt(c->between)), percent(a, sqrt(c->low)),
                         percent(a, sqrt(c->high)), percent(a, sqrt(c->within)));
        if (c->low > 0)
            sweep_say(j, "separable", "PASS", "%s: %s", what, numbers);
        else
            sweep_say(j, "separable", "WARN", "%s: no scenario is distinguishable from another: %s", what,
                      numbers);
    }
}

void judge_speed(struct sweep_judge *j)
{
    throughput_is_input(j);
    latency_floor(j);
    nothing_stressed(j);
    separable(j);
}
