/* SPDX-License-Identifier: MIT */
/* `contrasts`: what a sweep is to answer, said beforehand. */
#include "fixture.h"

#define AXES "axes: {framework: [a, b], stack: [x, y], memory: [64m, 128m]}\n"

static void an_axis_within_all_others(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD REST AXES "contrasts:\n  - stack within framework, memory\n"
                                                  "  - 'framework within memory ,stack'\n  - memory\n");

    (void)state;
    assert_int_equal(m->contrast_count, 3);
    assert_int_equal(m->contrasts[0].axis, 1);
    assert_string_equal(m->contrasts[0].text, "stack within framework, memory");
    assert_true(m->contrasts[1].axis == 0 && m->contrasts[2].axis == 2);
    assert_true(m->contrasts[0].by == SIZE_MAX);
}

static void one_axis_by_another(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD REST AXES "contrasts:\n  - stack x memory\n  - stack\n"
                                                  "  - framework x stack within memory\n");

    (void)state;
    assert_int_equal(m->contrast_count, 3);
    assert_true(m->contrasts[0].axis == 1 && m->contrasts[0].by == 2);
    assert_true(m->contrasts[1].axis == 1 && m->contrasts[1].by == SIZE_MAX);
    assert_true(m->contrasts[2].axis == 0 && m->contrasts[2].by == 1);
}

static void none_is_fine(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = read_matrix(HEAD REST AXES "contrasts: []\n");

    (void)state;
    assert_int_equal(m->contrast_count, 0);
}

static void what_is_no_question_is_said(void **state)
{
    static const struct {
        const char *contrasts, *message, *hint;
    } wrong[] = {
        {"stack", "'contrasts' is a list", "stack within framework"},
        {"[{a: b}]", "a contrast is a text", "stack within"},
        {"[stak]", "/m/m.yaml:6:13: contrasts: unknown axis 'stak'", "did you mean 'stack'?"},
        {"[stack within framework]", "nothing is said of axis 'memory'", "all axes but the compared one"},
        {"['stack within framework, memroy']", "unknown axis 'memroy'", "did you mean 'memory'?"},
        {"['stack within framework, memory, memory']", "axis 'memory' is named twice", ""},
        {"['stack within framework, memory, stack']", "axis 'stack' is named twice", ""},
        {"[stack x stack]", "axis 'stack' stands on both sides of the x", ""},
        {"[stack x memroy]", "unknown axis 'memroy'", "did you mean 'memory'?"},
        {"[stack x memory, stack x memory within framework]", "axis 'stack' is compared twice", ""},
        {"[stack, 'stack within framework, memory']", "axis 'stack' is compared twice", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CLEANUP_FREE char *text = xasprintf(HEAD REST AXES "contrasts: %s\n", wrong[i].contrasts);
        matrix_refused(text, wrong[i].message, wrong[i].hint);
    }
    matrix_refused(HEAD REST "axes: {only: [a], x: [b, c]}\ncontrasts: [only within x]\n",
                   "axis 'only' has one value only", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_axis_within_all_others),
        cmocka_unit_test(one_axis_by_another),
        cmocka_unit_test(none_is_fine),
        cmocka_unit_test(what_is_no_question_is_said),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
