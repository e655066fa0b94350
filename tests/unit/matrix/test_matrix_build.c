/* SPDX-License-Identifier: MIT */
/* Building as a measurement: what is read, what is refused, and what it is not: an image's recipe. */
#include "fixture.h"

#include "benchctl/base/clock.h"

static void test_defaults(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct matrix *m = read_matrix(
        HEAD REST "axes: {mem: [64m]}\n"
                  "build: {image: 'space/maven:25', memory: '${mem}', steps: [{name: compile, command: [mvn, "
                  "compile], counts: {tests: 'Tests run: ([0-9]+),.*$'}}]}\n");
    struct error err = ERROR_INIT;
    struct settings s;

    (void)state;
    assert_int_equal(resolve(m, NULL, 0, a, &s, NULL, &err), 0);
    const struct build_step_settings *steps = s.build->steps.items;
    assert_int_equal(s.build->steps.len, 1);
    assert_string_equal(steps[0].command.items[1], "compile");
    assert_string_equal(text_map_get(&steps[0].counts, "tests"), "Tests run: ([0-9]+),.*$");
    assert_int_equal(s.build->container.memory_bytes, 64 << 20);
    assert_true(s.build->container.port == SCHEMA_ABSENT && s.build->container.pids == SCHEMA_ABSENT);
    assert_true(s.build->timeout_ns == 600 * NS_PER_S && s.build->every == BUILD_EVERY_SCENARIO);
    assert_null(s.app.build);
    matrix_free(m);
}

/* Where it is not to be measured, an override takes it away. */
static void test_override(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct matrix *m =
        read_matrix(HEAD REST "axes: {x: [a, b]}\nbuild: {image: i, steps: [{name: s, command: c}]}\n"
                              "overrides: [{when: {x: b}, set: {build: null}}]\n");
    struct error err = ERROR_INIT;
    struct settings s;

    (void)state;
    assert_int_equal(resolve(m, NULL, 0, a, &s, NULL, &err), 0);
    assert_non_null(s.build);
    assert_int_equal(resolve(m, NULL, 1, a, &s, NULL, &err), 0);
    assert_null(s.build);
    matrix_free(m);
}

#define STEPS(steps) HEAD REST "build: {image: i, steps: [" steps "]}\n"

static void test_refused(void **state)
{
    (void)state;
    settings_refused(STEPS("{name: a, command: c}, {name: a, command: d}"), "step 'a' is given twice", "");
    settings_refused(STEPS("{name: a b, command: c}"), "cannot be the name of a step", "");
    settings_refused(STEPS("{name: a, command: 'mvn compile'}"), "one word with blanks", "write a list");
    settings_refused(STEPS("{name: a, command: c, counts: {n: '('}}"), "'n'", "");
    settings_refused(HEAD REST "build: {image: i, steps: [{name: a, command: c}], memory: 1m}\n", "memory",
                     "");
    settings_refused(HEAD REST "services: {build: {image: i}}\n", "a service cannot be called 'build'", "");
}

static void test_if_missing(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct matrix *m =
        read_matrix(HEAD "app: {image: i, if_missing: skip}\nservices: {s: {image: j}}\n" LOAD);
    struct error err = ERROR_INIT;
    struct settings s;

    (void)state;
    assert_int_equal(resolve(m, NULL, 0, a, &s, NULL, &err), 0);
    assert_int_equal(s.app.if_missing, IF_MISSING_SKIP);
    assert_int_equal(((const struct container_settings *)s.services.items)->if_missing, IF_MISSING_FAIL);
    matrix_free(m);
    settings_refused(HEAD "app: {image: i, if_missing: pull}\n" LOAD, "if_missing", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_override),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_if_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
