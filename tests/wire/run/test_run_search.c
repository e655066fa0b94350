/* SPDX-License-Identifier: MIT */
/* Sweeps with a search: an application that dies below a limit, and how it is found. */
#include "stage.h"

#include <stdio.h>

#define MIB(n) ((double)((n)*INT64_C(1048576)))
#define SEARCHED                                                                                             \
    "benchctl: 1\nname: wire\ntrials: 2\nretry: 0\nload: {adapter: idle, duration: 5ms}\n"                   \
    "app: {image: 'app:1', memory: \"${memory}\"}\n"                                                         \
    "axes: {memory: {search: {from: 64m, to: 192m, step: 16m}}}\n"

static char *begun_text(const struct stage *g, size_t from)
{
    struct strbuf all = STRBUF_INIT;

    for (size_t i = from; i < g->begun.len; i++)
        strbuf_addf(&all, "%s\n", g->begun.items[i]);
    return strbuf_detach(&all);
}

static void an_application_that_needs(struct stage *g, int mib)
{
    standin_behave(g->engine, "app", (struct behaviour){.needs_bytes = MIB(mib)});
}

/* The ends, then halves; the first death of a size is its last trial. */
static void the_limit_is_found(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 100);
    stage_run(g, SEARCHED);
    assert_int_equal(g->rc, 0);
    assert_lines(begun_text(g, 0), "192m/1\n192m/2\n64m/1\n128m/1\n128m/2\n96m/1\n112m/1\n112m/2\n");
    assert_int_equal(g->summary.executed, 8);
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 6);
    assert_int_equal(g->summary.by_outcome[OUTCOME_CRASHED], 2);
    assert_outcome(g, 5, "crashed", "");
    assert_true(json_get_number(g->info, "trials") == 8); /* no more were asked for */
    assert_nothing_left(g);
}

static void nothing_will_do(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 500);
    stage_run(g, SEARCHED);
    assert_int_equal(g->rc, 0);
    assert_lines(begun_text(g, 0), "192m/1\n");
}

static void everything_will_do(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 10);
    stage_run(g, SEARCHED);
    assert_lines(begun_text(g, 0), "192m/1\n192m/2\n64m/1\n64m/2\n");
}

/* Other outcomes can be good enough. */
static void until_it_is_something_else(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 500);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 0\nload: {adapter: idle, duration: 5ms}\n"
                 "app: {image: 'app:1', memory: \"${memory}\"}\n"
                 "axes: {memory: {search: {from: 64m, to: 96m, step: 16m, until: [ok, crashed]}}}\n");
    assert_lines(begun_text(g, 0), "96m/1\n64m/1\n");
}

/* After its retries, an error is no pass; and a search is no reason to stop sooner than a list. */
static void errors_are_tried_again(void **state)
{
    struct stage *g = *state;

    server_fail_call(standin_server(g->engine), 1, "POST /containers/*/start", FAIL_STATUS);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 1\nload: {adapter: idle, duration: 5ms}\n"
                 "app: {image: 'app:1', memory: \"${memory}\"}\n"
                 "axes: {memory: {search: {from: 64m, to: 96m, step: 16m}}}\n");
    assert_lines(begun_text(g, 0), "96m/1\n96m/1\n64m/1\n");
    assert_outcome(g, 0, "error", "app start: ");
    assert_int_equal(g->summary.by_outcome[OUTCOME_OK], 2);
}

/* Interleaved: each search gets its turn in every round, and includes run beside them. */
static void searches_take_turns(void **state)
{
    struct stage *g = *state;
    size_t a = 0, b = 0;

    an_application_that_needs(g, 100);
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\nretry: 0\nload: {adapter: idle, duration: 5ms}\n"
                 "app: {image: 'app:1', memory: \"${memory}\"}\norder: {mode: interleaved, seed: 4}\n"
                 "axes: {x: [a, b], memory: {search: {from: 64m, to: 192m, step: 16m}}}\n"
                 "include: [{x: a, memory: unlimited}]\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->begun.len, 2 * 5 + 1);
    for (size_t i = 0; i < g->begun.len; i++) {
        bool included = strcmp(g->begun.items[i], "a/unlimited/1") == 0;
        a += g->begun.items[i][0] == 'a' && !included;
        b += g->begun.items[i][0] == 'b';
        if (included)
            assert_true(i < 3);
        assert_true(a <= b + 1 && b <= a + 1);
    }
}

/* Told what an interrupted sweep has sealed, the next one does exactly the rest. */
static void going_on_where_it_was(void **state)
{
    static const char expected[] = "192m/1\n192m/2\n64m/1\n128m/1\n128m/2\n96m/1\n112m/1\n112m/2\n";
    static const struct stage_seal all[] = {
        {"192m/1", OUTCOME_OK}, {"192m/2", OUTCOME_OK}, {"64m/1", OUTCOME_CRASHED},
        {"128m/1", OUTCOME_OK}, {"128m/2", OUTCOME_OK}, {"96m/1", OUTCOME_CRASHED},
        {"112m/1", OUTCOME_OK}, {"112m/2", OUTCOME_OK},
    };
    const char *rest = expected;

    (void)state;
    for (size_t done = 0; done <= ARRAY_LEN(all); done++) {
        struct stage_seal seals[ARRAY_LEN(all) + 1] = {{0}};
        void *fresh = NULL;
        assert_int_equal(stage_setup(&fresh), 0);
        struct stage *g = fresh;
        memcpy(seals, all, done * sizeof(*seals));
        g->seals = seals;
        an_application_that_needs(g, 100);
        stage_run(g, SEARCHED);
        assert_lines(begun_text(g, 0), rest);
        assert_int_equal(g->summary.kept, done);
        assert_int_equal(stage_teardown(&fresh), 0);
        rest = *rest ? strchr(rest, '\n') + 1 : rest;
    }
}

/* What is interrupted is told by nobody: its trial comes again. */
static void an_interruption(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 100);
    stage_at_nth(g, "app start", 3, 0, stage_interrupt);
    stage_run(g, SEARCHED);
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_INTERRUPTED);
    assert_lines(begun_text(g, 0), "192m/1\n192m/2\n64m/1\n");
    assert_int_equal(g->trials.len, 2);
    assert_nothing_left(g);
}

/* n is a bound that comes down, and no trial is beyond it. */
static void progress_is_bounded(void **state)
{
    struct stage *g = *state;

    an_application_that_needs(g, 100);
    stage_run(g, SEARCHED);
    assert_true(g->at_most);
    assert_int_equal(g->trials_first, 2 * 5);
    assert_int_equal(g->trials_last, 8);
    assert_false(g->trials_rose);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(the_limit_is_found),
        STAGE_TEST(nothing_will_do),
        STAGE_TEST(everything_will_do),
        STAGE_TEST(until_it_is_something_else),
        STAGE_TEST(errors_are_tried_again),
        STAGE_TEST(searches_take_turns),
        STAGE_TEST(an_interruption),
        STAGE_TEST(progress_is_bounded),
        cmocka_unit_test(going_on_where_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
