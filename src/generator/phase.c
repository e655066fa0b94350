/* SPDX-License-Identifier: MIT */
/* What all executors have in common: when a phase begins, stops and is over. */
#include "runner.h"

#include <string.h>

static bool takes(const struct workload_phase *f, const char *name)
{
    for (size_t i = 0; i < f->requests.len; i++)
        if (strcmp(f->requests.items[i], name) == 0)
            return true;
    return f->requests.len == 0;
}

void phase_init(struct phase *p, struct runner *r, size_t index)
{
    const struct workload_phase *f = (const struct workload_phase *)r->o.workload->phases.items + index;
    double sum = 0;

    p->runner = r;
    p->form = f;
    p->index = index;
    p->part = &r->second->parts[index];
    p->parts = phase_processes(f, r->o.processes);
    p->part_index = phase_part_index(r->o.workload, index, r->o.process, r->o.processes);
    p->kinds = xcalloc(r->o.kind_count, sizeof(*p->kinds));
    p->weights = xcalloc(r->o.kind_count, sizeof(*p->weights));
    for (size_t i = 0; i < r->o.kind_count; i++) {
        const struct workload_request *q = r->o.kinds[i].form;
        if (!takes(f, q->name) || q->weight <= 0)
            continue;
        sum += q->weight;
        p->kinds[p->kind_count] = i;
        p->weights[p->kind_count++] = sum;
    }
    if (p->kind_count == 0) /* all weights are zero: the first one it may make */
        for (p->kind_count = 1; p->kinds[0] + 1 < r->o.kind_count; p->kinds[0]++)
            if (takes(f, r->o.kinds[p->kinds[0]].form->name))
                break;
}

void phase_free(struct phase *p)
{
    vec_release(&p->vus);
    vec_release(&p->idle);
    free(p->kinds);
    free(p->weights);
}

static void place(struct phase *p, size_t at, struct vu *v)
{
    p->vus.items[at] = v;
    v->at = at;
}

/* The list keeps those that may begin iterations in front. */
void phase_drop_vu(struct phase *p, struct vu *v)
{
    size_t hole = v->at;

    if (hole < p->active) { /* the last of those in front comes here, the last of all there */
        p->active--;
        place(p, hole, p->vus.items[p->active]);
        hole = p->active;
    }
    p->vus.len--;
    if (hole < p->vus.len)
        place(p, hole, p->vus.items[p->vus.len]);
    vu_release(v);
}

static void over(struct phase *p, int64_t now_ns)
{
    struct runner *r = p->runner;

    p->state = PHASE_OVER;
    if (p->part->begin_ns >= 0)
        p->part->end_ns = now_ns - r->begin_ns;
    r->over++;
    if (r->o.phase_over)
        r->o.phase_over(p->index, r->o.data);
}

static bool counts_iterations(const struct phase *p)
{
    return p->form->executor == EXECUTOR_SHARED_ITERATIONS || p->form->executor == EXECUTOR_PER_VU_ITERATIONS;
}

void phase_check_over(struct phase *p, int64_t now_ns)
{
    if (p->vus.len == 0 && p->unbegun == 0 &&
        (p->state == PHASE_STOPPING || (p->state == PHASE_RUNNING && counts_iterations(p))))
        over(p, now_ns);
}

static void begin(struct phase *p)
{
    p->state = PHASE_RUNNING;
    p->end_ns = p->start_ns + workload_phase_duration_ns(p->form);
    p->part->begin_ns = p->start_ns - p->runner->begin_ns;
    if (executor_is_open(p->form->executor))
        open_begin(p);
    else
        closed_begin(p);
}

void phase_end(struct phase *p)
{
    p->state = PHASE_STOPPING;
    p->part->vus = (int64_t)p->active;
    p->stop_by_ns = p->end_ns + p->form->graceful_stop_ns;
    if (executor_is_open(p->form->executor))
        open_end(p);
    else
        closed_end(p);
}

static void abort_all(struct phase *p, int64_t now_ns)
{
    while (p->vus.len) {
        struct vu *v = p->vus.items[p->vus.len - 1];
        if (v->state == VU_BUSY)
            vu_abort(v, now_ns);
        phase_drop_vu(p, v);
    }
}

void phase_advance(struct phase *p, int64_t now_ns)
{
    if (p->state == PHASE_WAITING && p->released && p->start_ns <= now_ns)
        begin(p);
    if (p->state == PHASE_RUNNING) {
        if (executor_is_open(p->form->executor))
            open_advance(p, now_ns);
        else
            closed_advance(p, now_ns);
        if (now_ns >= p->end_ns && !open_behind(p)) /* what was due before its end still begins */
            phase_end(p);
        phase_check_over(p, now_ns);
    }
    if (p->state == PHASE_STOPPING && now_ns >= p->stop_by_ns) {
        abort_all(p, now_ns);
        phase_check_over(p, now_ns);
    }
}

int64_t phase_next_ns(const struct phase *p)
{
    int64_t next;

    switch (p->state) {
    case PHASE_WAITING:
        return p->released ? p->start_ns : NEVER;
    case PHASE_RUNNING:
        next = executor_is_open(p->form->executor) ? open_next_ns(p) : closed_next_ns(p);
        return next < p->end_ns ? next : p->end_ns;
    case PHASE_STOPPING:
        return p->stop_by_ns;
    case PHASE_OVER:
        break;
    }
    return NEVER;
}

void phase_stop(struct phase *p, int64_t now_ns)
{
    if (p->state == PHASE_OVER)
        return;
    if (p->state != PHASE_WAITING)
        abort_all(p, now_ns);
    over(p, now_ns);
}
