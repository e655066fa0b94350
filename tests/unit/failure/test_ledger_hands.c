/* SPDX-License-Identifier: MIT */
/* What happened to a container that others have a hand in: signals, people, and the engine itself. The
 * sequences are those of Docker 20.10. */
#include "ledger_fixture.h"

/* --- signals --- */

static void crashes(void **state)
{
    static const struct {
        int code;
        const char *cause;
    } ways[] = {{139, "crashed (SIGSEGV)"}, {134, "crashed (SIGABRT)"}, {135, "crashed (SIGBUS)"},
                {132, "crashed (SIGILL)"},  {136, "crashed (SIGFPE)"},  {143, "sigterm from elsewhere"},
                {129, "signal 1 (HUP)"},    {255, "exit 255"},          {127, "exit 127"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        LEDGER l = {0};
        event(&l, "start", 1000, 0);
        event(&l, "die", 2026, ways[i].code);
        INSPECT(&l, "exited", 999, 2000, 0, ways[i].code);
        assert_cause(&l, 0, ways[i].cause);
        assert_int_equal(l.exits.items[0].code, ways[i].code);
    }
}

static void killed_by_way_of_the_engine(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "kill", 5000, 9);
    event(&l, "die", 5026, 137);
    INSPECT(&l, "exited", 999, 5000, 0, 137);
    assert_explained(&l, 0, NULL, "killed by somebody else (signal 9)", "kill event (signal 9) of somebody");
    assert_restarts(&l, 0); /* not even under `always` */
}

/* kill -9 on the machine: no kill event, and `always` restarts it. */
static void killed_on_the_host(void **state)
{
    LEDGER l = {0};
    struct death_facts f = no_facts;

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "die", 5026, 137);
    event(&l, "start", 5500, 0);
    INSPECT(&l, "running", 5499, 5000, 1, 0);
    assert_explained(&l, 0, NULL, "sigkill, cause unknown",
                     "no oom event; OOMKilled not seen; no kill event");
    f.memory_pct = 93.2;
    f.kernel_kills = 0;
    assert_explained(&l, 0, &f,
                     "sigkill, cause unknown (memory was up to 93 % of the limit in the samples before)",
                     "oom_kill of its cgroup had not risen");
    assert_restarts(&l, 1);
    assert_true(ledger_oom_kills(&l, 0) == 0);
}

/* A kill event that the process ignored is no death, and explains no later one. */
static void a_signal_that_was_ignored(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "kill", 2000, 11);
    INSPECT(&l, "running", 999, -1, 0, 0);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_true(l.running);
    event(&l, "die", 9000, 3);
    assert_cause(&l, 0, "exit 3");
}

static void stopped_by_somebody_else(void **state)
{
    static const int codes[] = {0, 1, 143};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        LEDGER l = {0};
        event(&l, "start", 1000, 0);
        event(&l, "kill", 5000, 15);
        event(&l, "die", 5500, codes[i]);
        assert_cause(&l, 0, "killed by somebody else (signal 15)");
    }
}

static void stopped_by_us(void **state)
{
    LEDGER l = {0}, stubborn = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    l.ours_to_end = true;
    event(&l, "kill", 5000, 15);
    event(&l, "die", 5030, 143);
    INSPECT(&l, "exited", 999, 5004, 0, 143);
    assert_cause(&l, 0, "stopped by benchctl");
    assert_int_equal(ledger_deaths(&l), 0);
    event(&stubborn, "start", 1000, 0); /* SIGTERM is ignored: SIGKILL follows */
    stubborn.ours_to_end = true;
    event(&stubborn, "kill", 5000, 15);
    event(&stubborn, "kill", 6000, 9);
    event(&stubborn, "die", 6030, 137);
    assert_explained(&stubborn, 0, NULL, "killed by benchctl", "benchctl had asked for it");
    assert_int_equal(ledger_deaths(&stubborn), 0);
}

/* --- by hand, and by the engine --- */

/* kill, die, stop, start, restart: RestartCount stays 0. */
static void restarted_through_the_api(void **state)
{
    LEDGER l = {0};
    bool uncertain = true;

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    event(&l, "kill", 5000, 15);
    event(&l, "die", 5030, 143);
    event(&l, "stop", 5031, 0);
    event(&l, "start", 5400, 0);
    event(&l, "restart", 5401, 0);
    INSPECT(&l, "running", 5399, 5004, 0, 0);
    assert_int_equal(ledger_restarts(&l, &uncertain), 1);
    assert_false(uncertain);
    assert_cause(&l, 0, "killed by somebody else (signal 15)");
}

static void paused_is_not_dead(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "pause", 2000, 0);
    assert_true(l.stale && l.paused && l.running);
    INSPECT(&l, "paused", 999, -1, 0, 0);
    assert_true(l.running && l.paused && !l.terminal);
    event(&l, "unpause", 3000, 0);
    assert_true(l.running && !l.paused);
    assert_int_equal(ledger_deaths(&l), 0);
    assert_restarts(&l, 0);
}

static void it_never_started(void **state)
{
    LEDGER l = {0};

    (void)state;
    INSPECT(&l, "created", -1, -1, 0, 127, false, "exec: \"/nothing\": no such file or directory");
    assert_int_equal(ledger_deaths(&l), 0);
    assert_restarts(&l, 0);
    assert_false(l.running);
    assert_string_equal(l.state_error, "exec: \"/nothing\": no such file or directory");
}

/* The engine is shut down and started: kill, die, stop, then nothing; the start is in its next life, whose
 * ring of events is empty and whose RestartCount is 0. */
static void the_engine_restarts_it(void **state)
{
    LEDGER l = {0};
    bool uncertain = false;

    (void)state;
    event(&l, "start", 1000, 0);
    event(&l, "die", 2030, 1);
    event(&l, "start", 2500, 0);
    INSPECT(&l, "running", 2499, 2004, 1, 0);
    event(&l, "kill", 9000, 15);
    event(&l, "die", 9030, 0);
    ledger_gap(&l);
    INSPECT(&l, "running", 15000, 9004, 0, 0);
    assert_int_equal(ledger_restarts(&l, &uncertain), 2);
    assert_true(uncertain);
    assert_true(ledger_engine_restarted(&l, MS(16000)));
    INSPECT(&l, "running", 15000, 9004, 0, 0); /* looked at again: still once */
    assert_restarts(&l, 2);
    event(&l, "start", 15001, 0); /* and its event comes after all */
    assert_restarts(&l, 2);
    assert_int_equal(ledger_deaths(&l), 2);
}

/* Killed outright, it does not even tell of the end. */
static void an_engine_that_was_killed(void **state)
{
    LEDGER l = {0}, no = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    ledger_gap(&l);
    INSPECT(&l, "running", 15000, 14000, 0, 0);
    assert_restarts(&l, 1);
    assert_explained(&l, 0, NULL, "cause unknown", "nobody has told of its end");
    assert_true(l.exits.items[0].wall_ns == MS(14000));
    assert_true(ledger_engine_restarted(&l, MS(16000)));
    event(&no, "start", 1000, 0); /* without a policy it stays where it is */
    ledger_gap(&no);
    INSPECT(&no, "exited", 999, 14000, 0, 0);
    assert_true(no.terminal && ledger_engine_restarted(&no, MS(16000)));
    assert_restarts(&no, 0);
}

static void live_restore_is_no_restart(void **state)
{
    LEDGER l = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    INSPECT(&l, "running", 999, -1, 0, 0);
    ledger_gap(&l);
    INSPECT(&l, "running", 999, -1, 0, 0);
    assert_restarts(&l, 0);
    assert_false(ledger_engine_restarted(&l, MS(16000)));
    assert_int_equal(ledger_deaths(&l), 0);
}

/* A stream that broke is no engine restart when the container had its own reason to die. */
static void a_gap_alone_proves_nothing(void **state)
{
    LEDGER l = {0}, oom = {0};

    (void)state;
    event(&l, "start", 1000, 0);
    ledger_gap(&l);
    INSPECT(&l, "exited", 999, 9000, 0, 3);
    assert_false(ledger_engine_restarted(&l, MS(10000)));
    event(&oom, "start", 1000, 0);
    ledger_gap(&oom);
    INSPECT(&oom, "exited", 999, 9000, 0, 137, true);
    assert_false(ledger_engine_restarted(&oom, MS(10000)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crashes),
        cmocka_unit_test(killed_by_way_of_the_engine),
        cmocka_unit_test(killed_on_the_host),
        cmocka_unit_test(a_signal_that_was_ignored),
        cmocka_unit_test(stopped_by_somebody_else),
        cmocka_unit_test(stopped_by_us),
        cmocka_unit_test(restarted_through_the_api),
        cmocka_unit_test(paused_is_not_dead),
        cmocka_unit_test(it_never_started),
        cmocka_unit_test(the_engine_restarts_it),
        cmocka_unit_test(an_engine_that_was_killed),
        cmocka_unit_test(live_restore_is_no_restart),
        cmocka_unit_test(a_gap_alone_proves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
