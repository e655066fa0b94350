/* SPDX-License-Identifier: MIT */
/* Stretches of a load in which requests were made and not one succeeded, while the application ran and gave
 * signs of life. Pure. */
#ifndef BENCHCTL_RUN_UNSERVED_H
#define BENCHCTL_RUN_UNSERVED_H

#include "load_series.h"

struct unserved_stretch {
    double from_ms, to_ms;
    double asked_ms; /* of it: something was asked */
    double failed;
    bool answered; /* something came back, but nothing that was expected */
};

/* Set after_ms and slowest_ms, the rest 0. */
struct unserved {
    double after_ms;
    double slowest_ms; /* the slowest request that was answered; NAN: unknown */
    struct unserved_stretch now;
    double under_way;  /* requests */
    double waiting_ms; /* seconds in which nothing ended, where nobody tells how many were under way */
    bool open;
    /* what was found: those of after_ms and more */
    struct unserved_stretch first;
    double total_ms, failed;
    int count;
    bool to_end, answered;
};

/* The seconds in order. `elsewhere`: the application was down, starting, or silent altogether, which has a
 * name of its own. */
void unserved_second(struct unserved *u, const struct load_second *s, bool elsewhere);
/* The load is over. */
void unserved_end(struct unserved *u);

#endif
