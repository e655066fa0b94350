/* SPDX-License-Identifier: MIT */
/* The order as it comes: whose turn it is, how it goes on after an interruption, and what searches find. */
#include "fixture.h"
#include "written.h"

#include <stdlib.h>

#define MATRIX                                                                                               \
    "benchctl: 1\nname: s\ntrials: 2\napp: {image: x, memory: \"${memory}\"}\n"                              \
    "load: {adapter: idle, duration: 1s}\n"
#define AXES "axes: {f: [a, b, c], r: [jvm, native], memory: {search: {from: 64m, to: 1g}}}\n"

/* What an application of this scenario would do: needs a size of its own. */
static enum outcome play(const struct plan *p, struct planned_trial t)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct scenario s;

    plan_scenario(p, t.scenario, a, &s);
    int need = 100 * (s.id[0] - 'a' + 1) + (strstr(s.id, "jvm") ? 30 : 0),
        size = atoi(strrchr(s.id, '/') + 1);
    size = strstr(s.id, "/1g") ? 1024 : size;
    if (size >= need)
        return OUTCOME_OK;
    return size + 20 >= need && t.trial == 1 ? OUTCOME_OK
                                             : OUTCOME_CRASHED; /* fails in its second trial only */
}

struct told {
    struct planned_trial which;
    enum outcome outcome;
};

/* Plays the whole schedule after the first `done` of `before` have been told again. The caller frees. */
static struct told *play_on(const struct plan *p, const struct told *before, size_t done, size_t *ret_len)
{
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(p);
    VEC(struct told) all = {0};
    struct told t;

    while (plan_schedule_next(s, &t.which)) {
        struct planned_trial again;
        assert_true(plan_schedule_next(s, &again) && again.scenario == t.which.scenario &&
                    again.trial == t.which.trial);
        t.outcome = all.len < done ? before[all.len].outcome : play(p, t.which);
        plan_schedule_tell(s, t.outcome);
        vec_push(&all, t);
    }
    *ret_len = all.len;
    return all.items;
}

static void going_on_at_every_point(void **state)
{
    static const char *const modes[] = {"listed", "interleaved", "random"};

    (void)state;
    for (size_t m = 0; m < ARRAY_LEN(modes); m++) {
        CLEANUP_FREE char *text = xasprintf(MATRIX AXES "order: {mode: %s, seed: 7}\n", modes[m]);
        CLEANUP_VALUE(written_release) struct written w = written_plan(text, "/m/m.yaml");
        CLEANUP_VALUE(written_release) struct written same = written_plan(text, "/m/m.yaml");
        size_t len, again_len;
        CLEANUP_FREE struct told *all = play_on(w.p, NULL, 0, &len);
        assert_true(len > 40 && len <= plan_counts(w.p)->trials);
        for (size_t done = 0; done <= len; done++) {
            CLEANUP_FREE struct told *again = play_on(same.p, all, done, &again_len);
            assert_int_equal(again_len, len);
            for (size_t i = 0; i < len; i++) {
                assert_int_equal(again[i].which.scenario, all[i].which.scenario);
                assert_int_equal(again[i].which.trial, all[i].which.trial);
            }
        }
    }
}

/* A round gives each search that has not ended one turn, and rounds differ. */
static void rounds(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(MATRIX AXES "order: {mode: interleaved, seed: 3}\n", "/m/m.yaml");
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(w.p);
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct planned_trial t;
    struct plan_progress at;
    char order[2][64] = {"", ""};
    size_t round = 0, turns = 0, expected = 6;

    (void)state;
    for (size_t told = 0; plan_schedule_next(s, &t); told++) {
        struct scenario sc;
        plan_scenario(w.p, t.scenario, a, &sc);
        plan_schedule_progress(s, &at);
        assert_int_equal(at.told, told);
        assert_true(at.left_expected <= (double)at.left_at_most);
        if (at.round_begins && told) {
            assert_int_equal(turns, expected);
            round++;
            turns = 0;
        }
        if (at.round_begins)
            expected = (size_t)at.round_trials;
        turns++;
        if (round < 2)
            (void)snprintf(order[round] + strlen(order[round]), 8, "%c%c ", sc.id[0], sc.id[2]);
        plan_schedule_tell(s, play(w.p, t));
    }
    assert_true(round > 6);
    assert_int_equal(strlen(order[0]), 18);
    assert_string_not_equal(order[0], order[1]);
    plan_schedule_progress(s, &at);
    assert_int_equal(at.left_at_most, 0);
    assert_true(at.left_expected == 0);
}

static void one_search_after_the_other(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(MATRIX AXES "order: {mode: listed}\n", "/m/m.yaml");
    size_t len, changes = 0;
    CLEANUP_FREE struct told *all = play_on(w.p, NULL, 0, &len);

    (void)state;
    for (size_t i = 1; i < len; i++) /* 61 sizes each, as written */
        changes += all[i].which.scenario / 61 != all[i - 1].which.scenario / 61;
    assert_int_equal(changes, 5);
    assert_int_equal(all[0].which.scenario, 60); /* the largest first */
}

static void what_they_find(void **state)
{
    CLEANUP_VALUE(written_release) struct written w = written_plan(MATRIX AXES, "/m/m.yaml");
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(w.p);
    CLEANUP(arena_free) struct arena *a = arena_new();
    static const char *const expected[][3] = {
        {"a/jvm", "a/jvm/144m", "a/jvm/128m"}, {"a/native", "a/native/112m", "a/native/96m"},
        {"b/jvm", "b/jvm/240m", "b/jvm/224m"}, {"b/native", "b/native/208m", "b/native/192m"},
        {"c/jvm", "c/jvm/336m", "c/jvm/320m"}, {"c/native", "c/native/304m", "c/native/288m"},
    };
    struct planned_trial t;
    struct plan_finding f;

    (void)state;
    plan_schedule_finding(s, 0, &f);
    assert_true(!f.done && f.passes == SIZE_MAX && f.fails == SIZE_MAX);
    while (plan_schedule_next(s, &t))
        plan_schedule_tell(s, play(w.p, t));
    assert_int_equal(plan_search_count(w.p), 6);
    for (size_t i = 0; i < 6; i++) {
        struct plan_search search;
        struct scenario passes, fails;
        plan_search(w.p, i, a, &search);
        plan_schedule_finding(s, i, &f);
        assert_true(f.done && f.certain && f.probes <= 8 && f.probes <= search.max_probes);
        plan_scenario(w.p, f.passes, a, &passes);
        plan_scenario(w.p, f.fails, a, &fails);
        assert_string_equal(search.id, expected[i][0]);
        assert_string_equal(passes.id, expected[i][1]);
        assert_string_equal(fails.id, expected[i][2]);
        assert_int_equal(f.failed, OUTCOME_CRASHED);
        assert_int_equal(f.failed_trial, i == 5 || i == 0 ? 2 : f.failed_trial);
        assert_string_equal(search.from, "64m");
        assert_string_equal(search.to, "1g");
        assert_true(search.len == 61 && search.max_probes == 8 && search.max_trials == 16);
    }
}

/* Excludes and filters narrow a search, and what they leave need not be even. */
static void narrower(void **state)
{
    static const char *const filters[] = {"memory<=512m", "f!=c"};
    const struct plan_options o = {.filters = filters, .filter_count = 2};
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(
        MATRIX AXES "exclude: [{f: a, r: jvm, memory: [64m, 0.25g, 512m]}, {f: b, r: jvm}]\n", "/m/m.yaml");
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    struct plan_search s;

    (void)state;
    assert_int_equal(plan_search_count(w.p), 5);
    assert_int_equal(plan_make(w.m, &o, &p, &err), 0);
    assert_int_equal(plan_search_count(p), 3);
    plan_search(p, 0, a, &s);
    assert_string_equal(s.id, "a/jvm");
    assert_true(s.len == 26);
    assert_string_equal(s.from, "80m");
    assert_string_equal(s.to, "496m");
    plan_search(p, 2, a, &s);
    assert_string_equal(s.id, "b/native");
    assert_true(s.len == 29);
    assert_int_equal(plan_counts(p)->scenarios, 26 + 29 + 29);
    assert_int_equal(plan_counts(p)->trials, 2 * (7 + 7 + 7));
    for (size_t i = 0; i < s.len; i++) {
        struct scenario sc;
        plan_scenario(p, s.sizes[i], a, &sc);
        assert_true(strncmp(sc.id, "b/native/", 9) == 0 && plan_is_candidate(p, s.sizes[i]));
    }
}

/* A single size left is tried, and that is all. */
static void one_size(void **state)
{
    static const char *const filters[] = {"memory=1024m", "a/native/*"};
    const struct plan_options o = {.filters = filters, .filter_count = 2};
    CLEANUP_VALUE(written_release) struct written w = written_plan(MATRIX AXES, "/m/m.yaml");
    CLEANUP(plan_free) struct plan *p = NULL;
    struct error err = ERROR_INIT;
    size_t len;

    (void)state;
    assert_int_equal(plan_make(w.m, &o, &p, &err), 0);
    CLEANUP_FREE struct told *all = play_on(p, NULL, 0, &len);
    assert_int_equal(len, 2);
    assert_true(all[0].which.trial == 1 && all[1].which.trial == 2);
    assert_true(plan_expected_trials(p) == 2);
}

/* What an include adds is no part of a search: all its trials are run, whatever comes of them. */
static void includes_beside_searches(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(
        MATRIX AXES "include: [{f: a, r: jvm, memory: unlimited}, {f: d, r: jvm, memory: 64m}]\n",
        "/m/m.yaml");
    CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(w.p);
    struct planned_trial t;
    size_t candidates = 6 * 61, of_includes[2] = {0};

    (void)state;
    assert_int_equal(plan_counts(w.p)->scenarios, candidates + 2);
    assert_int_equal(plan_counts(w.p)->trials, 2 * (6 * 8 + 2));
    while (plan_schedule_next(s, &t)) {
        bool included = t.scenario >= candidates;
        assert_int_equal(plan_is_candidate(w.p, t.scenario), !included);
        if (included)
            of_includes[t.scenario - candidates]++;
        plan_schedule_tell(s, included ? OUTCOME_CRASHED : play(w.p, t));
    }
    assert_true(of_includes[0] == 2 && of_includes[1] == 2);
}

/* Without a search it is the order that plan_trial() has. */
static void without_a_search(void **state)
{
    CLEANUP(fixture_free) struct fixture *f = fixture_new();

    (void)state;
    fixture_axis_of(f, "a", 7);
    f->m.trials = 3;
    for (int mode = ORDER_LISTED; mode <= ORDER_RANDOM; mode++) {
        f->m.order = (enum order_mode)mode;
        CLEANUP(plan_free) struct plan *p = fixture_plan(f);
        CLEANUP(plan_schedule_free) struct plan_schedule *s = plan_schedule_new(p);
        struct planned_trial t;
        struct plan_progress at;
        assert_int_equal(plan_search_count(p), 0);
        assert_false(plan_is_candidate(p, 0));
        assert_true(plan_expected_trials(p) == 21);
        for (uint64_t k = 0; k < 21; k++) {
            struct planned_trial expected = plan_trial(p, k);
            plan_schedule_progress(s, &at);
            assert_true(at.told == k && at.left_at_most == 21 - k && at.left_expected == (double)(21 - k));
            uint64_t round = mode == ORDER_LISTED ? 3 : 7; /* listed: all trials of one scenario */
            assert_true(at.round_begins == (k % round == 0) && at.round_trials == round);
            assert_true(at.canaries_told + at.canaries_left + at.round_canaries == 0);
            assert_true(plan_schedule_next(s, &t) && t.scenario == expected.scenario &&
                        t.trial == expected.trial);
            plan_schedule_tell(s, k % 2 ? OUTCOME_ERROR : OUTCOME_OK);
        }
        assert_false(plan_schedule_next(s, &t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(going_on_at_every_point),
        cmocka_unit_test(rounds),
        cmocka_unit_test(one_search_after_the_other),
        cmocka_unit_test(what_they_find),
        cmocka_unit_test(narrower),
        cmocka_unit_test(one_size),
        cmocka_unit_test(includes_beside_searches),
        cmocka_unit_test(without_a_search),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
