/* SPDX-License-Identifier: MIT */
/* Twins of one scenario: in every round, with its values, and a handicap. */
#include "fixture.h"
#include "written.h"

#define MATRIX                                                                                               \
    "benchctl: 1\nname: c\naxes: {f: [a, b, c]}\ntrials: 4\n"                                                \
    "app: {image: \"${f}\", port: 80, memory: 64m, cpus: 2}\nload: {adapter: idle, duration: 5s}\n"
#define BOTH "controls: {aa: true, handicap: {cpus: half}, scenario: b}\n"

static void they_take_part_in_every_round(void **state)
{
    CLEANUP_VALUE(written_release)
    struct written w = written_plan(MATRIX BOTH "order: {mode: interleaved, seed: 7}\n", "/m/m.yaml");
    const struct plan_counts *c = plan_counts(w.p);

    (void)state;
    assert_true(c->scenarios == 5 && c->controls == 2 && c->trials == 20);
    for (uint64_t round = 0; round < 4; round++) {
        bool seen[5] = {false};
        for (uint64_t k = 0; k < 5; k++) {
            struct planned_trial t = plan_trial(w.p, 5 * round + k);
            assert_int_equal(t.trial, round + 1);
            assert_false(seen[t.scenario]);
            seen[t.scenario] = true;
        }
    }
}

static void they_are_the_scenario_but_for_the_handicap(void **state)
{
    CLEANUP_VALUE(written_release) struct written w = written_plan(MATRIX BOTH, "/m/m.yaml");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    struct resolved base, aa, handicap;
    struct scenario s;
    size_t i;

    (void)state;
    assert_string_equal(plan_control_base(w.p, a), "b");
    assert_int_equal(plan_find(w.p, "b", &i), 0);
    assert_int_equal(plan_control(w.p, i), PLAN_NO_CONTROL);
    assert_null(plan_control_name(plan_control(w.p, i)));
    assert_int_equal(plan_resolve(w.p, i, a, &base, &err), 0);
    assert_int_equal(plan_find(w.p, PLAN_AA_ID, &i), 0);
    assert_int_equal(plan_control(w.p, i), PLAN_AA);
    assert_int_equal(plan_resolve(w.p, i, a, &aa, &err), 0);
    plan_scenario(w.p, i, a, &s);
    assert_string_equal(s.id, PLAN_AA_ID);
    assert_string_equal(s.values[0]->text, "b");
    assert_string_equal(aa.digest, base.digest);
    assert_int_equal(plan_find(w.p, PLAN_HANDICAP_ID, &i), 0);
    assert_int_equal(plan_control(w.p, i), PLAN_HANDICAP);
    assert_int_equal(plan_resolve(w.p, i, a, &handicap, &err), 0);
    assert_string_equal(handicap.settings.app.image, "b");
    assert_true(handicap.settings.app.cpus == 1 && handicap.settings.app.memory_bytes == 64 << 20);
    assert_string_not_equal(handicap.digest, base.digest);
}

static void by_default_the_first_that_filters_leave(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    const char *filters[] = {"f!=a"};
    const struct plan_options o = {.filters = filters, .filter_count = 1};
    const char *text = MATRIX "controls: {handicap: {cpus: 0.25}}\n";
    struct settings s;

    (void)state;
    assert_int_equal(matrix_parse(text, strlen(text), "/m/m.yaml", NULL, &m, &err), 0);
    assert_int_equal(plan_make(m, &o, &p, &err), 0);
    assert_true(plan_counts(p)->scenarios == 3 && plan_counts(p)->controls == 1);
    assert_string_equal(plan_control_base(p, a), "b");
    assert_int_equal(plan_settings(p, 2, a, &s, &err), 0);
    assert_true(s.app.cpus == 0.25);
}

/* Wrong when it is planned, or when the settings are asked for. */
static void refused(const char *text, const char *message, const char *hint)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(plan_free) struct plan *p = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct error err = ERROR_INIT;
    struct settings s;
    int result = matrix_parse(text, strlen(text), "/m/m.yaml", NULL, &m, &err);

    if (result == 0)
        result = plan_make(m, NULL, &p, &err);
    for (size_t i = 0; result == 0 && i < plan_counts(p)->scenarios; i++)
        result = plan_settings(p, i, a, &s, &err);
    if (result == 0)
        fail_msg("accepted, wanted: %s", message);
    assert_has(err.message, message);
    assert_has(err.hint, hint);
}

static void what_cannot_be_is_said(void **state)
{
    (void)state;
    refused(MATRIX "controls: {}\n", "neither 'aa' nor 'handicap'", "controls: {aa: true");
    refused(MATRIX "controls: {aa: true, scenario: d}\n",
            "/m/m.yaml:7:11: controls: there is no scenario 'd'", "plan");
    refused(MATRIX "controls: {handicap: {cpus: much}}\n", "'much' is no number of CPUs", "half");
    refused(MATRIX "controls: {handicap: {cpus: 2}}\n", "the handicap is none", "fewer");
    refused(MATRIX "controls: {handicap: {}}\n", "'cpus' is missing", "");
    refused("benchctl: 1\nname: c\napp: {image: i, port: 80}\nload: {adapter: idle, duration: 5s}\n"
            "controls: {handicap: {cpus: half}}\n",
            "half of app.cpus, which the scenario does not have", "in scenario 'control-handicap'");
    refused("benchctl: 1\nname: c\naxes: {f: [control-aa, b]}\napp: {image: '${f}', port: 80}\n"
            "load: {adapter: idle, duration: 5s}\ncontrols: {aa: true}\n",
            "begins an id as a control's trials do", "another name");
    refused("benchctl: 1\nname: c\naxes: {memory: {search: {from: 16m, to: 64m, step: 16m, until: ok}}}\n"
            "app: {image: i, port: 80, memory: '${memory}'}\nload: {adapter: idle, duration: 5s}\ncontrols: "
            "{aa: true}\n",
            "exclude each other", "no rounds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_take_part_in_every_round),
        cmocka_unit_test(they_are_the_scenario_but_for_the_handicap),
        cmocka_unit_test(by_default_the_first_that_filters_leave),
        cmocka_unit_test(what_cannot_be_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
