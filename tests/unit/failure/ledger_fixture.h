/* SPDX-License-Identifier: MIT */
/* What an engine says of one container, in the shape of Docker 20.10, by a clock of milliseconds. */
#ifndef UNIT_FAILURE_LEDGER_FIXTURE_H
#define UNIT_FAILURE_LEDGER_FIXTURE_H

#include "benchctl/failure.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"

#define MS(at) ((at)*NS_PER_MS)

static inline void event(struct ledger *l, const char *action, int64_t at_ms, int value)
{
    bool die = strcmp(action, "die") == 0;
    const struct engine_event ev = {.type = "container",
                                    .action = action,
                                    .id = "c",
                                    .role = "app",
                                    .scenario = "",
                                    .exit_code = die ? value : -1,
                                    .signal = die ? 0 : value,
                                    .wall_ns = MS(at_ms)};

    ledger_event(l, &ev);
}

/* One inspect reply. finished_ms -1: never. */
struct said {
    const char *status;
    int64_t started_ms, finished_ms, count;
    int code;
    bool oom;
    const char *error;
};

static inline void inspect(struct ledger *l, struct said s)
{
    char started[64], status[32], error[256];
    bool restarting = strcmp(s.status, "restarting") == 0;
    struct engine_state st = {
        .status = strcpy(status, s.status),
        .running = restarting || strcmp(s.status, "running") == 0 || strcmp(s.status, "paused") == 0,
        .restarting = restarting,
        .paused = strcmp(s.status, "paused") == 0,
        .oom_killed = s.oom,
        .exit_code = s.code,
        .started_at = started,
        .started_wall_ns = s.started_ms < 0 ? -1 : MS(s.started_ms),
        .finished_wall_ns = s.finished_ms < 0 ? -1 : MS(s.finished_ms),
        .restart_count = s.count,
        .error = strcpy(error, s.error ? s.error : ""),
    };

    (void)snprintf(started, sizeof(started), "%lld", (long long)s.started_ms);
    ledger_inspect(l, &st);
}

/* What is not written is 0, false and NULL. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define INSPECT(l, ...) inspect(l, (struct said){__VA_ARGS__})

static const struct death_facts no_facts = {NAN, NAN, NAN, NULL, NULL, false};

/* The cause and a part of the evidence of the n-th exit. */
static inline void assert_explained(const struct ledger *l, size_t n, const struct death_facts *f,
                                    const char *cause, const char *evidence)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct container_exit x = {0};

    assert_true(n < l->exits.len);
    death_explain(l, n, f ? f : &no_facts, a, &x);
    assert_string_equal(x.cause, cause);
    if (evidence && !strstr(x.evidence, evidence))
        fail_msg("'%s' is not in the evidence '%s'", evidence, x.evidence);
}

static inline void assert_cause(const struct ledger *l, size_t n, const char *cause)
{
    assert_explained(l, n, NULL, cause, NULL);
}

static inline void assert_restarts(const struct ledger *l, int expected)
{
    assert_int_equal(ledger_restarts(l, NULL), expected);
}

#define LEDGER CLEANUP_VALUE(ledger_release) struct ledger

#endif
