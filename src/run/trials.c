/* SPDX-License-Identifier: MIT */
/* The trials of a sweep in the order of its schedule: those that are sealed are passed over, those that ended
 * in `error` or `invalid` are made again, the budget ends it between rounds. */
#include "cooldown.h"
#include "eta.h"
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

static bool is_infrastructure(enum outcome o)
{
    return o == OUTCOME_ERROR;
}

static int cool_down(struct sweep_run *s, struct error *err)
{
    if (cooldown_wait(s, err) < 0)
        return -1;
    if (!isnan(s->cooldown.waited_ms))
        eta_cooled(s->eta, s->cooldown.waited_ms * (double)NS_PER_MS);
    return 0;
}

static int all_attempts(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    enum outcome o = OUTCOME_ERROR;
    int64_t begin_ns = 0; /* of the last attempt: what a fault took says nothing about the next trial */
    struct attempts a = {0};

    for (bool again = true; again;) {
        if (a.made && cool_down(s, err) < 0)
            return -1;
        if (engine_between_trials(s, err) < 0)
            return -1;
        begin_ns = clock_now_ns();
        s->retrying = true; /* begun: with its pauses and retries it is one piece */
        if (trial_execute(s, which, ++a.made, &o, err) < 0)
            return -1;
        if (is_infrastructure(o) || o == OUTCOME_SKIPPED)
            sweep_start_afresh(s); /* nothing that stands is trusted any more */
        if (fault_try_again(s, o, &a, &again, err) < 0)
            return -1;
    }
    s->summary.executed++;
    s->last_done_ns = clock_now_ns();
    if (!is_infrastructure(o) &&
        o != OUTCOME_SKIPPED) /* these end early, or late, for reasons of their own */
        eta_took(s->eta, which.scenario, (double)(s->last_done_ns - begin_ns - s->built_ns));
    s->summary.by_outcome[o]++;
    s->last_outcome = o;
    return 0;
}

static int one_trial(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    int rc = all_attempts(s, which, err);

    s->retrying = false;
    return rc;
}

/* The scenario's id goes into `a`. */
static bool find_sealed(struct sweep_run *s, struct planned_trial which, struct arena *a,
                        const char **ret_scenario, enum outcome *ret, double *ret_ms, struct error *err)
{
    struct scenario sc = {0};
    struct resolved r = {0};

    *ret_ms = NAN;
    if (!s->cb->trial_sealed)
        return false;
    plan_scenario(s->plan, which.scenario, a, &sc);
    *ret_scenario = sc.id;
    if (plan_resolve(s->plan, which.scenario, a, &r, err) < 0)
        return false;
    const struct sealed_query q = {
        .scenario = sc.id, .digest = r.digest, .trial = which.trial, .ret_duration_ms = ret_ms};
    return s->cb->trial_sealed(&q, ret, s->cb->data);
}

bool trial_is_sealed(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *scenario;
    enum outcome o;
    double ms;

    return find_sealed(s, which, a, &scenario, &o, &ms, err);
}

/* Kept, with the time that it took then. */
static bool keep_sealed(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *scenario;
    double ms;

    if (!find_sealed(s, which, a, &scenario, &s->last_outcome, &ms, err))
        return false;
    s->summary.kept++;
    if (s->cb->trial_kept)
        s->cb->trial_kept(scenario, s->last_outcome, s->cb->data);
    eta_took(s->eta, which.scenario, ms * (double)NS_PER_MS);
    return true;
}

static int too_many_failures(struct sweep_run *s, struct error *err)
{
    return fault_stop(s, s->last_outcome, err);
}

void sweep_place_in_schedule(struct sweep_run *s, struct plan_progress *ret)
{
    plan_schedule_progress(s->schedule, ret);
    s->left_expected = ret->left_expected;
    s->canaries_left = ret->canaries_left;
    s->progress.trials = ret->told + ret->left_at_most;
    s->progress.canaries = ret->canaries_told + ret->canaries_left;
}

/* Which of them progress speaks of: a canary stands between two trials. */
static void show_place(struct sweep_run *s, const struct plan_progress *at, bool canary)
{
    s->progress.trial = at->told + !canary;
    s->progress.canary = canary ? at->canaries_told + 1 : 0;
}

/* A trial is over, or was. */
static void move_on(struct sweep_run *s, struct planned_trial which)
{
    s->item_ns = 0;
    eta_done(s->eta, which.scenario);
    plan_schedule_tell(s->schedule, s->last_outcome);
}

/* An image of it is not in the engine, and it is not one that was measured when there was one. The caller
 * frees; NULL: it is run. */
static char *why_absent(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct resolved r = {0};

    if (!s->some_absent || plan_resolve(s->plan, which.scenario, a, &r, err) < 0)
        return NULL;
    CLEANUP_FREE char *why = image_absent(s, &r.settings);
    return why && !trial_is_sealed(s, which, err) ? TAKE(why) : NULL;
}

/* Nothing ran, so that nothing cools down, and what went before is still the trial just done. */
static int pass_over(struct sweep_run *s, struct planned_trial which, const char *why, struct error *err)
{
    if (trial_skip(s, which, why, err) < 0)
        return -1;
    s->summary.by_outcome[OUTCOME_SKIPPED]++;
    s->last_outcome = OUTCOME_SKIPPED;
    return 0;
}

static int one_or_kept(struct sweep_run *s, struct planned_trial which, bool *cool, struct error *err)
{
    CLEANUP_FREE char *absent = why_absent(s, which, err);

    if (absent)
        return pass_over(s, which, absent, err);
    if (*cool && cool_down(s, err) < 0)
        return -1;
    *cool = !keep_sealed(s, which, err);
    if (!*cool)
        return 0;
    return one_trial(s, which, err) < 0 ? -1 : too_many_failures(s, err);
}

int sweep_run_trials(struct sweep_run *s, struct error *err)
{
    struct planned_trial which;
    struct plan_progress at;
    bool cool = false;

    s->trials_begin_ns = clock_now_ns();
    while (plan_schedule_next(s->schedule, &which)) {
        sweep_place_in_schedule(s, &at);
        if (!s->budget_spent && budget_spent(s, &at, err)) {
            s->budget_spent = true;
            plan_schedule_end(s->schedule); /* what may come yet is a canary for the end */
            continue;
        }
        if (control_stop(s, err) < 0)
            return -1;
        show_place(s, &at, which.scenario == PLAN_CANARY);
        s->item = which.scenario;
        s->item_ns = clock_now_ns();
        if (one_or_kept(s, which, &cool, err) < 0)
            return -1;
        move_on(s, which);
    }
    sweep_place_in_schedule(s, &at);
    return 0;
}
