/* SPDX-License-Identifier: MIT */
/* When phases begin and end, and how many virtual users there are then. */
#include "workload_internal.h"

#include <assert.h>

bool executor_is_open(int executor)
{
    return executor == EXECUTOR_CONSTANT_ARRIVAL_RATE || executor == EXECUTOR_RAMPING_ARRIVAL_RATE;
}

static const struct workload_phase *phase_of(const struct workload *w, size_t phase)
{
    assert(phase < w->phases.len);
    return (const struct workload_phase *)w->phases.items + phase;
}

int64_t workload_phase_duration_ns(const struct workload_phase *p)
{
    const struct workload_stage *stages = p->stages.items;
    int64_t sum = 0;

    switch ((enum executor)p->executor) {
    case EXECUTOR_CONSTANT_VUS:
    case EXECUTOR_CONSTANT_ARRIVAL_RATE:
        return p->duration_ns;
    case EXECUTOR_PER_VU_ITERATIONS:
    case EXECUTOR_SHARED_ITERATIONS:
        return p->max_duration_ns;
    case EXECUTOR_RAMPING_VUS:
    case EXECUTOR_RAMPING_ARRIVAL_RATE:
        for (size_t i = 0; i < p->stages.len; i++)
            sum += stages[i].duration_ns;
    }
    return sum;
}

/* The first of the phases that follow each other up to this one: where a start time stands. */
static size_t chain_start(const struct workload *w, size_t phase)
{
    while (phase > 0 && phase_of(w, phase)->start_time_ns < 0)
        phase--;
    return phase;
}

/* With `graceful`, every graceful stop before it is used up. */
static int64_t start_ns(const struct workload *w, size_t phase, bool graceful)
{
    size_t i = chain_start(w, phase);
    int64_t at = phase_of(w, i)->start_time_ns < 0 ? 0 : phase_of(w, i)->start_time_ns;

    for (; i < phase; i++) {
        const struct workload_phase *p = phase_of(w, i);
        at += workload_phase_duration_ns(p) + (graceful ? p->graceful_stop_ns : 0);
    }
    return at;
}

int64_t workload_phase_start_ns(const struct workload *w, size_t phase)
{
    return start_ns(w, phase, false);
}

static int64_t end_ns(const struct workload *w, size_t phase, bool graceful)
{
    const struct workload_phase *p = phase_of(w, phase);

    return start_ns(w, phase, graceful) + workload_phase_duration_ns(p) +
           (graceful ? p->graceful_stop_ns : 0);
}

static int64_t last_end_ns(const struct workload *w, bool graceful)
{
    int64_t last = 0;

    for (size_t i = 0; i < w->phases.len; i++) {
        int64_t end = end_ns(w, i, graceful);
        last = end > last ? end : last;
    }
    return last;
}

int64_t workload_duration_ns(const struct workload *w)
{
    return last_end_ns(w, false);
}

int64_t workload_longest_ns(const struct workload *w)
{
    return last_end_ns(w, true);
}

int64_t workload_phase_vus_max(const struct workload_phase *p)
{
    const struct workload_stage *stages = p->stages.items;
    double most = p->start_vus;

    if (executor_is_open(p->executor))
        return p->max_vus;
    if (p->executor != EXECUTOR_RAMPING_VUS)
        return p->vus;
    for (size_t i = 0; i < p->stages.len; i++)
        most = stages[i].target > most ? stages[i].target : most;
    return (int64_t)most;
}

struct span {
    int64_t from_ns, to_ns, vus;
    size_t chain;
};

/* Of those that follow each other only one is active at a time: the largest counts. */
static int64_t vus_at(const struct span *spans, size_t count, int64_t at_ns)
{
    int64_t sum = 0, most = 0;

    for (size_t i = 0; i < count; i++) {
        const struct span *s = &spans[i];
        if (s->from_ns <= at_ns && at_ns < s->to_ns && s->vus > most)
            most = s->vus;
        if (i + 1 == count || spans[i + 1].chain != s->chain) {
            sum += most;
            most = 0;
        }
    }
    return sum;
}

int64_t workload_max_vus(const struct workload *w)
{
    CLEANUP_FREE struct span *spans = xcalloc(w->phases.len + 1, sizeof(*spans));
    int64_t most = 0;

    for (size_t i = 0; i < w->phases.len; i++)
        spans[i] = (struct span){
            .from_ns = start_ns(w, i, false),
            .to_ns = end_ns(w, i, true),
            .vus = workload_phase_vus_max(phase_of(w, i)),
            .chain = chain_start(w, i),
        };
    for (size_t i = 0; i < w->phases.len; i++) {
        int64_t vus = vus_at(spans, w->phases.len, spans[i].from_ns);
        most = vus > most ? vus : most;
    }
    return most;
}

/*
 * From `from` on the line to `to`, `t` of `whole` gone. On the way up a virtual user starts when the line
 * reaches its number; on the way down it stops when the line has come down to the one below.
 */
static int64_t on_line(int64_t from, int64_t to, int64_t t, int64_t whole)
{
    int64_t way = to > from ? to - from : from - to;
    int64_t gone = (int64_t)((__int128)way * t / whole);

    return to > from ? from + gone : from - gone;
}

int64_t phase_vus_at(const struct workload_phase *p, int64_t t_ns)
{
    const struct workload_stage *stages = p->stages.items;
    int64_t vus = (int64_t)p->start_vus;

    if (executor_is_open(p->executor))
        return 0;
    if (p->executor != EXECUTOR_RAMPING_VUS)
        return p->vus;
    t_ns = t_ns < 0 ? 0 : t_ns;
    for (size_t i = 0; i < p->stages.len; i++) {
        int64_t target = (int64_t)stages[i].target;
        if (t_ns < stages[i].duration_ns)
            return on_line(vus, target, t_ns, stages[i].duration_ns);
        t_ns -= stages[i].duration_ns;
        vus = target;
    }
    return vus;
}
