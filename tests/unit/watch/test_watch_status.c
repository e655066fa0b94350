/* SPDX-License-Identifier: MIT */
/* The snapshot of a sweep: as JSON and back, as a page, and what it says of one that hangs. */
#include "../check.h"

#include <math.h>
#include <stdio.h>
#include "internal.h"

static struct watch_status some(void)
{
    struct watch_status s;

    watch_status_init(&s);
    s.name = "n<script>";
    s.title = "a \"title\" & <b>more</b>";
    s.host = "h";
    s.version = "1";
    s.pid = 42;
    s.trial = 3;
    s.trials = 12;
    s.sealed = 2;
    s.kept = 1;
    s.outcomes[OUTCOME_OK] = 1;
    s.outcomes[OUTCOME_CRASHED] = 1;
    s.scenario = "a/b";
    s.step = "load";
    s.started_at = "2026-01-31T08:00:00.000Z";
    s.heartbeat_at = "2026-01-31T09:00:00.000Z";
    s.elapsed_s = 3600.04;
    s.eta_s = 100;
    s.trial_limit_s = 60;
    s.last = (struct watch_trial){"a/a", 1, "crashed", "OOM-killed <3 times>", "2026-01-31T08:59:00.000Z"};
    s.first_failure = s.last;
    return s;
}

static void json_comes_back(void **state)
{
    (void)state;
    const struct watch_status s = some();
    CLEANUP(json_free) struct json *j = watch_status_to_json(&s);
    struct watch_status back;
    struct error err = ERROR_INIT;

    assert_int_equal(watch_status_from_json(j, &back, &err), 0);
    assert_int_equal(back.state, WATCH_RUNNING);
    assert_string_equal(back.name, s.name);
    assert_string_equal(back.first_failure.reason, s.last.reason);
    assert_true(back.trials == 12 && back.outcomes[OUTCOME_CRASHED] == 1 && back.pid == 42);
    assert_true(fabs(back.elapsed_s - 3600) < 1);
    assert_true(isnan(back.step_elapsed_s));
    assert_null(back.reason);
    assert_null(back.ended_at);
}

static void all_names_are_there_and_what_is_unknown_is_null(void **state)
{
    (void)state;
    static const char *const names[] = {
        "schema", "state",      "reason",         "name",          "title",         "trial",
        "trials", "at_most",    "sealed",         "kept",          "outcomes",      "scenario",
        "step",   "step_since", "step_elapsed_s", "trial_limit_s", "started_at",    "elapsed_s",
        "eta_s",  "eta_at",     "ended_at",       "last",          "first_failure", "free_disk_bytes",
        "pid",    "host",       "version",        "heartbeat_at"};
    struct watch_status s;

    watch_status_init(&s);
    CLEANUP(json_free) struct json *j = watch_status_to_json(&s);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!json_get(j, names[i]))
            fail_msg("'%s' is missing", names[i]);
    assert_int_equal(json_len(j), sizeof(names) / sizeof(names[0]));
    assert_int_equal(json_type_of(json_get(j, "eta_s")), JSON_TYPE_NULL);
    assert_int_equal(json_type_of(json_get(j, "first_failure")), JSON_TYPE_NULL);
}

static void nonsense_is_refused_or_unknown(void **state)
{
    (void)state;
    static const char *const refused[] = {"{}", "[]", "{\"state\": 3}", "{\"state\": \"dancing\"}",
                                          "{\"schema\": 2, \"state\": \"running\"}"};
    struct watch_status s;
    struct error err = ERROR_INIT;

    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        CLEANUP(json_free) struct json *j = NULL;
        assert_int_equal(json_parse(refused[i], strlen(refused[i]), "t", &j, &err), 0);
        if (watch_status_from_json(j, &s, &err) != -1)
            fail_msg("%s is taken for a status", refused[i]);
    }
    const char odd[] =
        "{\"state\": \"running\", \"trial\": -3, \"trials\": 1e300, \"eta_s\": \"x\", \"name\": 7, "
        "\"outcomes\": [1], \"last\": 3, \"elapsed_s\": -1e18, \"trial_limit_s\": -1e300}";
    CLEANUP(json_free) struct json *j = NULL;
    assert_int_equal(json_parse(odd, strlen(odd), "t", &j, &err), 0);
    assert_int_equal(watch_status_from_json(j, &s, &err), 0);
    assert_true(isnan(s.trial) && isnan(s.trials) && isnan(s.eta_s) && isnan(s.elapsed_s));
    assert_true(isnan(s.trial_limit_s) && s.outcomes[OUTCOME_OK] == 0);
    assert_null(s.name);
    assert_null(s.last.scenario);
}

static void the_page_is_escaped_and_reloads_while_it_runs(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct watch_status s = some();

    watch_status_page(&s, &page);
    assert_has(strbuf_text(&page), "a &quot;title&quot; &amp; &lt;b&gt;more&lt;/b&gt;");
    assert_has(strbuf_text(&page), "n&lt;script&gt;");
    assert_has(strbuf_text(&page), "OOM-killed &lt;3 times&gt;");
    assert_has(strbuf_text(&page), "http-equiv=\"refresh\"");
    assert_has(strbuf_text(&page), "2 of 12 trials");
    assert_null(strstr(strbuf_text(&page), "<script"));
    strbuf_clear(&page);
    s.state = WATCH_COMPLETE;
    watch_status_page(&s, &page);
    assert_null(strstr(strbuf_text(&page), "http-equiv=\"refresh\""));
}

static void a_page_of_nothing_is_a_page(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf page = STRBUF_INIT;
    struct watch_status s;

    watch_status_init(&s);
    watch_status_page(&s, &page);
    assert_has(strbuf_text(&page), "none yet");
    assert_null(strstr(strbuf_text(&page), "(null)"));
    assert_null(strstr(strbuf_text(&page), "nan"));
}

static void what_hangs_is_told_from_what_works(void **state)
{
    (void)state;
    struct watch_status s = some();
    char why[128];

    assert_false(watch_is_stalled(&s, 3, why, sizeof(why)));
    assert_false(watch_is_stalled(&s, -100, why, sizeof(why))); /* a clock that was set back */
    assert_true(watch_is_stalled(&s, 1000, why, sizeof(why)));
    assert_has(why, "no sign of life");
    s.trial_limit_s = -1000;
    assert_true(watch_is_stalled(&s, 3, why, sizeof(why)));
    assert_has(why, "should have ended");
    s.trial_limit_s = NAN;
    assert_false(watch_is_stalled(&s, 3, why, sizeof(why)));
    s.state = WATCH_COMPLETE;
    assert_false(watch_is_stalled(&s, 1e12, why, sizeof(why)));
    s.state = WATCH_STOPPING;
    assert_true(watch_is_stalled(&s, 1e300, why, sizeof(why)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_comes_back),
        cmocka_unit_test(all_names_are_there_and_what_is_unknown_is_null),
        cmocka_unit_test(nonsense_is_refused_or_unknown),
        cmocka_unit_test(the_page_is_escaped_and_reloads_while_it_runs),
        cmocka_unit_test(a_page_of_nothing_is_a_page),
        cmocka_unit_test(what_hangs_is_told_from_what_works),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
