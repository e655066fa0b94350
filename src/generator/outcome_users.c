/* SPDX-License-Identifier: MIT */
/* How many users there were on average, how long they thought, and what they were put off with. */
#include "outcome.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "collector.h"

/* So many points of a phase give its mean number of users: ramps are linear between few targets. */
#define POINTS 2000

/* Users times nanoseconds of a phase's planned time; NAN: nobody knows when each of them was done. */
static double user_time(const struct workload_phase *f, const struct phase_part *p, int64_t end_ns)
{
    int64_t took_ns = (p->end_ns >= 0 ? p->end_ns : end_ns) - p->begin_ns;
    int64_t planned_ns = workload_phase_duration_ns(f);
    double sum = 0;

    if (f->executor == EXECUTOR_PER_VU_ITERATIONS)
        return NAN; /* the quick ones have gone while the slow ones go on */
    if (f->executor == EXECUTOR_SHARED_ITERATIONS)
        return (double)(f->vus < f->iterations ? f->vus : f->iterations) * (double)took_ns;
    int64_t lasted_ns = took_ns < planned_ns ? took_ns : planned_ns; /* less when it was interrupted */
    for (int i = 0; i < POINTS; i++)
        sum += (double)phase_vus_at(f, (int64_t)((i + 0.5) * (double)lasted_ns / POINTS));
    return sum / POINTS * (double)lasted_ns;
}

void outcome_users(struct json *into, const struct outcome_facts *f, int64_t window_ns)
{
    const struct workload_phase *phases = f->workload->phases.items;
    CLEANUP(tally_free) struct tally *all = tally_new();
    double users = 0, think_ns = 0, requests;

    for (size_t i = 0; i < f->total->phases; i++) {
        const struct phase_part *p = &f->total->parts[i];
        if (phases[i].warmup || p->begin_ns < 0)
            continue;
        if (executor_is_open(phases[i].executor))
            users = NAN; /* who is free there does not wait for an answer, nor think */
        else
            users += user_time(&phases[i], p, f->total->end_ns);
        think_ns += (double)p->think_ns;
    }
    total_of_kind(f->workload, f->total, ALL_KINDS, false, all);
    requests = (double)tally_requests(all);
    bool known = window_ns > 0 && users > 0 && requests > 0;
    json_set_number(into, "concurrency", known ? users / (double)window_ns : NAN);
    json_set_number(into, "think_ms", known ? think_ns / requests / 1e6 : NAN);
}

void outcome_fallbacks(struct json *into, const struct workload *w, size_t kind, const struct tally *t)
{
    const struct workload_request *requests = w->requests.items;
    bool looked = false;

    for (size_t i = 0; i < w->requests.len; i++)
        looked = looked || ((kind == ALL_KINDS || kind == i) && requests[i].fallback);
    json_set(into, "fallbacks", looked ? json_new_int((int64_t)t->fallbacks) : json_new_null());
}
