/* SPDX-License-Identifier: MIT */
/* When two answers are of the same kind, and when not. */
#include "ask.h"
#include "unit/check.h"

static const char *shape(const char *type, const char *body, struct arena *a)
{
    return answer_shape(type, body, strlen(body), a);
}

static void check(const char *one, const char *other, bool same)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *x = shape("application/json", one, a), *y = shape("application/json", other, a);

    assert_non_null(x);
    assert_non_null(y);
    if ((strcmp(x, y) == 0) != same)
        fail_msg("%s and %s are %s", one, other, same ? "not the same" : "the same");
    assert_int_equal(strlen(x), 64);
}

static void values_do_not_matter(void **state)
{
    (void)state;
    check("{\"id\": 1, \"name\": \"a\"}", "{\"name\": \"other\", \"id\": 77.5}", true);
    check("[1, 2, 3]", "[9]", true);
    check("[{\"a\": 1}, {\"a\": 2}]", "[{\"a\": 3}]", true);
    check("  {\"a\": true}\n", "{\"a\":false}", true);
    check("[1, \"a\"]", "[\"b\", \"c\", 4]", true);
}

static void names_and_types_do(void **state)
{
    (void)state;
    check("{\"id\": 1}", "{\"ID\": 1}", false);
    check("{\"id\": 1}", "{\"id\": \"1\"}", false);
    check("{\"id\": 1}", "{\"id\": null}", false);
    check("{\"id\": 1}", "{\"id\": 1, \"more\": 1}", false);
    check("[]", "[1]", false);
    check("[]", "{}", false);
    check("[1]", "[1, \"a\"]", false);
    check("{\"a\": [1]}", "{\"a\": [[1]]}", false);
}

static void what_is_no_json_is_its_type(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    (void)state;
    assert_string_equal(shape("text/html; charset=utf-8", "<p>17</p>", a), "text/html");
    assert_string_equal(shape("text/plain", "17", a), "text/plain");
    assert_string_equal(shape("application/json", "{\"cut\": ", a), "application/json");
    assert_string_equal(shape("text/plain", "", a), "text/plain");
    assert_null(shape("", "17", a));
    assert_null(shape(NULL, "", a));
}

static void deep_and_wide_answers(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf wide = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf deep = STRBUF_INIT;

    (void)state;
    for (int i = 0; i < 20000; i++) /* each element of another kind */
        strbuf_addf(&wide, "%s{\"k%d\": 1}", i ? "," : "[", i);
    strbuf_addc(&wide, ']');
    assert_int_equal(strlen(answer_shape("", wide.data, wide.len, a)), 64);
    for (int i = 0; i < 500; i++)
        strbuf_addc(&deep, '[');
    for (int i = 0; i < 500; i++)
        strbuf_addc(&deep, ']');
    assert_non_null(answer_shape("application/json", deep.data, deep.len, a)); /* whatever it is */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_do_not_matter),
        cmocka_unit_test(names_and_types_do),
        cmocka_unit_test(what_is_no_json_is_its_type),
        cmocka_unit_test(deep_and_wide_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
