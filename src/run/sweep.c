/* SPDX-License-Identifier: MIT */
/* The sweep: opens the engine, prepares, goes through the plan's order, leaves nothing behind. */
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* --- progress --- */

/* What is left: at first the plan's estimate, then as long per trial as those that are done took. */
static int64_t estimate_left(const struct sweep_run *s)
{
    uint64_t done = s->summary.executed, planned = s->progress.trials - s->summary.kept;
    int64_t now = clock_now_ns();

    if (!s->trials_begin_ns)
        return s->estimated_all_ns ? (int64_t)s->estimated_all_ns : -1;
    if (!planned || done >= planned)
        return 0;
    int64_t since =
        done ? s->last_done_ns : s->trials_begin_ns; /* the current trial's own time counts down */
    double each = done ? (double)(s->last_done_ns - s->trials_begin_ns) / (double)done
                       : (double)s->estimated_all_ns / (double)s->progress.trials;
    double left = each * (double)(planned - done) - (double)(now - since);
    return left > 0 ? (int64_t)left : 0;
}

static void tell(struct sweep_run *s)
{
    struct progress *p = &s->progress;
    int64_t now = clock_now_ns();

    p->elapsed_ns = now - s->started_ns;
    p->step_elapsed_ns = now - s->step_ns;
    p->eta_ns = estimate_left(s);
    p->memory_bytes = p->cpu_cores = NAN;
    if (s->trial && s->trial->sampler) {
        const struct resource_sample *last = sampler_last(s->trial->sampler, "app");
        if (last)
            p->memory_bytes = last->used_bytes;
    }
    if (s->cb->progress)
        s->cb->progress(p, s->cb->data);
}

static void tick(void *data)
{
    tell(data);
}

void progress_step(struct sweep_run *s, const char *step)
{
    s->progress.step = step;
    s->step_ns = clock_now_ns();
    tell(s);
}

/* --- the end --- */

static void sweep_release(struct sweep_run *s)
{
    sweep_tear_down(s);
    loop_remove_timer(s->ticker);
    engine_stream_close(s->events);
    vec_each (i, &s->images) {
        free(i->key);
        free(i->id);
    }
    vec_each (a, &s->adapters) {
        load_adapter_free(a->adapter);
        free(a->name);
        free(a->version);
    }
    vec_release(&s->images);
    vec_release(&s->adapters);
    vec_release(&s->standing);
    vec_release(&s->units);
    vec_release(&s->removals);
    vec_release(&s->dying);
    for (size_t i = 0; i < s->kept.len; i++)
        free(s->kept.items[i]);
    vec_release(&s->kept);
    free(s->network_id);
    engine_close(s->engine);
    http_free(s->http);
    json_free(s->info);
}

/* --- the order --- */

static bool is_infrastructure(enum outcome o)
{
    return o == OUTCOME_ERROR;
}

static int cool_down(struct sweep_run *s, struct error *err)
{
    int64_t ns = s->last_settings_cooldown_ns;

    if (ns <= 0)
        return 0;
    progress_step(s, "cooldown");
    return loop_sleep_until(s->loop, clock_now_ns() + ns, err);
}

static int one_trial(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    enum outcome o = OUTCOME_ERROR;
    int attempts = 0;

    do {
        if (attempts)
            note("once more: the trial ended in '%s', attempt %d of %d", outcome_name(o), attempts + 1,
                 s->retry_allowed + 1);
        if (attempts && cool_down(s, err) < 0)
            return -1;
        if (trial_execute(s, which, ++attempts, &o, err) < 0)
            return -1;
        if (is_infrastructure(o))
            sweep_start_afresh(s); /* nothing that stands is trusted any more */
    } while ((o == OUTCOME_ERROR || o == OUTCOME_INVALID) && attempts <= s->retry_allowed);
    s->summary.executed++;
    s->last_done_ns = clock_now_ns();
    s->summary.by_outcome[o]++;
    s->failures_in_a_row = is_infrastructure(o) ? s->failures_in_a_row + 1 : 0;
    return 0;
}

static bool is_sealed(struct sweep_run *s, struct planned_trial which, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario sc = {0};
    struct resolved r = {0};

    if (!s->cb->trial_sealed)
        return false;
    plan_scenario(s->plan, which.scenario, a, &sc);
    if (plan_resolve(s->plan, which.scenario, a, &r, err) < 0)
        return false;
    return s->cb->trial_sealed(sc.id, which.trial, r.digest, s->cb->data);
}

/* A budget ends a sweep between rounds, so that every scenario has as many trials as the others. */
static bool budget_spent(const struct sweep_run *s, uint64_t k)
{
    uint64_t scenarios = plan_counts(s->plan)->scenarios;
    int64_t spent = clock_now_ns() - s->started_ns;

    if (s->options->budget_ns <= 0 || k == 0 || k % scenarios != 0)
        return false;
    int64_t round_ns = (clock_now_ns() - s->trials_begin_ns) / (int64_t)(k / scenarios);
    return spent + round_ns > s->options->budget_ns;
}

static int run_trials(struct sweep_run *s, struct error *err)
{
    uint64_t n = plan_counts(s->plan)->trials;
    int limit = s->options->max_infrastructure_failures > 0 ? s->options->max_infrastructure_failures : 5;

    s->trials_begin_ns = clock_now_ns();
    for (uint64_t k = 0; k < n; k++) {
        struct planned_trial which = plan_trial(s->plan, k);
        if (budget_spent(s, k)) {
            note("the budget is spent after %llu of %llu trials: whole rounds only", (unsigned long long)k,
                 (unsigned long long)n);
            s->budget_spent = true;
            return 0;
        }
        s->progress.trial = k + 1;
        if (is_sealed(s, which, err)) {
            s->summary.kept++;
            continue;
        }
        if (one_trial(s, which, err) < 0)
            return -1;
        if (s->failures_in_a_row >= limit) {
            (void)error_set(err, ERROR_ENVIRONMENT,
                            "%d trials in a row failed for the environment's sake; the sweep stops",
                            s->failures_in_a_row);
            return error_hint(err, "mend it and go on with `benchctl resume`; `benchctl doctor` says more");
        }
        if (k + 1 < n && cool_down(s, err) < 0)
            return -1;
    }
    return 0;
}

/* What a dead run of the same directory left goes first. */
static int clean_own_directory(struct sweep_run *s, struct error *err)
{
    const struct clean_options o = {.dir = s->options->run_dir};
    struct clean_counts n = {0};

    if (run_clean(s->engine, &o, NULL, NULL, &n, err) < 0)
        return error_wrap(err, "removing what an earlier run of this directory left");
    if (n.removed)
        note("removed %d containers and networks that an earlier run of this directory left", n.removed);
    return 0;
}

static int open_world(struct sweep_run *s, struct error *err)
{
    const char *not_yet[MATRIX_NOT_YET_MAX];

    for (size_t i = 0, n = matrix_not_yet(s->matrix, not_yet); i < n; i++)
        warn("%s", not_yet[i]);
    if (http_new(s->loop, &s->http, err) < 0)
        return -1;
    progress_step(s, "engine");
    if (engine_open(s->loop, s->http, s->options->engine_url, &s->engine, err) < 0)
        return -1;
    if (clean_own_directory(s, err) < 0)
        return -1;
    info_begin(s);
    if (sweep_prepare(s, err) < 0)
        return -1;
    s->ticker = loop_add_timer(s->loop, clock_now_ns() + NS_PER_S, NS_PER_S, tick, s);
    if (sweep_events_open(s, err) < 0)
        return -1;
    return s->cb->info ? s->cb->info(s->info, s->cb->data, err) : 0;
}

int run_sweep(struct loop *l, const struct plan *p, const struct run_options *o,
              const struct run_callbacks *cb, struct run_summary *ret, struct error *err)
{
    CLEANUP_VALUE(sweep_release)
    struct sweep_run s = {
        .loop = l,
        .plan = p,
        .matrix = plan_matrix(p),
        .options = o,
        .cb = cb,
        .started_ns = clock_now_ns(),
    };
    int rc;

    s.progress.trials = plan_counts(p)->trials;
    rc = open_world(&s, err);
    if (rc == 0)
        rc = run_trials(&s, err);
    s.summary.interrupted = rc < 0 && err->kind == ERROR_INTERRUPTED;
    progress_step(&s, "tear-down");
    sweep_tear_down(&s);
    if (s.engine && s.info) {
        struct error e = ERROR_INIT;
        info_end(&s, rc == 0);
        if (cb->info && cb->info(s.info, cb->data, &e) < 0 && rc == 0) {
            *err = e;
            rc = -1;
        }
    }
    *ret = s.summary;
    return rc;
}
