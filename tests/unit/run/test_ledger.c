/* SPDX-License-Identifier: MIT */
/* What happened to a container, as events, inspect and the kernel tell it. The sequences are those of
 * Docker 20.10. */
#include "ledger.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define S INT64_C(1000000000)

static void event(struct ledger *l, const char *action, int64_t at_s, int code, int signal)
{
    const struct engine_event ev = {.type = "container",
                                    .action = action,
                                    .id = "c",
                                    .role = "app",
                                    .scenario = "",
                                    .exit_code = code,
                                    .signal = signal,
                                    .wall_ns = at_s * S};

    ledger_event(l, &ev);
}

static void inspect(struct ledger *l, const char *status, const char *started_at, int64_t finished_s,
                    int code, bool oom, int64_t count)
{
    char started[64], status_copy[32];
    struct engine_state s = {
        .status = strcpy(status_copy, status),
        .running = strcmp(status, "running") == 0 || strcmp(status, "restarting") == 0,
        .restarting = strcmp(status, "restarting") == 0,
        .oom_killed = oom,
        .exit_code = code,
        .started_at = strcpy(started, started_at),
        .started_wall_ns = 1,
        .finished_wall_ns = finished_s < 0 ? -1 : finished_s * S,
        .restart_count = count,
    };

    ledger_inspect(l, &s);
}

static void assert_cause(const struct ledger_exit *e, double memory_pct, const char *expected)
{
    char *cause = ledger_cause(e, memory_pct);

    assert_string_equal(cause, expected);
    free(cause);
}

/* on-failure:2 with a command that exits 3: three runs, two restarts. */
static void restarts_are_runs_minus_one(void **state)
{
    struct ledger l = {0};
    bool uncertain = true;

    (void)state;
    for (int i = 0; i < 3; i++) {
        event(&l, "start", 10 + i, -1, 0);
        event(&l, "die", 10 + i, 3, 0);
    }
    assert_false(l.terminal); /* a die under a policy is not the end until inspect says so */
    inspect(&l, "restarting", "t1", 11, 3, false, 1);
    assert_false(l.terminal);
    inspect(&l, "exited", "t3", 12, 3, false, 2);
    assert_true(l.terminal);
    assert_int_equal(ledger_restarts(&l, &uncertain), 2);
    assert_false(uncertain);
    assert_int_equal(ledger_deaths(&l), 3);
    assert_int_equal(l.last_code, 3);
    ledger_release(&l);
}

/* Dead and waiting for the back-off: RestartCount says 1 although nothing has been restarted yet. */
static void a_planned_restart_is_none_yet(void **state)
{
    struct ledger l = {0};
    bool uncertain = true;

    (void)state;
    event(&l, "start", 1, -1, 0);
    event(&l, "die", 2, 1, 0);
    inspect(&l, "restarting", "t1", 2, 1, false, 1);
    assert_int_equal(ledger_restarts(&l, &uncertain), 0);
    assert_false(uncertain);
    assert_false(l.terminal);
    ledger_release(&l);
}

/* RestartCount stays 0 over an engine restart and an API restart: the events know better, and the ledger says
 * uncertain. */
static void witnesses_that_disagree_are_both_kept(void **state)
{
    struct ledger l = {0};
    bool uncertain = false;

    (void)state;
    event(&l, "start", 1, -1, 0);
    inspect(&l, "running", "t1", -1, 0, false, 0);
    ledger_gap(&l);
    inspect(&l, "running", "t2", -1, 0, false, 0);
    assert_int_equal(ledger_restarts(&l, &uncertain), 1);
    assert_true(uncertain);
    ledger_release(&l);
}

static void lost_events_do_not_turn_a_failure_into_a_pass(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    ledger_gap(&l);
    inspect(&l, "exited", "t1", 9, 137, true, 0);
    assert_true(l.terminal);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.exits.items[0].oom);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    ledger_release(&l);
}

/* A process that ends at once: inspect, asked after the start, is faster than the event of the death. */
static void a_death_that_inspect_saw_first_counts_once(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    inspect(&l, "exited", "t1", 1, 3, false, 0);
    assert_true(l.terminal);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.exits.items[0].by_inspect);
    event(&l, "die", 1, 3, 0);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_false(l.exits.items[0].by_inspect);
    ledger_release(&l);
}

/* The same before even the event of the start has come; and it is restarted afterwards. */
static void inspect_may_be_faster_than_every_event(void **state)
{
    struct ledger l = {0};

    (void)state;
    inspect(&l, "exited", "t1", 1, 137, true, 0);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.exits.items[0].oom);
    event(&l, "start", 1, -1, 0);
    event(&l, "oom", 1, -1, 0);
    event(&l, "die", 1, 137, 0);
    event(&l, "start", 2, -1, 0);
    event(&l, "die", 3, 137, 0);
    inspect(&l, "exited", "t2", 3, 137, false, 1);
    assert_int_equal(ledger_deaths(&l), 2);
    assert_int_equal(ledger_restarts(&l, NULL), 1);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    ledger_release(&l);
}

/* A death of another kind than the one inspect told of is one more. */
static void a_different_death_is_another_one(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    ledger_gap(&l);
    inspect(&l, "exited", "t1", 2, 1, false, 0);
    event(&l, "start", 3, -1, 0);
    event(&l, "kill", 4, -1, 9);
    event(&l, "die", 4, 137, 0);
    assert_int_equal(ledger_deaths(&l), 2);
    assert_cause(&l.exits.items[1], NAN, "killed by somebody else (signal 9)");
    ledger_release(&l);
}

/* (oom die start) x 3, oom die, as on-failure:3 gives it. */
static void oom_kills_are_counted_once_each(void **state)
{
    struct ledger l = {0};

    (void)state;
    for (int i = 0; i < 4; i++) {
        event(&l, "start", 10 * i, -1, 0);
        event(&l, "oom", 10 * i + 5, -1, 0);
        event(&l, "die", 10 * i + 5, 137, 0);
    }
    inspect(&l, "exited", "t4", 35, 137, true, 3);
    assert_true(ledger_oom_kills(&l, NAN) == 4);
    assert_true(ledger_oom_kills(&l, 1) == 4); /* the last cgroup's counter alone knows only its own */
    assert_true(ledger_oom_kills(&l, 6) == 6); /* the kernel killed children besides */
    assert_int_equal(ledger_restarts(&l, NULL), 3);
    for (size_t i = 0; i < l.exits.len; i++)
        assert_cause(&l.exits.items[i], NAN, "oom");
    ledger_release(&l);
}

/* Nine notifications of one kill, a few milliseconds apart; later a second kill. */
static void a_burst_of_notifications_is_one_kill(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    for (int i = 0; i < 9; i++)
        ledger_event(&l, &(struct engine_event){.action = "oom", .wall_ns = 5 * S + i * 3000000});
    inspect(&l, "running", "t1", -1, 0, false, 0);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_true(ledger_oom_kills(&l, 2) == 2); /* the kernel's own counter knows better */
    event(&l, "oom", 6, -1, 0);
    event(&l, "die", 6, 137, 0);
    assert_true(ledger_oom_kills(&l, 1) == 2);
    ledger_release(&l);
}

/* A fresh process that is killed at once is another kill, however short the time. */
static void a_burst_ends_with_the_process(void **state)
{
    struct ledger l = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        event(&l, "start", 1, -1, 0);
        event(&l, "oom", 1, -1, 0);
        event(&l, "die", 1, 137, 0);
    }
    assert_true(ledger_oom_kills(&l, NAN) == 2);
    ledger_release(&l);
}

/* Only a child was killed: an oom event, no death, OOMKilled false, later a clean exit with OOMKilled true
 * and code 0. */
static void a_child_killed_is_an_oom_kill_without_a_death(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    event(&l, "oom", 5, -1, 0);
    inspect(&l, "running", "t1", -1, 0, false, 0);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_true(l.running);
    l.ours_to_end = true;
    event(&l, "kill", 8, -1, 15);
    event(&l, "die", 8, 0, 0);
    inspect(&l, "exited", "t1", 8, 0, true, 0);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_cause(&l.exits.items[0], NAN, "killed by benchctl");
    ledger_release(&l);
}

/* The flag may be erased by a restart: the event keeps it. */
static void a_restart_does_not_erase_the_kill(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    event(&l, "oom", 5, -1, 0);
    event(&l, "die", 5, 137, 0);
    event(&l, "start", 6, -1, 0);
    inspect(&l, "running", "t2", 5, 0, false, 1);
    assert_true(ledger_oom_kills(&l, 0) == 1);
    assert_true(l.exits.items[0].oom);
    assert_true(l.running);
    ledger_release(&l);
}

static void causes_are_graded(void **state)
{
    (void)state;
    assert_cause(&(struct ledger_exit){.code = 0}, NAN, "exit 0");
    assert_cause(&(struct ledger_exit){.code = 1}, NAN, "exit 1");
    assert_cause(&(struct ledger_exit){.code = 137, .oom = true}, NAN, "oom");
    assert_cause(&(struct ledger_exit){.code = 137}, NAN, "sigkill, cause unknown");
    assert_cause(&(struct ledger_exit){.code = 137}, 93.2,
                 "sigkill, cause unknown (memory was 93 % of the limit at the last sample)");
    assert_cause(&(struct ledger_exit){.code = 137, .by_us = true}, NAN, "killed by benchctl");
    assert_cause(&(struct ledger_exit){.code = 139}, NAN, "signal 11 (SEGV)");
    assert_cause(&(struct ledger_exit){.code = 143, .by_us = true}, NAN, "killed by benchctl");
    assert_cause(&(struct ledger_exit){.code = 143}, NAN, "signal 15 (TERM)");
    assert_cause(&(struct ledger_exit){.code = 137, .foreign_signal = 9}, NAN,
                 "killed by somebody else (signal 9)");
    assert_cause(&(struct ledger_exit){.code = 127}, NAN, "exit 127");
    assert_cause(&(struct ledger_exit){.code = 255}, NAN, "exit 255");
}

/* A kill event that the process ignored is no death. */
static void a_kill_event_is_not_a_death(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    event(&l, "kill", 2, -1, 11);
    inspect(&l, "running", "t1", -1, 0, false, 0);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_true(l.running);
    ledger_release(&l);
}

static void uptime_is_the_share_of_the_window(void **state)
{
    struct ledger l = {0};

    (void)state;
    assert_true(isnan(ledger_uptime_pct(&l, 5, 5)));
    event(&l, "start", 0, -1, 0);
    event(&l, "die", 30, 1, 0);
    event(&l, "start", 40, -1, 0);
    assert_true(fabs(ledger_uptime_pct(&l, 20 * S, 60 * S) - 75) < 1e-9); /* 20-30 and 40-60 of 40 s */
    assert_true(fabs(ledger_uptime_pct(&l, 31 * S, 39 * S)) < 1e-9);
    ledger_release(&l);
}

/* die's own time is late; FinishedAt is the truth. */
static void the_time_of_death_is_inspects(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "start", 1, -1, 0);
    const struct engine_event die = {.action = "die", .exit_code = 1, .wall_ns = 5 * S + 26000000};
    ledger_event(&l, &die);
    inspect(&l, "exited", "t1", 5, 1, false, 0);
    assert_int_equal(l.exits.len, 1);
    assert_true(l.exits.items[0].wall_ns == 5 * S);
    ledger_release(&l);
}

static void nothing_but_life_cycle_makes_it_stale(void **state)
{
    struct ledger l = {0};

    (void)state;
    event(&l, "exec_start: true", 1, -1, 0);
    event(&l, "attach", 1, -1, 0);
    assert_false(l.stale);
    event(&l, "health_status: unhealthy", 1, -1, 0);
    assert_true(l.stale);
    ledger_release(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(restarts_are_runs_minus_one),
        cmocka_unit_test(a_planned_restart_is_none_yet),
        cmocka_unit_test(witnesses_that_disagree_are_both_kept),
        cmocka_unit_test(lost_events_do_not_turn_a_failure_into_a_pass),
        cmocka_unit_test(a_death_that_inspect_saw_first_counts_once),
        cmocka_unit_test(inspect_may_be_faster_than_every_event),
        cmocka_unit_test(a_different_death_is_another_one),
        cmocka_unit_test(oom_kills_are_counted_once_each),
        cmocka_unit_test(a_burst_of_notifications_is_one_kill),
        cmocka_unit_test(a_burst_ends_with_the_process),
        cmocka_unit_test(a_child_killed_is_an_oom_kill_without_a_death),
        cmocka_unit_test(a_restart_does_not_erase_the_kill),
        cmocka_unit_test(causes_are_graded),
        cmocka_unit_test(a_kill_event_is_not_a_death),
        cmocka_unit_test(uptime_is_the_share_of_the_window),
        cmocka_unit_test(the_time_of_death_is_inspects),
        cmocka_unit_test(nothing_but_life_cycle_makes_it_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
