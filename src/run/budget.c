/* SPDX-License-Identifier: MIT */
/*
 * --budget: ends a sweep between rounds, so that every scenario has as many trials as the others, and every
 * search the same number of turns. A round is begun only when it will end in time, by what its scenarios have
 * taken so far. The first round of a sweep is always run: without it there is no result at all.
 */
#include "eta.h"
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"
#include "benchctl/base/units.h"

/* What is sealed costs nothing. */
static double round_of_plan_ns(struct sweep_run *s, const struct plan_progress *at, uint64_t *ret_trials,
                               struct error *err)
{
    double ns = 0;

    for (uint64_t k = 0; k < at->round_trials && k < at->left_at_most; k++) {
        struct planned_trial t = plan_trial(s->plan, at->told + k);
        if (trial_is_sealed(s, t, err))
            continue;
        ns += eta_trial_ns(s->eta, t.scenario);
        ++*ret_trials;
    }
    return ns;
}

static uint64_t canaries_to_run(struct sweep_run *s, const struct plan_progress *at, struct error *err)
{
    uint64_t n = 0;

    for (uint64_t k = 0; k < at->round_canaries; k++) {
        const struct planned_trial t = {.scenario = PLAN_CANARY, .trial = (int)(at->canaries_told + k) + 1};
        n += !trial_is_sealed(s, t, err);
    }
    return n;
}

/* NAN: nothing of it is left to do, or it cannot be told. */
static double round_ns(struct sweep_run *s, const struct plan_progress *at, struct error *err)
{
    uint64_t trials = 0;
    double ns;

    if (plan_search_count(s->plan)) {
        /* which sizes will be asked for nobody knows: some may be sealed, until one was not */
        trials = s->summary.executed || !at->told ? at->round_trials : 0;
        ns = (double)trials * eta_any_trial_ns(s->eta);
    } else {
        ns = round_of_plan_ns(s, at, &trials, err);
    }
    if (!trials)
        return NAN;
    uint64_t canaries = canaries_to_run(s, at, err);
    return ns + (double)canaries * eta_trial_ns(s->eta, ETA_CANARY) +
           (double)(trials + canaries) * eta_cooldown_ns(s->eta);
}

bool budget_spent(struct sweep_run *s, const struct plan_progress *at, struct error *err)
{
    int64_t budget_ns = s->options->budget_ns, spent_ns = clock_now_ns() - s->started_ns;
    /* all trials are one shuffle then: a round of it is no round of every scenario */
    bool shuffled = s->matrix->order == ORDER_RANDOM && !plan_search_count(s->plan);
    char budget[32], round[32];

    if (budget_ns <= 0 || !at->round_begins || (!at->told && s->round_asked))
        return false;
    s->round_asked = true;
    double ns = round_ns(s, at, err);
    if (isnan(ns) || (double)spent_ns + ns <= (double)budget_ns)
        return false;
    (void)duration_human(budget_ns, budget);
    (void)duration_human((int64_t)ns, round);
    if (!at->told) {
        note("the budget of %s is shorter than a round, which takes about %s: the first one is run all the "
             "same%s",
             budget, round, shuffled ? "" : ", so that every scenario has a value");
        return false;
    }
    note("the budget is spent after %llu of %llu trials: %s; the next round would take about %s",
         (unsigned long long)at->told, (unsigned long long)at->told + (unsigned long long)at->left_at_most,
         shuffled ? "in random order, so that scenarios may have different numbers of them"
                  : "whole rounds only",
         round);
    return true;
}
