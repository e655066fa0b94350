/* SPDX-License-Identifier: MIT */
/* What the one sentence says beside the outcome: kinds of failures, and what else may have caused it. */
#include "outcome_fixture.h"

static void find(struct fixture *f, const char *id, const char *role)
{
    vec_push(&f->t.findings, (struct finding){.id = id, .role = role, .message = "a line"});
}

/* The most frequent first, whatever the generator. */
static void kinds_of_failures_are_named(void **state)
{
    struct fixture *f = *state;
    struct error_count errors[] = {{"timeout", 4}, {"status_4xx", 0}, {"connect", 31}, {"reset", 5}};
    struct load_result *l = &f->t.record.load;

    l->errors = errors;
    l->error_count = ARRAY_LEN(errors);
    l->failed = 40;
    l->ok = 960;
    l->error_rate = 0.04;
    assert_decided(f, OUTCOME_DEGRADED,
                   "4 % of requests failed (40 of 1000: connect 31, reset 5, timeout 4), more than 1 %");
    assert_string_equal(errors[0].kind, "timeout"); /* the record stays as it is */
    l->error_count = 1;
    l->failed = 4;
    l->ok = 996;
    l->error_rate = 0.004;
    assert_decided(f, OUTCOME_OK, "1000 requests, 0.4 % of requests failed (timeout 4)");
    errors[0].count = l->failed = 1000;
    l->ok = 0;
    l->error_rate = 1;
    assert_decided(f, OUTCOME_DEGRADED,
                   "100 % of requests failed (timeout 1000): no request is known to have succeeded");
}

static void a_busy_host_is_told_with_it(void **state)
{
    struct fixture *f = *state;
    struct validity_result v[] = {
        {"host-quiet", "WARN", "others used about 1.9 cores", NULL},
        {"generator-kept-up", "FAIL", "the generator did not keep up", NULL},
        {"percentile-support", "WARN", "only 3 of 300 requests lie beyond p99", NULL},
        {"generator-busy", "WARN", "the load generator used 0.9 of the 1 core", NULL}};

    f->t.record.validity = v;
    f->t.record.validity_count = ARRAY_LEN(v);
    assert_decided(
        f, OUTCOME_INVALID,
        "the generator did not keep up; others used about 1.9 cores; the load generator used 0.9 of "
        "the 1 core");
    v[1].id = "limits-real"; /* that has another reason */
    assert_decided(f, OUTCOME_INVALID, "the generator did not keep up");
}

/* "status 936" reads like one. */
static void a_wrong_status_is_no_number(void **state)
{
    struct fixture *f = *state;
    struct error_count errors[] = {{"status", 936}};
    struct load_result *l = &f->t.record.load;

    l->errors = errors;
    l->error_count = 1;
    l->failed = 936;
    l->ok = 8;
    l->error_rate = 936.0 / 944;
    assert_decided(f, OUTCOME_DEGRADED,
                   "99.2 % of requests failed (936 of 944: 936 with another status than expected), more than "
                   "1 %");
    f->t.wrong_statuses = "HTTP status 500: 936";
    find(f, "connection-limit", "database");
    find(f, "connection-limit", "app");
    find(f, "statement-cancelled", "app");
    assert_decided(f, OUTCOME_DEGRADED,
                   "99.2 % of requests failed (936 of 944: HTTP status 500: 936), more than 1 %; the "
                   "database's connection slots used up (53300)");
    vec_release(&f->t.findings);
}

static void a_crash_and_what_its_log_knows(void **state)
{
    struct fixture *f = *state;

    app_ended(f, 1, 134, "crashed (SIGABRT)", true);
    find(f, "node-heap", "app");
    assert_decided(f, OUTCOME_CRASHED,
                   "ended 1 time (last: crashed (SIGABRT)) in 10 s at 64.0 MiB; JavaScript heap exhausted");
    vec_release(&f->t.findings);
}

/* The probe is answered, and nothing else. */
static void alive_and_of_no_use(void **state)
{
    struct fixture *f = *state;

    f->t.unserved = "no request was answered from 1.0 s of the load on for 9.0 s";
    f->t.unserved_ms = 9000;
    f->t.unserved_to_end = true;
    assert_decided(f, OUTCOME_DEGRADED,
                   "no request was answered from 1.0 s of the load on for 9.0 s, though the application was "
                   "alive");
    f->t.unserved_to_end = false;
    f->settings.load.max_error_rate = 0.95; /* so much may fail */
    assert_decided(f, OUTCOME_OK, "1000 requests, none failed");
}

/* What was before its start is not its life. */
static void without_a_load_its_own_time_counts(void **state)
{
    struct fixture *f = *state;
    struct container_life life = {.start_ms = 2800, .ready_ms = NAN, .end_ms = 2927};

    app_ended(f, 1, 137, "oom", true);
    f->t.load_begin_ns = f->t.load_end_ns = 0;
    f->t.record.ready_ms = NAN;
    f->t.record.app.lives = &life;
    f->t.record.app.life_count = 1;
    f->t.record.app.exits[0].at_ms = 2927;
    f->t.record.app.oom_kills = 1;
    assert_decided(f, OUTCOME_CRASHED, "before it was ready: OOM-killed 1 time in 0.13 s at 64.0 MiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kinds_of_failures_are_named), TEST(a_busy_host_is_told_with_it),
        TEST(a_wrong_status_is_no_number), TEST(a_crash_and_what_its_log_knows),
        TEST(alive_and_of_no_use),         TEST(without_a_load_its_own_time_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
