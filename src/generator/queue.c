/* SPDX-License-Identifier: MIT */
/*
 * Who waits for what moment: a binary heap with at most one entry a VU. A deadline that only moves away (the
 * time-out of the next request) leaves the entry where it is; it is looked at again when it comes up, so that
 * a request costs no heap operation as a rule.
 */
#include "runner.h"

static void put(struct runner *r, size_t slot, struct vu *v)
{
    r->queue.items[slot] = v;
    v->slot = slot;
}

static void up(struct runner *r, size_t slot)
{
    struct vu *v = r->queue.items[slot];

    while (slot && r->queue.items[(slot - 1) / 2]->queued_ns > v->queued_ns) {
        put(r, slot, r->queue.items[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    put(r, slot, v);
}

static void down(struct runner *r, size_t slot)
{
    struct vu *v = r->queue.items[slot];

    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= r->queue.len)
            break;
        if (child + 1 < r->queue.len &&
            r->queue.items[child + 1]->queued_ns < r->queue.items[child]->queued_ns)
            child++;
        if (r->queue.items[child]->queued_ns >= v->queued_ns)
            break;
        put(r, slot, r->queue.items[child]);
        slot = child;
    }
    put(r, slot, v);
}

void queue_put(struct runner *r, struct vu *v, int64_t when_ns)
{
    bool there = v->queued_ns != NEVER;

    v->queued_ns = when_ns;
    if (!there) {
        vec_push(&r->queue, v);
        v->slot = r->queue.len - 1;
    }
    up(r, v->slot);
    down(r, v->slot);
    if (v->slot == 0 && r->o.sooner)
        r->o.sooner(when_ns, r->o.data);
}

void queue_remove(struct runner *r, struct vu *v)
{
    if (v->queued_ns == NEVER)
        return;
    struct vu *last = r->queue.items[--r->queue.len];
    size_t slot = v->slot;
    v->queued_ns = NEVER;
    if (last == v)
        return;
    put(r, slot, last);
    up(r, slot);
    down(r, last->slot);
}
