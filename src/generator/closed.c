/* SPDX-License-Identifier: MIT */
/* Executors in which a VU begins its next iteration when it has ended one. */
#include "runner.h"

/* The first moment behind `t` (since the phase began) at which the number of VUs is another one; NEVER. The
 * number is monotonous within a stage and may jump at its end. */
static int64_t next_change(const struct workload_phase *f, int64_t t)
{
    const struct workload_stage *stages = f->stages.items;
    int64_t now = phase_vus_at(f, t), begin = 0;

    for (size_t i = 0; i < f->stages.len; i++) {
        int64_t end = begin + stages[i].duration_ns, low = t > begin ? t : begin, high = end - 1;
        begin = end;
        if (end <= t)
            continue;
        if (low < high && phase_vus_at(f, high) != now) {
            if (phase_vus_at(f, low) != now)
                return low > t ? low : t + 1;
            while (high - low > 1) {
                int64_t middle = low + (high - low) / 2;
                if (phase_vus_at(f, middle) == now)
                    low = middle;
                else
                    high = middle;
            }
            return high;
        }
        if (phase_vus_at(f, end) != now)
            return end;
    }
    return NEVER;
}

static void add_vu(struct phase *p, int64_t now_ns)
{
    struct vu *v;

    if (p->active < p->vus.len) { /* one that was to leave, and is still at its last iteration */
        p->vus.items[p->active++]->leave_by_ns = NEVER;
        return;
    }
    v = vu_take(p);
    v->left = (uint64_t)p->form->iterations;
    v->at = p->vus.len;
    vec_push(&p->vus, v);
    p->active++;
    closed_iterate(v, now_ns);
}

static void remove_vu(struct phase *p, int64_t now_ns)
{
    struct vu *v = p->vus.items[--p->active];

    if (v->state != VU_BUSY) {
        phase_drop_vu(p, v);
        return;
    }
    v->leave_by_ns = now_ns + p->form->graceful_ramp_down_ns;
    vu_requeue(v);
}

static void began_late(struct phase *p, int64_t due_ns, int64_t now_ns)
{
    if (now_ns - due_ns > p->part->vus_late_ns)
        p->part->vus_late_ns = now_ns - due_ns;
}

static void follow_stages(struct phase *p, int64_t now_ns)
{
    int64_t t = now_ns - p->start_ns, due = p->behind_ns != NEVER ? p->behind_ns : p->next_change_ns;
    uint64_t whole = (uint64_t)phase_vus_at(p->form, t);
    size_t wanted = (size_t)share_of(whole, p->part_index, p->parts);

    p->next_change_ns = next_change(p->form, t);
    if (p->next_change_ns != NEVER)
        p->next_change_ns += p->start_ns;
    while (p->active < wanted && p->state == PHASE_RUNNING && !runner_turn_full(p->runner)) {
        add_vu(p, now_ns);
        began_late(p, due, now_ns);
    }
    while (p->active > wanted)
        remove_vu(p, now_ns);
    p->behind_ns = NEVER;
    if (p->active < wanted)
        p->behind_ns = p->next_change_ns = due; /* at once, in the next turn */
}

void closed_begin(struct phase *p)
{
    const struct workload_phase *f = p->form;
    uint64_t vus = share_of((uint64_t)f->vus, p->part_index, p->parts);

    p->next_change_ns = p->behind_ns = NEVER;
    if (f->executor == EXECUTOR_RAMPING_VUS) {
        p->next_change_ns = p->start_ns;
        return;
    }
    if (f->executor == EXECUTOR_SHARED_ITERATIONS) {
        p->left = share_of((uint64_t)f->iterations, p->part_index, p->parts);
        p->part->planned += p->left;
        vus = vus < p->left ? vus : p->left;
    } else if (f->executor == EXECUTOR_PER_VU_ITERATIONS) {
        p->part->planned += vus * (uint64_t)f->iterations;
        vus = f->iterations > 0 ? vus : 0;
    }
    p->unbegun = vus;
}

static void begin_vus(struct phase *p, int64_t now_ns)
{
    bool shared = p->form->executor == EXECUTOR_SHARED_ITERATIONS;

    while (p->unbegun && now_ns < p->end_ns && !runner_turn_full(p->runner)) {
        if (shared && p->left == 0) { /* the others were quicker */
            p->unbegun = 0;
            break;
        }
        p->unbegun--;
        add_vu(p, now_ns);
        began_late(p, p->start_ns, now_ns);
    }
}

static bool take_iteration(struct phase *p, struct vu *v)
{
    uint64_t *left = p->form->executor == EXECUTOR_SHARED_ITERATIONS   ? &p->left
                     : p->form->executor == EXECUTOR_PER_VU_ITERATIONS ? &v->left
                                                                       : NULL;
    if (!left) {
        p->part->planned++;
        return true;
    }
    if (*left == 0)
        return false;
    --*left;
    return true;
}

void closed_iterate(struct vu *v, int64_t now_ns)
{
    struct phase *p = v->phase;

    if (p->state == PHASE_RUNNING && now_ns >= p->end_ns) { /* the clock's turn has not come yet */
        phase_end(p);
        phase_check_over(p, now_ns);
        return;
    }
    if (p->state != PHASE_RUNNING || v->at >= p->active || !take_iteration(p, v)) {
        phase_drop_vu(p, v);
        phase_check_over(p, now_ns);
        return;
    }
    v->draw = p->begun++ * p->parts + p->part_index;
    vu_start(v, 0, now_ns);
}

void closed_advance(struct phase *p, int64_t now_ns)
{
    if (now_ns >= p->next_change_ns && now_ns < p->end_ns)
        follow_stages(p, now_ns);
    begin_vus(p, now_ns);
}

int64_t closed_next_ns(const struct phase *p)
{
    return p->unbegun ? p->start_ns : p->next_change_ns;
}

/* What of a number of iterations has not begun now never will: dropped. */
void closed_end(struct phase *p)
{
    p->part->dropped += p->left;
    if (p->form->executor == EXECUTOR_PER_VU_ITERATIONS)
        p->part->dropped += p->unbegun * (uint64_t)p->form->iterations;
    p->left = p->unbegun = 0;
    for (size_t i = p->vus.len; i-- > 0;) {
        struct vu *v = p->vus.items[i];
        if (p->form->executor == EXECUTOR_PER_VU_ITERATIONS)
            p->part->dropped += v->left;
        v->left = 0;
        if (v->state != VU_BUSY)
            phase_drop_vu(p, v);
    }
}
