/* SPDX-License-Identifier: MIT */
/* Answers of health endpoints that mislead, and those that do not. */
#include "ready_answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"

static char why[200];

static bool good_of(const struct ready_settings *r, int status, const char *type, const char *body)
{
    const struct http_result answer = {
        .ok = true, .status = status, .content_type = type, .body = body, .body_len = strlen(body)};

    why[0] = '\0';
    bool good = ready_answer_good(r, &answer, why, sizeof(why));
    if (good != !why[0])
        fail_msg("%d, but '%s'", good, why);
    return good;
}

static bool good(const char *path, const char *type, const char *body)
{
    const struct ready_settings r = {.http = path, .status = 200};

    return good_of(&r, 200, type, body);
}

/* A recorded answer of tests/cases/R11: its head and body. */
static bool recorded(const char *name, const struct ready_settings *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = xasprintf(TESTS_DIR "/cases/R11/%s.http", name);
    struct error err = ERROR_INIT;
    char type[100] = "";

    if (fs_read(path, 1 << 16, &text, &err) < 0)
        fail_msg("%s", err.message);
    char *body = strstr(text.data, "\n\n"), *crlf = strstr(text.data, "\r\n\r\n");
    body = crlf ? crlf + 4 : body + 2;
    const char *type_at = strstr(text.data, "Content-Type: ");
    if (type_at)
        (void)sscanf(type_at, "Content-Type: %99[^\r\n]", type);
    return good_of(r, atoi(text.data + strlen("HTTP/1.1 ")), type, body);
}

static void recorded_answers(void **state)
{
    const struct ready_settings r = {.http = "/actuator/health", .status = 200};

    (void)state;
    assert_true(recorded("health_up", &r));
    assert_false(recorded("health_200_down", &r));
    assert_non_null(strstr(why, "its status is 'DOWN'"));
    assert_false(recorded("health_404", &r));
    assert_non_null(strstr(why, "was answered 404, 200 was expected"));
    assert_false(recorded("health_html", &r));
    assert_non_null(strstr(why, "a page (text/html)"));
    assert_false(recorded("health_oos", &r));
    assert_non_null(strstr(why, "503"));
    assert_false(recorded("health_redirect", &r));
    assert_non_null(strstr(why, "redirects are not followed"));
    assert_false(recorded("health_live_only", &r));
    assert_non_null(strstr(why, "may be liveness alone"));
}

/* The path says what is asked, or the matrix what is enough. */
static void liveness_where_it_is_enough(void **state)
{
    const struct ready_settings live = {.http = "/actuator/health/liveness", .status = 200},
                                ready = {.http = "/actuator/health/readiness?x", .status = 200},
                                body = {.http = "/health", .status = 200, .body = "\"status\":\"UP\""};

    (void)state;
    assert_true(recorded("health_live_only", &live));
    assert_true(recorded("health_live_only", &ready));
    assert_true(recorded("health_live_only", &body));
    assert_true(recorded("health_up", &body));
    assert_false(recorded("health_200_down", &body));
    assert_false(recorded("health_oos", &body));
    assert_false(recorded("health_html", &body));
    assert_non_null(strstr(why, "no line of the answer matches"));
    assert_false(recorded("health_redirect", &live));
}

/* What others say when they are well. */
static void good_ones_of_all_kinds(void **state)
{
    (void)state;
    assert_true(good("/health", "text/plain", "ok"));
    assert_true(good("/health", "", ""));
    assert_true(good("/health", "application/json", "{\"status\":\"UP\"}"));
    assert_true(good("/q/health", "application/json; charset=UTF-8", "{\"status\": \"UP\", \"checks\": []}"));
    assert_true(good("/healthz", "application/json", "{\"status\":\"pass\"}"));
    assert_true(good("/health", "application/json", "[]"));
    assert_true(good("/health", "application/json", "{\"status\":200}"));
    assert_true(good("/", "text/html", "<html>a shop</html>"));
    assert_true(good("/delivery/already", "text/html", "<html>a shop</html>"));
    assert_true(good("/items/1", "application/json", "{\"status\":\"in stock\"}"));
    assert_true(good("/items/1", "text/plain", "{no json"));
}

static void bad_ones_of_all_kinds(void **state)
{
    (void)state;
    assert_false(good("/health", "application/json", "{\"status\":\"down\"}"));
    assert_false(good("/health", "text/plain", " {\"status\":\"unhealthy\"}"));
    assert_false(good("/items/1", "application/problem+json", "{\"status\":\"error\"}"));
    assert_false(good("/health", "application/json", "{\"status\":"));
    assert_false(good("/health/ready", "text/plain", "\n<!doctype html>"));
    assert_false(good("/LIVEZ", "text/html; charset=utf-8", "fine"));
}

static void lines_and_statuses(void **state)
{
    const struct ready_settings teapot = {.http = "/x", .status = 418},
                                last = {.http = "/x", .status = 200, .body = "^ready$"},
                                empty = {.http = "/x", .status = 200, .body = "^$"};
    const struct http_result lost = {.ok = false, .content_type = "", .error = {.message = "timed out"}};

    (void)state;
    assert_true(good_of(&teapot, 418, "", ""));
    assert_false(good_of(&teapot, 200, "", ""));
    assert_true(good_of(&last, 200, "", "a\r\nready\r\nb"));
    assert_true(good_of(&last, 200, "", "a\nready"));
    assert_false(good_of(&last, 200, "", "not ready"));
    assert_false(good_of(&last, 200, "", ""));
    assert_true(good_of(&empty, 200, "", ""));
    assert_false(ready_answer_good(&teapot, &lost, why, sizeof(why)));
    assert_string_equal(why, "timed out");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_answers),       cmocka_unit_test(liveness_where_it_is_enough),
        cmocka_unit_test(good_ones_of_all_kinds), cmocka_unit_test(bad_ones_of_all_kinds),
        cmocka_unit_test(lines_and_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
