/* SPDX-License-Identifier: MIT */
/* V6: do scenarios pile up at one value, and what is it that they share? */
#include "sweep_internal.h"

#include <math.h>

#define PILE_MIN 3    /* two that are equal are no pile */
#define NEAR_LAW 0.10 /* users / (latency + pause) explains a throughput when it is as near */
#define WAITERS_MIN 1 /* for a connection of the pool */

/* --- what is suspected --- */

struct suspects {
    struct sweep_judge *j;
    const struct group *g;
    struct strbuf text;
    size_t len;
};

static void suspect(struct suspects *s, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void suspect(struct suspects *s, const char *fmt, ...)
{
    va_list args;

    strbuf_adds(&s->text, s->len++ ? "; " : "");
    va_start(args, fmt);
    strbuf_vaddf(&s->text, fmt, args);
    va_end(args);
}

static double middle(const struct suspects *s, double (*value)(const struct arm *a))
{
    return median_of(s->j, s->g, value);
}

static const char *shown(const struct suspects *s, double (*value)(const struct arm *a))
{
    return digits(s->j->arena, middle(s, value));
}

static double goodput(const struct arm *a)
{
    return a->goodput;
}

static double offered(const struct arm *a)
{
    return a->offered;
}

static double p50(const struct arm *a)
{
    return a->p50;
}

static double think(const struct arm *a)
{
    return a->think_ms;
}

static double users(const struct arm *a)
{
    return a->concurrency;
}

static double lone(const struct arm *a)
{
    return a->lone_ms;
}

static double request_cpu(const struct arm *a)
{
    return isnan(a->lone_cpu_ms) ? a->request_cpu_ms : a->lone_cpu_ms;
}

static double service_share(const struct arm *a)
{
    return a->service_share;
}

static double generator_share(const struct arm *a)
{
    return a->generator_cores / a->generator_allowed;
}

static double pool_pending(const struct arm *a)
{
    return a->pool_pending;
}

static double pool_max(const struct arm *a)
{
    return a->pool_max;
}

static double memory(const struct arm *a)
{
    return a->memory;
}

static double per_request_cpu(const struct arm *a)
{
    return a->request_cpu_ms;
}

static bool said_busy(const struct arm *a)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->counted[i]->validity_count; k++) {
            const struct validity_result *v = &a->counted[i]->validity[k];
            if (text_equal(v->id, "generator-busy") && !text_equal(v->verdict, "PASS"))
                return true;
        }
    return false;
}

static void suspect_generator(struct suspects *s)
{
    size_t busy = 0;

    for (size_t i = 0; i < s->g->len; i++)
        busy += said_busy(s->g->arms[i]) || generator_share(s->g->arms[i]) >= GENERATOR_BUSY;
    if ((double)busy >= MOST * (double)s->g->len)
        suspect(s, "the load generator: it was out of time of its own in %zu of %zu scenarios", busy,
                s->g->len);
}

static void suspect_floor(struct suspects *s)
{
    const char *upstream = s->g->arms[0]->upstream;
    double share = middle(s, lone) / middle(s, p50), own = middle(s, request_cpu) / middle(s, lone);

    if (!(share >= FLOOR_SHARE) || !(own < OWN_SHARE) || middle(s, lone) < ASKING_MS)
        return;
    const char *taken = share >= 1
                            ? arena_printf(s->j->arena, "no less than p50 under load (%s ms)", shown(s, p50))
                            : arena_printf(s->j->arena, "%s of p50 under load (%s ms)",
                                           percent(s->j->arena, share), shown(s, p50));
    suspect(s,
            "the floor of an upstream%s, or another wait that is always there: %s took %s ms, %s, and only "
            "%s ms of "
            "that is CPU time of the application",
            upstream ? arena_printf(s->j->arena, " such as service '%s'", upstream) : "",
            s->g->arms[0]->lone_measured ? "one request at a time" : "the fastest request", shown(s, lone),
            taken, shown(s, request_cpu));
}

static void suspect_asking(struct suspects *s)
{
    if (middle(s, lone) < ASKING_MS)
        suspect(s,
                "the asking itself: %s took %s ms, and client, kernel and network have a part in that; more "
                "users, or "
                "more work in each request, would tell",
                s->g->arms[0]->lone_measured ? "one request at a time" : "the fastest request",
                shown(s, lone));
}

/* Nothing is stressed, and yet requests wait for each other. */
static void suspect_queue(struct suspects *s)
{
    if (middle(s, lone) / middle(s, p50) < QUEUE_SHORT && !(middle(s, pool_pending) >= WAITERS_MIN))
        suspect(s,
                "a queue for something that is no processor, such as a connection pool or a lock: %s took %s "
                "ms, and "
                "p50 under load was %s ms",
                s->g->arms[0]->lone_measured ? "one request at a time" : "the fastest request",
                shown(s, lone), shown(s, p50));
}

/* Little's law: what so many users can ask for when each waits so long. */
static void suspect_users(struct suspects *s)
{
    double pause = middle(s, think), each = middle(s, p50) + (pause > 0 ? pause : 0);
    double law = middle(s, users) / each * 1e3;

    if (s->g->open || !(fabs(law / middle(s, goodput) - 1) <= NEAR_LAW))
        return;
    if (pause > 0)
        suspect(s, "users and their think time: %s users / (p50 of %s ms + pause of %s ms) = %s requests/s",
                shown(s, users), shown(s, p50), shown(s, think), digits(s->j->arena, law));
    else
        suspect(s, "the number of users: %s users / p50 of %s ms = %s requests/s", shown(s, users),
                shown(s, p50), digits(s->j->arena, law));
}

static void suspect_others(struct suspects *s)
{
    if (middle(s, service_share) >= BUSY_SHARE)
        suspect(s, "service '%s': it used %s of the processors that it could", s->g->arms[0]->service,
                percent(s->j->arena, middle(s, service_share)));
    if (middle(s, pool_pending) >= WAITERS_MIN)
        suspect(s, "the connection pool%s%s: up to %s requests waited for a connection",
                middle(s, pool_max) > 0 ? " of " : "", middle(s, pool_max) > 0 ? shown(s, pool_max) : "",
                shown(s, pool_pending));
}

const char *ceiling_words(struct sweep_judge *j, const struct group *g)
{
    struct suspects s = {.j = j, .g = g};

    if (g->open && g->input)
        suspect(&s, "the offered rate: %s requests/s were offered and %s delivered", shown(&s, offered),
                shown(&s, goodput));
    suspect_generator(&s);
    suspect_floor(&s);
    suspect_asking(&s);
    if (g->idle)
        suspect_queue(&s);
    suspect_users(&s);
    suspect_others(&s);
    const char *text = s.len ? arena_strdup(j->arena, strbuf_text(&s.text)) : NULL;
    strbuf_release(&s.text);
    return text;
}

/* --- the rule --- */

/* How much those in the pile differ in what they use. */
static double differ(const struct group *g, double (*value)(const struct arm *a))
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < g->len; i++) {
        const struct arm *a = g->arms[i];
        if (a->goodput < g->pile_low || a->goodput > g->pile_high || !(value(a) > 0))
            continue;
        low = fmin(low, value(a));
        high = fmax(high, value(a));
    }
    return high > 0 ? high / low - 1 : NAN;
}

/* "by up to 12 %", "up to 79-fold" */
static const char *by_how_much(struct sweep_judge *j, double share)
{
    return share > 1 ? arena_printf(j->arena, "up to %s-fold", digits(j->arena, 1 + share))
                     : arena_printf(j->arena, "by up to %s", percent(j->arena, share));
}

static const char *differences(struct sweep_judge *j, double cpu, double memory_too)
{
    if (cpu > OTHERS_DIFFER && memory_too > OTHERS_DIFFER)
        return arena_printf(j->arena, "their CPU time per request differs %s and their memory %s",
                            by_how_much(j, cpu), by_how_much(j, memory_too));
    if (cpu > OTHERS_DIFFER)
        return arena_printf(j->arena, "their CPU time per request differs %s", by_how_much(j, cpu));
    return arena_printf(j->arena, "their memory differs %s", by_how_much(j, memory_too));
}

/* They work, but most of it is their database's: then it is the ceiling. */
static bool database_decides(const struct group *g)
{
    size_t full = 0;

    for (size_t i = 0; i < g->len; i++)
        full += g->arms[i]->database_share >= BUSY_SHARE && !(busy_share(g->arms[i]) >= BUSY_SHARE);
    return (double)full >= MOST * (double)g->len;
}

static const char *pile_words(struct sweep_judge *j, const struct group *g)
{
    return arena_printf(j->arena, "%s%zu of %zu scenarios lie within 2 %% of each other at %s requests/s",
                        under_load(j, g), g->piled, g->len, from_to(j->arena, g->pile_low, g->pile_high));
}

/* Of several loads one is told; they are alike. */
static void say_ceiling(struct sweep_judge *j, const struct group *g, size_t count)
{
    const char *words = ceiling_words(j, g);
    const char *more = count > 1 ? arena_printf(j->arena, " (and likewise under %zu other load%s)", count - 1,
                                                count > 2 ? "s" : "")
                                 : "";

    sweep_say(j, "common-ceiling", "WARN", "%s while %s%s; suspected: %s", pile_words(j, g),
              differences(j, differ(g, per_request_cpu), differ(g, memory)), more,
              words ? words : "a wait outside of the application");
}

void judge_ceiling(struct sweep_judge *j)
{
    const struct group *first = NULL;
    size_t count = 0;

    for (size_t i = 0; i < j->group_count; i++) {
        const struct group *g = &j->groups[i];
        if (g->len < PILE_MIN)
            continue;
        double cpu = differ(g, per_request_cpu), more = differ(g, memory);
        bool piled = (double)g->piled >= MOST * (double)g->len,
             differs = cpu > OTHERS_DIFFER || more > OTHERS_DIFFER, shared = g->idle || database_decides(g);
        if (!piled)
            sweep_say(j, "common-ceiling", "PASS",
                      "%sat most %zu of %zu scenarios lie within 2 %% of each other", under_load(j, g),
                      g->piled, g->len);
        else if (!differs)
            sweep_say(j, "common-ceiling", "PASS", "%s, and use as much CPU and memory as each other",
                      pile_words(j, g));
        else if (!shared)
            sweep_say(j, "common-ceiling", "PASS",
                      "%s while %s; but most of them worked to get there, and did not wait", pile_words(j, g),
                      differences(j, cpu, more));
        else if (!count++)
            first = g;
    }
    if (first)
        say_ceiling(j, first, count);
}
