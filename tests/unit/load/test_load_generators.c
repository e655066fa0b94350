/* SPDX-License-Identifier: MIT */
/*
 * The generators themselves, called as their adapters say, against servers that behave and servers that do
 * not. Those that are not here are left out, which is said. Counts and ratios only: how fast it goes is not
 * tested.
 */
#include "load_runs.h"

struct tool {
    const char *adapter, *program, *model, *corrected;
    const char *options; /* with a time-out of one second */
    const char *status;  /* the kind of error that an answer of 500 is */
    /* what it says of a server that is not there, resets every connection, answers too late */
    const char *dead, *resets, *late;
};

static const struct tool tools[] = {
    {"wrk2", "wrk2", "open", "yes", "{rate: 40, threads: 1, connections: 4, response_timeout: 1s}", "status",
     "'wrk2' ended with exit status 1: usage, unknown host, or server not reachable",
     "nothing measured: no request was finished; errors: read ", NULL},
    {"hey", "hey", "closed", "no", "{workers: 4, response_timeout: 1s}", "status_5xx",
     "was answered; errors: connect ", "was answered; errors: reset ", "was answered; errors: timeout "},
    {"oha", "oha", "closed", "no", "{connections: 4, response_timeout: 1s}", "status_5xx",
     "was answered; errors: connect ", "was answered; errors: ", "was answered; errors: timeout "},
    {"vegeta", "vegeta", "open", "yes", "{rate: 40, response_timeout: 1s}", "status_5xx",
     "requests was answered; errors: connect ",
     "requests was answered; errors: ", "requests was answered; errors: timeout "},
    {"ab", "ab", "closed", "no", "{connections: 4, response_timeout: 1s}", "status",
     "was answered; errors: read ", "was answered; errors: read ",
     "'ab' ended with exit status 119: no answer came within `response_timeout`"},
};

static bool here(const struct tool *t)
{
    CLEANUP_FREE char *program = fs_find_program(t->program);

    if (!program)
        print_message("skipped: no %s here\n", t->program);
    return program != NULL;
}

static int go(const char *dir, enum behaviour how, const struct tool *t, const char *options,
              struct arena *arena, struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP_FREE char *own = path_join(dir, t->adapter);
    const struct attempt one = {
        .adapter = t->adapter,
        .options = options ? options : t->options,
        .duration_ns = (how == SLOW ? 2 : 1) * NS_PER_S,
    };

    put(own, "old", "");
    struct server s = start(how);
    int rc = attempt(own, s.port, &one, arena, r, p, err);
    stop(&s);
    return rc;
}

static struct load_result succeed(const char *dir, enum behaviour how, const struct tool *t,
                                  struct arena *arena)
{
    struct load_problems p;
    struct error err = ERROR_INIT;
    struct load_result r;

    if (go(dir, how, t, NULL, arena, &r, &p, &err) < 0)
        fail_msg("%s: %s", t->adapter, err.message);
    return r;
}

static void ends_with(const char *dir, enum behaviour how, const struct tool *t, const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    if (go(dir, how, t, NULL, arena, &r, NULL, &err) == 0)
        fail_msg("%s: %.0f requests where '%s' was expected", t->adapter, r.requests, part);
    assert_has(err.message, part);
}

#define each_tool(t)                                                                                         \
    for (const struct tool *t = tools; t < tools + ARRAY_LEN(tools); t++)                                    \
        if (here(t))

static void check_latency(const struct tool *t, const struct load_result *r)
{
    const struct latency *l = &r->latency_ms;

    if (!(l->p50 <= l->p90 && l->p90 <= l->p95 && l->p95 <= l->p99 && l->p99 <= l->max * 1.02 + 1 &&
          l->mean <= l->max * 1.02 + 1))
        fail_msg("%s: latencies %g %g %g %g, at most %g, mean %g", t->adapter, l->p50, l->p90, l->p95, l->p99,
                 l->max, l->mean);
}

static void good(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        struct load_result r = succeed(*state, GOOD, t, arena);
        print_message("%s: %.0f requests, p99 %g ms\n", t->adapter, r.requests, r.latency_ms.p99);
        assert_true(r.requests > 10);
        check_number("failed", r.failed, 0);
        check_number("ok", r.ok, r.requests);
        check_number("error rate", r.error_rate, 0);
        assert_true(r.duration_ms > 500 && r.duration_ms < 30000);
        assert_true(r.rps > 0 && fabs(r.rps * r.duration_ms / 1000 - r.requests) <= 0.1 * r.requests + 5);
        assert_true(r.goodput_rps > 0);
        assert_string_equal(r.model, t->model);
        assert_string_equal(r.corrected, t->corrected);
        assert_int_equal(r.exit_status, 0);
        check_latency(t, &r);
    }
}

static void errors(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        struct load_result r = succeed(*state, STATUS_500, t, arena);
        assert_true(r.requests > 10);
        check_number(t->adapter, error_of(&r, t->status), r.requests);
        check_number("failed", r.failed, r.requests);
        check_number("ok", r.ok, 0);
        check_number("goodput", r.goodput_rps, 0);
        check_number("error rate", r.error_rate, 1);
    }
}

/* A server that closes each connection as HTTP allows is slow, not broken. */
static void closes(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        struct load_result r = succeed(*state, CLOSES, t, arena);
        if (!(r.requests > 1 && r.ok > 0))
            fail_msg("%s: %.0f requests, %.0f ok", t->adapter, r.requests, r.ok);
    }
}

static void dead(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        CLEANUP_FREE char *own = path_join(*state, t->adapter);
        const struct attempt one = {.adapter = t->adapter, .options = t->options, .duration_ns = NS_PER_S};
        struct error err = ERROR_INIT;
        struct load_result r;

        put(own, "old", "");
        assert_int_equal(attempt(own, 1, &one, arena, &r, NULL, &err), -1);
        assert_has(err.message, t->dead);
        assert_int_equal(err.kind, ERROR_TRIAL);
    }
}

static void resets(void **state)
{
    each_tool(t) ends_with(*state, RESETS, t, t->resets);
}

/* Answers after 1.3 s, time-outs after one. */
static void slower_than_the_time_out(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        if (t->late) {
            ends_with(*state, SLOW, t, t->late);
            continue;
        }
        /* wrk2 looks for time-outs every two seconds only; a late answer is an answer, and its latency counts
         */
        struct load_result r = succeed(*state, SLOW, t, arena);
        assert_true(r.requests > 0 && r.latency_ms.p50 > 1250);
    }
}

/* A rate that cannot be reached: the figures stand, and what speaks against them. */
static void not_delivered(void **state)
{
    static const struct {
        const char *adapter, *options;
    } asked[] = {{"wrk2", "{rate: 2000, threads: 1, connections: 2, response_timeout: 5s}"},
                 {"oha", "{rate: 2000, connections: 2, response_timeout: 5s}"},
                 {"hey", "{worker_rate: 1000, workers: 2, response_timeout: 5s}"},
                 {"vegeta", "{rate: 2000, workers: 2, max_workers: 2, response_timeout: 5s}"}};

    each_tool(t)
    {
        for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
            CLEANUP(arena_free) struct arena *arena = arena_new();
            struct load_problems p;
            struct error err = ERROR_INIT;
            struct load_result r;
            if (strcmp(asked[i].adapter, t->adapter) != 0)
                continue;
            if (go(*state, SLOW, t, asked[i].options, arena, &r, &p, &err) < 0)
                fail_msg("%s: %s", t->adapter, err.message);
            assert_int_equal(p.invalid_len, 1);
            assert_string_equal(p.invalid[0].id, "load-delivered");
            assert_has(p.invalid[0].sentence, "load not delivered: ");
            if (strcmp(t->model, "open") == 0)
                assert_true(r.dropped > 3000);
        }
    }
}

/* siege tells little, and against a server that is not there it runs out of files. */
static void siege(void **state)
{
    static const struct tool t = {.adapter = "siege", .program = "siege", .options = "{users: 4}"};
    CLEANUP(arena_free) struct arena *arena = arena_new();

    if (!here(&t))
        return;
    struct load_result r = succeed(*state, GOOD, &t, arena);
    assert_true(r.requests > 10 && r.rps > 0 && r.duration_ms > 100);
    assert_true(r.failed <= 4 && r.ok >= r.requests - 4); /* its own counts differ by what is under way */
    check_number("p50", r.latency_ms.p50, NAN);
    r = succeed(*state, STATUS_500, &t, arena);
    assert_true(r.requests > 10);
    check_number("failed", r.failed, r.requests);
    check_number("goodput", r.goodput_rps, 0);
}

/* What hey would round down is refused; what is a whole is sent and counted. */
static void request_counts(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        struct load_problems p;
        struct error err = ERROR_INIT;
        struct load_result r;
        bool hey = strcmp(t->adapter, "hey") == 0, ab = strcmp(t->adapter, "ab") == 0;
        const char *options =
            hey ? "{workers: 5, request_count: 100}" : "{connections: 5, request_count: 100}";
        if (!hey && !ab && strcmp(t->adapter, "oha") != 0)
            continue;
        if (go(*state, GOOD, t, options, arena, &r, &p, &err) < 0)
            fail_msg("%s: %s", t->adapter, err.message);
        check_number(t->adapter, r.requests, 100);
        assert_int_equal(p.invalid_len, 0);
        if (hey)
            assert_int_equal(go(*state, GOOD, t, "{workers: 30, request_count: 100}", arena, &r, &p, &err),
                             -1);
    }
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(good),          IN_SCRATCH(errors),         IN_SCRATCH(closes),
        IN_SCRATCH(dead),          IN_SCRATCH(resets),         IN_SCRATCH(slower_than_the_time_out),
        IN_SCRATCH(not_delivered), IN_SCRATCH(request_counts), IN_SCRATCH(siege),
    };

    find_generators();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
