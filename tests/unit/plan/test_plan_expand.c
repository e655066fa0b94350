/* SPDX-License-Identifier: MIT */
/* Product, zip, exclude, include and overrides: what becomes a scenario, and what is an error. */
#include "fixture.h"

static void last_axis_is_fastest(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2,3");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "x/1 x/2 x/3 y/1 y/2 y/3 ");
    assert_int_equal(plan_counts(p)->product, 6);
    assert_int_equal(plan_counts(p)->trials, 6);
    assert_ptr_equal(plan_matrix(p), &f->m);
}

static void no_axes_is_one_scenario(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    size_t index = 7;
    fixture_override(f, "");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "default ");
    assert_int_equal(plan_find(p, "default", &index), 0);
    assert_int_equal(index, 0);
}

static void zipped_axes_advance_together(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "image", "a,b");
    fixture_axis(f, "memory", "1m,2m");
    fixture_axis(f, "tag", "ta,tb");
    fixture_zip(f, "tag,image");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "a/1m/ta a/2m/ta b/1m/tb b/2m/tb ");
    assert_int_equal(plan_counts(p)->product, 8);
    assert_int_equal(plan_counts(p)->zipped_away, 4);
}

static void zip_mistakes(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2,3");
    fixture_axis(f, "c", "1,2");
    fixture_zip(f, "a,b");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "'a' has 2 values, 'b' has 3");
    f->m.zip.len = 0;
    fixture_zip(f, "a");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "at least two axes");
    f->m.zip.len = 0;
    fixture_zip(f, "a,c");
    fixture_zip(f, "c,a");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "'c' is zipped twice");
}

static void excludes_drop_what_matches_all_keys(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "framework", "spring,quarkus");
    fixture_axis(f, "stack", "jpa,jdbc");
    fixture_axis(f, "memory", "256m,512m,1g");
    fixture_exclude(f, "framework=quarkus;memory=256m");
    fixture_exclude(f, "memory=1g,512m;stack=jdbc");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(
        p, "spring/jpa/256m spring/jpa/512m spring/jpa/1g spring/jdbc/256m quarkus/jpa/512m quarkus/jpa/1g ");
    assert_int_equal(plan_counts(p)->product, 12);
    assert_int_equal(plan_counts(p)->excluded, 6);
    assert_int_equal(plan_counts(p)->scenarios, 6);
}

/* A rule that only repeats what an earlier one drops does match combinations, so it is redundant but no
 * mistake. */
static void excludes_may_overlap(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_exclude(f, "a=x");
    fixture_exclude(f, "a=x;b=1");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "y/1 y/2 ");
}

static void exclude_that_no_zipped_combination_has(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_zip(f, "a,b");
    fixture_exclude(f, "a=x;b=1");
    fixture_exclude(f, "a=x;b=2");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "m.yaml:13:5: this exclude matches no combination");
}

static void everything_excluded(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_exclude(f, "a=x");
    fixture_exclude(f, "a=y");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID,
                      "m.yaml:12:5: the excludes up to this one drop every combination");
    f->m.exclude_count = 0;
    fixture_exclude(f, "a=x,y");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "m.yaml:13:5: this exclude matches every combination");
    fixture_include(f, "z");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "z ");
}

static void includes_add_whole_scenarios(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    size_t index;
    fixture_axis(f, "framework", "spring,quarkus");
    fixture_axis(f, "memory", "256m,512m");
    fixture_include(f, "spring/384m");
    fixture_include(f, "helidon/384m");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "spring/256m spring/512m quarkus/256m quarkus/512m spring/384m helidon/384m ");
    assert_int_equal(plan_counts(p)->included, 2);
    assert_int_equal(plan_find(p, "helidon/384m", &index), 0);
    assert_int_equal(index, 5);
    assert_int_equal(plan_find(p, "helidon/256m", &index), -1);
    assert_int_equal(plan_find(p, "quarkus/384m", &index), -1);
}

static void include_outside_the_zip_is_new(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_zip(f, "a,b");
    fixture_include(f, "x/2");
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "x/1 y/2 x/2 ");
}

static void include_mistakes(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_exclude(f, "a=x");
    fixture_include(f, "y/1");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID,
                      "m.yaml:13:5: duplicate scenario: 'y/1' is already a combination");
    f->m.include_count = 0;
    fixture_include(f, "x/1");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID,
                      "m.yaml:14:5: this include is dropped by the exclude at m.yaml:12:5");
    f->m.include_count = 0;
    fixture_include(f, "x/3");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID,
                      "m.yaml:15:5: this include is dropped by the exclude at m.yaml:12:5");
    f->m.include_count = 0;
    fixture_include(f, "z/1");
    fixture_include(f, "z/2");
    fixture_include(f, "z/1");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID,
                      "m.yaml:18:5: duplicate scenario: 'z/1' is already included at m.yaml:16:5");
}

static void overrides_must_match_a_scenario(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_exclude(f, "a=y;b=2");
    fixture_override(f, "a=y");
    fixture_override(f, "");
    fixture_override(f, "b=2;a=x,y");
    bool flags[3];
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_ids(p, "x/1 x/2 y/1 ");
    plan_overrides(p, 1, flags);
    assert_true(!flags[0] && flags[1] && flags[2]);
    plan_overrides(p, 2, flags);
    assert_true(flags[0] && flags[1] && !flags[2]);
    fixture_override(f, "a=y;b=2");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "m.yaml:16:5: this override matches no scenario");
}

static void override_only_for_an_include(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "x,y");
    fixture_axis(f, "b", "1,2");
    fixture_zip(f, "a,b");
    fixture_override(f, "a=x;b=2");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "this override matches no scenario");
    fixture_include(f, "x/2");
    bool flag = false;
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    plan_overrides(p, 2, &flag);
    assert_true(flag);
}

/* More rules than one sieve holds, the bad one among the last. */
static void thousands_of_rules(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis_of(f, "a", 100);
    fixture_axis_of(f, "b", 100);
    for (int i = 0; i < 3000; i++)
        fixture_exclude(f, arena_printf(f->m.arena, "a=v%d;b=v%d", i / 60, i % 60));
    for (int i = 0; i < 2000; i++)
        fixture_override(f, arena_printf(f->m.arena, "a=v%d;b=v%d", i / 30, 60 + i % 30));
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_int_equal(plan_counts(p)->excluded, 3000);
    assert_int_equal(plan_counts(p)->scenarios, 7000);
    fixture_override(f, "a=v49;b=v59");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "this override matches no scenario");
    f->m.override_count = 0;
    fixture_include(f, "v3/other");
    fixture_exclude(f, "a=v3");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "this include is dropped by the exclude");
}

static void axis_mistakes(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    fixture_axis(f, "a", "");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "m.yaml:10:5: axis 'a' has no values");
    f->m.axis_count = 0;
    fixture_axis(f, "a", "x,y,x");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "axis 'a' lists 'x' twice");
    f->m.axis_count = 0;
    fixture_axis(f, "a", "x,,y");
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "axis 'a' has an empty value");
}

static void products_do_not_overflow(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    for (int i = 0; i < 40; i++)
        fixture_axis_of(f, arena_printf(f->m.arena, "a%d", i), 1000);
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "more than 10000000 combinations");
    /* all of them zipped into one dimension: 1000 scenarios, of a product that no integer holds */
    struct strbuf all = STRBUF_INIT;
    for (int i = 0; i < 40; i++)
        strbuf_addf(&all, "%sa%d", i ? "," : "", i);
    fixture_zip(f, strbuf_text(&all));
    strbuf_release(&all);
    CLEANUP(plan_free) struct plan *p = fixture_plan(f);
    assert_int_equal(plan_counts(p)->scenarios, 1000);
    assert_true(plan_counts(p)->product == UINT64_MAX);
    f->m.trials = 2000000;
    assert_plan_fails(f, 0, NULL, ERROR_INVALID, "are more than 1000000000 trials");
}

struct fates {
    struct strbuf text;
};

static int note_fate(const struct plan_explanation *e, void *data, struct error *err)
{
    struct fates *fates = data;

    (void)err;
    strbuf_addf(&fates->text, "%s:%s", e->id, e->include ? "included" : "");
    if (e->fate == PLAN_EXCLUDED)
        strbuf_addf(&fates->text, "excluded by %zu", e->exclude);
    if (e->fate == PLAN_FILTERED)
        strbuf_addf(&fates->text, "filtered by %s", e->filter);
    if (e->overrides[0])
        strbuf_adds(&fates->text, " changed");
    strbuf_addc(&fates->text, '\n');
    return 0;
}

static void explanations_name_the_rule(void **state)
{
    (void)state;
    CLEANUP(fixture_free) struct fixture *f = fixture_new();
    struct fates fates = {0};
    struct error err = ERROR_INIT;
    const char *filters[] = {"a!=z"};
    fixture_axis(f, "a", "x,y,z");
    fixture_axis(f, "b", "1,2");
    fixture_exclude(f, "a=x;b=2");
    fixture_exclude(f, "b=2;a=x,y");
    fixture_override(f, "a=y");
    fixture_include(f, "y/3");
    CLEANUP(plan_free) struct plan *p = fixture_plan_filtered(f, 1, filters);
    assert_int_equal(plan_explain(p, note_fate, &fates, &err), 0);
    assert_string_equal(strbuf_text(&fates.text), "x/1:\n"
                                                  "x/2:excluded by 0\n"
                                                  "y/1: changed\n"
                                                  "y/2:excluded by 1 changed\n"
                                                  "z/1:filtered by a!=z\n"
                                                  "z/2:filtered by a!=z\n"
                                                  "y/3:included changed\n");
    strbuf_release(&fates.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_axis_is_fastest),
        cmocka_unit_test(no_axes_is_one_scenario),
        cmocka_unit_test(zipped_axes_advance_together),
        cmocka_unit_test(zip_mistakes),
        cmocka_unit_test(excludes_drop_what_matches_all_keys),
        cmocka_unit_test(excludes_may_overlap),
        cmocka_unit_test(exclude_that_no_zipped_combination_has),
        cmocka_unit_test(everything_excluded),
        cmocka_unit_test(includes_add_whole_scenarios),
        cmocka_unit_test(include_outside_the_zip_is_new),
        cmocka_unit_test(include_mistakes),
        cmocka_unit_test(overrides_must_match_a_scenario),
        cmocka_unit_test(override_only_for_an_include),
        cmocka_unit_test(thousands_of_rules),
        cmocka_unit_test(axis_mistakes),
        cmocka_unit_test(products_do_not_overflow),
        cmocka_unit_test(explanations_name_the_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
