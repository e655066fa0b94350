/* SPDX-License-Identifier: MIT */
/* `adapters` of the load section: one word changes the generator. */
#include "fixture.h"

#include "benchctl/base/clock.h"

#define SECTIONS                                                                                             \
    "  warmup: {duration: 1s}\n  env: {A: a}\n  adapters:\n"                                                 \
    "    builtin: {vus: 3, duration: 5s, requests: [{path: /x}], env: {B: b}}\n"                             \
    "    k6: {script: s.js, duration: 7s, script_env: {RATE: '${rate}'}}\n"
#define VARS "vars: {rate: 500}\n"

static const struct load_settings *load_of(const char *adapter, struct matrix **ret_m, struct arena *a)
{
    CLEANUP_FREE char *text = xasprintf(HEAD VARS APP "load:\n  adapter: %s\n" SECTIONS, adapter);
    struct settings *s = arena_new_of(a, struct settings);

    *ret_m = read_matrix(text);
    *s = resolve_ok(*ret_m, NULL, 0, a);
    return &s->load;
}

static void the_chosen_ones_keys_are_the_loads(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct load_settings *l = load_of("builtin", &m, a);

    (void)state;
    assert_true(l->duration_ns == 5 * NS_PER_S && l->warmup->duration_ns == NS_PER_S);
    assert_non_null(l->workload);
    assert_int_equal(l->requests.len, 1);
    assert_null(l->script);
    assert_null(l->adapters);
    assert_string_equal(text_map_get(&l->env, "A"), "a"); /* maps complete each other */
    assert_string_equal(text_map_get(&l->env, "B"), "b");
    assert_string_equal(node_get(l->options, "vus")->text, "3");
}

static void another_has_its_own_and_nothing_of_the_first(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = NULL;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct load_settings *l = load_of("k6", &m, a);

    (void)state;
    assert_string_equal(l->script, "/m/s.js");
    assert_true(l->duration_ns == 7 * NS_PER_S && l->warmup->duration_ns == NS_PER_S);
    assert_null(l->workload);
    assert_int_equal(l->requests.len, 0);
    assert_null(node_get(l->options, "vus"));
    assert_string_equal(node_get(node_get(l->options, "script_env"), "RATE")->text, "500");
    assert_null(text_map_get(&l->env, "B"));
}

static void one_without_a_section_has_what_holds_for_all(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD APP "load: {adapter: wrk, duration: 2s, adapters: {k6: {script: s.js}, "
                             "builtin: ~}}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct load_settings l = resolve_ok(m, NULL, 0, a).load;

    (void)state;
    assert_null(l.script);
    assert_true(!l.options || l.options->len == 0);
}

/* The resolved tree, from which the scenario's digest and the records are made, has nothing of the others. */
static void the_settings_do_not_know_the_others(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *with = read_matrix(
        HEAD APP "load: {adapter: wrk, adapters: {wrk: {duration: 2s, threads: 1}, k6: {script: s.js}}}\n");
    CLEANUP(matrix_free)
    struct matrix *plain = read_matrix(HEAD APP "load: {adapter: wrk, duration: 2s, threads: 1}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *one = NULL, *other = NULL;
    struct settings s;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(resolve(with, NULL, 0, a, &s, &one, &err), 0);
    assert_int_equal(resolve(plain, NULL, 0, a, &s, &other, &err), 0);
    assert_true(node_equal(node_get(one, "load"), node_get(other, "load")));
}

static void an_axis_chooses(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD APP "axes: {generator: [wrk, hey]}\nload: {adapter: '${generator}', adapters: "
                             "{wrk: {duration: 2s}, hey: {duration: 3s}}}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    assert_true(resolve_ok(m, (size_t[]){0}, 0, a).load.duration_ns == 2 * NS_PER_S);
    assert_true(resolve_ok(m, (size_t[]){1}, 0, a).load.duration_ns == 3 * NS_PER_S);
}

static void an_override_reaches_into_a_section(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD APP "axes: {x: [a]}\nload: {adapter: wrk, adapters: {wrk: {duration: 2s}}}\noverrides:\n"
                 "  - {when: {x: a}, set: {load: {adapters: {wrk: {duration: 4s}, hey: {duration: 9s}}}}}\n"
                 "  - {when: {x: a}, set: {load: {adapter: hey}}}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    assert_true(resolve_ok(m, NULL, 0, a).load.duration_ns == 2 * NS_PER_S);
    assert_true(resolve_ok(m, NULL, 1, a).load.duration_ns == 4 * NS_PER_S);
    assert_true(resolve_ok(m, NULL, 3, a).load.duration_ns == 9 * NS_PER_S);
}

static void wrong_sections_are_said(void **state)
{
    static const struct {
        const char *load, *message, *hint;
    } wrong[] = {
        {"{adapter: wrk, duration: 1s, adapters: {wrk: {duration: 2s}}}",
         "/m/m.yaml:4:", "load.adapters.wrk.duration"},
        {"{adapter: wrk, duration: 1s, adapters: {wrk: {duration: 2s}}}",
         "'duration' is said twice: for the adapter 'wrk', and for all in line 4", "leave one of them away"},
        {"{adapter: wrk, duration: 1s, adapters: {wrk: {adapter: hey}}}",
         "'adapter' cannot stand in the section of an adapter", ""},
        {"{adapter: wrk, duration: 1s, adapters: [wrk]}", "'adapters' must be a map", "for instance"},
        {"{adapter: wrk, duration: 1s, adapters: {hey: 3}}", "'hey' must be a map", ""},
        {"{adapter: builtin, duration: 1s, adapters: {buitlin: {vus: 3}}}",
         "section 'buitlin' is not that of the adapter, 'builtin'", "did you mean 'builtin'?"},
        {"{adapter: wrk, adapters: {wrk: {threads: 1}}}", "'duration' is missing", "duration: 30s"},
        {"{adapter: wrk, duration: 1s, adapters: {wrk: {requests: [{path: /}]}}}",
         "'requests' is for the built-in generator", "adapters: {builtin: {requests: ...}}"},
        {"{adapter: builtin, adapters: {builtin: {duration: 1s, scrpt: x}}}",
         "unknown key 'scrpt' in the load section", "script"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CLEANUP_FREE char *text = xasprintf(HEAD APP "load: %s\n", wrong[i].load);
        settings_refused(text, wrong[i].message, wrong[i].hint);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chosen_ones_keys_are_the_loads),
        cmocka_unit_test(another_has_its_own_and_nothing_of_the_first),
        cmocka_unit_test(one_without_a_section_has_what_holds_for_all),
        cmocka_unit_test(the_settings_do_not_know_the_others),
        cmocka_unit_test(an_axis_chooses),
        cmocka_unit_test(an_override_reaches_into_a_section),
        cmocka_unit_test(wrong_sections_are_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
