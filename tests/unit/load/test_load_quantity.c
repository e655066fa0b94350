/* SPDX-License-Identifier: MIT */
/* Numbers with their units. */
#include "load_test.h"
#include "quantity.h"

static void reads(const char *text, enum unit unit, double wanted)
{
    struct error err = ERROR_INIT;
    double number = NAN;

    if (quantity_parse(text, strlen(text), unit, &number, &err) != 1)
        fail_msg("'%s': %s", text, err.message);
    check_number(text, number, wanted);
}

static void none(const char *text, enum unit unit)
{
    struct error err = ERROR_INIT;
    double number = 7;

    assert_int_equal(quantity_parse(text, strlen(text), unit, &number, &err), 0);
    check_number(text, number, 7);
}

static void bad(const char *text, enum unit unit, const char *part)
{
    struct error err = ERROR_INIT;
    double number = 7;

    if (quantity_parse(text, strlen(text), unit, &number, &err) != -1)
        fail_msg("'%s' was read", text);
    assert_has(err.message, part);
    check_number(text, number, 7);
}

static void times(void **state)
{
    (void)state;
    reads("310.00us", UNIT_DURATION, 0.31);
    reads("920.347\xc2\xb5s", UNIT_DURATION, 0.920347); /* U+00B5 */
    reads("920.347\xce\xbcs", UNIT_DURATION, 0.920347); /* U+03BC */
    reads("1.02m", UNIT_DURATION, 61200);
    reads("5615.74m", UNIT_DURATION, 336944400);
    reads("0.0351 secs", UNIT_DURATION, 35.1);
    reads("10m0s", UNIT_DURATION, 600000);
    reads("1m2.5s", UNIT_DURATION, 62500);
    reads("12ns", UNIT_DURATION, 12e-6);
    reads("2h", UNIT_DURATION, 7200000);
    reads("  26.04 ms ", UNIT_DURATION, 26.04);
    reads("12.5", UNIT_S, 12500);
    reads("12.5", UNIT_NS, 12.5e-6);
    reads("1e-3", UNIT_S, 1);
    bad("1531867", UNIT_DURATION, "'1531867' has no unit");
    bad("12.5xs", UNIT_DURATION, "unknown unit of time");
    bad("12.5ms3", UNIT_DURATION, "has no unit");
    bad("ms", UNIT_DURATION, "is not a time");
    bad("12.5ms", UNIT_MS, "is not a number");
}

static void sizes(void **state)
{
    (void)state;
    reads("265.74MB", UNIT_SIZE, 265.74 * 1048576);
    reads("265.74MB", UNIT_SIZE_1000, 265.74e6);
    reads("0.90GB", UNIT_SIZE, 0.9 * 1073741824);
    reads("0.00B", UNIT_SIZE, 0);
    reads("10.45 KiB", UNIT_SIZE_1000, 10.45 * 1024);
    reads("13 B", UNIT_SIZE, 13);
    reads("2500 bytes", UNIT_SIZE, 2500);
    reads("3", UNIT_MIB, 3 * 1048576);
    bad("265.74", UNIT_SIZE, "has no unit");
    bad("265.74QB", UNIT_SIZE, "unknown unit of size");
    bad("MB", UNIT_SIZE, "is not a size");
}

static void counts(void **state)
{
    (void)state;
    reads("42", UNIT_COUNT, 42);
    reads("1.2k", UNIT_SI, 1200);
    reads("3M", UNIT_SI, 3e6);
    reads("86.10%", UNIT_PERCENT, 0.861);
    reads("-3", UNIT_COUNT, -3);
    bad("1,234", UNIT_COUNT, "is not a number");
    bad("0x10", UNIT_COUNT, "is not a number");
    bad("12abc", UNIT_COUNT, "is not a number");
    bad("1.2q", UNIT_SI, "is not a number");
    bad("a\nb\x01", UNIT_COUNT, "'a?b?'");
}

static void nothing(void **state)
{
    static const char *const words[] = {"nan",  "-nan", "-nan%", "NaN", " NaN ", "inf",
                                        "-Inf", "null", "",      "-",   "N/A"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        none(words[i], UNIT_COUNT);
        none(words[i], UNIT_DURATION);
        none(words[i], UNIT_SIZE);
        none(words[i], UNIT_SI);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times), cmocka_unit_test(sizes),
                                       cmocka_unit_test(counts), cmocka_unit_test(nothing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
