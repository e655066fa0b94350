/* SPDX-License-Identifier: MIT */
/* How long a trial will take, before anything is known of the applications. */
#include <math.h>

#include "benchctl/base/clock.h"
#include "canary.h"
#include "order.h"
#include "plan_internal.h"

/* What one trial costs beside its load on a local engine: containers made and removed, and the moment until
 * they answer. */
#define FIXED_NS (NS_PER_S / 2)
#define DATABASE_NS (NS_PER_S / 4)
#define READY_NS NS_PER_S

static int64_t or_zero(int64_t ns)
{
    return ns > 0 ? ns : 0;
}

static int64_t ready_ns(const struct container_settings *c)
{
    if (!c->ready)
        return 0;
    return c->ready->timeout_ns > 0 && c->ready->timeout_ns < READY_NS ? c->ready->timeout_ns : READY_NS;
}

int64_t plan_estimate_trial_ns(const struct settings *s)
{
    const struct container_settings *services = s->services.items;
    const struct load_settings *l = &s->load;
    int64_t load_ns = l->workload ? workload_duration_ns(l->workload) : or_zero(l->duration_ns);
    int64_t ns = FIXED_NS + ready_ns(&s->app) + load_ns;

    for (size_t i = 0; i < s->services.len; i++)
        ns += services[i].scope == SCOPE_TRIAL ? FIXED_NS / 2 + ready_ns(&services[i]) : 0;
    ns += s->database ? DATABASE_NS : 0;
    ns += s->load.warmup ? or_zero(s->load.warmup->duration_ns) : 0;
    return s->timeout_ns > 0 && ns > s->timeout_ns ? s->timeout_ns : ns;
}

/* What else a cooldown waits for nobody knows before. */
int64_t plan_estimate_ns(const struct settings *s)
{
    return plan_estimate_trial_ns(s) + or_zero(s->cooldown.time_ns);
}

int plan_estimate_total_ns(const struct plan *p, size_t limit, int64_t *ret_ns, size_t *ret_looked_at,
                           struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    size_t scenarios = p->counts.scenarios, count = scenarios < limit ? scenarios : limit;
    double sum_ns = 0;

    for (size_t k = 0; k < count; k++) {
        struct settings s;
        size_t i = count < scenarios ? (size_t)order_permute(scenarios, order_key(0, 0), k) : k;
        if (plan_settings(p, i, a, &s, err) < 0)
            return -1;
        sum_ns += (double)plan_estimate_ns(&s);
        arena_reset(a);
    }
    double total_ns = sum_ns / (double)count * plan_expected_trials(p);
    if (p->canary_digits) {
        struct canary_turns turns = {.every = (uint64_t)p->m->canary->every};
        struct settings s;
        if (plan_settings(p, PLAN_CANARY, a, &s, err) < 0)
            return -1;
        total_ns +=
            (double)plan_estimate_ns(&s) * (double)canary_left(&turns, round(plan_expected_trials(p)));
    }
    *ret_ns = total_ns < (double)INT64_MAX ? (int64_t)total_ns : INT64_MAX;
    *ret_looked_at = count;
    return 0;
}
