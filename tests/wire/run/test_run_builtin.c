/* SPDX-License-Identifier: MIT */
/* The generator of our own as the conductor calls it, with a program that stands in for it. */
#include "programs.h"

#define REPORT(kept_up, reason, dropped) "{" MEMBERS(kept_up, reason, dropped)
#define PHASES                                                                                               \
    "{\"name\":\"ramp\",\"model\":\"open\",\"warmup\":false,\"planned\":20000},"                             \
    "{\"name\":\"rest\",\"model\":\"closed\",\"warmup\":false,\"planned\":77}"
#define MEMBERS(kept_up, reason, dropped)                                                                    \
    "\"kept_up\":" kept_up ",\"kept_up_reason\":" reason ",\"complete\":true,\"model\":\"mixed\","           \
    "\"corrected\":false,\"requests\":20000,\"ok\":19990,\"failed\":10,\"rps\":20000,\"measured_ms\":1000,"  \
    "\"received_bytes\":5,\"dropped\":" dropped ",\"planned\":20000,\"connections\":16,"                     \
    "\"latency_ms\":{\"min\":1,\"mean\":2,\"stdev\":1,\"p50\":2,\"p75\":3,\"p90\":4,\"p95\":5,\"p99\":6,"    \
    "\"p999\":7,\"max\":8},\"service_ms\":{\"p50\":1.5,\"p99\":5.5},\"errors\":{\"timeout\":10},"            \
    "\"phases\":[" PHASES "],\"by_request\":[{\"name\":\"one\",\"ok\":3}]}"

static void with_report(struct stage *g, const char *report)
{
    put(g, "report.json", report);
    put_program(g, "case $out in */warmup) to=warmup;; *) to=load;; esac\n"
                   "cp $out/spec.json $here/$to.json; echo \"$TOKEN $MORE $BENCHCTL_SECRET_2\" >$here/env\n"
                   "sleep 0.3; cp $here/report.json $out/report.json\n"
                   "[ ! -f $here/series.csv ] || cp $here/series.csv $out/series.csv");
    put_adapter(g, "builtin");
}

static struct json *file_json(struct stage *g, const char *name)
{
    CLEANUP_FREE char *text = stage_file(g, name);
    struct error err = ERROR_INIT;
    struct json *j = NULL;

    assert_non_null(text);
    assert_int_equal(json_parse(text, strlen(text), name, &j, &err), 0);
    return j;
}

static const char *at(const struct json *j, const char *pointer)
{
    const char *text = json_text(json_pointer(j, pointer));

    if (!text)
        fail_msg("there is no text at %s", pointer);
    return text;
}

static void what_it_is_asked_for(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "0"));
    (void)setenv("TOKEN", "sesame", 1);
    run_load(g, "load: {adapter: builtin, request_timeout: 3s, warmup: {duration: 200ms}, keepalive: false,\n"
                "  env: {MORE: 'at ${app.host}'}, data: rows.csv, requests: [\n"
                "    {name: one, path: /one, headers: {Authorization: 'Bearer ${secret:TOKEN}', X-Token: "
                "open-sesame}},\n"
                "    {path: '/${app.port}/{{counter}}', body_file: body.json}],\n"
                "  phases: [{executor: ramping-vus, start_vus: 10, stages: [{duration: 300ms, target: 20}],\n"
                "    requests: [one]}, {executor: constant-arrival-rate, rate: 50, duration: 100ms,\n"
                "    pre_allocated_vus: 5}]}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    CLEANUP(json_free) struct json *spec = file_json(g, "load.json"), *warmup = file_json(g, "warmup.json");
    assert_string_equal(at(spec, "/timeout"), "3s");
    assert_string_equal(at(spec, "/data"), "/m/rows.csv");
    assert_string_equal(at(spec, "/requests/1/body_file"), "/m/body.json");
    assert_has(at(spec, "/target"), "http://127.0.0.1:");
    CLEANUP_FREE char *path = xasprintf("/%s/{{counter}}", strrchr(at(spec, "/target"), ':') + 1);
    assert_string_equal(at(spec, "/requests/1/path"), path);
    assert_string_equal(at(spec, "/phases/1/executor"), "constant-arrival-rate");
    assert_false(json_get_bool(spec, "keepalive"));
    assert_int_equal(json_type_of(json_get(spec, "keepalive")), JSON_TYPE_BOOL);
    assert_null(json_get(spec, "warmup"));
    assert_null(json_get(spec, "adapter"));
    /* the secret goes by the environment, not by the file */
    assert_string_equal(at(spec, "/requests/0/headers/Authorization"), "Bearer {{env.TOKEN}}");
    assert_string_equal(at(spec, "/requests/0/headers/X-Token"), "{{env.BENCHCTL_SECRET_2}}");
    CLEANUP_FREE char *env = stage_file(g, "env");
    assert_string_equal(env, "sesame at 127.0.0.1 open-sesame\n");
    /* the warm-up goes on as the first phase begins */
    assert_int_equal(json_len(json_get(warmup, "phases")), 1);
    assert_string_equal(at(warmup, "/phases/0/executor"), "constant-vus");
    assert_string_equal(at(warmup, "/phases/0/duration"), "200ms");
    assert_true(json_get_number(json_pointer(warmup, "/phases/0"), "vus") == 10);
    assert_string_equal(at(warmup, "/phases/0/requests/0"), "one");
    assert_string_equal(at(warmup, "/requests/0/name"), "one");
    (void)unsetenv("TOKEN");
}

static void what_it_says(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "0"));
    run_load(g, "load: {adapter: builtin, rate: 100, duration: 1s, warmup: {duration: 100ms}}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    assert_string_equal(stage_text(g, 0, "/load/model"), "mixed");
    assert_string_equal(stage_text(g, 0, "/load/corrected"), "no");
    assert_string_equal(stage_text(g, 0, "/load/generator/name"), "builtin");
    assert_string_equal(stage_text(g, 0, "/load/generator/version"), "9.8");
    assert_true(stage_number(g, 0, "/load/offered") == 20000);
    assert_true(stage_number(g, 0, "/load/connections") == 16);
    assert_true(stage_number(g, 0, "/load/service_ms/p99") == 5.5);
    assert_true(stage_number(g, 0, "/load/latency_ms/p999") == 7);
    assert_string_equal(stage_text(g, 0, "/load/phases/0/name"), "ramp");
    assert_true(stage_number(g, 0, "/load/by_request/0/ok") == 3);
    CLEANUP(json_free) struct json *warmup = file_json(g, "warmup.json");
    assert_string_equal(at(warmup, "/phases/0/executor"), "constant-arrival-rate");
    assert_true(json_get_number(json_pointer(warmup, "/phases/0"), "rate") == 100);
    assert_null(json_get(warmup, "rate"));
}

static void it_did_not_keep_up(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("false", "\"requests were sent late\"", "0"));
    run_load(g, "load: {adapter: builtin, rate: 100, duration: 1s}\n");
    assert_outcome(g, 0, "invalid", "the generator did not keep up: requests were sent late");
    assert_string_equal(stage_verdict(g, 0, "generator-kept-up"), "FAIL");
    assert_true(stage_number(g, 0, "/load/ok") == 19990); /* the figures stay */
}

/* 40 seconds, of which the first ten were slower, and what was left at the end. */
static void with_seconds(struct stage *g)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf rows = STRBUF_INIT;

    strbuf_adds(&rows, "at_ms,vus,requests,ok,failed\n");
    for (int i = 1; i <= 40; i++)
        strbuf_addf(&rows, "%d000,4,%d,%d,0\n", i, (i <= 10 ? 500 : 1000) + i % 3,
                    (i <= 10 ? 500 : 1000) + i % 3);
    strbuf_adds(&rows, "40012,0,3,3,0\n");
    put(g, "series.csv", strbuf_text(&rows));
}

#define CLOSED                                                                                               \
    "{\"kept_up\":true,\"complete\":true,\"model\":\"closed\",\"corrected\":false,\"requests\":35000,"       \
    "\"ok\":35000,\"failed\":0,\"rps\":875,\"measured_ms\":40000,\"dropped\":0,\"concurrency\":4,"           \
    "\"think_ms\":1,\"fallbacks\":700,\"latency_ms\":{\"mean\":3.55,\"p50\":3,\"p99\":9},"                   \
    "\"latency_ms_corrected\":{\"p99\":90},\"errors\":{\"timeout\":0}}"

static void what_its_seconds_tell(void **state)
{
    struct stage *g = *state;

    with_seconds(g);
    with_report(g, CLOSED);
    run_load(g, "load: {adapter: builtin, vus: 4, duration: 1s}\n");
    assert_string_equal(stage_text(g, 0, "/load/steady"), "warm-up");
    assert_true(fabs(stage_number(g, 0, "/load/steady_from_ms") - 10000) <= 2000);
    assert_string_equal(stage_verdict(g, 0, "steady-state"), "WARN");
    assert_true(stage_number(g, 0, "/load/concurrency") == 4 && stage_number(g, 0, "/load/think_ms") == 1);
    assert_string_equal(stage_verdict(g, 0, "littles-law"), "PASS");
    assert_true(stage_number(g, 0, "/load/corrected_p99_ms") == 90);
    assert_string_equal(stage_verdict(g, 0, "coordinated-omission"), "WARN");
    assert_string_equal(stage_verdict(g, 0, "degraded-successes"), "WARN");
    assert_string_equal(stage_verdict(g, 0, "percentile-support"), "PASS");
}

/* Not enough to be untrue, enough to be told. What nobody asked for is not told to be missing. */
static void some_were_late(void **state)
{
    struct stage *g = *state;

    with_report(g, "{\"fallbacks\":null,\"concurrency\":null,\"think_ms\":null,"
                   "\"pacing\":{\"lag_ms\":{\"p99\":3.5}}," MEMBERS("true", "null", "0"));
    run_load(g, "load: {adapter: builtin, rate: 100, duration: 1s}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    assert_has(json_text(json_at(json_get(stage_trial(g, 0), "notes"), 0)),
               "one request in a hundred was sent 3.5 ms late");
    for (size_t i = 0; i < json_len(json_get(stage_trial(g, 0), "notes")); i++)
        assert_null(strstr(json_text(json_at(json_get(stage_trial(g, 0), "notes"), i)), "fallbacks"));
}

static void it_did_not_deliver(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "9000"));
    run_load(g, "load: {adapter: builtin, rate: 100, duration: 1s}\n");
    assert_outcome(g, 0, "invalid", "the load was not delivered: 11000 of 20000 requests (55 %) were made");
}

/* Iterations end when they are done, not after a time that was asked for. */
static void a_count_has_no_duration(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "0"));
    run_load(g, "load: {adapter: builtin, iterations: 20000, vus: 4}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    assert_int_equal(json_len(json_get(stage_trial(g, 0), "notes")), 0);
}

/* --- phases that are a warm-up --- */

static bool has_step(struct stage *g, const char *name)
{
    const struct json *steps = json_get(stage_trial(g, 0), "steps");

    for (size_t i = 0; i < json_len(steps); i++)
        if (text_equal(json_get_text(json_at(steps, i), "name"), name))
            return true;
    return false;
}

/* They are made by a call of their own before the window opens, so that it holds what the requests are of. */
static void phases_that_are_a_warm_up(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "0"));
    run_load(g, "load: {adapter: builtin, phases: [\n"
                "  {executor: constant-vus, vus: 9, duration: 700ms, warmup: true},\n"
                "  {executor: constant-vus, vus: 3, startTime: 100ms, duration: 300ms, warmup: true},\n"
                "  {executor: constant-vus, vus: 2, duration: 800ms, startTime: 700ms},\n"
                "  {executor: constant-arrival-rate, rate: 50, duration: 500ms, pre_allocated_vus: 5,\n"
                "    start_time: 1200ms}]}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    CLEANUP(json_free) struct json *spec = file_json(g, "load.json"), *warmup = file_json(g, "warmup.json");
    assert_int_equal(json_len(json_get(warmup, "phases")), 2);
    assert_string_equal(at(warmup, "/phases/0/vus"), "9");
    assert_string_equal(at(warmup, "/phases/1/start_time"), "100ms");
    assert_null(json_pointer(warmup, "/phases/1/startTime"));
    assert_null(json_pointer(warmup, "/phases/0/warmup")); /* there they are all that there is */
    assert_int_equal(json_len(json_get(spec, "phases")), 2);
    assert_string_equal(at(spec, "/phases/0/name"), "constant-vus-3"); /* as in the whole */
    assert_string_equal(at(spec, "/phases/0/start_time"), "0");
    assert_string_equal(at(spec, "/phases/1/start_time"), "500ms"); /* of the load that is measured */
    /* the report's 1000 ms are what is asked for: nothing is said of another length */
    assert_int_equal(json_len(json_get(stage_trial(g, 0), "notes")), 0);
    assert_true(has_step(g, "warm-up"));
    double window_ms = stage_number(g, 0, "/load/window_ms"), whole_ms = stage_number(g, 0, "/duration_ms");
    assert_true(window_ms >= 290 && window_ms <= whole_ms - 290); /* the program takes 300 ms each time */
    CLEANUP_FREE char *left = path_join(g->dir, "trials/one/1/load/warmup");
    assert_false(fs_exists(left));
}

/* A step that nobody asked for is none. */
static void no_warm_up(void **state)
{
    struct stage *g = *state;

    with_report(g, REPORT("true", "null", "0"));
    run_load(g, "load: {adapter: builtin, duration: 1s}\n");
    assert_outcome(g, 0, "ok", "20000 requests");
    assert_false(has_step(g, "warm-up"));
    assert_true(has_step(g, "load"));
    CLEANUP_FREE char *warmup = stage_file(g, "warmup.json");
    assert_null(warmup);
}

/* --- what became of the requests --- */

#define FAILED(model, errors, phase)                                                                         \
    "{\"kept_up\":true,\"complete\":true,\"model\":\"" model                                                 \
    "\",\"corrected\":false,\"requests\":300,\"ok\":0,"                                                      \
    "\"failed\":300,\"rps\":300,\"measured_ms\":1000,\"planned\":7894,\"errors\":{" errors                   \
    "},\"phases\":[" phase "]}"

/* As with every other generator: then nothing was measured. */
static void nobody_answered(void **state)
{
    struct stage *g = *state;

    with_report(g, FAILED("closed", "\"connect\":290,\"timeout\":10,\"tls\":0,\"status\":0", ""));
    run_load(g, "load: {adapter: builtin, duration: 1s}\n");
    assert_outcome(g, 0, "invalid",
                   "nothing measured: none of 300 requests was answered; errors: connect 290, timeout 10");
}

/* Answers that are not as expected are answers, and of a closed load nobody knows how many there will be. */
static void all_were_refused(void **state)
{
    struct stage *g = *state;

    with_report(g, FAILED("closed", "\"timeout\":1,\"status\":299",
                          "{\"model\":\"closed\",\"warmup\":false,\"planned\":7894}"));
    run_load(g, "load: {adapter: builtin, duration: 1s}\n");
    assert_outcome(
        g, 0, "degraded",
        "100 % of requests failed (299 with another status than expected, timeout 1): no request is known");
    assert_int_equal(json_type_of(json_pointer(stage_trial(g, 0), "/load/offered")), JSON_TYPE_NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(what_it_is_asked_for),
        STAGE_TEST(what_it_says),
        STAGE_TEST(it_did_not_keep_up),
        STAGE_TEST(what_its_seconds_tell),
        STAGE_TEST(some_were_late),
        STAGE_TEST(it_did_not_deliver),
        STAGE_TEST(a_count_has_no_duration),
        STAGE_TEST(phases_that_are_a_warm_up),
        STAGE_TEST(no_warm_up),
        STAGE_TEST(nobody_answered),
        STAGE_TEST(all_were_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
