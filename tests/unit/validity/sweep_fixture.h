/* SPDX-License-Identifier: MIT */
/* Sweeps made of numbers, for the rules over them. */
#ifndef SWEEP_FIXTURE_H
#define SWEEP_FIXTURE_H

#include "benchctl/validity.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/strbuf.h"

enum { FIXTURE_TRIALS = 512, FIXTURE_ARMS = 128 };

struct sweep_fixture {
    struct arena *arena;
    struct trial trials[FIXTURE_TRIALS];
    const struct trial *pointers[FIXTURE_TRIALS];
    struct validity_arm arms[FIXTURE_ARMS];
    size_t trial_count, arm_count;
    double host_cores;
    struct validity_sweep verdict;
};

static inline int fixture_setup(void **state)
{
    struct sweep_fixture *s = xcalloc(1, sizeof(*s));

    s->arena = arena_new();
    s->host_cores = 2;
    *state = s;
    return 0;
}

static inline int fixture_teardown(void **state)
{
    struct sweep_fixture *s = *state;

    arena_free(s->arena);
    free(s);
    return 0;
}

/* What a closed load of `users` has found. */
struct found {
    double rps, p50_ms, cpu_ms; /* cpu: of a request */
    double users, floor_ms;     /* floor 0: none was measured */
};

static inline struct trial *add_trial(struct sweep_fixture *s, const char *scenario, const struct found *f)
{
    assert_true(s->trial_count < FIXTURE_TRIALS);
    struct trial *t = &s->trials[s->trial_count];
    const double seconds = 10;

    trial_init(t);
    load_result_init(&t->load);
    container_result_init(&t->app, "app");
    t->scenario = arena_strdup(s->arena, scenario);
    t->outcome = OUTCOME_OK;
    t->trial = 1;
    t->has_load = true;
    t->load.generator = "builtin";
    t->load.model = "closed";
    t->load.requests = t->load.ok = f->rps * seconds;
    t->load.failed = t->load.error_rate = 0;
    t->load.goodput_rps = t->load.rps = f->rps;
    t->load.window_ms = 1e3 * seconds;
    t->load.concurrency = f->users;
    t->load.latency_ms.p50 = t->load.latency_ms.mean = f->p50_ms;
    t->app.cpu_cores.total_ms = f->cpu_ms * t->load.requests;
    t->app.cpu_cores.avg = t->app.cpu_cores.total_ms / t->load.window_ms;
    t->app.restarts = t->app.oom_kills = 0;
    t->app.effective.cpus = INFINITY;
    t->app.memory_bytes.anon_peak = 50e6;
    if (f->floor_ms > 0) {
        t->has_floor = true;
        t->floor.requests = 20;
        t->floor.p50_ms = f->floor_ms;
        t->floor.cpu_ms_per_request = f->cpu_ms;
    }
    s->pointers[s->trial_count] = t;
    struct validity_arm *a = s->arm_count ? &s->arms[s->arm_count - 1] : NULL;
    if (!a || strcmp(a->scenario, scenario) != 0) {
        assert_true(s->arm_count < FIXTURE_ARMS);
        a = &s->arms[s->arm_count++];
        *a = (struct validity_arm){t->scenario, &s->pointers[s->trial_count], 0};
    }
    a->count++;
    s->trial_count++;
    return t;
}

static inline void make_open(struct trial *t, double offered_rps)
{
    t->load.model = "open";
    t->load.offered = offered_rps * t->load.window_ms / 1e3;
    t->load.concurrency = NAN;
}

static inline const struct validity_sweep *judge(struct sweep_fixture *s)
{
    const struct validity_sweep_facts f = {
        .arms = s->arms, .count = s->arm_count, .host_cores = s->host_cores};

    validity_judge_sweep(&f, s->arena, &s->verdict);
    return &s->verdict;
}

/* The verdicts of a rule, "WARN WARN"; "" for none. */
static inline const char *verdicts(const struct sweep_fixture *s, const char *id)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < s->verdict.len; i++)
        if (text_equal(s->verdict.results[i].id, id))
            strbuf_addf(&text, "%s%s", text.len ? " " : "", s->verdict.results[i].verdict);
    return arena_strdup(s->arena, strbuf_text(&text));
}

/* The first message of a rule; "" for none. */
static inline const char *message(const struct sweep_fixture *s, const char *id)
{
    for (size_t i = 0; i < s->verdict.len; i++)
        if (text_equal(s->verdict.results[i].id, id))
            return s->verdict.results[i].message;
    return "";
}

static inline void assert_says(const char *text, const char *part)
{
    if (!text || !strstr(text, part))
        fail_msg("'%s' is not in: %s", part, text ? text : "(nothing)");
}

static inline void add_axis(struct sweep_fixture *s, struct trial *t, const char *axis, const char *value)
{
    struct axis_pair *axes = arena_array(s->arena, struct axis_pair, t->axis_count + 1);

    if (t->axis_count)
        memcpy(axes, t->axes, t->axis_count * sizeof(*axes));
    axes[t->axis_count++] = (struct axis_pair){arena_strdup(s->arena, axis), arena_strdup(s->arena, value)};
    t->axes = axes;
}

#endif
