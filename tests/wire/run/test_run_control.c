/* SPDX-License-Identifier: MIT */
/* What somebody at the keyboard asks of a sweep: to skip a trial, to stop after it, to see a log. */
#include "stage.h"

/* Longer than the conductor takes to look at wishes, and than a slow machine takes to notice. */
#define LONG "load: {adapter: idle, duration: 20s}\n"
#define TWO "axes: {x: [a, b]}\norder: {mode: listed}\ncooldown: 0ms\n"

static struct run_control control;
static int tails;
static char tail[4096];

static void wish_skip(struct stage *g)
{
    (void)g;
    control.skip_trial = true;
}

static void wish_stop(struct stage *g)
{
    (void)g;
    control.stop_after = true;
}

static void wish_log(struct stage *g)
{
    (void)g;
    control.show_log = true;
}

static void wish_skip_and_signal(struct stage *g)
{
    control.skip_trial = true;
    loop_interrupt(g->loop);
}

static void stand_still(struct stage *g)
{
    (void)g;
    control.stood_still_ns += 3 * NS_PER_S;
}

static void on_tail(const char *text, void *data)
{
    tails++;
    (void)snprintf(tail, sizeof(tail), "%s", text);
    if (data)
        ((struct run_control *)data)->skip_trial = true; /* seen enough */
}

static void begin(struct stage *g)
{
    control = (struct run_control){.log_tail = on_tail};
    tails = 0;
    tail[0] = '\0';
    g->options.control = &control;
}

static void a_trial_is_skipped_and_the_next_one_runs(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "load", 0, wish_skip);
    stage_run(g, APP_OF("") TWO "overrides: [{when: {x: b}, set: {load: {duration: 60ms}}}]\n" LONG);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 0, "skipped", "skipped by the keyboard, in step 'load'");
    assert_outcome(g, 1, "ok", "");
    assert_false(control.skip_trial);
    assert_int_equal(g->summary.by_outcome[OUTCOME_SKIPPED], 1);
    assert_nothing_left(g);
}

static void a_skipped_trial_is_not_tried_again(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "load", 0, wish_skip);
    stage_run(g, "benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 1\nretry: 3\ncooldown: 0ms\n"
                 "app: {image: 'app:1'}\n" LONG);
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "skipped", "");
}

static void a_signal_is_stronger_than_a_wish(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "load", 0, wish_skip_and_signal);
    stage_run(g, APP_OF("") TWO LONG);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_int_equal(g->trials.len, 0);
    assert_nothing_left(g);
}

static void a_wish_of_a_moment_without_a_trial_is_forgotten(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "cooldown", 0, wish_skip);
    stage_run(g, APP_OF("") "axes: {x: [a, b]}\ncooldown: 1500ms\n" IDLE);
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 2);
}

static void it_stops_after_the_trial(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "load", 0, wish_stop);
    stage_run(g, APP_OF("") TWO IDLE);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_has(g->err.message, "stopped as it was asked to, after 1 trial");
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "ok", "");
    assert_true(g->summary.interrupted);
    assert_nothing_left(g);
}

static void it_does_not_wait_for_the_end_of_a_pause(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    begin(g);
    stage_at(g, "cooldown", 0, wish_stop);
    stage_run(g, APP_OF("") "axes: {x: [a, b]}\ncooldown: 10m\n" IDLE);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_int_equal(g->trials.len, 1);
    assert_true(clock_now_ns() - begin_ns < 300 * NS_PER_S);
}

/* The pause before a retry belongs to the trial. */
static void it_waits_for_the_retries(void **state)
{
    struct stage *g = *state;

    begin(g);
    g->options.infrastructure_retries = 0;
    g->options.back_off_ns = 1500 * NS_PER_MS; /* longer than until wishes are looked at */
    server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
    stage_at(g, "back-off", 0, wish_stop);
    stage_run(g, APP_OF("") TWO IDLE);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_has(g->err.message, "stopped as it was asked to, after 1 trial");
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 1, "ok", "");
}

static void a_log_that_does_not_come_holds_nothing_up(void **state)
{
    struct stage *g = *state;
    int64_t begin_ns = clock_now_ns();

    begin(g);
    control.data = &control;
    server_fail_call(standin_server(g->engine), 1, "GET /containers/*/logs*tail=20*", FAIL_HANG);
    stage_at(g, "load", 0, wish_log);
    stage_run(g, APP_OF("") LONG);
    assert_int_equal(tails, 1);
    assert_outcome(g, 0, "skipped", "");
    assert_true(clock_now_ns() - begin_ns < 90 * NS_PER_S); /* not an engine's two minutes */
}

static void the_log_is_shown_while_the_load_goes_on(void **state)
{
    struct stage *g = *state;

    begin(g);
    control.data = &control;
    standin_behave(g->engine, "app", (struct behaviour){.log = "the app says so"});
    stage_at(g, "load", 0, wish_log);
    stage_run(g, APP_OF("") LONG);
    assert_int_equal(tails, 1);
    assert_has(tail, "the app says so");
    assert_false(control.show_log);
    assert_outcome(g, 0, "skipped", "");
}

static void standing_still_spoils_the_window(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "load", 20, stand_still);
    stage_run(g, APP_OF("") "load: {adapter: idle, duration: 500ms}\n");
    assert_outcome(g, 0, "invalid", "benchctl itself was stopped for 3.0 s during the measured window");
    assert_string_equal(stage_verdict(g, 0, "clock"), "FAIL");
}

static void standing_still_before_it_is_noted(void **state)
{
    struct stage *g = *state;

    begin(g);
    stage_at(g, "ready", 0, stand_still);
    stage_run(g, SMALL);
    assert_outcome(g, 0, "ok", "");
    assert_string_equal(stage_verdict(g, 0, "clock"), "WARN");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_trial_is_skipped_and_the_next_one_runs),
        STAGE_TEST(a_skipped_trial_is_not_tried_again),
        STAGE_TEST(a_signal_is_stronger_than_a_wish),
        STAGE_TEST(a_wish_of_a_moment_without_a_trial_is_forgotten),
        STAGE_TEST(it_stops_after_the_trial),
        STAGE_TEST(it_does_not_wait_for_the_end_of_a_pause),
        STAGE_TEST(it_waits_for_the_retries),
        STAGE_TEST(a_log_that_does_not_come_holds_nothing_up),
        STAGE_TEST(the_log_is_shown_while_the_load_goes_on),
        STAGE_TEST(standing_still_spoils_the_window),
        STAGE_TEST(standing_still_before_it_is_noted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
