/* SPDX-License-Identifier: MIT */
/*
 * When the arrivals of open phases are due. `long double` has room for 2^64, so that nanoseconds of a month
 * and counts of 10^13 leave errors far below half a nanosecond before rounding.
 */
#include "workload_internal.h"

#include <assert.h>
#include <math.h>

/* Arrivals of a piece whose rate goes from `from` to `to`, each per time unit. */
static long double piece_count(const struct workload_phase *p, double from, const struct workload_stage *s)
{
    return ((long double)from + s->target) / 2 * s->duration_ns / p->time_unit_ns;
}

/* Where, inside that piece, the integral is `count`: the root of (b - a)/2d t^2 + a t - count = 0 in the form
 * that takes no difference of near numbers. */
static long double piece_time(const struct workload_phase *p, double from, const struct workload_stage *s,
                              long double count)
{
    long double area = count * p->time_unit_ns;
    long double under =
        (long double)from * from + 2 * ((long double)s->target - from) * area / s->duration_ns;
    long double t = area > 0 ? 2 * area / (from + sqrtl(under > 0 ? under : 0)) : 0;

    return t < s->duration_ns ? t : s->duration_ns;
}

static int64_t rounded(long double t)
{
    return (int64_t)(t + 0.5L);
}

static int64_t ramp_arrival_ns(const struct workload_phase *p, long double k)
{
    const struct workload_stage *stages = p->stages.items;
    double from = p->start_rate;
    long double before = 0;
    int64_t start = 0, whole = workload_phase_duration_ns(p);

    for (size_t i = 0; i < p->stages.len; i++) {
        long double count = piece_count(p, from, &stages[i]);
        if (k < before + count) {
            int64_t t = start + rounded(piece_time(p, from, &stages[i], k - before));
            return t < whole ? t : INT64_MAX;
        }
        before += count;
        start += stages[i].duration_ns;
        from = stages[i].target;
    }
    return INT64_MAX;
}

int64_t phase_arrival_ns(const struct workload_phase *p, double k)
{
    if (!(k >= 0) || !executor_is_open(p->executor))
        return INT64_MAX;
    if (p->executor == EXECUTOR_RAMPING_ARRIVAL_RATE)
        return ramp_arrival_ns(p, k);
    long double t = (long double)k * p->time_unit_ns / p->rate;
    return t < p->duration_ns && rounded(t) < p->duration_ns ? rounded(t) : INT64_MAX;
}

static long double planned(const struct workload_phase *p)
{
    const struct workload_stage *stages = p->stages.items;
    const struct workload_stage flat = {.duration_ns = p->duration_ns, .target = p->rate};
    double from = p->start_rate;
    long double sum = 0;

    if (p->executor == EXECUTOR_CONSTANT_ARRIVAL_RATE)
        return piece_count(p, p->rate, &flat);
    for (size_t i = 0; i < p->stages.len; i++) {
        sum += piece_count(p, from, &stages[i]);
        from = stages[i].target;
    }
    return sum;
}

uint64_t phase_planned_arrivals(const struct workload_phase *p)
{
    if (!executor_is_open(p->executor))
        return 0;
    uint64_t count = (uint64_t)ceill(planned(p));
    /* The sum is rounded, and so are arrivals: the last of them decide. */
    while (count && phase_arrival_ns(p, (double)(count - 1)) == INT64_MAX)
        count--;
    while (phase_arrival_ns(p, (double)count) != INT64_MAX)
        count++;
    return count;
}

double phase_rate_at(const struct workload_phase *p, int64_t t_ns)
{
    const struct workload_stage *stages = p->stages.items;
    double from = p->start_rate, per_s = (double)NS_PER_S / (double)p->time_unit_ns;

    if (!executor_is_open(p->executor) || t_ns < 0 || t_ns >= workload_phase_duration_ns(p))
        return 0;
    if (p->executor == EXECUTOR_CONSTANT_ARRIVAL_RATE)
        return p->rate * per_s;
    for (size_t i = 0; i < p->stages.len; i++) {
        if (t_ns < stages[i].duration_ns)
            return (from + (stages[i].target - from) * ((double)t_ns / (double)stages[i].duration_ns)) *
                   per_s;
        t_ns -= stages[i].duration_ns;
        from = stages[i].target;
    }
    return 0;
}
