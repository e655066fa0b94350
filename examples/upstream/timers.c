/* SPDX-License-Identifier: MIT */
#include "timers.h"

#include "benchctl/base/mem.h"

static void put(struct timers *t, size_t place, struct timer *timer)
{
    t->items[place] = timer;
    timer->place = place;
}

static void sift_up(struct timers *t, size_t place, struct timer *timer)
{
    while (place > 0) {
        size_t parent = (place - 1) / 2;
        if (t->items[parent]->due_ns <= timer->due_ns)
            break;
        put(t, place, t->items[parent]);
        place = parent;
    }
    put(t, place, timer);
}

static void sift_down(struct timers *t, size_t place, struct timer *timer)
{
    for (;;) {
        size_t child = 2 * place + 1;
        if (child >= t->len)
            break;
        if (child + 1 < t->len && t->items[child + 1]->due_ns < t->items[child]->due_ns)
            child++;
        if (t->items[child]->due_ns >= timer->due_ns)
            break;
        put(t, place, t->items[child]);
        place = child;
    }
    put(t, place, timer);
}

void timers_set(struct timers *t, struct timer *timer, int64_t due_ns)
{
    timers_remove(t, timer);
    timer->due_ns = due_ns;
    if (t->len == t->cap)
        t->items = vec_grow_(t->items, t->len, &t->cap, sizeof(*t->items));
    t->len++;
    sift_up(t, t->len - 1, timer);
}

void timers_remove(struct timers *t, struct timer *timer)
{
    size_t place = timer->place;

    if (place == TIMER_NONE)
        return;
    timer->place = TIMER_NONE;
    struct timer *last = t->items[--t->len];
    if (last == timer)
        return;
    sift_down(t, place, last);
    sift_up(t, last->place, last);
}

struct timer *timers_first(const struct timers *t)
{
    return t->len ? t->items[0] : NULL;
}

void timers_release(struct timers *t)
{
    free(t->items);
    *t = (struct timers){0};
}
