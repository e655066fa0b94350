/* SPDX-License-Identifier: MIT */
/* What benchctl asks the application itself: once each before the load, one at a time after it. */
#include "programs.h"

#define REPORT                                                                                               \
    "{\"kept_up\":true,\"complete\":true,\"model\":\"closed\",\"corrected\":false,\"requests\":200,"         \
    "\"ok\":200,\"failed\":0,\"rps\":100,\"measured_ms\":2000,\"dropped\":0,\"latency_ms\":{\"mean\":20,"    \
    "\"p50\":20,\"p99\":25},\"errors\":{\"timeout\":0}}"
#define USERS ", vus: 2, duration: 1s}\n"

/* With `rules` as the application; `more` stands at the end of the matrix. */
static void run_on(struct stage *g, const struct rule *rules, size_t len, const char *more)
{
    struct server *app =
        server_start(&(struct server_options){.rules = rules, .rules_len = len, .tcp = true});
    CLEANUP_FREE char *head = xasprintf(LOADED, server_port(app)), *matrix = xasprintf("%s%s", head, more);
    CLEANUP_FREE char *adapters = path_join(g->dir, "adapters");

    put(g, "report.json", REPORT);
    put_program(g, "cp $here/report.json $out/report.json");
    put_adapter(g, "builtin");
    (void)setenv("BENCHCTL_ADAPTERS", adapters, 1);
    (void)setenv("TOKEN", "sesame-of-asks", 1);
    stage_run(g, matrix);
    (void)unsetenv("TOKEN");
    (void)unsetenv("BENCHCTL_ADAPTERS");
    assert_int_equal(server_count(app, "POST /order"), 0); /* what changes something is left to the load */
    server_finish(app);
    assert_nothing_left(g);
}

static bool has_step(struct stage *g, const char *name)
{
    vec_each (s, &g->steps)
        if (strcmp(*s, name) == 0)
            return true;
    return false;
}

static void requests_of_the_load(void **state)
{
    static const struct rule rules[] = {
        {"GET /price*", .reply = {.body = "{\"price\": 17}", .delay_ms = 18}},
        {"GET /page", .reply = {.body = "<p>", .type = "text/html; charset=utf-8", .delay_ms = 18}},
        {"*", .reply = {.status = 404}},
    };
    struct stage *g = *state;

    run_on(g, rules, ARRAY_LEN(rules),
           "load: {adapter: builtin, requests: [{path: '/price?t=${secret:TOKEN}&n={{counter}}'},\n"
           "  {method: POST, path: /order, body: x}, {path: /page}, {path: /page, weight: 2, name: "
           "again}]" USERS);
    assert_outcome(g, 0, "ok", "200 requests");
    const struct json *answers = json_get(stage_trial(g, 0), "answers");
    assert_int_equal(json_len(answers), 2);
    assert_string_equal(stage_text(g, 0, "/answers/0/request"), "GET /price?t=${secret:TOKEN}&n={{counter}}");
    assert_true(stage_number(g, 0, "/answers/0/status") == 200 &&
                stage_number(g, 0, "/answers/0/bytes") == 13);
    assert_int_equal(strlen(stage_text(g, 0, "/answers/0/sha256")), 64);
    assert_string_equal(stage_text(g, 0, "/answers/1/shape"), "text/html");
    assert_in_range(stage_number(g, 0, "/floor/requests"), 3, 50);
    assert_true(stage_number(g, 0, "/floor/p50_ms") >= 18);
    assert_string_equal(stage_verdict(g, 0, "latency-floor"), "WARN");
    CLEANUP_VALUE(strbuf_release) struct strbuf record = STRBUF_INIT;
    json_write(stage_trial(g, 0), JSON_STYLE_COMPACT, &record);
    assert_null(strstr(strbuf_text(&record), "sesame-of-asks"));
}

static void not_asked_for(void **state)
{
    static const struct rule rules[] = {{"*", .reply = {.body = "[1]"}}};
    struct stage *g = *state;

    run_on(g, rules, 1, "sample: {floor: 0s}\nload: {adapter: builtin" USERS);
    assert_true(has_step(g, "answers") && !has_step(g, "floor"));
    assert_int_equal(json_type_of(json_get(stage_trial(g, 0), "floor")), JSON_TYPE_NULL);
    assert_null(stage_verdict(g, 0, "latency-floor"));
}

static void a_load_without_a_get(void **state)
{
    static const struct rule rules[] = {{"*", .reply = {.status = 500}}};
    struct stage *g = *state;

    run_on(
        g, rules, 1,
        "load: {adapter: builtin, requests: [{method: POST, path: /order, body: x}, {path: '/{{row.id}}'}],\n"
        "  data: rows.csv" USERS);
    assert_false(has_step(g, "answers") || has_step(g, "floor"));
}

/* An answer is kept whatever it is; a floor of failures is none. */
static void an_application_that_fails(void **state)
{
    static const struct rule rules[] = {{"*", .reply = {.status = 500, .body = "no"}}};
    struct stage *g = *state;

    run_on(g, rules, 1, "load: {adapter: builtin" USERS);
    assert_true(stage_number(g, 0, "/answers/0/status") == 500);
    assert_true(has_step(g, "floor"));
    assert_int_equal(json_type_of(json_get(stage_trial(g, 0), "floor")), JSON_TYPE_NULL);
}

/* It holds up the trial for two seconds at either end, and no longer. */
static void an_application_that_says_nothing(void **state)
{
    static const struct rule rules[] = {{"*", .reply = {.delay_ms = 60000}}};
    struct stage *g = *state;

    run_on(g, rules, 1, "load: {adapter: builtin, requests: [{path: /a}, {path: /b}, {path: /c}]" USERS);
    assert_int_equal(json_len(json_get(stage_trial(g, 0), "answers")), 0);
    assert_int_equal(json_type_of(json_get(stage_trial(g, 0), "floor")), JSON_TYPE_NULL);
    assert_true(stage_number(g, 0, "/duration_ms") < 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(requests_of_the_load),
        STAGE_TEST(not_asked_for),
        STAGE_TEST(a_load_without_a_get),
        STAGE_TEST(an_application_that_fails),
        STAGE_TEST(an_application_that_says_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
