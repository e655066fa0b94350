/* SPDX-License-Identifier: MIT */
/* JUnit XML: failures are the application's, errors the measurement's, and no text of a bundle is markup. */
#include "fixed_sweep.h"

static char *junit(struct maker *m)
{
    return rendered(m, &(struct report_options){0}, REPORT_JUNIT);
}

/* From its begin to its end; static storage. */
static const char *case_of(const char *xml, const char *scenario)
{
    static char text[8192];
    CLEANUP_FREE char *begin = xasprintf("<testcase name=\"%s\"", scenario);
    const char *at = strstr(xml, begin), *end = at ? strstr(at, "</testcase>") : NULL;

    if (!end)
        fail_msg("no case '%s' in %s", scenario, xml);
    (void)snprintf(text, sizeof(text), "%.*s", (int)(end - at), at);
    return text;
}

static void test_verdicts(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *xml = junit(&m);
    assert_has(xml,
               "<testsuite name=\"fixed\" tests=\"7\" failures=\"4\" errors=\"1\" skipped=\"1\" time=\"");
    assert_has(xml, " timestamp=\"2026-01-31T08:00:00\" hostname=\"lab\">");
    assert_has(xml, "<property name=\"complete\" value=\"false\"/>");
    const char *one = case_of(xml, "flask/blocking/256m");
    assert_null(strstr(one, "<failure"));
    assert_has(one, " time=\"40.590\">"); /* (1.5 + 1.53 + 1.48) x 9 s, as written in seconds */
    assert_has(one, "trial 1: ok after 13.500 s, 1500 ok/s, p99 42.6 ms");
    one = case_of(xml, "flask/async/256m");
    assert_has(one, "<failure message=\"crashed in 1 of 3 trials: OOM-killed 5 times");
    assert_has(one, " type=\"crashed\">trial 3: crashed: OOM-killed 5 times");
    assert_has(case_of(xml, "flask/async/80m"), "type=\"not-ready\"");
    assert_has(case_of(xml, "express/blocking/256m"), "<skipped message=\"not run\"/>");
    one = case_of(xml, "express/async/256m");
    assert_has(
        one,
        "<error message=\"error in 1 of 3 trials: the engine did not answer within 60 s\" type=\"error\">");
    assert_null(strstr(one, "<failure"));
    /* one trial degraded by a check, one invalid: the application's fault is the verdict, both are told */
    one = case_of(xml, "express/async/80m");
    assert_has(one, "<failure message=\"degraded in 1 of 3 trials: ");
    assert_has(one, "trial 3: check abandoned writes: 17, expected == 0\n");
    assert_has(one, "trial 2: invalid: the generator used 92 % of its CPU");
    assert_has(one, "trial 2: FAIL V9: the generator used 92 % of its CPU");
    assert_int_equal(occurrences(xml, "<failure"), 4);
    assert_int_equal(occurrences(xml, "<error"), 1);
}

/* A gate that did not hold is a failure whatever the trial is called; one of a spoilt trial says nothing. */
static void test_gates(void **state)
{
    static const char *const axes[] = {"a", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    add_check_of(&m, add_full(&m, "held", OUTCOME_OK, 1), "rows", "0");
    add_check_of(&m, add_full(&m, "broken", OUTCOME_OK, 1), "rows", "3");
    add_check_of(&m, add_full(&m, "spoilt", OUTCOME_INVALID, 1), "rows", "3");
    struct trial *t = add_full(&m, "unknown", OUTCOME_OK, 1);
    add_check_of(&m, t, "rows", "3");
    t->checks[0].value = NULL;
    t->checks[0].message = "no database";
    t = add_full(&m, "no gate", OUTCOME_OK, 1);
    add_check_of(&m, t, "rows", "3");
    t->checks[0].gated = false;
    add_failed(&m, "left out", OUTCOME_SKIPPED, "the one before failed");
    CLEANUP_FREE char *xml = junit(&m);
    assert_null(strstr(case_of(xml, "held"), "<failure"));
    assert_has(case_of(xml, "broken"), "<failure message=\"expect in 1 of 1 trials: rows\" type=\"expect\">");
    assert_has(case_of(xml, "broken"), "trial 1: check rows: 3, expected == 0\n");
    assert_has(case_of(xml, "spoilt"), "<error message=\"invalid in 1 of 1 trials");
    assert_null(strstr(case_of(xml, "spoilt"), "check rows"));
    assert_has(case_of(xml, "unknown"), "trial 1: check rows: not evaluated: no database, expected == 0\n");
    assert_null(strstr(case_of(xml, "no gate"), "<failure"));
    assert_has(case_of(xml, "left out"),
               "<skipped message=\"skipped in 1 of 1 trials: the one before failed\">");
    assert_has(xml, " tests=\"6\" failures=\"2\" errors=\"1\" skipped=\"1\"");
}

static void test_hostile(void **state)
{
    static const char *const axes[] = {"a", NULL};
    static const char evil[] = "]]></testcase>&<!-- \"'\033\x01\xff\xef\xbf\xbe\xed\xa0\x80\n";
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "x", OUTCOME_CRASHED, 1);
    t->scenario = t->reason = evil;
    add_verdict(&m, t, evil, evil);
    t->validity[0].id = evil;
    add_check_of(&m, t, evil, "1");
    t->checks[0].name = t->checks[0].value = t->checks[0].expect = evil;
    json_set_text(m.sweep.info, "name", evil);
    CLEANUP_FREE char *xml = junit(&m);
    assert_int_equal(occurrences(xml, "</testcase>"), 1);
    assert_null(strstr(xml, "]]>"));
    assert_null(strstr(xml, "<!--"));
    for (const char *at = xml; *at; at++)
        assert_true((unsigned char)*at >= 0x20 || *at == '\n');
    assert_null(strstr(xml, "\xef\xbf\xbe"));
    assert_null(strstr(xml, "\xff"));
    assert_has(xml, "name=\"]]&gt;&lt;/testcase&gt;&amp;&lt;!-- &quot;&#39;??");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_gates),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
