/* SPDX-License-Identifier: MIT */
/* Bodies that are not what they say. */
#include "sample_test.h"

static int plain(const struct strbuf *body, struct strbuf *out, const char **warning, struct error *err)
{
    return prom_plain_body(strbuf_text(body), body->len, out, warning, err);
}

static void check_a_and_b(const struct strbuf *text)
{
    assert_int_equal(text->len, 8);
    assert_memory_equal(text->data, "a 1\nb 2\n", 8);
}

static void test_gzip_in_spite_of_identity(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release)
    struct strbuf body = read_case_body("F09/gzip_nohdr.http"), out = STRBUF_INIT;
    const char *warning = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(plain(&body, &out, &warning, &err), 0);
    check_a_and_b(&out);
    assert_has(warning, "compressed");
}

static void test_plain(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release)
    struct strbuf body = read_case_body("F09/hdr_nogzip.http"), out = STRBUF_INIT;
    const char *warning = "";
    struct error err = ERROR_INIT;

    assert_int_equal(plain(&body, &out, &warning, &err), 0);
    check_a_and_b(&out);
    assert_null(warning);
}

static void check_refused(const char *bytes, size_t len, const char *message)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *warning = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(prom_plain_body(bytes, len, &out, &warning, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
    assert_int_equal(out.len, 0);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *file, *message;
    } cases[] = {
        {"F09/mixed.http", "something else behind it"},
        {"F09/jsonstring.http", "begins with 22 61 20 31"},
        {"F09/html.http", "begins with 3c 68 74 6d 6c"},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf body = read_case_body(cases[i].file);
        check_refused(strbuf_text(&body), body.len, cases[i].message);
    }
}

static void test_more_refused(void **state)
{
    (void)state;
    check_refused("", 0, "is empty");
    check_refused(" \n", 2, "not metric text");
    check_refused("{\"a\": 1}", 8, "not metric text");
    check_refused("[1]", 3, "not metric text");
    check_refused("a\0 1\n", 5, "begins with 61 00");
    check_refused("\x1f\x8b", 2, "cut short");
    check_refused("{", 1, "not metric text");
    check_refused("{\"", 2, "not metric text");
    check_refused("{\"a\"", 4, "not metric text");
}

static void test_accepted(void **state)
{
    (void)state;
    static const char *const texts[] = {"# EOF\n", "\n\n a 1\n",    "\xef\xbb\xbf# TYPE a gauge\n",
                                        "_a 1",    "{\"a.b\"} 1\n", "{\"a.b\",c=\"d\"} 1\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        const char *warning;
        struct error err = ERROR_INIT;
        if (prom_plain_body(texts[i], strlen(texts[i]), &out, &warning, &err) < 0)
            fail_msg("%s", err.message);
    }
}

static void test_bomb(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = read_case("F09/bomb.gz");

    check_refused(strbuf_text(&body), body.len, "unpacks to more than 16777216 bytes");
}

static void test_damaged_gzip(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = read_case_body("F09/gzip_nohdr.http");

    for (size_t len = 2; len < body.len; len++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
        const char *warning;
        struct error err = ERROR_INIT;
        assert_int_equal(prom_plain_body(body.data, len, &out, &warning, &err), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gzip_in_spite_of_identity),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_more_refused),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_damaged_gzip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
