/* SPDX-License-Identifier: MIT */
/*
 * What kept a scenario from being faster? One resource, in one word, and the evidence. The first one that is
 * near its limit in this order: what kills, what measures, what the limits take away, what computes, what is
 * waited for.
 */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/units.h"

/* Of the load's time in pauses of the collector: then it is memory that is short, not CPU. */
#define PAUSED_SHARE 0.10
#define WAITERS_MIN 1 /* for a connection of the pool, on average: a crowd of a moment decides nothing */

static const char *const words[VALIDITY_LIMITS] = {
    [LIMITED_UNKNOWN] = "not known",   [LIMITED_BY_NOTHING] = "none",
    [LIMITED_APP_CPU] = "app CPU",     [LIMITED_THROTTLED] = "app throttled",
    [LIMITED_MEMORY] = "memory",       [LIMITED_DATABASE] = "database",
    [LIMITED_GENERATOR] = "generator", [LIMITED_UPSTREAM] = "upstream latency",
};

const char *validity_limit_name(enum validity_limit_kind k)
{
    return words[k];
}

struct finding_of_limit {
    struct sweep_judge *j;
    const struct arm *arm;
    struct validity_limit *ret;
};

static bool found(struct finding_of_limit *f, enum validity_limit_kind k, const char *evidence)
{
    f->ret->kind = k;
    f->ret->evidence = evidence;
    return true;
}

static bool is_memory_finding(const struct finding *x)
{
    return text_equal(x->id, "java-heap") || text_equal(x->id, "java-metaspace") ||
           text_equal(x->id, "oom-child");
}

static bool killed(struct finding_of_limit *f)
{
    const struct validity_arm *of = f->arm->of;
    size_t trials = 0;
    double kills = 0;

    for (size_t i = 0; i < of->count; i++) {
        const struct trial *t = of->trials[i];
        bool exhausted = false;
        for (size_t k = 0; k < t->finding_count; k++)
            exhausted |= is_memory_finding(&t->findings[k]);
        trials += t->app.oom_kills > 0 || exhausted;
        kills += t->app.oom_kills > 0 ? t->app.oom_kills : 0;
    }
    if (!trials)
        return false;
    return found(f, LIMITED_MEMORY,
                 kills > 0 ? arena_printf(f->j->arena,
                                          "killed for want of memory %.0f time%s in %zu of %zu trial%s",
                                          kills, plural((size_t)kills), trials, of->count, plural(of->count))
                           : arena_printf(f->j->arena, "heap exhausted in %zu of %zu trial%s", trials,
                                          of->count, plural(of->count)));
}

static bool generator_busy(struct finding_of_limit *f)
{
    double share = f->arm->generator_cores / f->arm->generator_allowed;

    if (!(share >= GENERATOR_BUSY) && !f->arm->generator_late)
        return false;
    return found(f, LIMITED_GENERATOR,
                 share >= GENERATOR_BUSY
                     ? arena_printf(f->j->arena, "the load generator used %s of the CPU that it could",
                                    percent(f->j->arena, share))
                     : "the load generator was late by itself: see validity");
}

static bool quota_decides(struct finding_of_limit *f)
{
    if (!(f->arm->throttled >= THROTTLED_BUSY))
        return false;
    return found(f, LIMITED_THROTTLED,
                 arena_printf(f->j->arena, "its CPU quota stopped it in %s of the periods",
                              percent(f->j->arena, f->arm->throttled)));
}

static bool collector_works(struct finding_of_limit *f)
{
    if (!(f->arm->paused >= PAUSED_SHARE))
        return false;
    return found(f, LIMITED_MEMORY,
                 arena_printf(f->j->arena, "the collector stopped it for %s of the load",
                              percent(f->j->arena, f->arm->paused)));
}

static bool processors_decide(struct finding_of_limit *f)
{
    const struct arm *a = f->arm;
    double share = busy_share(a);

    if (share >= BUSY_SHARE)
        return found(
            f, LIMITED_APP_CPU,
            arena_printf(f->j->arena, "it used %s of the CPU that it could", percent(f->j->arena, share)));
    if (!(a->host_cores >= FULL_SHARE * f->j->facts->host_cores) || !(a->cores >= THREAD_BUSY) ||
        a->database_cores > a->cores)
        return false;
    return found(f, LIMITED_APP_CPU,
                 arena_printf(f->j->arena,
                              "the machine was full: %s of its %s cores were in use, %s of them by it",
                              digits(f->j->arena, a->host_cores),
                              digits(f->j->arena, f->j->facts->host_cores), digits(f->j->arena, a->cores)));
}

/* A program of one thread is at its limit with one core, whatever it is allowed. */
static bool thread_decides(struct finding_of_limit *f)
{
    const struct arm *a = f->arm;

    if (a->state != ARM_WORKING || !(a->cores >= THREAD_BUSY) || !(own_share(a) >= OWN_SHARE) ||
        a->database_cores > a->cores)
        return false;
    return found(
        f, LIMITED_APP_CPU,
        arena_printf(f->j->arena,
                     "it used %s cores, about what one thread can, and its requests are its own work",
                     digits(f->j->arena, a->cores)));
}

static bool database_decides(struct finding_of_limit *f)
{
    const struct arm *a = f->arm;
    struct arena *arena = f->j->arena;

    if (a->database_share >= BUSY_SHARE)
        return found(f, LIMITED_DATABASE,
                     arena_printf(arena, "the database used %s of the CPU that it could",
                                  percent(arena, a->database_share)));
    if (!(a->pool_pending_avg >= WAITERS_MIN))
        return false;
    const char *pool = a->pool_max > 0 ? arena_printf(arena, " of %s", digits(arena, a->pool_max)) : "";
    return found(f, LIMITED_DATABASE,
                 arena_printf(arena,
                              "on average %s requests waited for a connection of the pool%s, at most %s",
                              digits(arena, a->pool_pending_avg), pool, digits(arena, a->pool_pending)));
}

static bool upstream_decides(struct finding_of_limit *f)
{
    const struct arm *a = f->arm;
    struct arena *arena = f->j->arena;
    double share = a->lone_ms / a->p50;

    if (a->service && a->service_share >= BUSY_SHARE && !text_equal(a->service, "database"))
        return found(f, LIMITED_UPSTREAM,
                     arena_printf(arena, "service '%s' used %s of the CPU that it could", a->service,
                                  percent(arena, a->service_share)));
    if (!a->upstream || !(share >= FLOOR_SHARE) || !(own_share(a) < OWN_SHARE) || a->lone_ms < ASKING_MS)
        return false;
    return found(f, LIMITED_UPSTREAM,
                 arena_printf(arena, "%s took %s ms of a p50 of %s ms, and %s of that was work of its own",
                              a->lone_measured ? "a lone request" : "the fastest request",
                              digits(arena, a->lone_ms), digits(arena, a->p50),
                              percent(arena, own_share(a))));
}

static bool nothing_decides(struct finding_of_limit *f)
{
    const struct arm *a = f->arm;
    struct arena *arena = f->j->arena;

    if (isnan(a->cores))
        return false;
    const char *share =
        busy_share(a) >= 0 ? arena_printf(arena, "%s of the CPU that it could", percent(arena, busy_share(a)))
                           : arena_printf(arena, "%s cores", digits(arena, a->cores));
    if (a->delivered >= DELIVERED && text_equal(a->model, "open"))
        return found(f, LIMITED_BY_NOTHING,
                     arena_printf(arena, "what was offered was delivered with %s", share));
    return found(f, LIMITED_BY_NOTHING,
                 arena_printf(arena, "it used %s, and nothing else was near a limit", share));
}

void sweep_limits(struct sweep_judge *j, struct validity_sweep *ret)
{
    static bool (*const causes[])(struct finding_of_limit *) = {
        killed,           generator_busy,   quota_decides,  collector_works, processors_decide,
        database_decides, upstream_decides, thread_decides, nothing_decides,
    };

    ret->limits = arena_array(j->arena, struct validity_limit, j->len + 1);
    ret->limit_count = j->len;
    for (size_t i = 0; i < j->len; i++) {
        struct finding_of_limit f = {.j = j, .arm = &j->arms[i], .ret = &ret->limits[i]};
        ret->limits[i] = (struct validity_limit){.scenario = j->arms[i].scenario, .kind = LIMITED_UNKNOWN};
        for (size_t k = 0; k < ARRAY_LEN(causes); k++)
            if (causes[k](&f))
                break;
    }
}
