/* SPDX-License-Identifier: MIT */
#include "runner.h"

/* So many VUs are made before the load begins that no phase has to make its first ones while it runs. */
static size_t first_vus(const struct runner *r)
{
    size_t most = 0;

    for (size_t i = 0; i < r->phase_count; i++) {
        const struct phase *p = &r->phases[i];
        const struct workload_phase *f = p->form;
        int64_t whole = executor_is_open(f->executor)         ? f->pre_allocated_vus
                        : f->executor == EXECUTOR_RAMPING_VUS ? (int64_t)f->start_vus
                                                              : f->vus;
        uint64_t own = share_of((uint64_t)whole, p->part_index, p->parts);
        if (own > most)
            most = (size_t)own;
    }
    return most;
}

struct runner *runner_new(const struct runner_options *o)
{
    struct runner *r = xcalloc(1, sizeof(*r));

    r->o = *o;
    r->phase_count = o->workload->phases.len;
    r->second = second_new(r->phase_count, o->kind_count);
    r->phases = xcalloc(r->phase_count, sizeof(*r->phases));
    for (size_t i = 0; i < r->phase_count; i++)
        phase_init(&r->phases[i], r, i);
    pool_fill(r, first_vus(r));
    return r;
}

void runner_free(struct runner *r)
{
    if (!r)
        return;
    vec_each (v, &r->all) {
        channel_free((*v)->channel);
        free(*v);
    }
    for (size_t i = 0; i < r->phase_count; i++)
        phase_free(&r->phases[i]);
    free(r->phases);
    vec_release(&r->all);
    vec_release(&r->pool);
    vec_release(&r->queue);
    second_free(r->second);
    free(r);
}

void runner_release(struct runner *r, size_t phase, int64_t at_ns)
{
    struct phase *p = &r->phases[phase];

    if (p->released || p->state != PHASE_WAITING)
        return;
    p->released = true;
    p->start_ns = at_ns;
}

void runner_begin(struct runner *r, int64_t begin_ns)
{
    r->begin_ns = begin_ns;
    for (size_t i = 0; i < r->phase_count; i++) {
        int64_t start = r->phases[i].form->start_time_ns;
        if (start >= 0 || i == 0)
            runner_release(r, i, begin_ns + (start > 0 ? start : 0));
    }
}

void runner_advance(struct runner *r, int64_t now_ns)
{
    r->work = 0;
    while (r->queue.len && r->queue.items[0]->queued_ns <= now_ns && !runner_turn_full(r)) {
        struct vu *v = r->queue.items[0];
        queue_remove(r, v);
        if (v->phase)
            vu_due(v, now_ns);
    }
    for (size_t i = 0; i < r->phase_count; i++) {
        r->work = 0;
        phase_advance(&r->phases[i], now_ns);
    }
}

bool runner_turn_full(const struct runner *r)
{
    return r->work >= WORK_PER_TURN;
}

int64_t runner_next_ns(const struct runner *r)
{
    int64_t next = r->queue.len ? r->queue.items[0]->queued_ns : NEVER;

    for (size_t i = 0; i < r->phase_count; i++) {
        int64_t phase = phase_next_ns(&r->phases[i]);
        next = phase < next ? phase : next;
    }
    return next;
}

void runner_stop(struct runner *r, int64_t now_ns)
{
    for (size_t i = 0; i < r->phase_count; i++)
        phase_stop(&r->phases[i], now_ns);
}

bool runner_over(const struct runner *r)
{
    return r->over == r->phase_count;
}
