/* SPDX-License-Identifier: MIT */
/* Which connection is due next: a binary heap of pointers, so that a hundred thousand can wait. */
#ifndef UPSTREAM_TIMERS_H
#define UPSTREAM_TIMERS_H

#include <stddef.h>
#include <stdint.h>

#define TIMER_NONE SIZE_MAX

struct timer {
    int64_t due_ns;
    size_t place; /* in the heap; TIMER_NONE: not set */
};

struct timers {
    struct timer **items;
    size_t len, cap;
};

void timers_set(struct timers *t, struct timer *timer, int64_t due_ns); /* also when it is set already */
void timers_remove(struct timers *t, struct timer *timer);              /* also when it is not set */
struct timer *timers_first(const struct timers *t);                     /* NULL: none */
void timers_release(struct timers *t);

#endif
