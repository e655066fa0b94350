/* SPDX-License-Identifier: MIT */
/* The engine is restarted in the middle of a trial: the trial is lost and done again, counts are right, and
 * the sweep goes on. */
#include "stage.h"

#define LONG "load: {adapter: idle, duration: 900ms}\n"
#define RETRIED(keys)                                                                                        \
    "benchctl: 1\nname: wire\nnetwork: bridge\ntrials: 1\nretry: 1\napp: {image: 'app:1'" keys "}\n" LONG

static void goes_gracefully(struct stage *g)
{
    standin_engine_goes(g->engine, true);
}

static void is_killed(struct stage *g)
{
    standin_engine_goes(g->engine, false);
}

static void comes(struct stage *g)
{
    standin_engine_comes(g->engine);
}

static void is_restarted_quickly(struct stage *g)
{
    standin_engine_goes(g->engine, true);
    standin_engine_comes(g->engine);
}

static void is_killed_and_restarted_quickly(struct stage *g)
{
    standin_engine_goes(g->engine, false);
    standin_engine_comes(g->engine);
}

static void events_break(struct stage *g)
{
    standin_break_events(g->engine);
}

static void was_lost_and_done_again(struct stage *g)
{
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 2);
    assert_outcome(g, 0, "error", "the engine was restarted during the trial");
    assert_outcome(g, 1, "ok", "");
    assert_true(stage_number(g, 1, "/app/restarts") == 0);
    assert_nothing_left(g);
}

/* Without a policy it stays down; with one it runs again when the engine does. */
static void while_it_is_away_nobody_gives_up(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, goes_gracefully);
    stage_at(g, "load", 1100, comes);
    stage_run(g, RETRIED(""));
    was_lost_and_done_again(g);
    assert_true(stage_said(g, "the engine does not answer any more"));
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 1);
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
}

static void a_policy_starts_it_again(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, goes_gracefully);
    stage_at(g, "load", 1100, comes);
    stage_run(g, RETRIED(", restart: always"));
    was_lost_and_done_again(g);
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
    assert_true(stage_number(g, 0, "/app/witnesses/restart_count") == 0);
    assert_true(stage_number(g, 0, "/app/witnesses/start_events") == 1);
}

static void killed_without_a_word(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, is_killed);
    stage_at(g, "load", 800, comes);
    stage_run(g, RETRIED(", restart: always"));
    was_lost_and_done_again(g);
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
}

/* It is back before anybody asked for anything. */
static void so_quickly_that_nobody_missed_it(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, is_restarted_quickly);
    stage_run(g, RETRIED(", restart: always"));
    was_lost_and_done_again(g);
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/exits")), 1);
}

static void quickly_and_without_a_word(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, is_killed_and_restarted_quickly);
    stage_run(g, RETRIED(", restart: always"));
    was_lost_and_done_again(g);
    assert_true(stage_number(g, 0, "/app/restarts") == 1);
    assert_int_equal(json_len(json_pointer(stage_trial(g, 0), "/app/lives")), 2);
}

/* Live-restore: the containers have not noticed. */
static void a_stream_that_breaks_is_no_loss(void **state)
{
    struct stage *g = *state;
    CLEANUP_FREE char *events = NULL;

    stage_at(g, "load", 100, events_break);
    stage_run(g, RETRIED(", restart: always"));
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "ok", "");
    assert_true(stage_number(g, 0, "/app/restarts") == 0);
    assert_has(stage_text(g, 0, "/notes/0"), "event stream was interrupted");
    events = stage_file(g, "trials/all/1/events.ndjson");
    if (events)
        assert_has(events, "\"event\":\"gap\"");
    assert_nothing_left(g);
}

/* The application had its own reason, told by inspect alone. */
static void dies(struct stage *g)
{
    standin_silent_events(g->engine, true);
    (void)standin_die(g->engine, "app", 3, false);
    standin_silent_events(g->engine, false);
    standin_break_events(g->engine);
}

static void a_death_in_the_gap_is_the_applications(void **state)
{
    struct stage *g = *state;

    stage_at(g, "load", 100, dies);
    stage_run(g, RETRIED(""));
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "crashed", "ended 1 time (last: exit 3)");
    assert_has(stage_text(g, 0, "/app/exits/0/evidence"), "by inspect, no die event");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(while_it_is_away_nobody_gives_up),
        STAGE_TEST(a_policy_starts_it_again),
        STAGE_TEST(killed_without_a_word),
        STAGE_TEST(so_quickly_that_nobody_missed_it),
        STAGE_TEST(quickly_and_without_a_word),
        STAGE_TEST(a_stream_that_breaks_is_no_loss),
        STAGE_TEST(a_death_in_the_gap_is_the_applications),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
