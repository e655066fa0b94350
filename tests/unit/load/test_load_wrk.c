/* SPDX-License-Identifier: MIT */
/* wrk itself, called as the adapter says, against servers that behave and servers that do not. */
#include "load_runs.h"

static void need_wrk(void)
{
    CLEANUP_FREE char *program = fs_find_program("wrk");

    if (!program) {
        print_message("skipped: no wrk here\n");
        skip();
    }
}

static struct load_result succeed(void **state, enum behaviour how, const struct attempt *t,
                                  struct arena *arena)
{
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    struct server s = start(how);
    int rc = attempt(*state, s.port, t, arena, &r, NULL, &err);
    stop(&s);
    if (rc < 0)
        fail_msg("%s", err.message);
    return r;
}

static void fail_with(void **state, enum behaviour how, const struct attempt *t, const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    struct server s = start(how);
    int rc = attempt(*state, s.port, t, arena, &r, NULL, &err);
    stop(&s);
    assert_int_equal(rc, -1);
    assert_has(err.message, part);
}

static void good(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, GOOD, &(struct attempt){0}, arena);
    const struct latency *l = &r.latency_ms;

    assert_true(r.requests > 10 && r.failed == 0 && r.ok == r.requests);
    assert_true(r.duration_ms > 900 && r.duration_ms < 10000);
    assert_true(fabs(r.rps * r.duration_ms / 1000 - r.requests) < 1);
    assert_true(fabs(r.goodput_rps - r.rps) < 1e-6 * r.rps);
    assert_true(l->min <= l->p50 && l->p50 <= l->p75 && l->p75 <= l->p90 && l->p90 <= l->p95 &&
                l->p95 <= l->p99 && l->p99 <= l->p999 && l->p999 <= l->max * 1.01);
    assert_true(l->mean > 0 && l->stdev >= 0 && r.received_bytes >= r.requests * 40);
    /* the text of the same run says the same */
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP_FREE char *text = path_join(*state, "stdout.txt");
    struct error err = ERROR_INIT;
    struct load_result second;
    if (parse_file(a, text, arena, &second, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(second.requests == r.requests && fabs(second.rps - r.rps) < 0.02);
    assert_true(fabs(second.latency_ms.p99 - l->p99) <= 0.01 * l->p99 + 0.01);
}

static void errors(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, STATUS_500, &(struct attempt){0}, arena);

    assert_true(r.requests > 10 && r.ok == 0 && r.goodput_rps == 0 && r.rps > 0);
    assert_true(error_of(&r, "status") == r.requests && r.error_rate == 1);
}

/* A server that closes each connection as HTTP allows is slow, not broken. */
static void closes(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, CLOSES, &(struct attempt){0}, arena);

    assert_true(r.requests > 1 && r.ok > 0);
}

static void slower_than_the_time_out(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct attempt t = {.options = "{threads: 1, connections: 2, response_timeout: 1s}",
                              .duration_ns = 3 * NS_PER_S};
    struct load_result r = succeed(state, SLOW, &t, arena);

    assert_true(r.requests >= 2 && error_of(&r, "timeout") == r.requests && r.ok == 0);
}

static void no_server(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    assert_int_equal(attempt(*state, 1, &(struct attempt){0}, arena, &r, NULL, &err), -1);
    assert_has(err.message, "'wrk' ended with exit status 1: usage, unknown host, or server not reachable; "
                            "it said: unable to connect to 127.0.0.1:1");
    assert_int_equal(err.kind, ERROR_TRIAL);
}

static void silent(void **state)
{
    fail_with(state, SILENT, &(struct attempt){0}, "nothing measured: no request was finished");
}

static void resets(void **state)
{
    fail_with(state, RESETS, &(struct attempt){0},
              "nothing measured: no request was finished; errors: read ");
}

static void bad_arguments(void **state)
{
    fail_with(state, GOOD, &(struct attempt){.options = "{threads: 8, connections: 2}"},
              "wrk needs a connection for each of its 8 threads, not 2 in all");
}

/* The user's script works as it does under wrk alone: it chooses paths, gets its arguments, and its own
 * done() is called. */
static void script(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "it's mine.lua");
    const struct attempt t = {.script = path,
                              .path = "/",
                              .options = "{threads: 2, connections: 4, script_args: [/good, two words]}"};

    put(*state, "it's mine.lua",
        "local path = '/'\n"
        "function init(args) path = args[1]; if args[2] ~= 'two words' then os.exit(9) end end\n"
        "function request() return wrk.format('GET', path) end\n"
        "function done(summary, latency, requests) io.write('mine: ', summary.requests, ' ', requests.max >= "
        "0 and 'yes' or 'no', '\\n') end\n");
    struct load_result r = succeed(state, GOOD, &t, arena);
    assert_true(r.requests > 10);
    check_number("failed", r.failed, 0); /* "/" would have given 404 */
    CLEANUP_FREE char *text = get(*state, "stdout.txt");
    CLEANUP_FREE char *mine = xasprintf("mine: %.0f yes\n", r.requests);
    assert_has(text, mine);
}

/* wrk alone would go on without it and load "/". */
static void broken_script(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "bad.lua");

    put(*state, "bad.lua", "function request( return 1 end\n");
    fail_with(state, GOOD, &(struct attempt){.script = path},
              "exit status 3: the script cannot be read; it said: script: ");
    fail_with(state, GOOD, &(struct attempt){.script = "/nowhere/x.lua"}, "cannot open /nowhere/x.lua");
    put(*state, "bad.lua", "function request() error('no request today') end\n");
    fail_with(state, GOOD, &(struct attempt){.script = path}, "no request today");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(good),      IN_SCRATCH(errors),
        IN_SCRATCH(closes),    IN_SCRATCH(slower_than_the_time_out),
        IN_SCRATCH(no_server), IN_SCRATCH(silent),
        IN_SCRATCH(resets),    IN_SCRATCH(bad_arguments),
        IN_SCRATCH(script),    IN_SCRATCH(broken_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
