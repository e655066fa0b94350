/* SPDX-License-Identifier: MIT */
/* Outcome and reason where it was the application, the machine or the engine that failed. */
#include "outcome_fixture.h"

#include "benchctl/base/mem.h"

static void half_of_it_failed(struct fixture *f)
{
    f->t.record.load.failed = f->t.record.load.ok = 500;
    f->t.record.load.error_rate = 0.5;
}

static void ends_of_several_kinds_are_told_apart(void **state)
{
    struct fixture *f = *state;
    struct container_exit exits[] = {{.code = 137, .oom = true, .cause = "oom"},
                                     {.code = 3, .cause = "exit 3"},
                                     {.code = 139, .cause = "crashed (SIGSEGV)"}};

    app_ended(f, 3, 139, "crashed (SIGSEGV)", false);
    f->t.record.app.exits = exits;
    f->t.record.app.oom_kills = 3;
    f->t.record.app.uptime_pct = 54.6;
    half_of_it_failed(f);
    assert_decided(f, OUTCOME_DEGRADED,
                   "OOM-killed 1 time, a child OOM-killed 2 times, ended 2 times (last: crashed (SIGSEGV)), "
                   "restarted 3 times in 10 s at 64.0 MiB, up 55 % of the load; 50 % of requests failed");
}

/* --- silence --- */

static struct container_silence silences[2];

static void fell_silent(struct fixture *f, double from_ms, double to_ms, double unresponsive_ms)
{
    silences[0] = (struct container_silence){.from_ms = from_ms, .to_ms = to_ms};
    f->t.record.app.silences = silences;
    f->t.record.app.silence_count = 1;
    f->t.record.app.unresponsive_ms = unresponsive_ms;
}

static void silent_to_the_end(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 3200, NAN, 6800);
    half_of_it_failed(f);
    assert_decided(f, OUTCOME_DEGRADED,
                   "unresponsive from 3.2 s of the load on (alive; nothing answered for 6.8 s); 50 % of "
                   "requests failed");
}

/* The generator may have sent nothing more, so that nothing failed either. */
static void silence_is_no_success(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 9950, NAN, 50);
    assert_decided(f, OUTCOME_DEGRADED,
                   "unresponsive from 9.9 s of the load on (alive; nothing answered for 0.1 s)");
}

static void a_short_silence_is_tolerated(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 3200, 3290, 90); /* less than the share of requests that may fail */
    assert_decided(f, OUTCOME_OK, "1000 requests, none failed");
    fell_silent(f, 3200, 3310, 110);
    assert_decided(f, OUTCOME_DEGRADED,
                   "unresponsive from 3.2 s of the load on (alive; nothing answered for 0.1 s)");
}

static void several_silences(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 1000, 3000, 4000);
    silences[1] = (struct container_silence){.from_ms = 7000, .to_ms = 9000};
    f->t.record.app.silence_count = 2;
    assert_decided(f, OUTCOME_DEGRADED,
                   "unresponsive from 1.0 s of the load on (alive; nothing answered for 4.0 s, in several "
                   "pieces)");
}

static void silent_from_the_first_request_on(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 0, NAN, 10000);
    f->t.record.load.failed = 1000;
    f->t.record.load.ok = 0;
    f->t.record.load.error_rate = 1;
    assert_decided(f, OUTCOME_CRASHED,
                   "unresponsive from 0.0 s of the load on (alive; nothing answered for 10.0 s); 100 % of "
                   "requests failed: no request is known to have succeeded");
}

static void a_full_heap_comes_first(void **state)
{
    struct fixture *f = *state;

    fell_silent(f, 3200, NAN, 6800);
    vec_push(&f->t.findings, (struct finding){.id = "java-heap",
                                              .role = "database",
                                              .count = 1,
                                              .message = "java heap exhausted: a line"});
    vec_push(&f->t.findings,
             (struct finding){
                 .id = "java-heap", .role = "app", .count = 2, .message = "java heap exhausted: a line"});
    assert_decided(f, OUTCOME_DEGRADED,
                   "java heap exhausted; unresponsive from 3.2 s of the load on (alive; nothing answered for "
                   "6.8 s)");
    vec_release(&f->t.findings);
}

static void silence_and_deaths_are_both_told(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 1, "exit 1", false);
    fell_silent(f, 3200, NAN, 6800);
    assert_decided(
        f, OUTCOME_DEGRADED,
        "ended 1 time (last: exit 1), restarted 1 time in 10 s at 64.0 MiB; unresponsive from 3.2 s "
        "of the load on (alive; nothing answered for 6.8 s)");
}

static void a_generator_without_figures_before_a_silent_application(void **state)
{
    struct fixture *f = *state;

    went_wrong(f, "load", "load generator 'wrk': nothing was measured");
    f->t.load_failed = true;
    assert_decided(f, OUTCOME_INVALID, "load generator 'wrk': nothing was measured");
    fell_silent(f, 100, NAN, 9900);
    assert_decided(
        f, OUTCOME_CRASHED,
        "unresponsive from 0.1 s of the load on (alive; nothing answered for 9.9 s); load generator "
        "'wrk': nothing was measured");
}

/* --- it never ran, the machine, the engine --- */

static void never_started(void **state)
{
    struct fixture *f = *state;

    went_wrong(f, "app start", "container 'app' does not start");
    f->t.never_started = "never started: no such program: exec: \"/nothing\": no such file or directory";
    assert_decided(f, OUTCOME_CRASHED,
                   "never started: no such program: exec: \"/nothing\": no such file or directory");
}

static void the_machine_ran_out_of_memory(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 137, "host out of memory", true);
    f->t.host_oom = "host out of memory: the kernel killed 1 process";
    assert_decided(f, OUTCOME_INVALID, "host out of memory: the kernel killed 1 process");
}

/* It ends containers as somebody else would: that is neither a crash nor interference. */
static void the_engine_was_restarted(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 0, "killed by somebody else (signal 15)", true);
    f->t.interference = "somebody else touched 'app' during the trial: kill";
    f->t.engine_lost = "the engine was restarted during the trial: nobody answered for 3.2 s";
    assert_decided(f, OUTCOME_ERROR, "the engine was restarted during the trial: nobody answered for 3.2 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends_of_several_kinds_are_told_apart),
        TEST(silent_to_the_end),
        TEST(silence_is_no_success),
        TEST(a_short_silence_is_tolerated),
        TEST(several_silences),
        TEST(silent_from_the_first_request_on),
        TEST(a_full_heap_comes_first),
        TEST(silence_and_deaths_are_both_told),
        TEST(a_generator_without_figures_before_a_silent_application),
        TEST(never_started),
        TEST(the_machine_ran_out_of_memory),
        TEST(the_engine_was_restarted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
