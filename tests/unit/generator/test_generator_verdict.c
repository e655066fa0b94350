/* SPDX-License-Identifier: MIT */
/* When a generator is not to be believed. */
#include <math.h>
#include "unit/check.h"
#include "verdict.h"

static const struct verdict_facts fine = {.planned = 1000,
                                          .dropped = 10,
                                          .lag_p90_ms = 1.0,
                                          .response_p50_ms = 2,
                                          .cpu_share = 0.8,
                                          .stall_ms = 1000,
                                          .stall_share = 0.1,
                                          .vus_late_ms = 1000,
                                          .vus_late_share = 0.5,
                                          .sends = 100};

static void says(struct verdict_facts f, const char *part)
{
    struct strbuf why = STRBUF_INIT;
    bool kept_up = verdict(&f, &why);

    assert_int_equal(kept_up, part == NULL);
    if (part)
        assert_has(strbuf_text(&why), part);
    else
        assert_int_equal(why.len, 0);
    strbuf_release(&why);
}

static void at_the_limits_it_kept_up(void **state)
{
    (void)state;
    says(fine, NULL);
    says((struct verdict_facts){.lag_p90_ms = NAN, .response_p50_ms = NAN, .cpu_share = NAN}, NULL);
}

static void each_limit_is_told(void **state)
{
    struct verdict_facts f = fine;

    (void)state;
    f.dropped = 11;
    says(f, "11 of 1000 planned iterations (1.1 %) were dropped");
    f = fine;
    f.lag_p90_ms = 1.01;
    says(f, "p90 of the lag is 1.01 ms");
    f.sends = 99; /* too few to tell one in ten */
    says(f, NULL);
    f.sends = 100;
    f.response_p50_ms = 21; /* 5 % of that is more than 1 ms */
    says(f, NULL);
    f.response_p50_ms = NAN; /* nothing was answered */
    says(f, "sent late");
    f = fine;
    f.cpu_share = 0.81;
    says(f, "81 % of a core");
    f = fine;
    f.stall_ms = 1001;
    says(f, "a generator process stood still for 1.0 s");
    f = fine;
    f.stall_ms = 300;
    f.stall_share = 0.11;
    says(f, "stood still for 11 % of a phase");
    f = fine;
    f.vus_late_ms = 1001;
    says(f, "virtual users began up to 1.0 s late, for 50 % of their phase");
    f.vus_late_share = 0.1;
    says(f, NULL);
    f = fine;
    f.generator_errors = 2;
    says(f, "2 requests could not be made on this machine");
    f.generator_detail = "no local port";
    says(f, "machine: no local port");
    f = fine;
    f.lost = "worker 2 of 2 ended";
    says(f, "worker 2 of 2 ended");
}

static void all_reasons_are_given(void **state)
{
    struct verdict_facts f = {
        .planned = 10, .dropped = 10, .lag_p90_ms = 50, .sends = 100, .response_p50_ms = NAN, .cpu_share = 1};
    struct strbuf why = STRBUF_INIT;

    (void)state;
    assert_false(verdict(&f, &why));
    assert_has(strbuf_text(&why), "dropped: no VU was free; requests were sent late");
    assert_has(strbuf_text(&why), "; a generator process used");
    strbuf_release(&why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_limits_it_kept_up),
        cmocka_unit_test(each_limit_is_told),
        cmocka_unit_test(all_reasons_are_given),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
