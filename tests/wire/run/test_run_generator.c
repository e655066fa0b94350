/* SPDX-License-Identifier: MIT */
/* Generators that have a second call, secrets or a stream, with programs that stand in for them. */
#include "programs.h"

#include "benchctl/archive.h"

/* --- another's options --- */

/* Options are the program's arguments, as written; references in them are filled in for the trial. */
static void with_options(struct stage *g, const char *authorization)
{
    CLEANUP_FREE char *adapter = xasprintf(
        "benchctl-adapter: 1\nprogram: %s/program\n"
        "options: {headers: {type: map, flag: [\"-H\", \"${key}: ${value}\"]}, at: {flag: "
        "\"--at=${value}\"}}\n"
        "args: [x, x, x, x, \"${output_dir}\", \"${options}\"]\n"
        "outputs: {report: {file: report.json, format: json}}\n"
        "reports: [{name: r, output: report, accept: [/n], values: {requests: {json: /n}, ok: {json: /n}, "
        "duration: {json: /n}}}]\n",
        g->dir);

    put(g, "adapters/load/other.yaml", adapter);
    put_program(g,
                "shift 5; for a; do echo \"$a\"; done >$here/arguments\necho '{\"n\": 5}' >$out/report.json");
    CLEANUP_FREE char *load =
        xasprintf("load: {adapter: other, duration: 1s, at: 'http://${app.host}/', headers: "
                  "{Authorization: 'Bearer %s'}}\n",
                  authorization);
    (void)setenv("TOKEN", "sesame-street", 1);
    run_load(g, load);
    (void)unsetenv("TOKEN");
}

static void options_of_another(void **state)
{
    with_options(*state, "of-a-test");
    assert_outcome(*state, 0, "ok", "5 requests");
    assert_lines(stage_file(*state, "arguments"),
                 "-H\nAuthorization: Bearer of-a-test\n--at=http://127.0.0.1/\n");
}

static void no_secret_on_a_command_line(void **state)
{
    with_options(*state, "${secret:TOKEN}");
    assert_outcome(*state, 0, "error", "a secret would stand in the command line of '");
    assert_null(stage_file(*state, "arguments"));
}

/* --- secrets --- */

static void assert_no_secret(struct stage *g)
{
    CLEANUP_FREE char *command = xasprintf("grep -rlaF sesame-street '%s/trials'", g->dir);

    assert_int_not_equal(system(command), 0);
}

#define SECRET_ADAPTER                                                                                       \
    "benchctl-adapter: 1\nprogram: %s/program\n"                                                             \
    "options: {body: {}, short: {}}\nfiles: {body: {file: body.txt, content: \"<${body}>\"}}\n"              \
    "args: [x, x, x, x, \"${output_dir}\", \"${file.body}\", \"${url}\", \"${short}\"]\n%s"                  \
    "outputs: {report: {file: report.json, format: json}}\n"                                                 \
    "reports: [{name: r, output: report, accept: [/n], values: {requests: {json: /n}, ok: {json: /n}, "      \
    "duration: {json: /n}}}]\n"

static void with_secret(struct stage *g, const char *script, const char *finish)
{
    CLEANUP_FREE char *adapter = xasprintf(SECRET_ADAPTER, g->dir, finish);

    put(g, "adapters/load/other.yaml", adapter);
    put_program(g, script);
    (void)setenv("TOKEN", "sesame-street", 1);
    (void)setenv("PIN", "100", 1);
    run_load(g, "load: {adapter: other, duration: 1s, body: 'a ${secret:TOKEN}', "
                "short: '${secret:PIN}'}\n");
    (void)unsetenv("TOKEN");
    (void)unsetenv("PIN");
}

/* What it was given as a file, and what it says of it. A short number could be anything. */
static void secrets_are_hidden(void **state)
{
    struct stage *g = *state;

    with_secret(g,
                "cp \"$6\" $here/seen; key=$(cat \"$6\"); echo \"Get /?key=$key: refused\"; "
                "head -c 262140 /dev/zero | tr '\\0' x >$out/long; echo \"$key$key\" >>$out/long; ln -s "
                "$here/seen $out/link; echo '{\"n\": 100}' >$out/report.json",
                "");
    assert_outcome(g, 0, "ok", "100 requests");
    assert_lines(stage_file(g, "seen"), "<a sesame-street>");
    assert_lines(stage_file(g, "trials/one/1/load/body.txt"), "<a *************>");
    CLEANUP_FREE char *said = stage_file(g, "trials/one/1/load/stdout.txt");
    assert_non_null(said);
    assert_has(said, "/?key=<a *************>: refused");
    assert_no_secret(g);
}

static void secrets_in_what_is_quoted(void **state)
{
    struct stage *g = *state;

    with_secret(g, "echo \"cannot get $(cat \"$6\")\" >&2; exit 3", "");
    assert_outcome(g, 0, "invalid", "cannot get <a **");
    assert_no_secret(g);
}

static void secrets_in_a_second_call(void **state)
{
    struct stage *g = *state;

    with_secret(g, "[ \"$1\" = report ] && { cat $2/raw >&2; exit 1; }; cp \"$6\" $out/raw",
                "finish: {args: [report, \"${output_dir}\"], into: report}\n");
    assert_outcome(g, 0, "invalid", "it said: <a **");
    assert_no_secret(g);
}

/* --- a second call --- */

static void with_finish(struct stage *g, const char *script)
{
    CLEANUP_FREE char *adapter = xasprintf(
        "benchctl-adapter: 1\nprogram: %s/program\nargs: [attack, x, x, x, \"${output_dir}\"]\n"
        "finish: {args: [report, x, x, x, \"${output_dir}\"], into: report}\n"
        "outputs: {report: {file: report.json, format: json}}\n"
        "reports: [{name: r, output: report, accept: [/n], values: {requests: {json: /n}, duration: {json: "
        "/ms}}, errors: {status: {json: /bad}}}]\n",
        g->dir);

    put(g, "adapters/load/twice.yaml", adapter);
    put_program(g, script);
    run_load(g, "load: {adapter: twice, duration: 300ms, timeout: 2s}\n");
}

static void a_report_made_afterwards(void **state)
{
    struct stage *g = *state;

    with_finish(g, "[ $1 = attack ] && { sleep 0.3; echo 7 >$out/raw; exit 0; }\n"
                   "sleep 0.4; echo \"{\\\"n\\\": $(cat $out/raw), \\\"ms\\\": 300, \\\"bad\\\": 0}\"");
    assert_outcome(g, 0, "ok", "7 requests");
    assert_true(stage_number(g, 0, "/load/window_ms") < 690); /* the second call is outside of it */
}

static void a_report_that_fails(void **state)
{
    struct stage *g = *state;

    with_finish(g, "[ $1 = attack ] && { sleep 0.3; exit 0; }\necho no such file: raw >&2; exit 4");
    assert_outcome(g, 0, "invalid", "could not make its report: exit status 4; it said: no such file: raw");
}

static void a_report_that_never_comes(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    with_finish(g, "[ $1 = attack ] && { sleep 0.3; exit 0; }\nexec sleep 60");
    assert_outcome(g, 0, "invalid", "has not made its report in time");
    assert_true(clock_now_ns() - begin_ns < 30 * NS_PER_S);
}

/* What went wrong first is what counts. */
static void a_load_that_failed_before(void **state)
{
    struct stage *g = *state;

    with_finish(g, "[ $1 = attack ] && { echo no route >&2; exit 3; }\nexit 4");
    assert_outcome(g, 0, "invalid", "no route");
}

/* --- streams --- */

#define STREAM_ADAPTER                                                                                       \
    "benchctl-adapter: 1\nprogram: %s/program\nargs: [attack, x, x, x, \"${output_dir}\"]\n"                 \
    "outputs:\n  report: {file: report.json, format: json}\n"                                                \
    "  points: {file: points.ndjson, format: ndjson, stream: {where: {/type: Point}, metric: /metric, "      \
    "time: /data/time, value: /data/value, requests: reqs, failed: bad, latency: took, latency_unit: ms}}\n" \
    "reports: [{name: r, output: report, accept: [/n], values: {requests: {json: /n}, duration: {json: "     \
    "/ms}}, errors: {status: {json: /bad}}}]\n"
#define RESULT "echo '{\"n\": 4, \"ms\": 300, \"bad\": 0}' >$out/report.json\n"

static void with_stream(struct stage *g, const char *script, const char *more)
{
    CLEANUP_FREE char *adapter = xasprintf(STREAM_ADAPTER, g->dir);
    CLEANUP_FREE char *load = xasprintf(
        "load: {adapter: lines, duration: 300ms, timeout: 3s, warmup: {duration: 100ms}%s}\n", more);

    put(g, "adapters/load/lines.yaml", adapter);
    put_program(g, script);
    run_load(g, load);
}

/* Three seconds of points, the second of them empty, with a line that is none. */
#define POINTS                                                                                               \
    "point() { echo \"{\\\"type\\\":\\\"Point\\\",\\\"metric\\\":\\\"$1\\\",\\\"data\\\":{\\\"time\\\":"     \
    "\\\"2026-01-31T08:00:0$2Z\\\",\\\"value\\\":$3}}\"; }\n"                                                \
    "points() { point reqs 0.1 1; point took 0.1 10; point reqs 0.9 1; point took 0.9 30; echo rubbish;\n"   \
    "  point reqs 2.5 1; point took 2.5 40; point bad 2.5 1; }\n"

static void a_stream_is_read(void **state)
{
    struct stage *g = *state;

    with_stream(g, POINTS "points >$out/points.ndjson\nsleep 0.3\n" RESULT, "");
    assert_outcome(g, 0, "ok", "4 requests");
    CLEANUP_FREE char *series = stage_file(g, "trials/one/1/load/series.csv");
    assert_has(series, "at_s,vus,requests,failed");
    char *lines = series;
    int count = 0;
    while ((lines = strchr(lines, '\n')) != NULL && lines++)
        count++;
    assert_int_equal(count, 4); /* the head and three seconds */
    CLEANUP_FREE char *log = stage_file(g, "trials/one/1/load/histogram.hlog");
    assert_has(log, "StartTime");
    CLEANUP_FREE char *left = stage_file(g, "trials/one/1/load/points.ndjson");
    assert_null(left);
    CLEANUP_FREE char *kept = xasprintf("%s/trials/one/1/load/points.ndjson.zst", g->dir);
    assert_false(fs_exists(kept));
    assert_has(json_text(json_at(json_get(stage_trial(g, 0), "notes"), 0)), "1 of 8 lines are no JSON");
}

static void a_stream_is_kept(void **state)
{
    struct stage *g = *state;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    with_stream(g, POINTS "points >$out/points.ndjson\nsleep 0.3\n" RESULT, ", raw: true");
    assert_outcome(g, 0, "ok", "4 requests");
    CLEANUP_FREE char *kept = xasprintf("%s/trials/one/1/load/points.ndjson.zst", g->dir);
    assert_int_equal(archive_file_read(kept, 1 << 20, &text, &err), 0);
    assert_has(strbuf_text(&text), "rubbish\n");
    assert_has(strbuf_text(&text), "\"metric\":\"bad\"");
}

/* Far more than a pipe holds: the writer is never stopped for good. */
static void a_long_stream(void **state)
{
    struct stage *g = *state;

    with_stream(g,
                POINTS
                "{ i=0; l=$(point took 1.5 7); l=$(printf '%s\\n%s\\n%s\\n%s' \"$l\" \"$l\" \"$l\" \"$l\")\n"
                "while [ $i -lt 15000 ]; do echo \"$l\"; i=$((i+1)); done; } >$out/points.ndjson\n" RESULT,
                "");
    assert_outcome(g, 0, "ok", "4 requests");
    CLEANUP_FREE char *log = stage_file(g, "trials/one/1/load/histogram.hlog");
    assert_has(log, "StartTime");
}

static void a_stream_that_nobody_opens(void **state)
{
    struct stage *g = *state;

    with_stream(g, "sleep 0.3\n" RESULT, ", raw: true");
    assert_outcome(g, 0, "ok", "4 requests");
    CLEANUP_FREE char *series = stage_file(g, "trials/one/1/load/series.csv");
    assert_null(series);
}

static void a_writer_that_dies(void **state)
{
    struct stage *g = *state;

    with_stream(g,
                "case $out in */warmup) " RESULT "exit 0;; esac\n" POINTS
                "{ points; printf '{\"type\": \"Poi'; } >$out/points.ndjson; kill -9 $$",
                "");
    assert_outcome(g, 0, "invalid", "killed by signal 9");
    CLEANUP_FREE char *series = stage_file(g, "trials/one/1/load/series.csv");
    assert_non_null(series); /* what came before is evidence */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(options_of_another),         STAGE_TEST(no_secret_on_a_command_line),
        STAGE_TEST(secrets_are_hidden),         STAGE_TEST(secrets_in_what_is_quoted),
        STAGE_TEST(secrets_in_a_second_call),   STAGE_TEST(a_report_made_afterwards),
        STAGE_TEST(a_report_that_fails),        STAGE_TEST(a_report_that_never_comes),
        STAGE_TEST(a_load_that_failed_before),  STAGE_TEST(a_stream_is_read),
        STAGE_TEST(a_stream_is_kept),           STAGE_TEST(a_long_stream),
        STAGE_TEST(a_stream_that_nobody_opens), STAGE_TEST(a_writer_that_dies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
