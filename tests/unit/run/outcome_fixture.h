/* SPDX-License-Identifier: MIT */
/* A trial whose outcome is to be decided: one that went well, and what a test may do to it. */
#ifndef UNIT_RUN_OUTCOME_FIXTURE_H
#define UNIT_RUN_OUTCOME_FIXTURE_H

#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "unit/check.h"

struct fixture {
    struct settings settings;
    struct trial_run t;
    struct unit app;
};

/* A trial of 10 s of load that went well: 1000 requests, all of them answered. */
static inline int setup(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct trial_run *t = &f->t;

    f->settings.load.max_error_rate = NAN;
    t->arena = arena_new();
    t->settings = &f->settings;
    t->app = &f->app;
    trial_init(&t->record);
    container_result_init(&t->record.app, "app");
    load_result_init(&t->record.load);
    t->record.has_load = true;
    t->record.ready_ms = 120;
    t->record.duration_ms = 12345;
    t->record.app.restarts = t->record.app.oom_kills = 0;
    t->record.app.memory_bytes.limit = 64 << 20;
    t->record.load.requests = t->record.load.ok = 1000;
    t->record.load.failed = t->record.load.error_rate = 0;
    t->load_begin_ns = 1 * NS_PER_S;
    t->load_end_ns = 11 * NS_PER_S;
    f->app.ledger.running = true;
    vec_push(&f->app.ledger.starts, (struct ledger_start){.wall_ns = 1});
    *state = f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;

    ledger_release(&f->app.ledger);
    arena_free(f->t.arena);
    free(f);
    return 0;
}

/* The app ended `deaths` times with this code and cause; for good or not. */
static inline void app_ended(struct fixture *f, int deaths, int code, const char *cause, bool terminal)
{
    struct trial *r = &f->t.record;
    struct ledger *l = &f->app.ledger;

    r->app.exits = arena_array(f->t.arena, struct container_exit, (size_t)deaths);
    for (int i = 0; i < deaths; i++) {
        vec_push(&l->exits, (struct ledger_exit){.wall_ns = 2 + i, .code = code});
        r->app.exits[i] =
            (struct container_exit){.code = code, .cause = cause, .oom = strcmp(cause, "oom") == 0};
    }
    r->app.exit_count = (size_t)deaths;
    r->app.restarts = terminal ? deaths - 1 : deaths;
    l->terminal = terminal;
    l->running = !terminal;
    l->last_code = code;
}

static inline void went_wrong(struct fixture *f, const char *step, const char *message)
{
    f->t.failed = true;
    f->t.failed_step = step;
    f->t.record.has_load = false;
    (void)error_set(&f->t.error, ERROR_ENVIRONMENT, "%s", message);
}

static inline void assert_decided(struct fixture *f, enum outcome expected, const char *reason)
{
    trial_decide(&f->t);
    if (f->t.record.outcome != expected)
        fail_msg("%s instead of %s: %s", outcome_name(f->t.record.outcome), outcome_name(expected),
                 f->t.record.reason);
    assert_string_equal(f->t.record.reason, reason);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
