/* SPDX-License-Identifier: MIT */
/*
 * Torture: the calls of a sweep are counted, then each of them fails in turn, in every way that a call can
 * fail; and the sweep is interrupted at each. Whatever happens, nothing is left in the engine, the error
 * names its step, and nothing is called a success that is none.
 */
#include "stage.h"

#include <stdio.h>

/* Everything that a trial can do on an engine: a service of the sweep and one of the trial, log lines waited
 * for, warm-up, artifacts. */
static char *matrix(int port)
{
    return xasprintf("benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 1\nretry: 0\n"
                     "app: {image: 'app:1', port: %d, ready: {http: /health}, startup: {log: started}, "
                     "restart: on-failure, memory: 64m}\n"
                     "services:\n"
                     "  mock: {image: 'mock:1', scope: sweep, ready: {log: listening}}\n"
                     "  side: {image: 'mock:1'}\n"
                     "artifacts: [{from: app, path: /tmp/x}]\n"
                     "load: {adapter: idle, duration: 30ms, warmup: {duration: 10ms}}\n",
                     port);
}

static struct server *start_app(void)
{
    static const struct rule rules[] = {{"*", .reply = {.body = "{}"}}};

    return server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
}

static void prepare(struct stage *g)
{
    standin_behave(g->engine, "app", (struct behaviour){.log = "app started"});
    standin_behave(g->engine, "mock", (struct behaviour){.log = "mock is listening"});
}

/* A success is one: every container that it speaks of was there, and it took its time. */
static void assert_honest(struct stage *g, const char *what)
{
    if (g->rc < 0) {
        if (!g->err.message[0])
            fail_msg("%s: an error without a message", what);
        if (g->trials.len && strcmp(stage_text(g, 0, "/outcome"), "ok") == 0 &&
            g->err.kind != ERROR_INTERRUPTED)
            fail_msg("%s: the sweep failed after a good trial: %s", what, g->err.message);
        return;
    }
    if (g->trials.len != 1)
        fail_msg("%s: %zu trials", what, g->trials.len);
    const char *outcome = stage_text(g, 0, "/outcome"), *reason = stage_text(g, 0, "/reason");
    if (strcmp(outcome, "ok") == 0) {
        assert_true(stage_number(g, 0, "/load/window_ms") >= 25);
        return;
    }
    static const char *const steps[] = {"begin: ",    "database: ", "services: ", "app start: ", "ready: ",
                                        "sampling: ", "warm-up: ",  "load: ",     "checks: ",    "collect: "};
    if (strcmp(outcome, "error") != 0)
        fail_msg("%s: '%s': %s", what, outcome, reason);
    for (size_t i = 0; i < ARRAY_LEN(steps); i++)
        if (text_starts(reason, steps[i]))
            return;
    fail_msg("%s: the reason names no step: %s", what, reason);
}

/* A whole sweep on an engine of its own; returns how many calls it took. */
static size_t play(int port, size_t fail_at, enum failure how, size_t interrupt_at)
{
    void *state = NULL;
    CLEANUP_FREE char *text = matrix(port);
    CLEANUP_FREE char *what =
        xasprintf("call %zu fails (%d), interrupted at %zu", fail_at, (int)how, interrupt_at);

    assert_int_equal(stage_setup(&state), 0);
    struct stage *g = state;
    prepare(g);
    if (fail_at)
        server_fail_call(standin_server(g->engine), fail_at, NULL, how);
    if (interrupt_at)
        standin_alarm(g->engine, interrupt_at, g->alarm);
    int64_t begin_ns = clock_now_ns();
    stage_run(g, text);
    if (clock_now_ns() - begin_ns > 30 * NS_PER_S)
        fail_msg("%s: took %.0f s", what, (double)(clock_now_ns() - begin_ns) / 1e9);
    if (standin_left(g->engine)) {
        CLEANUP_FREE char *names = standin_left_names(g->engine), *calls = standin_calls(g->engine, "");
        print_error("%s\n", calls);
        fail_msg("%s: left: %s; %s", what, names, g->err.message);
    }
    assert_honest(g, what);
    if (interrupt_at && g->rc < 0 && g->err.kind != ERROR_INTERRUPTED)
        fail_msg("%s: %s", what, g->err.message);
    assert_int_equal(g->summary.interrupted, g->rc < 0 && g->err.kind == ERROR_INTERRUPTED);
    if (!fail_at && !interrupt_at)
        assert_outcome(g, 0, "ok", "");
    size_t calls = server_calls(standin_server(g->engine));
    assert_int_equal(stage_teardown(&state), 0);
    return calls;
}

static void each_call_fails(enum failure how)
{
    struct server *app = start_app();
    size_t calls = play(server_port(app), 0, FAIL_NOTHING, 0);

    assert_in_range(calls, 25, 200);
    for (size_t n = 1; n <= calls; n++)
        (void)play(server_port(app), n, how, 0);
    server_finish(app);
}

static void each_call_is_refused(void **state)
{
    (void)state;
    each_call_fails(FAIL_STATUS);
}

static void each_call_is_closed(void **state)
{
    (void)state;
    each_call_fails(FAIL_CLOSE);
}

static void each_answer_is_lost(void **state)
{
    (void)state;
    each_call_fails(FAIL_LOST);
}

static void each_answer_is_cut(void **state)
{
    (void)state;
    each_call_fails(FAIL_CUT);
}

static void interrupted_at_each_call(void **state)
{
    struct server *app = start_app();
    size_t calls = play(server_port(app), 0, FAIL_NOTHING, 0);

    (void)state;
    for (size_t n = 1; n <= calls; n++)
        (void)play(server_port(app), 0, FAIL_NOTHING, n);
    server_finish(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_refused),     cmocka_unit_test(each_call_is_closed),
        cmocka_unit_test(each_answer_is_lost),      cmocka_unit_test(each_answer_is_cut),
        cmocka_unit_test(interrupted_at_each_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
