/* SPDX-License-Identifier: MIT */
/* What happened to a container, as events and inspect tell it: the sequences of Docker 20.10, one test for
 * each way in which a container can end or go on. */
#include "ledger_fixture.h"

/* --- kills for want of memory --- */

static void oom_of_the_main_process(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    event(&l, "oom", 5000, 0);
    event(&l, "die", 5026, 137);
    INSPECT(&l, "exited", 999, 5000, 0, 137, true);
    assert_true(l.terminal);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_true(ledger_oom_kills(&l, 0) == 1); /* the cgroup had gone before it could be read */
    assert_explained(&l, 0, NULL, "oom", "1 oom event, the last 0.00 s before; OOMKilled true");
    assert_true(l.exits.items[0].oom && l.exits.items[0].wall_ns == MS(5000));
}

/* A child's kill: the event, no death, OOMKilled false while it runs, true after a clean end. */
static void oom_of_a_child_only(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "oom", 5000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_true(l.running);
    event(&l, "die", 9026, 0);
    INSPECT(&l, "exited", 999, 9000, 0, 0, true);
    assert_explained(&l, 0, NULL, "clean exit", "OOMKilled true");
    assert_false(l.exits.items[0].oom);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
}

/* The flag stays from the child: a later SIGKILL of unknown origin is not made an OOM kill by it. */
static void a_childs_flag_does_not_explain_a_later_kill(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "oom", 5000, 0);
    event(&l, "die", 95026, 137);
    INSPECT(&l, "exited", 999, 95000, 0, 137, true);
    assert_cause(&l, 0, "sigkill, cause unknown");
    assert_true(ledger_oom_kills(&l, NAN) == 1);
}

static void a_main_process_that_ends_for_its_child(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "oom", 5000, 0);
    event(&l, "die", 5100, 1);
    INSPECT(&l, "exited", 999, 5080, 0, 1, true);
    assert_explained(&l, 0, NULL, "exit 1 after the oom kill of a child", "1 oom event");
    assert_true(ledger_oom_kills(&l, NAN) == 1 && !l.exits.items[0].oom);
}

static void a_restart_does_not_erase_the_kill(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "oom", 5000, 0);
    event(&l, "die", 5026, 137);
    event(&l, "start", 5500, 0);
    INSPECT(&l, "running", 5499, 5000, 1, 0, false);
    assert_true(ledger_oom_kills(&l, 0) == 1);
    assert_true(l.exits.items[0].oom && l.running);
    assert_cause(&l, 0, "oom");
    assert_restarts(&l, 1);
}

/* (oom die start) x 3, oom die: four deaths, three restarts. */
static void oom_under_on_failure_3(void **state)
{
    LEDGER l = {0};
    bool uncertain = true;

    (void)state;
    for (int i = 0; i < 4; i++) {
        event(&l, "start", 10000 * i, 0);
        event(&l, "oom", 10000 * i + 5000, 0);
        event(&l, "die", 10000 * i + 5026, 137);
    }
    INSPECT(&l, "exited", 29999, 35000, 3, 137, true);
    assert_true(ledger_oom_kills(&l, NAN) == 4);
    assert_true(ledger_oom_kills(&l, 1) == 4); /* the last cgroup's counter alone knows only its own */
    assert_true(ledger_oom_kills(&l, 6) == 6); /* the kernel killed children besides */
    assert_int_equal(ledger_restarts(&l, &uncertain), 3);
    assert_false(uncertain);
    for (size_t i = 0; i < 4; i++)
        assert_cause(&l, i, "oom");
}

/* Nine notifications of one kill, a few milliseconds apart; later a second kill. */
static void a_burst_of_notifications_is_one_kill(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    for (int i = 0; i < 9; i++)
        event(&l, "oom", 5000 + 30 * i, 0);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
    assert_true(ledger_oom_kills(&l, 2) == 2); /* the kernel's own counter knows better */
    event(&l, "oom", 6000, 0);
    event(&l, "die", 6026, 137);
    assert_true(ledger_oom_kills(&l, 1) == 2);
}

/* A fresh process that is killed at once is another kill, however short the time. */
static void a_burst_ends_with_the_process(void **state)
{
    LEDGER l = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        event(&l, "start", 1000 + 20 * i, 0);
        event(&l, "oom", 1005 + 20 * i, 0);
        event(&l, "die", 1010 + 20 * i, 137);
    }
    assert_true(ledger_oom_kills(&l, NAN) == 2);
}

static void a_lost_event_leaves_the_flag(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    ledger_gap(&l);
    INSPECT(&l, "exited", 999, 9000, 0, 137, true);
    assert_true(l.terminal);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_explained(&l, 0, NULL, "oom", "by inspect, no die event; no oom event; OOMKilled true");
    assert_true(ledger_oom_kills(&l, NAN) == 1);
}

/* --- exits and policies --- */

/* exit 1 under on-failure: the back-off doubles; RestartCount counts what is only planned. */
static void an_exit_loop_with_back_off(void **state)
{
    LEDGER l = {0};
    int64_t at_ms = 1000, gap_ms = 300;

    (void)state;
    for (int i = 0; i < 8; i++, at_ms += gap_ms, gap_ms *= 2) {
        event(&l, "start", at_ms, 0);
        event(&l, "die", at_ms + 28, 1);
        INSPECT(&l, "restarting", at_ms - 1, at_ms + 2, i + 1, 1);
        assert_restarts(&l, i);
        assert_false(l.terminal || l.running);
    }
    assert_int_equal(ledger_deaths(&l), 8);
}

static void on_failure_3_runs_out(void **state)
{
    LEDGER l = {0};
    bool uncertain = true;

    (void)state;
    for (int i = 0; i < 4; i++) {
        event(&l, "start", 1000 + 1000 * i, 0);
        event(&l, "die", 1030 + 1000 * i, 1);
    }
    assert_false(l.terminal); /* a death under a policy is not the end until inspect says so */
    INSPECT(&l, "exited", 3999, 4002, 3, 1);
    assert_true(l.terminal);
    assert_int_equal(ledger_restarts(&l, &uncertain), 3);
    assert_false(uncertain);
    assert_int_equal(ledger_deaths(&l), 4);
    assert_int_equal(l.last_code, 1);
    event(&l, "start", 20000, 0); /* by hand: the count begins again, and says 1 after the next death */
    assert_false(l.terminal);
    event(&l, "die", 20030, 1);
    event(&l, "start", 20500, 0);
    INSPECT(&l, "running", 20499, 20002, 1, 0);
    assert_restarts(&l, 5);
}

static void a_clean_exit_under_always(void **state)
{
    LEDGER l = {0};

    (void)state;
    for (int i = 0; i < 6; i++) {
        event(&l, "start", 1000 + 1000 * i, 0);
        event(&l, "die", 1030 + 1000 * i, 0);
    }
    INSPECT(&l, "restarting", 5999, 6002, 6, 0);
    assert_restarts(&l, 5);
    assert_int_equal(ledger_deaths(&l), 6);
    assert_cause(&l, 5, "clean exit");
}

/* Somebody stops it during the back-off: the restart that was counted has never been made. */
static void a_planned_restart_that_never_comes(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    event(&l, "die", 1030, 1);
    INSPECT(&l, "restarting", 999, 1002, 1, 1);
    INSPECT(&l, "exited", 999, 1002, 1, 1);
    assert_restarts(&l, 0);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.terminal);
}

/* --- inspect before events --- */

static void a_death_that_inspect_saw_first_counts_once(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "exited", 999, 1002, 0, 3);
    assert_true(l.terminal);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.exits.items[0].by_inspect);
    event(&l, "die", 1028, 3);
    assert_int_equal(ledger_deaths(&l), 1);
    assert_false(l.exits.items[0].by_inspect);
    assert_true(l.terminal && l.exits.items[0].wall_ns == MS(1002));
}

/* The same before even the event of the start has come; and it is restarted afterwards. */
static void inspect_may_be_faster_than_every_event(void **state)
{
    LEDGER l = {0};

    (void)state;
    INSPECT(&l, "restarting", 1000, 998, 1, 137, true); /* so short a life that its end is stamped first */
    assert_int_equal(ledger_deaths(&l), 1);
    assert_true(l.exits.items[0].oom);
    event(&l, "start", 1001, 0);
    event(&l, "oom", 1002, 0);
    event(&l, "die", 1026, 137);
    event(&l, "start", 1400, 0);
    event(&l, "die", 1430, 137);
    INSPECT(&l, "exited", 1399, 1405, 1, 137);
    assert_int_equal(ledger_deaths(&l), 2);
    assert_restarts(&l, 1);
    assert_true(ledger_oom_kills(&l, NAN) == 1);
}

/* A death of another kind than the one that inspect told of is one more. */
static void a_different_death_is_another_one(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    ledger_gap(&l);
    INSPECT(&l, "exited", 999, 2000, 0, 1);
    event(&l, "kill", 4000, 9);
    event(&l, "die", 4026, 137);
    assert_int_equal(ledger_deaths(&l), 2);
    assert_cause(&l, 1, "killed by somebody else (signal 9)");
    assert_restarts(&l, 1);
}

/* A restart that fails to start (its port was taken meanwhile) overwrites the exit code. */
static void a_restart_that_does_not_start(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "die", 2030, 1);
    INSPECT(&l, "restarting", 999, 2004, 1, 1);
    INSPECT(&l, "exited", 999, 2004, 1, 128, false, "driver failed: port is already allocated");
    assert_restarts(&l, 0);
    assert_int_equal(l.exits.items[0].code, 1);
    assert_cause(&l, 0, "exit 1");
}

/* --- time --- */

static void uptime_is_the_share_of_the_window(void **state)
{
    LEDGER l = {0};

    (void)state;
    assert_true(isnan(ledger_uptime_pct(&l, 5, 5)));
    event(&l, "start", 0, 0);
    event(&l, "die", 30000, 1);
    event(&l, "start", 40000, 0);
    assert_true(fabs(ledger_uptime_pct(&l, MS(20000), MS(60000)) - 75) < 1e-9); /* 20-30 and 40-60 of 40 s */
    assert_true(fabs(ledger_uptime_pct(&l, MS(31000), MS(39000))) < 1e-9);
}

static void lives_have_a_begin_an_end_and_what_was_between(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    LEDGER l = {0};
    struct container_life *lives;
    size_t n;

    (void)state;
    event(&l, "start", 1000, 0);
    ledger_ready(&l, MS(1200));
    event(&l, "die", 5026, 1);
    INSPECT(&l, "restarting", 999, 5000, 1, 1);
    event(&l, "start", 5400, 0);
    event(&l, "die", 5526, 1); /* never ready */
    event(&l, "start", 6200, 0);
    ledger_ready(&l, MS(6300));
    ledger_ready(&l, MS(6500));
    ledger_lives(&l, MS(2000), a, &lives, &n);
    assert_int_equal(n, 3);
    assert_true(lives[0].start_ms == -1001 && lives[0].ready_ms == -800 && lives[0].end_ms == 3000);
    assert_true(isnan(lives[0].down_before_ms) && isnan(lives[0].requests));
    assert_true(lives[1].start_ms == 3400 && isnan(lives[1].ready_ms) && lives[1].end_ms == 3526);
    assert_true(lives[1].down_before_ms == 400);
    assert_true(lives[2].ready_ms == 4300 && isnan(lives[2].end_ms) && lives[2].down_before_ms == 674);
}

static void a_life_that_nobody_saw_begin_has_no_begin(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    LEDGER l = {0};
    struct container_life *lives;
    size_t n;

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "die", 2000, 1);
    event(&l, "die", 3000, 1);
    ledger_lives(&l, 0, a, &lives, &n);
    assert_int_equal(n, 2);
    assert_true(isnan(lives[1].start_ms) && isnan(lives[1].down_before_ms) && lives[1].end_ms == 3000);
    assert_restarts(&l, 1);
}

static void nothing_but_the_life_cycle_makes_it_stale(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "exec_start: true", 1, 0);
    event(&l, "attach", 1, 0);
    assert_false(l.stale);
    event(&l, "health_status: unhealthy", 1, 0);
    assert_true(l.stale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oom_of_the_main_process),
        cmocka_unit_test(oom_of_a_child_only),
        cmocka_unit_test(a_childs_flag_does_not_explain_a_later_kill),
        cmocka_unit_test(a_main_process_that_ends_for_its_child),
        cmocka_unit_test(a_restart_does_not_erase_the_kill),
        cmocka_unit_test(oom_under_on_failure_3),
        cmocka_unit_test(a_burst_of_notifications_is_one_kill),
        cmocka_unit_test(a_burst_ends_with_the_process),
        cmocka_unit_test(a_lost_event_leaves_the_flag),
        cmocka_unit_test(an_exit_loop_with_back_off),
        cmocka_unit_test(on_failure_3_runs_out),
        cmocka_unit_test(a_clean_exit_under_always),
        cmocka_unit_test(a_planned_restart_that_never_comes),
        cmocka_unit_test(a_death_that_inspect_saw_first_counts_once),
        cmocka_unit_test(inspect_may_be_faster_than_every_event),
        cmocka_unit_test(a_different_death_is_another_one),
        cmocka_unit_test(a_restart_that_does_not_start),
        cmocka_unit_test(uptime_is_the_share_of_the_window),
        cmocka_unit_test(lives_have_a_begin_an_end_and_what_was_between),
        cmocka_unit_test(a_life_that_nobody_saw_begin_has_no_begin),
        cmocka_unit_test(nothing_but_the_life_cycle_makes_it_stale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
