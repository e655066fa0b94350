/* SPDX-License-Identifier: MIT */
/* Rules about what a generator measured, and the local ports that it needs. */
#include "ports.h"
#include "unit/check.h"
#include "validity_load.h"

static struct load_result measured(void)
{
    struct load_result l;

    load_result_init(&l);
    l.requests = l.ok = 100000;
    l.failed = 0;
    l.window_ms = 10000;
    l.cpu_ms = 1000;
    l.latency_ms.p99 = 10;
    l.model = "closed";
    l.corrected = "no";
    return l;
}

/* The one ruling, or NULL; more than one fails the test. */
static const struct load_ruling *ruling(const struct load_result *l, double cores, double corrected)
{
    static struct load_ruling all[LOAD_RULES_MAX];
    const struct load_facts f = {.load = l, .cores = cores, .corrected_p99_ms = corrected};
    size_t n = load_rules_apply(&f, all);

    if (n > 1)
        fail_msg("two rulings: %s and %s", all[0].text, all[1].text);
    return n ? &all[0] : NULL;
}

static void assert_ruling(const struct load_ruling *r, const char *id, const char *verdict, const char *part)
{
    assert_non_null(r);
    assert_string_equal(r->id, id);
    assert_string_equal(r->verdict, verdict);
    if (!strstr(r->text, part))
        fail_msg("'%s' does not contain '%s'", r->text, part);
}

static void a_sound_result_is_left_alone(void **state)
{
    struct load_result l = measured();

    (void)state;
    assert_null(ruling(&l, 2, NAN));
    assert_null(ruling(&l, NAN, 14));
    load_result_init(&l); /* idle: nothing is known */
    assert_null(ruling(&l, 2, NAN));
}

static void what_was_not_delivered(void **state)
{
    struct load_result l = measured();

    (void)state;
    l.model = "open";
    l.requests = l.ok = 6200; /* 1000/s for 10 s */
    l.latency_ms.p99 = NAN;
    l.dropped = 3800;
    assert_ruling(ruling(&l, 2, NAN), "load-delivered", "FAIL",
                  "6200 of 10000 requests (62 %) were made, 3800 were dropped");
    l.offered = 10000;
    assert_ruling(ruling(&l, 2, NAN), "load-delivered", "FAIL", "6200 of 10000 requests");
    l.dropped = 0; /* begun too late, or never */
    assert_ruling(ruling(&l, 2, NAN), "load-delivered", "FAIL", "6200 of 10000 requests (62 %)");
    l.requests = 9901;
    assert_null(ruling(&l, 2, NAN));
    l.offered = NAN;
    l.dropped = NAN;
    assert_null(ruling(&l, 2, NAN));
}

static void limits_of_the_generator(void **state)
{
    struct error_count errors[] = {{"timeout", 5000}, {"generator", 900}};
    struct load_result l = measured();

    (void)state;
    l.errors = errors;
    l.error_count = 2;
    assert_ruling(ruling(&l, 2, NAN), "load-generator-limit", "WARN", "900 requests failed at limits");
    errors[1].count = 1100;
    assert_ruling(ruling(&l, 2, NAN), "load-generator-limit", "FAIL", "1100 requests");
    l.error_count = 1;
    assert_null(ruling(&l, 2, NAN));
}

static void a_busy_generator(void **state)
{
    struct load_result l = measured();

    (void)state;
    l.cpu_ms = 8100;
    assert_ruling(ruling(&l, 1, NAN), "generator-busy", "WARN", "used 0.81 of the 1 core it could");
    assert_null(ruling(&l, 2, NAN));
    l.cpu_ms = NAN;
    assert_null(ruling(&l, 1, NAN));
}

static void a_percentile_of_a_few(void **state)
{
    struct load_result l = measured();

    (void)state;
    l.requests = l.ok = 9900;
    assert_ruling(ruling(&l, 2, NAN), "percentile-support", "WARN",
                  "only 99 of 9900 requests lie beyond p99");
    l.ok = 10000;
    assert_null(ruling(&l, 2, NAN));
}

static void requests_that_were_kept_back(void **state)
{
    struct load_result l = measured();

    (void)state;
    assert_ruling(ruling(&l, 2, 1500), "coordinated-omission", "WARN",
                  "p99 is 10.0 ms as measured, about 1500 ms");
    l.corrected = "yes";
    assert_null(ruling(&l, 2, 1500));
    l.corrected = "no";
    l.model = "open";
    assert_null(ruling(&l, 2, 1500));
}

static void ports_are_read(void **state)
{
    static const char sockstat[] =
        "sockets: used 300\nTCP: inuse 9 orphan 0 tw 14200 alloc 14 mem 2\nUDP: inuse 1 mem 0\n";
    static const char *const bad[] = {"", "TCP: inuse 9", "TCP: inuse 9\nUDP: tw 3 \n", "TCP: tw x y\n",
                                      "TCP: inuse 1 tw -4 alloc\n"};
    struct port_use p;

    (void)state;
    assert_int_equal(ports_parse(sockstat, "32768\t60999\n", &p), 0);
    assert_true(p.waiting == 14200 && p.ports == 28232);
    assert_true(ports_scarce(&p));
    assert_int_equal(ports_parse(sockstat, "1024 65535", &p), 0);
    assert_false(ports_scarce(&p));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(ports_parse(bad[i], "1024 65535", &p), -1);
    assert_int_equal(ports_parse(sockstat, "60999", &p), -1);
    assert_int_equal(ports_parse(sockstat, "9 3", &p), -1);
}

static void ports_are_of_a_destination(void **state)
{
    static const char waits[] =
        "   7: 0100007F:9C40 020012AC:1F90 06 00000000:00000000 03:00001690 00000000     0        0 0 3 0";

    (void)state;
    assert_true(ports_line_waits(waits, 0x020012ACu, 8080));
    assert_false(ports_line_waits(waits, 0x030012ACu, 8080));
    assert_false(ports_line_waits(waits, 0x020012ACu, 80));
    assert_false(
        ports_line_waits("   7: 0100007F:9C40 020012AC:1F90 01 00000000:00000000", 0x020012ACu, 8080));
    assert_false(ports_line_waits("  sl  local_address rem_address   st tx_queue rx_queue", 0, 0));
    assert_false(ports_line_waits("", 0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_result_is_left_alone),
        cmocka_unit_test(what_was_not_delivered),
        cmocka_unit_test(limits_of_the_generator),
        cmocka_unit_test(a_busy_generator),
        cmocka_unit_test(a_percentile_of_a_few),
        cmocka_unit_test(requests_that_were_kept_back),
        cmocka_unit_test(ports_are_read),
        cmocka_unit_test(ports_are_of_a_destination),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
