/* SPDX-License-Identifier: MIT */
#include "fixture.h"

static void plain_and_structured_values(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD REST "axes:\n  framework: [micronaut, \"no\", 3.10, 0128]\n  "
                                             "runtime:\n    - {name: native, tag: n-1}\n    - {name: jvm}\n"
                                             "  memory: 256m\n  x-list: [a]\n");

    (void)state;
    assert_int_equal(m->axis_count, 3);
    assert_string_equal(m->axes[0].name, "framework");
    assert_int_equal(m->axes[0].len, 4);
    assert_string_equal(m->axes[0].values[1].text, "no");
    assert_string_equal(m->axes[0].values[2].text, "3.10");
    assert_string_equal(m->axes[0].values[3].text, "0128");
    assert_null(m->axes[0].values[0].fields);
    assert_string_equal(m->axes[1].values[0].text, "native");
    assert_string_equal(node_get(m->axes[1].values[0].fields, "tag")->text, "n-1");
    assert_int_equal(m->axes[1].values[1].at.line, 9);
    assert_int_equal(m->axes[2].len, 1);
    assert_string_equal(m->axes[2].values[0].text, "256m");
}

static void bad_axes(void **state)
{
    (void)state;
    matrix_refused(HEAD REST "axes: [a]", "m.yaml:5:7: 'axes' must be a map", "");
    matrix_refused(HEAD REST "axes: {a: {b: c}}", "m.yaml:5:11: axis 'a' must be a list of values", "");
    matrix_refused(HEAD REST "axes: {a: []}", "m.yaml:5:11: axis 'a' has no values", "");
    matrix_refused(HEAD REST "axes: {a: ~}", "axis 'a' must be a list of values", "");
    matrix_refused(HEAD REST "axes: {a: [x, ~]}", "m.yaml:5:15: axis 'a' has an empty value", "quotes");
    matrix_refused(HEAD REST "axes: {a: [x, '']}", "axis 'a' has an empty value", "");
    matrix_refused(HEAD REST "axes: {a: [[x]]}", "must be text or a map with a name, not a list", "");
    matrix_refused(HEAD REST "axes: {a: [{tag: x}]}",
                   "m.yaml:5:12: a value of axis 'a' with fields needs a 'name'", "{name: jvm");
    matrix_refused(HEAD REST "axes: {a: [{name: [x]}]}", "the name of a value of axis 'a' must be text", "");
    matrix_refused(HEAD REST "axes: {a: [x, {name: x}]}", "axis 'a' has the value 'x' twice, first on line 5",
                   "");
    matrix_refused(HEAD REST "axes: {a.b: [x]}", "m.yaml:5:8: 'a.b' cannot be the name of an axis",
                   "letters");
    matrix_refused(HEAD REST "axes: {9a: [x]}", "cannot be the name of an axis", "");
    matrix_refused(HEAD REST "axes: {a: ['${app.host}']}",
                   "a value of axis 'a' cannot depend on what is known only later", "");
    matrix_refused(HEAD REST "vars: {a: 1}\naxes: {a: [x]}", "'a' is both an axis and one of vars", "rename");
    struct strbuf many = STRBUF_INIT;
    strbuf_adds(&many, HEAD REST "axes:\n");
    for (int i = 0; i < 65; i++)
        strbuf_addf(&many, "  a%d: [x]\n", i);
    matrix_refused(strbuf_text(&many), "more than 64 axes", "");
    strbuf_release(&many);
}

static void zipped_axes(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD REST "axes: {a: [1, 2], b: [3, 4], c: [5]}\nzip: [[a, b]]\n");

    (void)state;
    assert_int_equal(m->zip.len, 1);
    const struct zip_group *g = m->zip.items;
    assert_true(g->len == 2 && g->axes[0] == 0 && g->axes[1] == 1);
    matrix_refused(HEAD REST "axes: {a: [1, 2], b: [3]}\nzip: [[a, b]]\n",
                   "m.yaml:6:11: zipped axes differ in length: 'a' has 2 values, 'b' has 1", "");
    matrix_refused(HEAD REST "axes: {a: [1]}\nzip: [a]\n", "'zip' takes lists of at least two axis names",
                   "[[memory, heap]]");
    matrix_refused(HEAD REST "axes: {a: [1]}\nzip: [[a]]\n", "at least two axis names", "");
    matrix_refused(HEAD REST "axes: {a: [1]}\nzip: [[a, bb]]\n", "zip: unknown axis 'bb'", "");
    matrix_refused(HEAD REST "axes: {a: [1], b: [2]}\nzip: [[a, b], [a, b]]\n", "axis 'a' is zipped twice",
                   "");
    matrix_refused(HEAD REST "axes: {a: [1], b: [2]}\nzip: [[a, a]]\n", "axis 'a' is zipped twice", "");
    matrix_refused(HEAD REST "axes: {a: [1], b: [2]}\nzip: {a: b}\n", "'zip' must be a list of lists", "");
}

static void includes(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD REST "axes: {f: [a, b], memory: [128m]}\ninclude:\n  - {f: a, memory: 384m, rate: "
                              "5}\n  - {memory: {name: big, heap: 1g}, f: c}\n");

    (void)state;
    assert_int_equal(m->include_count, 2);
    assert_string_equal(m->includes[0].values[0], "a");
    assert_string_equal(m->includes[0].values[1], "384m");
    assert_string_equal(node_get(m->includes[0].extra, "rate")->text, "5");
    assert_string_equal(m->includes[1].values[0], "c");
    assert_string_equal(m->includes[1].values[1], "big");
    assert_null(m->includes[1].extra);
    assert_int_equal(m->extras.len, 1);
    assert_int_equal(m->includes[1].at.line, 8);
    matrix_refused(HEAD REST "axes: {f: [a], memory: [128m]}\ninclude: [{f: a}]",
                   "m.yaml:6:11: include: no value for axis 'memory'", "include adds whole scenarios");
    matrix_refused(HEAD REST "axes: {f: [a], memory: [128m]}\ninclude: [{f: a, memroy: 1g}]",
                   "include: no value for axis 'memory'", "is 'memroy' meant to be 'memory'?");
    matrix_refused(HEAD REST "axes: {f: [a]}\ninclude: [{f: ~}]", "axis 'f' has an empty value", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\ninclude: [{f: b, x: [1]}]",
                   "include: variable 'x' must be text", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\ninclude: [b]", "include: an item must be a map", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\ninclude: {f: b}", "'include' must be a list of maps", "");
}

static void excludes(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(
        HEAD REST
        "axes: {f: [a, b, c], memory: [128m, 256m]}\ninclude: [{f: a, memory: 1g}, {f: d, memory: 2g}]\n"
        "exclude:\n  - {memory: 256m, f: [c, a]}\n  - {memory: [2g, 1g]}\n");

    (void)state;
    assert_int_equal(m->exclude_count, 2);
    const struct condition *c = &m->excludes[0];
    assert_int_equal(c->len, 2);
    assert_int_equal(c->at.line, 8);
    assert_true(c->terms[0].axis == 1 && c->terms[0].len == 1 && c->terms[0].values[0] == 1);
    assert_true(c->terms[1].axis == 0 && c->terms[1].len == 2 && c->terms[1].values[0] == 2 &&
                c->terms[1].values[1] == 0);
    /* values that includes bring are counted after those listed, in the order of the includes */
    c = &m->excludes[1];
    assert_true(c->terms[0].values[0] == 3 && c->terms[0].values[1] == 2);
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: [{g: a}]", "m.yaml:6:12: exclude: unknown axis 'g'",
                   "");
    matrix_refused(HEAD REST "axes: {framework: [spring]}\nexclude: [{framework: sprnig}]",
                   "m.yaml:6:23: exclude: axis 'framework' has no value 'sprnig'", "did you mean 'spring'?");
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: [{}]", "would exclude everything", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: [{f: []}]", "an empty list of values matches nothing",
                   "");
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: [{f: {name: a}}]",
                   "a value of axis 'f' is named by its text", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: [a]", "exclude: a condition must be a map", "");
    matrix_refused(HEAD REST "axes: {f: [a]}\nexclude: {f: a}", "'exclude' must be a list of maps", "");
    matrix_refused(HEAD REST "exclude: [{f: a}]", "exclude: unknown axis 'f'", "");
}

static void overrides(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m =
        read_matrix(HEAD REST "axes: {f: [a, b]}\noverrides:\n  - when: {f: b}\n    set: {app: {memory: "
                              "1g}}\n  - set: {services: {cache: {image: c}}}\n");

    (void)state;
    assert_int_equal(m->override_count, 2);
    assert_int_equal(m->overrides[0].when.len, 1);
    assert_int_equal(m->overrides[1].when.len, 0);
    assert_string_equal(node_get(node_get(m->overrides[0].set, "app"), "memory")->text, "1g");
    assert_string_equal(m->services.items[0], "cache");
    matrix_refused(HEAD REST "overrides: [{when: {}}]", "'set' is missing in an override", "");
    matrix_refused(HEAD REST "overrides: [{wen: {}, set: {}}]", "unknown key 'wen' in an override",
                   "did you mean 'when'?");
    matrix_refused(HEAD REST "overrides: [{when: {f: a}, set: {}}]", "overrides: unknown axis 'f'", "");
    matrix_refused(HEAD REST "overrides: [{set: {laod: {}}}]", "m.yaml:5:20: overrides cannot set 'laod'",
                   "did you mean 'load'?");
    matrix_refused(HEAD REST "overrides: [{set: {trials: 5}}]", "overrides cannot set 'trials'", "");
    matrix_refused(HEAD REST "overrides: [{set: [a]}]", "'set' must be a map of settings", "");
    matrix_refused(HEAD REST "overrides: [a]", "an item must be a map of 'when' and 'set'", "");
    matrix_refused(HEAD REST "overrides: {set: {}}", "'overrides' must be a list of maps", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_structured_values),
        cmocka_unit_test(bad_axes),
        cmocka_unit_test(zipped_axes),
        cmocka_unit_test(includes),
        cmocka_unit_test(excludes),
        cmocka_unit_test(overrides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
