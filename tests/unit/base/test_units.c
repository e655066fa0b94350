/* SPDX-License-Identifier: MIT */
#include "../check.h"

#include <locale.h>
#include <math.h>
#include "benchctl/base/units.h"

static void sizes(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {
        {"64m", 64 << 20},   {"0.5g", 512 << 20}, {"256MiB", 256 << 20},    {"256mb", 256 << 20},
        {"1024b", 1024},     {"1K", 1024},        {"2T", INT64_C(2) << 40}, {"unlimited", SIZE_UNLIMITED},
        {"0.3g", 322122547}, {"1kib", 1024}};
    static const char *const bad[] = {"",      "64",       "-1m",   "1e9",  "512 m", "m",
                                      "64x",   "64mm",     "0x10m", "064m", "1.m",   "Unlimited",
                                      "64bib", "9999999t", "64 ",   " 64m"};
    struct error err;
    int64_t bytes;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(size_parse(good[i].text, &bytes, &err), 0);
        assert_true(bytes == good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        bytes = 77;
        assert_int_equal(size_parse(bad[i], &bytes, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_true(bytes == 77); /* untouched */
    }
}

static void a_bare_number_says_what_it_would_have_meant(void **state)
{
    struct error err;
    int64_t bytes;

    (void)state;
    assert_int_equal(size_parse("512", &bytes, &err), -1);
    assert_non_null(strstr(err.message, "no unit"));
    assert_non_null(strstr(err.hint, "512 bytes"));
}

static void durations(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {{"500ms", 500000000},
                {"30s", INT64_C(30000000000)},
                {"8m30s", INT64_C(510000000000)},
                {"2h", INT64_C(7200000000000)},
                {"1.5s", 1500000000},
                {"0", 0},
                {"1d", INT64_C(86400000000000)},
                {"250us", 250000}};
    static const char *const bad[] = {"",     "30",    "30 s", "s",   "30s8m", "30s30s",    "-5s",
                                      "1e3s", "12:30", "5x",   "08s", "1S",    "5\xc2\xb5s"};
    struct error err = ERROR_INIT;
    int64_t ns;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(duration_parse(good[i].text, &ns, &err), 0);
        assert_true(ns == good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(duration_parse(bad[i], &ns, &err), -1);
}

/* Only a number that nothing follows lacks nothing but its unit. */
static void duration_advice(void **state)
{
    static const char *const odd[] = {"1S", "1 s", "5\xc2\xb5s", "12:30", "5m30,5s", "1 "};
    struct error err = ERROR_INIT;
    int64_t ns;

    (void)state;
    assert_int_equal(duration_parse("30", &ns, &err), -1);
    assert_string_equal(err.message, "duration '30' has no unit");
    assert_string_equal(err.hint, "write 30s for seconds or 30ms for milliseconds");
    assert_int_equal(duration_parse("8m30", &ns, &err), -1);
    assert_string_equal(err.message, "duration '8m30' has no unit");
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
        assert_int_equal(duration_parse(odd[i], &ns, &err), -1);
        assert_has(err.message, "is not a duration");
        assert_has(err.hint, "for instance 500ms");
    }
}

static void printers_read_back(void **state)
{
    static const int64_t sizes[] = {1, 1023, 1024, 1536, 256 << 20, INT64_C(3) << 30, SIZE_UNLIMITED};
    static const int64_t durations[] = {1, 1000, 500000000, INT64_C(510000000000), INT64_C(90061000000001)};
    char buf[64];
    struct error err;
    int64_t back;

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(size_parse(size_format(sizes[i], buf), &back, &err), 0);
        assert_true(back == sizes[i]);
    }
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        assert_int_equal(duration_parse(duration_format(durations[i], buf), &back, &err), 0);
        assert_true(back == durations[i]);
    }
}

/* What YAML 1.1 readers would turn into something else. */
static void integers_are_decimal_only(void **state)
{
    static const char *const bad[] = {"",      "010", "0o10", "0x10", "1_000",
                                      "1e3",   "+5",  "5.",   ".5",   "0008",
                                      "22:22", "-",   "-0",   "1 ",   "99999999999999999999"};
    struct error err;
    int64_t n;
    double d;

    (void)state;
    assert_int_equal(integer_parse("-12", &n, &err), 0);
    assert_true(n == -12);
    assert_int_equal(integer_parse("0", &n, &err), 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(integer_parse(bad[i], &n, &err), -1);
    assert_int_equal(number_parse("0.5", &d, &err), 0);
    assert_true(d == 0.5);
    assert_int_equal(number_parse("-2", &d, &err), 0);
    assert_int_equal(number_parse("1e3", &d, &err), -1);
    assert_int_equal(number_parse("nan", &d, &err), -1);
}

static void numbers_do_not_depend_on_the_locale(void **state)
{
    double d = 0;

    (void)state;
    (void)setlocale(LC_ALL, "de_DE.UTF-8"); /* where it exists, a comma is the decimal point */
    assert_int_equal(number_scan("1.5e3,7", 7, &d), 5);
    assert_true(d == 1500);
    assert_int_equal(number_scan("x", 1, &d), 0);
    (void)setlocale(LC_ALL, "C");
}

static void words_behind_numbers(void **state)
{
    (void)state;
    assert_string_equal(plural(0), "s");
    assert_string_equal(plural(1), "");
    assert_string_equal(plural(2), "s");
    assert_string_equal(plural(UINT64_MAX), "s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes),
        cmocka_unit_test(a_bare_number_says_what_it_would_have_meant),
        cmocka_unit_test(durations),
        cmocka_unit_test(duration_advice),
        cmocka_unit_test(printers_read_back),
        cmocka_unit_test(integers_are_decimal_only),
        cmocka_unit_test(numbers_do_not_depend_on_the_locale),
        cmocka_unit_test(words_behind_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
