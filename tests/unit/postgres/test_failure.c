/* SPDX-License-Identifier: MIT */
/* What libpq says, read into what it means. */
#include "unit/check.h"

#include "failure.h"

static struct connect_failure reads(const char *text, bool connecting)
{
    struct connect_failure f;

    connect_failure_read(text, connecting, &f);
    return f;
}

static void refused_by_the_server(void **state)
{
    struct connect_failure f =
        reads("connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  57P03: the database "
              "system is starting up\nLOCATION:  ProcessStartupPacket, postmaster.c:2378\n",
              false);

    (void)state;
    assert_true(f.not_yet);
    assert_string_equal(f.sqlstate, "57P03");
    assert_string_equal(
        f.text, "connection to server at \"127.0.0.1\", port 5432 failed: FATAL: the database system is "
                "starting up (57P03)");
    f = reads(
        "FATAL:  28P01: password authentication failed for user \"x\"\nLOCATION:  auth_failed, auth.c:326\n",
        false);
    assert_false(f.not_yet);
    assert_string_equal(f.sqlstate, "28P01");
    f = reads("FATAL:  53300: sorry, too many clients already\n", false);
    assert_false(f.not_yet);
    f = reads("SCHWERWIEGEND:  57P01: Verbindung wird abgebrochen\nORT:  f, postgres.c:3201\n", false);
    assert_true(f.not_yet);
    assert_string_equal(f.text, "SCHWERWIEGEND: Verbindung wird abgebrochen (57P01)");
    f = reads("FATAL:  3D000: database \"no:  12345: such\" does not exist", false);
    assert_string_equal(f.sqlstate, "3D000");
    assert_false(f.not_yet);
}

static void refused_on_the_way(void **state)
{
    (void)state;
    assert_true(reads("connection to server at \"127.0.0.1\", port 1 failed: Connection refused\n\tIs the "
                      "server running on "
                      "that host and accepting TCP/IP connections?\n",
                      true)
                    .not_yet);
    assert_true(reads("server closed the connection unexpectedly\n\tThis probably means\n", false).not_yet);
    assert_true(reads("could not receive data from server: Connection reset by peer\n", false).not_yet);
    assert_true(
        reads("connection to server at \"10.0.0.9\", port 5432 failed: No route to host\n", true).not_yet);
    assert_true(reads("something in the network\n", true).not_yet);
    assert_false(
        reads("could not translate host name \"nosuch\" to address: Name or service not known\n", true)
            .not_yet);
    assert_false(reads("server does not support SSL, but SSL was required\n", false).not_yet);
    assert_false(
        reads("server offered SCRAM-SHA-256-PLUS authentication over a non-SSL connection\n", false).not_yet);
    assert_false(reads("fe_sendauth: no password supplied\n", false).not_yet);
    assert_string_equal(reads("a\n\tadvice\nb\n", true).text, "a b");
    assert_string_equal(reads("", true).text, "");
}

static void text_is_bounded(void **state)
{
    char text[5000];
    struct connect_failure f;

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    connect_failure_read(text, false, &f);
    assert_true(strlen(f.text) < sizeof(f.text));
    memcpy(text, "FATAL:  57P03: ", 15);
    connect_failure_read(text, false, &f);
    assert_string_equal(f.sqlstate, "57P03");
    assert_string_equal(f.text + strlen(f.text) - 7, "(57P03)");
}

static void states_have_kinds(void **state)
{
    (void)state;
    assert_int_equal(sqlstate_kind("57014", ERROR_INVALID), ERROR_TIMEOUT);
    assert_int_equal(sqlstate_kind("55P03", ERROR_INVALID), ERROR_TIMEOUT);
    assert_int_equal(sqlstate_kind("55006", ERROR_INVALID), ERROR_CONFLICT);
    assert_int_equal(sqlstate_kind("57P01", ERROR_INVALID), ERROR_ENVIRONMENT);
    assert_int_equal(sqlstate_kind("53100", ERROR_INVALID), ERROR_ENVIRONMENT); /* disk full */
    assert_int_equal(sqlstate_kind("42P01", ERROR_INVALID), ERROR_INVALID);
    assert_int_equal(sqlstate_kind("42P01", ERROR_TRIAL), ERROR_TRIAL);
    assert_int_equal(sqlstate_kind("", ERROR_ENVIRONMENT), ERROR_ENVIRONMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_by_the_server),
        cmocka_unit_test(refused_on_the_way),
        cmocka_unit_test(text_is_bounded),
        cmocka_unit_test(states_have_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
