/* SPDX-License-Identifier: MIT */
/* The language of searched axes: what it means, and what is refused. */
#include "fixture.h"

#include "benchctl/trial.h"

#define SEARCH(text) HEAD REST "axes: {f: [a, b], memory: {search: " text "}}\n"

static struct matrix *searched(const char *search)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, HEAD REST "axes: {f: [a, b], memory: {search: %s}}\n", search);
    struct matrix *m = read_matrix(strbuf_text(&text));
    strbuf_release(&text);
    return m;
}

/* "64m 80m ...": the values, each followed by a blank. The caller frees. */
static char *values_text(const struct axis *x)
{
    struct strbuf out = STRBUF_INIT;

    for (size_t i = 0; i < x->len; i++)
        strbuf_addf(&out, "%s ", x->values[i].text);
    return strbuf_detach(&out);
}

static void check_values(const char *search, const char *expected)
{
    CLEANUP(matrix_free) struct matrix *m = searched(search);
    CLEANUP_FREE char *text = values_text(&m->axes[1]);

    assert_int_equal(matrix_searched(m), 1);
    assert_null(m->axes[0].search);
    assert_string_equal(text, expected);
}

static void the_grid(void **state)
{
    (void)state;
    check_values("{from: 64m, to: 128m, step: 16m}", "64m 80m 96m 112m 128m ");
    check_values("{from: 64m, to: 128m}", "64m 80m 96m 112m 128m ");
    check_values("{from: 64m, to: 100m}", "64m 80m 96m 100m "); /* the end is always there */
    check_values("{from: 0.5g, to: 1g, step: 256MiB}", "512m 768m 1g ");
    check_values("{from: 1g, to: 1025m}", "1g 1025m "); /* no step beyond the end */
    check_values("{from: 6m, to: 9m}", "6m 7m 8m 9m "); /* whole MiB, one at least */
    check_values("{from: 6m, to: 6.5m, step: 256k}", "6m 6400k 6656k ");
    check_values("{from: 64m, to: 128m, step: 64m, x-why: it is so}", "64m 128m ");
}

static void as_much_as_there_may_be(void **state)
{
    CLEANUP(matrix_free) struct matrix *m = searched("{from: 8m, to: 1031m, step: 1m}");

    (void)state;
    assert_int_equal(m->axes[1].len, MATRIX_MAX_CANDIDATES);
    assert_string_equal(m->axes[1].values[1023].text, "1031m");
}

static void until(void **state)
{
    CLEANUP(matrix_free) struct matrix *plain = searched("{from: 64m, to: 1g}");
    CLEANUP(matrix_free) struct matrix *one = searched("{from: 64m, to: 1g, until: degraded}");
    CLEANUP(matrix_free) struct matrix *two = searched("{from: 64m, to: 1g, until: [not-ready, ok, ok]}");

    (void)state;
    assert_int_equal(plain->axes[1].search->until, 1u << OUTCOME_OK);
    assert_int_equal(one->axes[1].search->until, 1u << OUTCOME_DEGRADED);
    assert_int_equal(two->axes[1].search->until, 1u << OUTCOME_OK | 1u << OUTCOME_NOT_READY);
    assert_true(plain->axes[1].search->from_bytes == INT64_C(64) << 20);
    assert_true(plain->axes[1].search->to_bytes == INT64_C(1) << 30);
    assert_true(plain->axes[1].search->step_bytes == INT64_C(16) << 20);
    assert_int_equal(plain->axes[1].search->at.line, 5);
}

static void what_is_no_search(void **state)
{
    (void)state;
    matrix_refused(SEARCH("{from: 64m, to: 1g, step: 1b}"),
                   "m.yaml:5:62: from 64m to 1g by 1b are more than 1024", "step: 961k or more");
    matrix_refused(SEARCH("{from: 64m, to: 1000064m, step: 1k}"), "are more than 1024 sizes",
                   "step: 978m or more");
    matrix_refused(SEARCH("{from: 8m, to: 1032m, step: 1m}"), "are more than 1024 sizes", "step: 2m or more");
    matrix_refused(SEARCH("{from: 8m, to: 8000t}"), "are more than 1024 sizes", "or more");
    matrix_refused(SEARCH("{from: 1g, to: 64m}"),
                   "m.yaml:5:51: a search goes from less to more, not from 1g to 64m", "above");
    matrix_refused(SEARCH("{from: 1g, to: 1024m}"), "a search goes from less to more, not from 1g to 1g", "");
    matrix_refused(SEARCH("{from: 4m, to: 1g}"), "m.yaml:5:43: 'from' must be at least 6m, not 4m", "");
    matrix_refused(SEARCH("{from: 0, to: 1g}"), "'from' must be at least 6m, not 0", "");
    matrix_refused(SEARCH("{from: 64, to: 1g}"), "'from': size '64' has no unit", "64m for mebibytes");
    matrix_refused(SEARCH("{from: -64m, to: 1g}"), "'-64m' is not a size", "");
    matrix_refused(SEARCH("{from: 64m, to: unlimited}"), "'to' cannot be unlimited", "");
    matrix_refused(SEARCH("{from: 64m, to: 99999999t}"), "is too large", "");
    matrix_refused(SEARCH("{from: 64m, to: 128m, step: 65m}"), "larger than the way from 64m to 128m",
                   "at most 64m");
    matrix_refused(SEARCH("{from: 64m, to: 128m, step: 0}"), "'step' must be at least 1b, not 0", "");
    matrix_refused(SEARCH("{from: 64m, to: 128m, step: unlimited}"), "'step' cannot be unlimited", "");
    matrix_refused(SEARCH("{from: 64m}"), "m.yaml:5:36: 'to' is missing in search", "");
    matrix_refused(SEARCH("{from: 64m, too: 1g}"), "unknown key 'too' in search", "'to'");
    matrix_refused(SEARCH("{from: [64m], to: 1g}"), "'from'", "");
    matrix_refused(SEARCH("[64m, 1g]"), "search must be a map, not a list", "");
    matrix_refused(SEARCH("64m..1g"), "search must be a map, not text", "");
    matrix_refused(SEARCH("~"), "search must be a map", "");
    matrix_refused(SEARCH("{from: '${nothing}', to: 1g}"), "nothing", "");
}

static void what_until_is_not(void **state)
{
    (void)state;
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: nonsense}"),
                   "'until' does not know the outcome 'nonsense'", "not-ready");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: [ok, degarded]}"), "the outcome 'degarded'",
                   "did you mean 'degraded'?");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: error}"), "'until' cannot be 'error'", "ok, degraded");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: [ok, invalid]}"), "'until' cannot be 'invalid'", "");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: skipped}"), "'until' cannot be 'skipped'", "");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: []}"), "'until' of a search names no outcome", "");
    matrix_refused(SEARCH("{from: 64m, to: 1g, until: ''}"), "'until' does not know the outcome ''", "");
}

static void where_there_is_none(void **state)
{
    (void)state;
    matrix_refused(HEAD REST "axes: {memory: {serch: {from: 64m, to: 1g}}}",
                   "unknown key 'serch' in axis 'memory'", "did you mean 'search'?");
    matrix_refused(HEAD REST "axes: {memory: {from: 64m, to: 1g}}", "axis 'memory' must be a list of values",
                   "{search: {from: 64m, to: 1g}}");
    matrix_refused(HEAD REST "axes: {memory: {}}", "axis 'memory' must be a list of values", "");
    matrix_refused(HEAD REST "axes: {memory: {search: {from: 64m, to: 1g}, also: 1}}",
                   "m.yaml:5:46: unknown key 'also' in axis 'memory'", "beside 'search'");
    matrix_refused(HEAD REST "axes: {memory: [{search: {from: 64m, to: 1g}}]}", "needs a 'name'", "");
    matrix_refused(HEAD REST
                   "axes: {heap: {search: {from: 64m, to: 1g}}, memory: {search: {from: 64m, to: 1g}}}",
                   "m.yaml:5:62: axis 'heap' is searched already", "one axis");
    matrix_refused(HEAD REST
                   "axes: {heap: [1, 2], memory: {search: {from: 64m, to: 80m}}}\nzip: [[heap, memory]]\n",
                   "m.yaml:6:14: axis 'memory' is searched and cannot be zipped", "${memory}");
}

/* References and --set reach the keys of a search as any others. */
static void from_elsewhere(void **state)
{
    const char *const sets[] = {"axes.memory.search.to=256m", "axes.memory.search.until=[ok, degraded]"};
    const struct matrix_options o = {.sets = sets, .set_count = 2, .seed = SCHEMA_ABSENT};
    struct error err = ERROR_INIT;
    CLEANUP(matrix_free)
    struct matrix *m = try_matrix_with(HEAD REST "vars: {least: 128m}\n"
                                                 "axes: {memory: {search: {from: \"${least}\", to: 1g}}}\n",
                                       &o, &err);

    (void)state;
    assert_non_null(m);
    assert_string_equal(m->axes[0].values[0].text, "128m");
    assert_string_equal(m->axes[0].values[m->axes[0].len - 1].text, "256m");
    assert_int_equal(m->axes[0].search->until, 1u << OUTCOME_OK | 1u << OUTCOME_DEGRADED);
}

/* However a rule spells a size, it is the same one; what an include brings beside sizes stays. */
static void rules_name_sizes(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(SEARCH("{from: 512m, to: 1g, step: 256m}") //
                                   "exclude: [{f: b, memory: [0.5g, 1024m]}]\n"
                                   "include:\n  - {f: a, memory: 2048m}\n  - {f: a, memory: unlimited}\n"
                                   "overrides: [{when: {memory: 1024MiB}, set: {app: {cpus: 1}}}]\n");
    char name[AXIS_NAME_SIZE];

    (void)state;
    const struct condition_term *memory = &m->excludes[0].terms[1];
    assert_true(memory->len == 2 && memory->values[0] == 0 && memory->values[1] == 2);
    assert_int_equal(m->overrides[0].when.terms[0].values[0], 2);
    assert_string_equal(m->includes[0].values[1], "2g");
    assert_string_equal(m->includes[1].values[1], "unlimited");
    assert_string_equal(axis_value_name(&m->axes[1], "2048m", name), "2g");
    assert_string_equal(axis_value_name(&m->axes[1], "2048x", name), "2048x");
    assert_string_equal(axis_value_name(&m->axes[0], "2048m", name), "2048m"); /* a list has texts */
    matrix_refused(SEARCH("{from: 64m, to: 1g}") "exclude: [{memory: 65m}]\n",
                   "axis 'memory' has no value '65m'", "");
}

static void it_is_the_limit(void **state)
{
    CLEANUP(matrix_free)
    struct matrix *m = read_matrix(HEAD LOAD "axes: {memory: {search: {from: 64m, to: 1g}}}\n"
                                             "app: {image: i, port: 80, memory: \"${memory}\"}\n");
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    struct settings s = resolve_ok(m, (const size_t[]){60}, 0, a);
    assert_true(s.app.memory_bytes == INT64_C(1) << 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grid),
        cmocka_unit_test(as_much_as_there_may_be),
        cmocka_unit_test(until),
        cmocka_unit_test(what_is_no_search),
        cmocka_unit_test(what_until_is_not),
        cmocka_unit_test(where_there_is_none),
        cmocka_unit_test(from_elsewhere),
        cmocka_unit_test(rules_name_sizes),
        cmocka_unit_test(it_is_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
