/* SPDX-License-Identifier: MIT */
/* One trial: an array of steps, each with a do and an undo. Whatever happens, the undos of what was begun run
 * in reverse. */
#include "cooldown.h"

#include "host_watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"
#include "benchctl/base/secrets.h"

struct step {
    const char *name;
    int (*act)(struct trial_run *t, struct error *err);
    void (*undo)(struct trial_run *t);
    bool always;                         /* also after a failure: it gathers the evidence */
    bool (*wanted)(struct trial_run *t); /* NULL: always */
};

/* --- notes --- */

static const char *format(struct trial_run *t, const char *fmt, va_list args)
    __attribute__((format(printf, 2, 0)));

static const char *format(struct trial_run *t, const char *fmt, va_list args)
{
    char text[2048];

    (void)vsnprintf(text, sizeof(text), fmt, args);
    secrets_mask_text(text);
    return arena_strdup(t->arena, text);
}

void trial_note(struct trial_run *t, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vec_push(&t->notes, format(t, fmt, args));
    va_end(args);
    t->record.notes = t->notes.items;
    t->record.note_count = t->notes.len;
}

void trial_finding(struct trial_run *t, const struct trial_happening *h, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vec_push(&t->findings, (struct finding){
                               .id = h->id,
                               .role = h->role,
                               .at_ms = NAN, /* in ns until the record is closed: see place_findings() */
                               .count = h->count,
                               .message = format(t, fmt, args),
                           });
    va_end(args);
    if (h->at_ns)
        t->findings.items[t->findings.len - 1].at_ms = (double)h->at_ns;
}

/* Their moments count from the begin of the load, which may come after them; without a load from that of the
 * trial. */
static void place_findings(struct trial_run *t)
{
    double origin_ns = (double)(t->load_begin_ns ? t->load_begin_ns : t->begin_ns);

    vec_each (f, &t->findings)
        f->at_ms = (f->at_ms - origin_ns) / (double)NS_PER_MS;
    t->record.findings = t->findings.items;
    t->record.finding_count = t->findings.len;
}

void trial_validity(struct trial_run *t, const char *id, const char *verdict, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vec_push(&t->validity,
             (struct validity_result){.id = id, .verdict = verdict, .message = format(t, fmt, args)});
    va_end(args);
    t->record.validity = t->validity.items;
    t->record.validity_count = t->validity.len;
}

/* --- steps: network and sampler --- */

static int step_begin(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;
    CLEANUP_FREE char *events = xasprintf("%s/events.ndjson", t->dir);
    CLEANUP_FREE char *samples = xasprintf("%s/samples.csv", t->dir);

    t->events_fd = open(events, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    t->samples_fd = open(samples, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (t->events_fd < 0 || t->samples_fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'",
                           t->events_fd < 0 ? events : samples);
    t->adapter = adapter_for(s, t->settings->load.adapter);
    assert(t->adapter && t->adapter->adapter); /* sweep_prepare() saw to it */
    double load1 = t->load1_before = host_load1();
    if (load1 > s->matrix->host.max_load && s->matrix->host.on_violation == ON_PROBLEM_FAIL)
        return error_set(err, ERROR_ENVIRONMENT, "the host is busy: load average %.2f, allowed %.2f", load1,
                         s->matrix->host.max_load);
    if (host_watch_begin(t, err) < 0)
        return -1;
    int64_t begin_ns = clock_now_ns();
    int rc = network_ensure(s, t->settings->network, err);
    t->setup_ms += clock_ms_since(begin_ns);
    return rc;
}

static void undo_begin(struct trial_run *t)
{
    scraper_free(t->scraper);
    sampler_free(t->sampler);
    t->scraper = NULL;
    t->sampler = NULL;
}

/* --- the array --- */

static const struct step steps[] = {
    {"begin", step_begin, undo_begin, false, NULL},
    {"build", step_build, undo_build, false, build_wanted},
    {"database", step_database, NULL, false, NULL},
    {"services", step_services, undo_services, false, NULL},
    {"app start", step_app, undo_app, false, NULL},
    {"ready", step_ready, NULL, false, NULL},
    {"answers", step_answers, NULL, false, answers_wanted},
    {"sampling", step_sampling, undo_sampling, false, NULL},
    {"ports", ports_wait, NULL, false, NULL},
    {"warm-up", step_warmup, NULL, false, warmup_wanted},
    {"load", step_load, NULL, false, NULL},
    {"settle", step_settle, NULL, false, settle_wanted},
    {"floor", step_floor, NULL, false, floor_wanted},
    {"collect", step_collect, NULL, true, NULL},
    {"checks", step_checks, NULL, false, NULL},
};

static void remember(struct trial_run *t, const struct error *e, const char *step)
{
    if (t->failed)
        return;
    t->failed = true;
    t->failed_step = step;
    t->error = *e;
    trial_event(t, "failed", step, NULL);
}

/* Does every step that makes sense; returns how many were begun. *ret_stop: interrupted, nothing more may be
 * done. */
static size_t run_steps(struct trial_run *t, bool *ret_stop, struct error *err)
{
    size_t begun = 0;

    *ret_stop = false;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        struct error e = ERROR_INIT;
        int64_t begin = clock_now_ns();
        if ((t->failed && !steps[i].always) || (steps[i].wanted && !steps[i].wanted(t)))
            continue;
        progress_step(t->sweep, steps[i].name);
        begun = i + 1;
        if (steps[i].always) /* the trial's own time may be up; the evidence is still wanted */
            t->deadline_ns = clock_now_ns() + 60 * NS_PER_S;
        uint64_t faults = engine_faults(t->sweep->engine);
        int rc = steps[i].act(t, &e);
        vec_push(&t->steps, (struct step_time){
                                .name = steps[i].name,
                                .start_ms = (double)(begin - t->begin_ns) / (double)NS_PER_MS,
                                .duration_ms = clock_ms_since(begin),
                            });
        if (loop_interrupted(t->sweep->loop) && control_skipped(t)) {
            rc = error_set(&e, ERROR_TRIAL, "skipped by the keyboard");
        } else if (loop_interrupted(t->sweep->loop) || (rc < 0 && e.kind == ERROR_INTERRUPTED)) {
            /* also when the step made do without what it waited for: such a trial is not complete */
            (void)error_set(err, ERROR_INTERRUPTED, "interrupted in step '%s' of trial %d of '%s'",
                            steps[i].name, t->record.trial, t->scenario.id);
            *ret_stop = true;
            return begun;
        }
        if (rc < 0) {
            t->passing |= !t->failed && engine_faults(t->sweep->engine) > faults;
            remember(t, &e, steps[i].name);
        }
        if (rc < 0 && (e.kind == ERROR_ENVIRONMENT || e.kind == ERROR_TIMEOUT))
            trial_look_for_engine(t);
    }
    return begun;
}

static void undo_steps(struct trial_run *t, size_t begun)
{
    loop_shield(t->sweep->loop, +1);
    while (begun-- > 0)
        if (steps[begun].undo)
            steps[begun].undo(t);
    loop_shield(t->sweep->loop, -1);
}

/* --- from begin to record --- */

static void name_axes(struct trial_run *t)
{
    const struct matrix *m = t->sweep->matrix;
    struct trial *r = &t->record;

    r->axes = arena_array(t->arena, struct axis_pair, m->axis_count);
    for (size_t i = 0; i < m->axis_count; i++)
        r->axes[i] = (struct axis_pair){.axis = m->axes[i].name, .value = t->scenario.values[i]->text};
    r->axis_count = m->axis_count;
}

static int trial_open(struct trial_run *t, struct planned_trial which, int attempt, struct error *err)
{
    struct sweep_run *s = t->sweep;
    char stamp[CLOCK_STAMP_SIZE];

    t->begin_ns = clock_now_ns();
    t->wall_minus_mono_ns = clock_wall_ns() - t->begin_ns;
    t->suspended_before_ns = clock_boottime_ns() - t->begin_ns;
    control_trial_begin(t);
    kernel_log_begin(t);
    trial_init(&t->record);
    plan_scenario(s->plan, which.scenario, t->arena, &t->scenario);
    if (plan_resolve(s->plan, which.scenario, t->arena, &t->resolved, err) < 0)
        return -1;
    t->settings = &t->resolved.settings;
    t->deadline_ns = t->settings->timeout_ns > 0 ? t->begin_ns + t->settings->timeout_ns : LOOP_FOREVER;
    t->record.scenario = t->scenario.id;
    t->record.trial = which.trial;
    t->record.attempt = attempt;
    t->record.canary = which.scenario == PLAN_CANARY;
    t->record.control = plan_control_name(plan_control(s->plan, which.scenario));
    t->record.digest = t->resolved.digest;
    t->record.started_at = arena_strdup(t->arena, clock_rfc3339(clock_wall_ns(), stamp));
    container_result_init(&t->record.app, "app");
    load_result_init(&t->record.load);
    name_axes(t);
    trial_learn_secrets(t);
    return s->cb->trial_begin(t->scenario.id, which.trial, &t->dir, s->cb->data, err);
}

static void close_files(struct trial_run *t)
{
    if (t->events_fd >= 0)
        (void)close(t->events_fd);
    if (t->samples_fd >= 0)
        (void)close(t->samples_fd);
    t->events_fd = t->samples_fd = -1;
}

static int trial_close(struct trial_run *t, struct error *err)
{
    struct trial *r = &t->record;

    close_files(t);
    trial_hide_secrets(t);
    place_findings(t);
    r->steps = t->steps.items;
    r->step_count = t->steps.len;
    r->duration_ms = clock_ms_since(t->begin_ns);
    double load_ms = t->load_end_ns > t->load_begin_ns
                         ? (double)(t->load_end_ns - t->load_begin_ns) / (double)NS_PER_MS
                         : 0;
    r->setup_ms = t->setup_ms;
    r->overhead_ms = r->duration_ms - load_ms - t->warmup_ms - t->setup_ms - t->build_ms;
    return t->sweep->cb->trial_done(r, t->sweep->cb->data, err);
}

static void trial_release(struct trial_run *t)
{
    life_watch_free(t->life);
    metric_adapter_free(t->metric_adapter);
    vec_release(&t->services);
    vec_release(&t->steps);
    vec_release(&t->notes);
    vec_release(&t->validity);
    vec_release(&t->findings);
    close_files(t);
    kernel_log_end(t);
    free(t->dir);
    arena_free(t->arena);
}

static void tell_sealed(struct trial_run *t, bool sealed)
{
    struct progress *p = &t->sweep->progress;

    p->finished = sealed ? &t->record : NULL;
    progress_step(t->sweep, "sealed");
    p->finished = NULL;
    p->scenario = NULL; /* it goes with the trial's memory */
}

int trial_skip(struct sweep_run *s, struct planned_trial which, const char *why, struct error *err)
{
    CLEANUP_VALUE(trial_release)
    struct trial_run t = {
        .sweep = s, .arena = arena_new(), .samples_fd = -1, .events_fd = -1, .load1_before = NAN};

    if (trial_open(&t, which, 1, err) < 0)
        return -1;
    s->progress.scenario = t.scenario.id;
    t.record.outcome = OUTCOME_SKIPPED;
    t.record.reason = why;
    int rc = trial_close(&t, err);
    tell_sealed(&t, rc == 0);
    return rc;
}

int trial_execute(struct sweep_run *s, struct planned_trial which, int attempt, enum outcome *ret,
                  struct error *err)
{
    CLEANUP_VALUE(trial_release)
    struct trial_run t = {
        .sweep = s, .arena = arena_new(), .samples_fd = -1, .events_fd = -1, .load1_before = NAN};
    bool stop;

    if (trial_open(&t, which, attempt, err) < 0)
        return -1;
    cooldown_record(&t);
    s->trial = &t;
    s->progress.scenario = t.scenario.id;
    size_t begun = run_steps(&t, &stop, err);
    if (!stop) {
        trial_judge(&t);
        t.record.duration_ms = clock_ms_since(t.begin_ns);
        trial_decide(&t);
        fault_of_trial(&t);
        t.keep = s->options->keep && t.record.outcome != OUTCOME_OK;
        if (t.keep)
            kept_discard(s);
    }
    undo_steps(&t, begun);
    control_trial_over(&t);
    int rc = stop ? -1 : trial_close(&t, err);
    s->trial = NULL;
    tell_sealed(&t, rc == 0);
    *ret = t.record.outcome;
    s->last_cooldown = t.settings->cooldown;
    bool once = t.settings->build && t.settings->build->every == BUILD_EVERY_SCENARIO;
    s->built_ns = once ? (int64_t)(t.build_ms * NS_PER_MS) : 0;
    s->retry_allowed = t.settings->retry > 0 && !t.hopeless ? (int)t.settings->retry : 0;
    return rc;
}
