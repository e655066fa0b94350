/* SPDX-License-Identifier: MIT */
/*
 * Executors in which iterations begin by the clock, whatever the answers do. A VU that is free is taken; the
 * one that was used last, so that low rates keep few connections busy. With none free and fewer than max_vus
 * there, one is added; with max_vus at work the arrival is dropped, counted, and never made up later.
 */
#include <math.h>
#include "runner.h"

static double exponential(struct rng *rng)
{
    return -log1p(-(double)(rng_next(rng) >> 11) * 0x1p-53);
}

/* Every process draws all Poisson arrivals, and takes its own. */
static int64_t arrival_at(struct phase *p)
{
    double k = (double)p->arrival;

    if (p->form->arrivals == ARRIVALS_POISSON) {
        for (; p->drawn <= p->arrival; p->drawn++)
            p->sum += exponential(&p->arrivals);
        k = p->sum;
    }
    int64_t t = phase_arrival_ns(p->form, k);
    return t == NEVER ? NEVER : p->start_ns + t;
}

static struct vu *new_vu(struct phase *p)
{
    struct vu *v = vu_take(p);

    v->at = p->vus.len;
    vec_push(&p->vus, v);
    p->active++;
    return v;
}

void open_begin(struct phase *p)
{
    uint64_t vus = share_of((uint64_t)p->form->pre_allocated_vus, p->part_index, p->parts);

    rng_seed(&p->arrivals,
             (uint64_t)p->runner->o.workload->seed ^ (p->index + 1) * UINT64_C(0xa24baed4963ee407));
    for (uint64_t i = 0; i < vus; i++)
        vec_push(&p->idle, new_vu(p));
    p->arrival = p->part_index;
    p->last_arrival_ns = INT64_MIN / 2;
    p->next_arrival_ns = p->part_index < p->parts ? arrival_at(p) : NEVER;
}

static void arrive(struct phase *p, int64_t now_ns)
{
    struct vu *v = NULL;

    p->part->planned++;
    if (p->idle.len)
        v = p->idle.items[--p->idle.len];
    else if (p->vus.len < share_of((uint64_t)p->form->max_vus, p->part_index, p->parts))
        v = new_vu(p);
    if (v) {
        v->draw = p->arrival;
        vu_start(v, p->next_arrival_ns, now_ns);
    } else {
        p->part->dropped++;
    }
}

void open_advance(struct phase *p, int64_t now_ns)
{
    while (p->next_arrival_ns <= now_ns && p->next_arrival_ns < p->end_ns && !runner_turn_full(p->runner)) {
        arrive(p, now_ns);
        p->last_arrival_ns = p->next_arrival_ns;
        p->arrival += p->parts;
        p->next_arrival_ns = arrival_at(p);
    }
}

bool open_behind(const struct phase *p)
{
    return executor_is_open(p->form->executor) && p->next_arrival_ns < p->end_ns;
}

int64_t open_next_ns(const struct phase *p)
{
    return p->next_arrival_ns;
}

void open_free(struct vu *v, int64_t now_ns)
{
    struct phase *p = v->phase;

    if (p->state == PHASE_RUNNING) {
        vec_push(&p->idle, v);
        return;
    }
    phase_drop_vu(p, v);
    phase_check_over(p, now_ns);
}

void open_end(struct phase *p)
{
    p->idle.len = 0;
    for (size_t i = p->vus.len; i-- > 0;)
        if (p->vus.items[i]->state != VU_BUSY)
            phase_drop_vu(p, p->vus.items[i]);
}
