/* SPDX-License-Identifier: MIT */
/* When a canary's turn comes: before everything, after so many trials each time, and at the end. */
#ifndef BENCHCTL_PLAN_CANARY_H
#define BENCHCTL_PLAN_CANARY_H

#include "plan_internal.h"

struct canary_turns {
    uint64_t every;       /* trials between two; 0: there is no canary */
    uint64_t told, since; /* canaries so far, and trials since the last one */
};

bool canary_is_due(const struct canary_turns *c, bool more); /* more: trials are still to come */
void canary_told(struct canary_turns *c);
/* How many are still to come among so many trials. */
uint64_t canary_left(const struct canary_turns *c, double trials);

/* Which scenario the matrix' canary repeats; how many there will be. */
int plan_find_canary(struct plan *p, struct error *err) MUST_CHECK;

#endif
