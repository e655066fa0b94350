/* SPDX-License-Identifier: MIT */
/* What the one sentence says beside the outcome: kinds of failures, and what else may have caused it. */
#include "outcome_fixture.h"

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
    struct validity_result v[] = {{"host-quiet", "WARN", "others used about 1.9 cores"},
                                  {"generator-kept-up", "FAIL", "the generator did not keep up"},
                                  {"percentile-support", "WARN", "only 3 of 300 requests lie beyond p99"},
                                  {"generator-busy", "WARN", "the load generator used 0.9 of the 1 core"}};

    f->t.record.validity = v;
    f->t.record.validity_count = ARRAY_LEN(v);
    assert_decided(
        f, OUTCOME_INVALID,
        "the generator did not keep up; others used about 1.9 cores; the load generator used 0.9 of "
        "the 1 core");
    v[1].id = "limits-real"; /* that has another reason */
    assert_decided(f, OUTCOME_INVALID, "the generator did not keep up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(kinds_of_failures_are_named),
        TEST(a_busy_host_is_told_with_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
