/* SPDX-License-Identifier: MIT */
/*
 * The search of one combination for its smallest candidate that will do, as a state machine: which candidate
 * it wants to try next, and what it makes of the outcomes of that candidate's trials. Knows positions only.
 *
 * First the last candidate: when it fails, nothing up to there will do. Then the first: when it passes, it is
 * the smallest. Then the middle between the largest that failed and the smallest that passed, until the two
 * are neighbours. So the answer is a pair of neighbours that were both tried, also where an application is so
 * fickle that more is not always better.
 */
#ifndef BENCHCTL_PLAN_SEARCH_H
#define BENCHCTL_PLAN_SEARCH_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/trial.h"

struct search {
    int64_t len;           /* candidates, at least 1 */
    int64_t fails, passes; /* the largest that failed, the smallest that passed; -1, len: none yet */
    int64_t trials;        /* of each candidate that passes */
    int64_t told;          /* of the candidate that is being tried */
    int64_t probes;        /* candidates tried to the end */
    unsigned until;        /* a bit 1 << enum outcome for each that passes */
    enum outcome failed;   /* of the trial by which `fails` failed */
    int failed_trial;      /* its number */
};

void search_init(struct search *s, int64_t len, int64_t trials, unsigned until);

/* The candidate that it wants to try; -1 when the search is over. */
int64_t search_wants(const struct search *s);

/* The outcome of the next trial of that candidate. The first one that does not pass ends it. */
void search_tell(struct search *s, enum outcome o);

/* How many candidates and trials can still come, at most; and how many trials are likely to. */
int64_t search_probes_left(const struct search *s);
int64_t search_trials_left(const struct search *s);
double search_trials_expected(const struct search *s);

/* Did `fails` fail for reasons of its own, and not by the environment or the load? */
bool search_is_certain(const struct search *s);

#endif
