/* SPDX-License-Identifier: MIT */
#include "benchctl/base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

static void one_value_and_nothing_after_it(void **state)
{
    static const char *const bad[] = {"",    "{",           "{} {}",      "[1,]", "{\"a\":1,\"a\":2}",
                                      "nan", "{\"a\":NaN}", "warning\n{}"};
    struct json *j = NULL;
    struct error err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(json_parse(bad[i], strlen(bad[i]), "x", &j, &err), -1);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_null(j);
    }
    assert_int_equal(json_parse(" 7 \n", 4, "x", &j, &err), 0);
    assert_true(json_number(j) == 7);
    json_free(j);
}

static void values_arrive_in_pieces(void **state)
{
    static const char stream[] = "{\"a\": 1}\r\n{\"b\":[1,2]}{\"c\"";
    struct json *j;
    struct error err;
    size_t used, at = 0;

    (void)state;
    for (size_t cut = 0; cut < 8; cut++)
        assert_int_equal(json_take(stream, cut, &j, &used, &err), 0);
    assert_int_equal(json_take(stream, sizeof(stream) - 1, &j, &used, &err), 1);
    assert_true(json_get_number(j, "a") == 1);
    json_free(j);
    at += used;
    assert_int_equal(json_take(stream + at, sizeof(stream) - 1 - at, &j, &used, &err), 1);
    assert_int_equal(json_len(json_get(j, "b")), 2);
    json_free(j);
    at += used;
    assert_int_equal(json_take(stream + at, sizeof(stream) - 1 - at, &j, &used, &err), 0);
    assert_int_equal(json_take("}", 1, &j, &used, &err), -1);
}

/* Cut anywhere, also inside an escape, a number, a word or a character: more bytes are needed, and that is no
 * error. */
static void a_cut_value_is_not_a_wrong_one(void **state)
{
    static const char text[] = "{\"a\\\"\": \"x\\\\\", \"b\": \"]}\\n\\u00e9\xc3\xa9\\ud83d\\ude00\", \"c\": "
                               "[true, null, -1.5e3, {}]}";
    struct json *j;
    struct error err = ERROR_INIT;
    size_t used;

    (void)state;
    for (size_t cut = 0; cut < sizeof(text) - 1; cut++)
        assert_int_equal(json_take(text, cut, &j, &used, &err), 0);
    assert_int_equal(json_take(text, sizeof(text) - 1, &j, &used, &err), 1);
    assert_int_equal(used, sizeof(text) - 1);
    assert_string_equal(json_get_text(j, "a\""), "x\\");
    json_free(j);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_int_equal(json_take("{\"a\": nonsense}", 15, &j, &used, &err), -1);
    assert_int_equal(json_take("{]", 2, &j, &used, &err), -1);
    assert_int_equal(json_take("7 {}", 4, &j, &used, &err), -1); /* a stream's values are objects or arrays */
}

static void not_measured_is_null_and_back(void **state)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    (void)state;
    json_set_number(j, "x", NAN);
    json_set_number(j, "y", INFINITY);
    json_set_number(j, "z", 3);
    json_set_number(j, "w", 0.25);
    json_write(j, JSON_STYLE_COMPACT, &out);
    assert_string_equal(strbuf_text(&out), "{\"x\":null,\"y\":null,\"z\":3,\"w\":0.25}");
    assert_true(isnan(json_get_number(j, "x")));
    assert_true(isnan(json_get_number(j, "nothing")));
    assert_true(isnan(json_get_number(NULL, "nothing")));
}

static void bad_utf8_is_replaced(void **state)
{
    CLEANUP(json_free) struct json *j = json_new_text_n("a\xff\xc3\xa9\xe2\x82", 6);

    (void)state;
    assert_string_equal(json_text(j), "a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd");
}

static void pointers_follow_rfc_6901(void **state)
{
    static const char text[] = "{\"a/b\":{\"~\":[10,{\"\":5}]},\"p(99)\":1}";
    struct json *j;
    struct error err;

    (void)state;
    assert_int_equal(json_parse(text, sizeof(text) - 1, "x", &j, &err), 0);
    assert_true(json_number(json_pointer(j, "/a~1b/~0/0")) == 10);
    assert_true(json_number(json_pointer(j, "/a~1b/~0/1/")) == 5);
    assert_true(json_number(json_pointer(j, "/p(99)")) == 1);
    assert_ptr_equal(json_pointer(j, ""), j);
    assert_null(json_pointer(j, "/a~1b/~0/2"));
    assert_null(json_pointer(j, "/a~1b/~0/-1"));
    assert_null(json_pointer(j, "a"));
    json_free(j);
}

static void sorted_writing_is_canonical(void **state)
{
    CLEANUP(json_free) struct json *a = json_new_object();
    CLEANUP(json_free) struct json *b = json_new_object();
    CLEANUP_VALUE(strbuf_release) struct strbuf x = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf y = STRBUF_INIT;

    (void)state;
    json_set_int(a, "b", 1);
    json_set_int(a, "a", 2);
    json_set_int(b, "a", 2);
    json_set_int(b, "b", 1);
    json_write(a, JSON_STYLE_SORTED, &x);
    json_write(b, JSON_STYLE_SORTED, &y);
    assert_string_equal(strbuf_text(&x), strbuf_text(&y));
    assert_true(json_same(a, b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_value_and_nothing_after_it), cmocka_unit_test(values_arrive_in_pieces),
        cmocka_unit_test(a_cut_value_is_not_a_wrong_one), cmocka_unit_test(not_measured_is_null_and_back),
        cmocka_unit_test(bad_utf8_is_replaced),           cmocka_unit_test(pointers_follow_rfc_6901),
        cmocka_unit_test(sorted_writing_is_canonical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
