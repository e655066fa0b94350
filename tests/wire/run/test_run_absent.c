/* SPDX-License-Identifier: MIT */
/* Images that the engine does not have: nothing is run, or what needs them is passed over. */
#include "stage.h"

#include <stdio.h>
#include "benchctl/engine.h"

#define QUICK "load: {adapter: idle, duration: 5ms}\n"
#define TWO(keys)                                                                                            \
    "benchctl: 1\nname: wire\nretry: 1\norder: {mode: listed}\n"                                             \
    "axes: {tag: [here, gone]}\napp: {image: 'app:${tag}'" keys "}\n" QUICK

static size_t steps_called(const struct stage *g, const char *name)
{
    size_t n = 0;

    vec_each (s, &g->steps)
        n += strcmp(*s, name) == 0;
    return n;
}

/* Without a word about it everything must be there. */
static void a_missing_image_stops_the_sweep(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "app:gone");
    stage_run(g, TWO("") "trials: 1\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "app:gone");
    assert_int_equal(g->trials.len, 0);
}

static void a_missing_image_is_passed_over(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "app:gone");
    stage_run(g, TWO(", if_missing: skip") "trials: 2\ncooldown: 5ms\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->trials.len, 4);
    assert_outcome(g, 0, "ok", "");
    assert_outcome(g, 2, "skipped", "no image 'app:gone' on this engine");
    assert_has(stage_text(g, 2, "/reason"), "if_missing: skip");
    assert_string_equal(stage_text(g, 3, "/axes/tag"), "gone");
    assert_non_null(stage_text(g, 3, "/digest"));
    assert_true(isnan(stage_number(g, 3, "/app/restarts")) && isnan(stage_number(g, 3, "/ready_ms")));
    assert_true(isnan(stage_number(g, 3, "/cooldown_ms")));
    assert_int_equal(standin_created(g->engine), 2);
    assert_int_equal(g->summary.executed, 2);
    assert_int_equal(g->summary.by_outcome[OUTCOME_SKIPPED], 2);
    assert_int_equal(steps_called(g, "cooldown"), 1); /* between the two that ran */
    assert_true(stage_said(g, "1 of 2 scenarios are skipped"));
    assert_nothing_left(g);
}

/* What was measured while there was an image stays. */
static void what_is_sealed_is_kept(void **state)
{
    struct stage *g = *state;

    g->sealed = "gone/1";
    standin_no_image(g->engine, "app:gone");
    stage_run(g, TWO(", if_missing: skip") "trials: 1\n");
    assert_int_equal(g->rc, 0);
    assert_int_equal(g->summary.kept, 1);
    assert_int_equal(g->trials.len, 1);
    assert_outcome(g, 0, "ok", "");
}

static void a_service_may_be_missing_too(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "mock:gone");
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\naxes: {tag: [here, gone]}\norder: {mode: listed}\n"
                 "app: {image: 'app:1'}\nservices: {mock: {image: 'mock:${tag}', if_missing: skip}}\n" QUICK);
    assert_int_equal(g->rc, 0);
    assert_outcome(g, 0, "ok", "");
    assert_outcome(g, 1, "skipped", "mock:gone");
}

/* One scenario would pass over it, the other needs it. */
static void one_that_needs_it_decides(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "app:gone");
    stage_run(g, "benchctl: 1\nname: wire\ntrials: 1\naxes: {x: [a, b, c]}\n"
                 "app: {image: 'app:gone', if_missing: skip}\n" QUICK
                 "overrides:\n  - {when: {x: b}, set: {app: {if_missing: fail}}}\n"
                 "  - {when: {x: c}, set: {app: {image: 'app:1'}}}\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(g->trials.len, 0);
}

static void nothing_at_all_to_run(void **state)
{
    struct stage *g = *state;

    standin_no_image(g->engine, "app:here");
    standin_no_image(g->engine, "app:gone");
    stage_run(g, TWO(", if_missing: skip") "trials: 1\n");
    assert_int_equal(g->rc, -1);
    assert_int_equal(g->err.kind, ERROR_ENVIRONMENT);
    assert_has(g->err.message, "app:here");
    assert_has(g->err.message, "app:gone");
    assert_int_equal(g->trials.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_missing_image_stops_the_sweep), STAGE_TEST(a_missing_image_is_passed_over),
        STAGE_TEST(what_is_sealed_is_kept),          STAGE_TEST(a_service_may_be_missing_too),
        STAGE_TEST(one_that_needs_it_decides),       STAGE_TEST(nothing_at_all_to_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
