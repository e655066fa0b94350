/* SPDX-License-Identifier: MIT */
/* A trial that nothing speaks against, and what the rules say of it once it has been changed. */
#ifndef BENCHCTL_TESTS_VALIDITY_TRIAL_FIXTURE_H
#define BENCHCTL_TESTS_VALIDITY_TRIAL_FIXTURE_H

#include <string.h>
#include "benchctl/base/strbuf.h"
#include "benchctl/validity.h"
#include "unit/check.h"

struct fixture {
    struct trial t;
    struct error_count errors[4];
    struct metric_value metrics[2];
    struct container_result database;
    struct validity_container containers[2];
    struct validity_facts f;
    struct arena *arena;
    struct validity_result *results;
    size_t len;
};

/* A closed load of 10 users for 60 s: 1000 requests a second of 10 ms; one core of two busy. */
static inline void begin(struct fixture *x)
{
    struct load_result *l = &x->t.load;

    memset(x, 0, sizeof(*x));
    x->arena = arena_new();
    trial_init(&x->t);
    container_result_init(&x->t.app, "app");
    container_result_init(&x->database, "database");
    load_result_init(l);
    x->t.has_load = true;
    l->requests = l->ok = 60000;
    l->failed = 0;
    l->error_rate = 0;
    l->rps = l->goodput_rps = 1000;
    l->model = "closed";
    l->corrected = "no";
    l->window_ms = 60100;
    l->duration_ms = 60000;
    l->cpu_ms = 6000;
    l->concurrency = 10;
    l->think_ms = 0;
    l->latency_ms.mean = 9.99;
    l->latency_ms.p50 = 9.5;
    l->latency_ms.p99 = 20;
    l->errors = x->errors;
    x->t.app.restarts = x->t.app.oom_kills = 0;
    x->t.app.uptime_pct = 100;
    x->t.app.down_ms = x->t.app.unresponsive_ms = 0;
    x->t.app.cpu_cores.avg = 1;
    x->t.app.effective.memory_bytes = 256 << 20;
    x->t.app.effective.swap_bytes = 0;
    x->t.app.effective.kernel = (struct kernel_limits){NAN, NAN, NAN, NAN, NULL};
    x->database.effective.kernel = x->t.app.effective.kernel;
    validity_facts_init(&x->f, &x->t);
    x->containers[0].result = &x->t.app;
    x->containers[0].asked.memory_bytes = 256 << 20;
    x->containers[0].asked.cpus = x->containers[0].asked.pids = NAN;
    x->containers[1] = x->containers[0];
    x->containers[1].result = &x->database;
    x->containers[1].asked.memory_bytes = NAN;
    x->f.containers = x->containers;
    x->f.container_count = 1;
    x->f.app_cores = x->f.host_cores = 2;
    x->f.generator_cores = 1;
    x->f.local = true;
    x->f.clock_step_s = x->f.suspended_s = x->f.suspended_in_window_s = 0;
}

static inline void end(struct fixture *x)
{
    arena_free(x->arena);
}

static inline void judge(struct fixture *x)
{
    validity_judge_trial(&x->f, x->arena, &x->results, &x->len);
}

static inline const struct validity_result *result(struct fixture *x, const char *id)
{
    judge(x);
    assert_non_null(validity_rule_find(id));
    for (size_t i = 0; i < x->len; i++)
        if (strcmp(x->results[i].id, id) == 0)
            return &x->results[i];
    return NULL;
}

/* `verdict` "": it says nothing. `part`: of the message. */
static inline void expect_at(struct fixture *x, const char *id, const char *verdict, const char *part,
                             int line)
{
    const struct validity_result *r = result(x, id);
    const char *said = r ? r->verdict : "";

    if (strcmp(said, verdict) != 0)
        fail_msg("line %d: %s: '%s' instead of '%s': %s", line, id, said, verdict,
                 r ? r->message : "nothing");
    if (r && part && !strstr(r->message, part))
        fail_msg("line %d: %s: '%s' does not contain '%s'", line, id, r->message, part);
    if (r && !text_equal(r->check, validity_rule_find(id)->check))
        fail_msg("line %d: %s: check %s", line, id, r->check);
}
#define expect(x, id, verdict, part) expect_at(x, id, verdict, part, __LINE__)

#endif
