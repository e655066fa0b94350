/* SPDX-License-Identifier: MIT */
/* The canary: when its turn comes, what it runs, and what it must not be called. */
#include "benchctl/base/clock.h"
#include "fixture.h"
#include "written.h"

#define MATRIX                                                                                               \
    "benchctl: 1\nname: c\ntrials: 3\napp: {image: \"${f}\", port: 80, memory: 64m}\n"                       \
    "load: {adapter: idle, duration: 5s}\n"
#define AXES "axes: {f: [a, b, c, d]}\n"

/* "C" for a canary, "t" for a trial. The caller frees. */
static char *turns(const struct plan *p, size_t end_after)
{
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(p);
    struct strbuf out = STRBUF_INIT;
    struct planned_trial t;
    uint64_t trials = 0, canaries = 0;
    struct plan_progress at;

    while (plan_schedule_next(s, &t)) {
        bool canary = t.scenario == PLAN_CANARY;
        plan_schedule_progress(s, &at);
        assert_true(at.told == trials && at.canaries_told == canaries);
        if (canary)
            assert_int_equal(t.trial, ++canaries);
        else
            trials++;
        if (!plan_search_count(p) && !end_after)
            assert_true(at.canaries_told + at.canaries_left == plan_counts(p)->canaries);
        strbuf_addc(&out, canary ? 'C' : 't');
        plan_schedule_tell(s, OUTCOME_OK);
        if (trials == end_after && end_after)
            plan_schedule_end(s);
    }
    return strbuf_detach(&out);
}

static void at_the_begin_every_so_often_and_at_the_end(void **state)
{
    static const struct {
        const char *canary, *turns;
    } cases[] = {
        {"canary: {every: 5}\n", "CtttttCtttttCttC"},
        {"canary: {every: 4}\n", "CttttCttttCttttC"}, /* the last one is the end's */
        {"canary: {every: 12}\n", "CttttttttttttC"},
        {"canary: {every: 1000}\n", "CttttttttttttC"},
        {"canary: {every: 1}\n", "CtCtCtCtCtCtCtCtCtCtCtCtC"},
        {"", "tttttttttttt"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (int mode = 0; mode < 3; mode++) {
            static const char *const modes[] = {"listed", "interleaved", "random"};
            CLEANUP_FREE char *text =
                xasprintf(MATRIX AXES "%sorder: {mode: %s, seed: 3}\n", cases[i].canary, modes[mode]);
            CLEANUP_VALUE(written_release) struct written w = written_plan(text, "/m/m.yaml");
            CLEANUP_FREE char *found = turns(w.p, 0);
            assert_string_equal(found, cases[i].turns);
            assert_int_equal(plan_counts(w.p)->trials, 12);
        }
}

/* A budget: one for the end, unless the last one is the latest. */
static void an_early_end_has_one_too(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(MATRIX AXES "canary: {every: 4}\n", "/m/m.yaml");
    CLEANUP_FREE char *in_between = turns(w.p, 6), *behind_one = turns(w.p, 4);

    (void)state;
    assert_string_equal(in_between, "CttttCttC");
    assert_string_equal(behind_one, "CttttC");
}

/* The trials' own order is what it is without a canary. */
static void the_others_keep_their_order(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written with = written_plan(MATRIX AXES "canary: {every: 2}\n", "/m/m.yaml");
    CLEANUP_VALUE(written_release) struct written without = written_plan(MATRIX AXES, "/m/m.yaml");
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(with.p);
    struct planned_trial t;
    uint64_t k = 0;

    (void)state;
    for (; plan_schedule_next(s, &t); plan_schedule_tell(s, OUTCOME_CRASHED)) {
        if (t.scenario == PLAN_CANARY)
            continue;
        struct planned_trial expected = plan_trial(without.p, k++);
        assert_true(t.scenario == expected.scenario && t.trial == expected.trial);
    }
    assert_int_equal(k, 12);
}

static void it_runs_a_scenario_with_settings_of_its_own(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(MATRIX AXES "canary: {every: 2, scenario: c, band: 5 %, metric: "
                                                "load.latency_ms.p99, set: {load: {duration: 1s}}}\n",
                                    "/m/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario s;
    struct resolved canary, base;

    (void)state;
    plan_scenario(w.p, PLAN_CANARY, a, &s);
    assert_string_equal(s.id, "canary");
    assert_string_equal(s.values[0]->text, "c");
    assert_string_equal(plan_canary_base(w.p, a), "c");
    written_resolve(&w, PLAN_CANARY, a, &canary);
    written_resolve(&w, 2, a, &base);
    assert_string_equal(canary.settings.app.image, "c");
    assert_true(canary.settings.load.duration_ns == NS_PER_S &&
                base.settings.load.duration_ns == 5 * NS_PER_S);
    assert_string_not_equal(canary.digest, base.digest);
    assert_true(w.m->canary->band == 0.05);
}

static void filters_do_not_take_it_away(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *text = MATRIX AXES "canary: {every: 2, scenario: d}\n", *const filters[] = {"f=a,b"};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(matrix_parse(text, strlen(text), "/m/m.yaml", NULL, &m, &err), 0);
    assert_int_equal(plan_make(m, &(struct plan_options){.filters = filters, .filter_count = 1}, &p, &err),
                     0);
    assert_string_equal(plan_canary_base(p, a), "d");
    assert_int_equal(plan_counts(p)->scenarios, 2);
}

static void by_default_what_no_search_decides_about(void **state)
{
#define SEARCH "axes: {f: [a, b], memory: {search: {from: 64m, to: 256m, step: 64m}}}\n"
    CLEANUP_VALUE(written_release)
    struct written all = written_plan(MATRIX SEARCH "canary: {every: 3}\n", "/m/m.yaml");
    CLEANUP_VALUE(written_release)
    struct written added =
        written_plan(MATRIX SEARCH "include: [{f: x, memory: 1g}]\ncanary: {every: 3}\n", "/m/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_FREE char *found = turns(added.p, 0);

    (void)state;
    assert_string_equal(plan_canary_base(all.p, a), "a/256m"); /* the likeliest to do */
    assert_string_equal(plan_canary_base(added.p, a), "x/1g");
    for (const char *c = found; *c; c++) /* never more than three between two */
        assert_true(strncmp(c, "tttt", 4) != 0);
    assert_true(found[0] == 'C' && found[strlen(found) - 1] == 'C' && !strstr(found, "CC"));
}

static void refused(const char *text, const char *message)
{
    struct error err = ERROR_INIT;
    struct written w;

    if (written_try(text, "/m/m.yaml", &w, &err) == 0)
        fail_msg("accepted: wanted %s", message);
    assert_has(err.message, message);
    written_release(&w);
}

static void names_that_collide_and_other_mistakes(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written none = written_plan(MATRIX "axes: {f: [stable, canary]}\n", "/m/m.yaml");
    CLEANUP_VALUE(written_release)
    struct written behind =
        written_plan(MATRIX "axes: {r: [x, y], f: [stable, canary]}\ncanary: {every: 2}\n", "/m/m.yaml");

    (void)state;
    assert_int_equal(plan_counts(none.p)->scenarios, 2);
    assert_int_equal(plan_counts(behind.p)->scenarios, 4);
    refused(MATRIX "axes: {f: [stable, canary]}\ncanary: {every: 2}\n", "'canary' of axis 'f' begins an id");
    refused(MATRIX "axes: {f: [stable, canary], g: [x, y]}\ncanary: {every: 2}\n", "begins an id");
    refused(MATRIX AXES "canary: {every: 2, scenario: z}\n", "there is no scenario 'z'");
    refused(MATRIX AXES "canary: {every: 0}\n", "'every' must be from 1");
    refused(MATRIX AXES "canary: {scenario: a}\n", "'every' is missing");
    refused(MATRIX AXES "canary: {every: 2, band: 5}\n", "'band': '5' is no percentage");
    refused(MATRIX AXES "canary: {every: 2, band: -5%}\n", "is no percentage");
    refused(MATRIX AXES "canary: {every: 2, metric: speed}\n", "no trial records 'speed'");
    refused(MATRIX AXES "canary: {every: 2, set: {trials: 5}}\n", "the canary cannot set 'trials'");
    refused(MATRIX AXES "exclude: [{f: b}]\ncanary: {every: 2, scenario: b}\n", "there is no scenario 'b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_the_begin_every_so_often_and_at_the_end),
        cmocka_unit_test(an_early_end_has_one_too),
        cmocka_unit_test(the_others_keep_their_order),
        cmocka_unit_test(it_runs_a_scenario_with_settings_of_its_own),
        cmocka_unit_test(filters_do_not_take_it_away),
        cmocka_unit_test(by_default_what_no_search_decides_about),
        cmocka_unit_test(names_that_collide_and_other_mistakes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
