/* SPDX-License-Identifier: MIT */
/* What a webhook is told, and what never leaves the machine. */
#include "../check.h"

#include "internal.h"

static struct watch_status some(void)
{
    struct watch_status s;

    watch_status_init(&s);
    s.name = "sweep";
    s.host = "lab";
    s.trials = 12;
    s.sealed = 2;
    s.outcomes[OUTCOME_OK] = 2;
    s.elapsed_s = 61;
    return s;
}

static struct json *told(const struct payload *p)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct json *j = NULL;
    struct error err = ERROR_INIT;

    payload_write(p, &out);
    assert_true(out.len < 16384);
    assert_int_equal(json_parse(strbuf_text(&out), out.len, "payload", &j, &err), 0);
    return j;
}

static void the_end(void **state)
{
    (void)state;
    struct watch_status s = some();
    s.state = WATCH_COMPLETE;
    const struct payload p = {
        .event = WATCH_EVENT_FINISHED, .status = &s, .dir = "/d", .report = "/d/report.html", .exit_code = 1};
    CLEANUP(json_free) struct json *j = told(&p);

    assert_string_equal(json_get_text(j, "event"), "finished");
    assert_string_equal(json_get_text(j, "text"),
                        "benchctl: sweep 'sweep' on lab is complete: 2 of 12 trials, 2 "
                        "ok, in 1 min 1 s; exit code 1");
    assert_string_equal(json_get_text(j, "content"), json_get_text(j, "text"));
    assert_string_equal(json_get_text(j, "report"), "/d/report.html");
    assert_int_equal(json_get_int(j, "exit_code"), 1);
}

static void a_failure_without_the_application_s_words(void **state)
{
    (void)state;
    struct watch_status s = some();
    s.first_failure = (struct watch_trial){
        .scenario = "a/b",
        .trial = 2,
        .outcome = "crashed",
        .reason = "ended 3 times (last: exit 1); its last lines: password=hunter2",
    };
    const struct payload p = {.event = WATCH_EVENT_FAILED, .status = &s, .exit_code = -1};
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    CLEANUP(json_free) struct json *j = told(&p);

    assert_has(json_get_text(j, "text"),
               "first failure: a/b #2: crashed: ended 3 times (last: exit 1); it goes on");
    payload_write(&p, &out);
    assert_null(strstr(strbuf_text(&out), "hunter2"));
    assert_int_equal(json_type_of(json_get(j, "exit_code")), JSON_TYPE_NULL);
}

static void nobody_is_called_by_a_hostile_name(void **state)
{
    (void)state;
    struct watch_status s = some();
    s.name = "<!channel> @everyone \033[31m\n<https://evil|click>";
    const struct payload p = {.event = WATCH_EVENT_STARTED, .status = &s, .exit_code = -1};
    CLEANUP(json_free) struct json *j = told(&p);
    const char *text = json_get_text(j, "text");

    for (const char *c = text; *c; c++)
        if (strchr("<>@\033\n", *c))
            fail_msg("%s", text);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    char long_name[4000];
    struct watch_status s = some();

    for (size_t i = 0; i + 2 < sizeof(long_name); i += 2)
        memcpy(long_name + i, "\u00e4", 3);
    s.name = s.title = s.scenario = s.step = s.reason = long_name + 1; /* begins in the middle of one */
    s.first_failure = (struct watch_trial){.scenario = long_name, .outcome = "error", .reason = long_name};
    for (int e = 0; e < WATCH_EVENTS; e++) {
        const struct payload p = {.event = (enum watch_event)e,
                                  .status = &s,
                                  .dir = long_name,
                                  .report = long_name,
                                  .exit_code = 3};
        CLEANUP(json_free) struct json *j = told(&p);
        assert_true(strlen(json_get_text(j, "directory")) <= 300);
    }
}

static void hosts_without_what_is_secret(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"https://hooks.example.com/services/T/B/secret", "hooks.example.com"},
        {"http://user:pass@host:8080/x?token=1", "host:8080"},
        {"https://a@b@host", "host"},
        {"HTTPS://[::1]:99#secret", "[::1]:99"},
    };
    static const char *const bad[] = {
        "",           "ftp://h/x",    "https://",   "hooks.example.com/x", "file:///etc/x",
        "https:///x", "http://a b/c", "http://@/x", "http://h\n/x",        "http://h%2f/x"};
    char host[64];

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_int_equal(webhook_host(good[i][0], host, sizeof(host)), 0);
        assert_string_equal(host, good[i][1]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (webhook_host(bad[i], host, sizeof(host)) != -1)
            fail_msg("'%s' is taken for a URL", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end),
        cmocka_unit_test(a_failure_without_the_application_s_words),
        cmocka_unit_test(nobody_is_called_by_a_hostile_name),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(hosts_without_what_is_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
