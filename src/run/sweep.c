/* SPDX-License-Identifier: MIT */
/* The sweep: opens the engine, prepares, has the trials run, leaves nothing behind. */
#include "cooldown.h"
#include "eta.h"
#include "host_watch.h"
#include "run_internal.h"

#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

/* --- progress --- */

/* The current trial's own time counts down, but not below nothing. */
static int64_t estimate_left(const struct sweep_run *s)
{
    if (!s->trials_begin_ns)
        return -1;
    double left = plan_search_count(s->plan) ? eta_guess_ns(s->eta, s->left_expected, s->canaries_left)
                                             : eta_left_ns(s->eta, s->canaries_left);
    if (s->item_ns) {
        double own = eta_trial_ns(s->eta, s->item) + eta_cooldown_ns(s->eta);
        left -= fmin(own, (double)(clock_now_ns() - s->item_ns));
    }
    return left > 0 ? (int64_t)left : 0;
}

static void tell(struct sweep_run *s)
{
    struct progress *p = &s->progress;
    int64_t now = clock_now_ns();

    p->elapsed_ns = now - s->started_ns;
    p->step_elapsed_ns = now - s->step_ns;
    p->eta_ns = estimate_left(s);
    p->trial_limit_ns = s->trial && s->trial->deadline_ns != LOOP_FOREVER ? s->trial->deadline_ns - now : -1;
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
    control_look(data);
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
    host_watch_close(s);
    plan_schedule_free(s->schedule);
    eta_free(s->eta);
    loop_remove_timer(s->ticker);
    engine_stream_close(s->events);
    vec_each (i, &s->images) {
        free(i->key);
        free(i->id);
        free(i->absent);
        json_free(i->config);
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
    vec_each (r, &s->removals) {
        engine_call_free(r->call);
        free(r->id);
        free(r->name);
    }
    vec_release(&s->removals);
    faults_release(&s->faults);
    vec_release(&s->dying);
    for (size_t i = 0; i < s->kept.len; i++)
        free(s->kept.items[i]);
    vec_release(&s->kept);
    free(s->network_id);
    engine_close(s->engine);
    http_free(s->http);
    json_free(s->info);
}

/* What a dead run of the same directory left goes first. */
static int clean_own_directory(struct sweep_run *s, struct error *err)
{
    const struct clean_options o = {.dir = s->options->run_dir, .run_ids = s->options->run_ids_before};
    struct clean_counts n = {0};

    if (run_clean(s->engine, &o, NULL, NULL, &n, err) < 0)
        return error_wrap(err, "removing what an earlier run of this directory left");
    if (n.removed)
        note("removed %d containers and networks that an earlier run of this directory left", n.removed);
    return 0;
}

static int open_world(struct sweep_run *s, struct error *err)
{
    if (http_new(s->loop, &s->http, err) < 0)
        return -1;
    progress_step(s, "engine");
    if (engine_open(s->loop, s->http, s->options->engine_url, &s->engine, err) < 0)
        return -1;
    if (clean_own_directory(s, err) < 0)
        return -1;
    info_begin(s);
    if (host_watch_open(s, err) < 0 || sweep_prepare(s, err) < 0)
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

    s.schedule = plan_schedule_new(p);
    s.eta = eta_new(plan_counts(p)->scenarios, s.matrix->trials);
    cooldown_begin(&s);
    s.progress.at_most = plan_search_count(p) > 0;
    sweep_place_in_schedule(&s, &(struct plan_progress){0});
    rc = open_world(&s, err);
    if (rc == 0)
        rc = sweep_run_trials(&s, err);
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
