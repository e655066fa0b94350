/* SPDX-License-Identifier: MIT */
/*
 * One sweep with everything that can become of a scenario: steady, a crash loop, a crash among steady trials,
 * never ready, an error, an invalid trial, a figure that was not measured, one that was not run.
 */
#ifndef TESTS_FIXED_SWEEP_H
#define TESTS_FIXED_SWEEP_H

#include "make_sweep.h"

static const char fixed_info[] =
    "{\"name\":\"fixed\",\"title\":\"A fixed "
    "sweep\",\"benchctl\":\"1.2.3\",\"started_at\":\"2026-01-31T08:00:00.000Z\","
    "\"order\":{\"mode\":\"interleaved\",\"seed\":7},\"trials_per_scenario\":3,\"scenarios\":7,\"trials\":21,"
    "\"axes\":[{\"name\":\"framework\",\"values\":[\"flask\",\"express\"]},{\"name\":\"stack\",\"values\":["
    "\"blocking\","
    "\"async\"]},{\"name\":\"memory\",\"values\":[\"256m\",\"80m\"]}],"
    "\"host\":{\"name\":\"lab\",\"cpus\":4,\"cpu\":\"Some CPU\",\"kernel\":\"6.1.0\"},"
    "\"engine\":{\"name\":\"Docker Engine\",\"version\":\"20.10\",\"cgroup_version\":2},"
    "\"parity\":{\"ok\":true,\"checks\":[{\"name\":\"dao\",\"compare\":\"blobs\",\"ok\":true,\"members\":["
    "{\"path\":\"src/dao\",\"full_ref\":\"refs/heads/"
    "flask\",\"commit\":\"0123456789abcdef0123456789abcdef01234567\"},"
    "{\"path\":\"src/dao\",\"full_ref\":\"refs/heads/express\","
    "\"commit\":\"89abcdef0123456789abcdef0123456789abcdef\"}],\"differences\":[]}]}}";

static const char fixed_plan[] =
    "{\"axes\":[\"framework\",\"stack\",\"memory\"],\"scenarios\":["
    "{\"id\":\"flask/blocking/"
    "256m\",\"axes\":{\"framework\":\"flask\",\"stack\":\"blocking\",\"memory\":\"256m\"}},"
    "{\"id\":\"flask/blocking/"
    "80m\",\"axes\":{\"framework\":\"flask\",\"stack\":\"blocking\",\"memory\":\"80m\"}},"
    "{\"id\":\"flask/async/"
    "256m\",\"axes\":{\"framework\":\"flask\",\"stack\":\"async\",\"memory\":\"256m\"}},"
    "{\"id\":\"flask/async/80m\",\"axes\":{\"framework\":\"flask\",\"stack\":\"async\",\"memory\":\"80m\"}},"
    "{\"id\":\"express/blocking/"
    "256m\",\"axes\":{\"framework\":\"express\",\"stack\":\"blocking\",\"memory\":\"256m\"}},"
    "{\"id\":\"express/async/"
    "256m\",\"axes\":{\"framework\":\"express\",\"stack\":\"async\",\"memory\":\"256m\"}},"
    "{\"id\":\"express/async/"
    "80m\",\"axes\":{\"framework\":\"express\",\"stack\":\"async\",\"memory\":\"80m\"}}]}";

/* A trial that ran to its end, with numbers in every table; `x` moves them a little. */
static inline struct trial *add_full(struct maker *m, const char *scenario, enum outcome outcome, double x)
{
    struct arena *a = m->sweep.arena;
    struct trial *t = add(m, scenario, outcome, 1000 * x);

    t->started_at = "2026-01-31T08:00:00.000Z";
    t->duration_ms = 9000 * x;
    t->overhead_ms = 1500;
    t->steps = arena_array(a, struct step_time, 2);
    t->steps[0] = (struct step_time){"ready", 800, 640.5 * x};
    t->steps[1] = (struct step_time){"load", 2000, 6000};
    t->step_count = 2;
    t->ready_ms = 640.5 * x;
    t->startup_ms = 612.25 * x;
    t->load = (struct load_result){.generator = "wrk",
                                   .version = "4.1.0",
                                   .model = "closed",
                                   .corrected = "no",
                                   .requests = 6000 * x,
                                   .ok = 6000 * x,
                                   .failed = 0,
                                   .error_rate = 0,
                                   .rps = 1000 * x,
                                   .goodput_rps = 1000 * x,
                                   .dropped = NAN,
                                   .latency_ms = {1, 5.5, 5.02 * x, 7, 10.5 * x, 14, 28.4 * x, 41, 60, 4},
                                   .window_ms = 6000,
                                   .duration_ms = 6000,
                                   .cpu_ms = 540};
    t->app.memory_bytes.limit = 268435456;
    t->app.memory_bytes.used_avg = 40e6 * x;
    t->app.memory_bytes.used_peak = 46e6 * x;
    t->app.memory_bytes.anon_peak = 44e6 * x;
    t->app.cpu_cores.avg = 0.71 * x;
    t->app.cpu_cores.total_ms = 4260;
    t->app.uptime_pct = 100;
    t->services = arena_array(a, struct container_result, 1);
    container_result_init(&t->services[0], "database");
    t->services[0].cpu_cores.avg = 0.25;
    t->services[0].memory_bytes.used_peak = 84e6;
    t->service_count = 1;
    t->has_database = true;
    t->database.commits = 12000;
    t->database.rollbacks = 0;
    t->database.deadlocks = 0;
    t->database.reset_ms = 140;
    t->host.benchctl_cpu_cores = 0.002;
    t->host.benchctl_rss_bytes = 16e6;
    return t;
}

static inline void fail_again_and_again(struct maker *m, struct trial *t, int times)
{
    t->reason = arena_printf(m->sweep.arena,
                             "OOM-killed %d times, restarted %d times in 6 s at 80.0 MiB; 55 %% of "
                             "requests failed",
                             times, times);
    t->app.restarts = t->app.oom_kills = times;
    t->app.uptime_pct = 45;
    t->load.error_rate = 0.55;
    t->load.failed = 3300;
    t->load.errors = arena_array(m->sweep.arena, struct error_count, 1);
    t->load.errors[0] = (struct error_count){"connect", 3300};
    t->load.error_count = 1;
    t->app.exits = arena_array(m->sweep.arena, struct container_exit, (size_t)times);
    for (int i = 0; i < times; i++)
        t->app.exits[i] = (struct container_exit){400.0 * (i + 1), 137, true, "oom", "oom event"};
    t->app.exit_count = (size_t)times;
}

static inline struct trial *add_failed(struct maker *m, const char *scenario, enum outcome outcome,
                                       const char *reason)
{
    struct trial *t = add(m, scenario, outcome, NAN);

    t->has_load = false;
    t->reason = reason;
    return t;
}

static inline void add_metrics(struct maker *m, struct trial *t, double pauses)
{
    t->metrics = arena_array(m->sweep.arena, struct metric_value, 3);
    t->metrics[0] = (struct metric_value){"heap_used_bytes", 30e6, 52e6, 28e6, NAN, 0};
    t->metrics[1] = (struct metric_value){"gc_pauses", NAN, NAN, pauses + 4, pauses, 0};
    t->metrics[2] = (struct metric_value){"gc_pause_avg_ms", 7.2, 9, 7.1, NAN, 0};
    t->metric_count = 3;
}

static inline void add_check_of(struct maker *m, struct trial *t, const char *name, const char *value)
{
    t->checks = arena_array(m->sweep.arena, struct check_result, 1);
    t->checks[0] = (struct check_result){
        .name = name, .value = value, .expect = "== 0", .gated = true, .passed = strcmp(value, "0") == 0};
    t->check_count = 1;
}

static inline void add_verdict(struct maker *m, struct trial *t, const char *verdict, const char *message)
{
    t->validity = arena_array(m->sweep.arena, struct validity_result, 1);
    t->validity[0] = (struct validity_result){"V9", verdict, message, NULL};
    t->validity_count = 1;
}

/* One round of all scenarios, in no order that a report could lean on. */
static inline void add_round(struct maker *m, int round)
{
    static const double x[] = {1.5, 1.53, 1.48};
    static const char *const crowded = "the generator used 92 % of its CPU";

    static const enum outcome last[] = {OUTCOME_OK, OUTCOME_INVALID, OUTCOME_DEGRADED};
    struct trial *t = add_full(m, "express/async/80m", last[round], x[round]);
    t->startup_ms = NAN;
    add_metrics(m, t, 120 + round);
    add_check_of(m, t, "abandoned writes", round == 2 ? "17" : "0");
    if (round == 1)
        t->reason = crowded;
    if (round == 2)
        t->reason = "expected 'abandoned writes == 0', but it is 17";
    add_verdict(m, t, round == 1 ? "FAIL" : "WARN", crowded);

    fail_again_and_again(m, add_full(m, "flask/blocking/80m", OUTCOME_DEGRADED, x[round] / 3), 14 - round);
    add_full(m, "flask/blocking/256m", OUTCOME_OK, x[round]);
    t = add_failed(m, "flask/async/80m", OUTCOME_NOT_READY, "alive, but not ready within 60 s");
    t->app.restarts = 0;

    t = add_full(m, "flask/async/256m", round == 2 ? OUTCOME_CRASHED : OUTCOME_OK, 2 * x[round]);
    if (round == 2)
        fail_again_and_again(m, t, 5);
    if (round == 1) {
        t = add_failed(m, "express/async/256m", OUTCOME_ERROR, "the engine did not answer within 60 s");
        t->app.restarts = t->app.oom_kills = NAN;
        return;
    }
    t = add_full(m, "express/async/256m", OUTCOME_OK, 1.1 * x[round]);
    add_metrics(m, t, 40 + round);
    add_verdict(m, t, round ? "PASS" : "WARN", crowded);
    t->notes = arena_array(m->sweep.arena, const char *, 1);
    t->notes[0] = "1 of 3 scrapes failed";
    t->note_count = 1;
}

static inline void fixed_sweep(struct maker *m)
{
    static const char *const axes[] = {"framework", "stack", "memory", NULL};

    maker_begin(m, axes, fixed_info, fixed_plan);
    m->sweep.complete = false;
    for (int round = 0; round < 3; round++)
        add_round(m, round);
}

#endif
