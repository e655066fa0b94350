/* SPDX-License-Identifier: MIT */
/*
 * The generators themselves, called as their adapters say, against servers that behave and servers that do
 * not. Those that are not here are left out, which is said. Counts and ratios only: how fast it goes is not
 * tested.
 */
#include "load_runs.h"

#define LONGEST_S 16 /* for what takes one on an idle machine */
#define ENOUGH 11    /* requests that speak for all */

struct tool {
    const char *adapter, *program, *model, *corrected;
    const char *options; /* whatever the machine's speed */
    const char *hasty;   /* the same with a time-out of one second */
    const char *status;  /* the kind of error that an answer of 500 is */
    /* what it says of a server that is not there, resets every connection, answers too late */
    const char *dead, *resets, *late;
    bool erratic; /* some of its runs never end, some at once, whatever the server does */
};

static const struct tool tools[] = {
    {"wrk2", "wrk2", "open", "yes", "{rate: 40, threads: 1, connections: 4, response_timeout: 30s}",
     "{rate: 40, threads: 1, connections: 4, response_timeout: 1s}", "status",
     "'wrk2' ended with exit status 1: usage, unknown host, or server not reachable",
     "nothing measured: no request was finished; errors: read ", NULL, false},
    {"hey", "hey", "closed", "no", "{workers: 4, response_timeout: 30s}",
     "{workers: 4, response_timeout: 1s}", "status_5xx", "was answered; errors: connect ",
     "was answered; errors: reset ", "was answered; errors: timeout ", false},
    {"oha", "oha", "closed", "no", "{connections: 4, response_timeout: 30s}",
     "{connections: 4, response_timeout: 1s}", "status_5xx", "was answered; errors: connect ",
     "was answered; errors: ", "was answered; errors: timeout ", false},
    {"vegeta", "vegeta", "open", "yes", "{rate: 40, response_timeout: 30s}",
     "{rate: 40, response_timeout: 1s}", "status_5xx", "requests was answered; errors: connect ",
     "requests was answered; errors: ", "requests was answered; errors: timeout ", false},
    {"ab", "ab", "closed", "no", "{connections: 4, response_timeout: 30s}",
     "{connections: 4, response_timeout: 1s}", "status", "was answered; errors: read ",
     "was answered; errors: read ",
     "'ab' ended with exit status 119: no answer came within `response_timeout`", false},
};

static bool here(const struct tool *t)
{
    CLEANUP_FREE char *program = fs_find_program(t->program);

    if (!program)
        print_message("skipped: no %s here\n", t->program);
    return program != NULL;
}

struct order {
    const char *options; /* NULL: the tool's own */
    int64_t duration_ns; /* 0: a second */
};

static int go(const char *dir, enum behaviour how, const struct tool *t, const struct order *o,
              struct arena *arena, struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP_FREE char *own = path_join(dir, t->adapter);
    const struct attempt one = {
        .adapter = t->adapter,
        .options = o->options ? o->options : t->options,
        .duration_ns = o->duration_ns ? o->duration_ns : NS_PER_S,
    };

    put(own, "old", "");
    struct server s = start(how);
    int rc = attempt(own, s.port, &one, arena, r, p, err);
    stop(&s);
    return rc;
}

/* Until so many requests have been made: on a busy machine that takes longer, and nothing else is different.
 */
static struct load_result until(double requests, enum behaviour how, const struct tool *t, const char *dir,
                                struct arena *arena)
{
    struct load_result r = {0};
    struct error err;
    int astray = 0;

    for (int64_t seconds = 1; seconds <= LONGEST_S;) {
        const struct order o = {.duration_ns = seconds * NS_PER_S};
        err = (struct error)ERROR_INIT;
        int rc = go(dir, how, t, &o, arena, &r, NULL, &err);
        bool at_once = rc == 0 && r.duration_ms < (double)(o.duration_ns / NS_PER_MS) / 2;
        if (t->erratic && (at_once || err.kind == ERROR_TIMEOUT) && ++astray <= 3)
            continue;
        if (rc == 0 && r.requests >= requests)
            return r;
        if (*err.message && !strstr(err.message, "no request was finished"))
            break;
        seconds *= 2;
    }
    fail_msg("%s: %.0f requests; %s", t->adapter, r.requests, err.message);
    return r;
}

static void ends_with(const char *dir, enum behaviour how, const struct tool *t, const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct order o = {.options = how == LATE ? t->hasty : t->options,
                            .duration_ns = (how == LATE ? 3 : 1) * NS_PER_S};
    struct error err = ERROR_INIT;
    struct load_result r;

    if (go(dir, how, t, &o, arena, &r, NULL, &err) == 0)
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
        struct load_result r = until(ENOUGH, GOOD, t, *state, arena);
        print_message("%s: %.0f requests, p99 %g ms\n", t->adapter, r.requests, r.latency_ms.p99);
        check_number("failed", r.failed, 0);
        check_number("ok", r.ok, r.requests);
        check_number("error rate", r.error_rate, 0);
        assert_true(r.duration_ms > 500 && r.duration_ms < 60000);
        /* vegeta's rate is that of its attack: waiting for the last answer is not part of it */
        double sent_ms = r.duration_ms - (strcmp(t->adapter, "vegeta") == 0 ? r.latency_ms.max : 0);
        assert_true(r.rps > 0 && r.rps * r.duration_ms / 1000 >= 0.9 * r.requests - 5 &&
                    r.rps * sent_ms / 1000 <= 1.1 * r.requests + 5);
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
        struct load_result r = until(ENOUGH, STATUS_500, t, *state, arena);
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
        struct load_result r = until(2, CLOSES, t, *state, arena);
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

/* Answers after five seconds, time-outs after one. */
static void slower_than_the_time_out(void **state)
{
    each_tool(t)
    {
        CLEANUP(arena_free) struct arena *arena = arena_new();
        if (t->late) {
            ends_with(*state, LATE, t, t->late);
            continue;
        }
        /* wrk2 looks for time-outs every two seconds only; a late answer is an answer, and its latency counts
         */
        const struct order o = {.options = t->hasty, .duration_ns = 2 * NS_PER_S};
        struct error err = ERROR_INIT;
        struct load_result r;
        if (go(*state, SLOW, t, &o, arena, &r, NULL, &err) < 0)
            fail_msg("%s: %s", t->adapter, err.message);
        assert_true(r.requests > 0 && r.latency_ms.p50 > 1250);
    }
}

/* A rate that cannot be reached: the figures stand, and what speaks against them. */
static void not_delivered(void **state)
{
    static const struct {
        const char *adapter, *options;
    } asked[] = {{"wrk2", "{rate: 2000, threads: 1, connections: 2, response_timeout: 60s}"},
                 {"oha", "{rate: 2000, connections: 2, response_timeout: 60s}"},
                 {"hey", "{worker_rate: 1000, workers: 2, response_timeout: 60s}"},
                 {"vegeta", "{rate: 2000, workers: 2, max_workers: 2, response_timeout: 60s}"}};

    each_tool(t)
    {
        for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
            CLEANUP(arena_free) struct arena *arena = arena_new();
            struct load_problems p;
            struct error err = ERROR_INIT;
            struct load_result r;
            if (strcmp(asked[i].adapter, t->adapter) != 0)
                continue;
            int rc = -1;
            for (int64_t seconds = 2; rc < 0 && seconds <= LONGEST_S; seconds *= 2) {
                const struct order o = {.options = asked[i].options, .duration_ns = seconds * NS_PER_S};
                err = (struct error)ERROR_INIT;
                rc = go(*state, SLOW, t, &o, arena, &r, &p, &err);
            }
            if (rc < 0)
                fail_msg("%s: %s", t->adapter, err.message);
            assert_int_equal(p.invalid_len, 1);
            assert_string_equal(p.invalid[0].id, "load-delivered");
            assert_has(p.invalid[0].sentence, "load not delivered: ");
            if (strcmp(t->model, "open") == 0)
                assert_true(r.dropped > 3000);
        }
    }
}

/* siege tells little, and against a server that is not there it runs out of files. The thread that ends a
 * timed run cancels those of its users, which now and then waits for ever, or does it at once (4.0.7: one run
 * of about a hundred each). */
static void siege(void **state)
{
    static const struct tool t = {.adapter = "siege",
                                  .program = "siege",
                                  .options = "{users: 4, response_timeout: 30s}",
                                  .erratic = true};
    CLEANUP(arena_free) struct arena *arena = arena_new();

    if (!here(&t))
        return;
    struct load_result r = until(ENOUGH, GOOD, &t, *state, arena);
    assert_true(r.rps > 0 && r.duration_ms > 100);
    assert_true(r.failed <= 4 && r.ok >= r.requests - 4); /* its own counts differ by what is under way */
    check_number("p50", r.latency_ms.p50, NAN);
    r = until(ENOUGH, STATUS_500, &t, *state, arena);
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
        const struct order all = {.options =
                                      hey ? "{workers: 5, request_count: 100, response_timeout: 30s}"
                                          : "{connections: 5, request_count: 100, response_timeout: 30s}",
                                  .duration_ns = 30 * NS_PER_S}, /* it ends with its requests */
            uneven = {.options = "{workers: 30, request_count: 100}"};
        if (!hey && !ab && strcmp(t->adapter, "oha") != 0)
            continue;
        if (go(*state, GOOD, t, &all, arena, &r, &p, &err) < 0)
            fail_msg("%s: %s", t->adapter, err.message);
        check_number(t->adapter, r.requests, 100);
        assert_int_equal(p.invalid_len, 0);
        if (hey)
            assert_int_equal(go(*state, GOOD, t, &uneven, arena, &r, &p, &err), -1);
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
