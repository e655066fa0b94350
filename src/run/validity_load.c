/* SPDX-License-Identifier: MIT */
#include "validity_load.h"

#include <stdio.h>

#define DELIVERED_MIN 0.99   /* of what the schedule asked for */
#define LIMIT_SHARE_MAX 0.01 /* of the requests may have failed at the generator's own limits */
#define BUSY_MAX 0.8         /* of the cores that the generator could use */
#define BEYOND_MIN 100       /* requests above a percentile that make it one */
#define OMISSION_MAX 1.5     /* corrected to measured p99 of a closed load */

typedef bool load_rule_fn(const struct load_facts *f, struct load_ruling *r);

static void say(struct load_ruling *r, const char *verdict, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void say(struct load_ruling *r, const char *verdict, const char *fmt, ...)
{
    va_list args;

    r->verdict = verdict;
    va_start(args, fmt);
    (void)vsnprintf(r->text, sizeof(r->text), fmt, args);
    va_end(args);
}

/* An open load that was not made is not the load that was asked for, and hides how slow the answers are. */
static bool delivered(const struct load_facts *f, struct load_ruling *r)
{
    const struct load_result *l = f->load;
    double dropped = l->dropped > 0 ? l->dropped : 0;
    double offered = l->offered > 0 ? l->offered : l->requests + dropped;

    if (!(offered > 0) || (isnan(l->offered) && !(dropped > 0)))
        return true;
    double made = offered - dropped;
    if (l->offered > 0 && l->requests < made)
        made = l->requests;
    if (made >= DELIVERED_MIN * offered)
        return true;
    say(r, "FAIL", "the load was not delivered: %.0f of %.0f requests (%.3g %%) were made, %.0f were dropped",
        made, offered, 100 * made / offered, dropped);
    return false;
}

/* No port, no descriptor: that is the machine that makes the load, not the one under test. */
static bool within_limits(const struct load_facts *f, struct load_ruling *r)
{
    const struct load_result *l = f->load;
    double tried = l->ok + l->failed, at_limit = 0;

    for (size_t i = 0; i < l->error_count; i++)
        if (text_equal(l->errors[i].kind, "generator"))
            at_limit += l->errors[i].count;
    if (!(at_limit > 0))
        return true;
    say(r, at_limit > LIMIT_SHARE_MAX * tried ? "FAIL" : "WARN",
        "%.0f requests failed at limits of the load generator (ports, descriptors), not at the application",
        at_limit);
    return false;
}

static bool had_time(const struct load_facts *f, struct load_ruling *r)
{
    const struct load_result *l = f->load;
    double used = l->cpu_ms / l->window_ms;

    if (!(used > BUSY_MAX * f->cores))
        return true;
    say(r, "WARN", "the load generator used %.2f of the %.0f core%s it could: what it measured may be itself",
        used, f->cores, f->cores == 1 ? "" : "s");
    return false;
}

static bool percentiles_are_supported(const struct load_facts *f, struct load_ruling *r)
{
    const struct load_result *l = f->load;

    if (isnan(l->latency_ms.p99) || !(l->ok * 0.01 < BEYOND_MIN))
        return true;
    say(r, "WARN", "only %.0f of %.0f requests lie beyond p99", floor(l->ok * 0.01), l->ok);
    return false;
}

/* Three digits, never an exponent. */
static int decimals(double ms)
{
    return ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0;
}

/* A client that waits while the server stalls does not send, and so does not measure, what it would have. */
static bool waiting_is_counted(const struct load_facts *f, struct load_ruling *r)
{
    const struct load_result *l = f->load;

    if (!text_equal(l->model, "closed") || text_equal(l->corrected, "yes") ||
        !(f->corrected_p99_ms > OMISSION_MAX * l->latency_ms.p99))
        return true;
    say(r, "WARN",
        "stalls kept requests back: p99 is %.*f ms as measured, about %.*f ms had they been sent all the "
        "same",
        decimals(l->latency_ms.p99), l->latency_ms.p99, decimals(f->corrected_p99_ms), f->corrected_p99_ms);
    return false;
}

static const struct {
    const char *id;
    load_rule_fn *holds;
} rules[LOAD_RULES_MAX] = {
    {"load-delivered", delivered},
    {"load-generator-limit", within_limits},
    {"generator-busy", had_time},
    {"percentile-support", percentiles_are_supported},
    {"coordinated-omission", waiting_is_counted},
};

size_t load_rules_apply(const struct load_facts *f, struct load_ruling ret[LOAD_RULES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < LOAD_RULES_MAX && rules[i].id; i++) {
        ret[n] = (struct load_ruling){.id = rules[i].id};
        n += !rules[i].holds(f, &ret[n]);
    }
    return n;
}
