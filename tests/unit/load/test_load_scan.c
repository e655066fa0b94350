/* SPDX-License-Identifier: MIT */
/* The scanner says what the JSON parser says, or nothing; and it knows the usual lines. */
#include "load_test.h"

#include "stream_scan.h"

static const char *const pointers[SCAN_SLOTS] = {"/metric", "/data/time", "/data/value", "/data/tags/status",
                                                 "/type"};

static void compare(const struct point *fast, const char *line)
{
    struct scan_paths paths;
    CLEANUP(json_free) struct json *json = NULL;
    struct error err = ERROR_INIT;
    struct point right;

    assert_int_equal(scan_paths_init(&paths, pointers, &err), 0);
    if (full_line(&paths, line, strlen(line), &json, &right, &err) < 0)
        fail_msg("accepted, but %s: %s", err.message, line);
    for (int i = 0; i < SCAN_SLOTS; i++) {
        const struct member *a = &fast->m[i], *b = &right.m[i];
        if (a->kind != b->kind ||
            (a->kind == MEMBER_TEXT && (a->len != b->len || memcmp(a->text, b->text, a->len) != 0)) ||
            (a->kind == MEMBER_NUMBER && a->number != b->number))
            fail_msg("member %d differs: %s", i, line);
    }
}

/* Does the scanner accept it? If so it is right. The line's memory ends behind its newline. */
static bool scanned(struct scanner *s, const char *line)
{
    size_t len = strlen(line);
    CLEANUP_FREE char *exact = xmalloc(len + 1);
    struct point p;

    memcpy(exact, line, len);
    exact[len] = '\n';
    if (!scan_line(s, exact, len, exact + len + 1, &p))
        return false;
    compare(&p, line);
    return true;
}

#define LONG "\"0123456789012345678901234567890123456789\""

static void usual_lines(void **state)
{
    static const char *const lines[] = {
        "{}",
        "{\"metric\":\"m\",\"type\":\"Point\",\"data\":{\"time\":\"2026-01-31T08:00:10Z\",\"value\":1,"
        "\"tags\":{\"status\":\"200\"}}}",
        "{\"type\":\"Point\",\"data\":{\"time\":\"t\",\"value\":1.5,\"tags\":{\"a\":" LONG
        ",\"status\":\"200\"}},\"metric\":\"m\"}",
        " { \"metric\" : \"m\" ,\t\"data\" : { \"value\" : -0.5E-3 , \"time\" : 12 , \"tags\" : [ ] } } \r",
        "{\"data\":{\"tags\":{\"status\":null,\"x\":[1,[2,{\"y\":true}],false]},\"value\":0}}",
        "{\"metric\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\",\"x\":\"\\u00e9\\n\\\"\",\"data\":{\"value\":0."
        "1}}",
        "{\"data\":{\"value\":123456789012345}}",
        "{\"data\":{\"value\":0.30000000000000004}}",
        "{\"data\":{\"value\":9.007199254740993e15}}",
        "{\"data\":{\"value\":12345678901234567890}}",
        "{\"data\":{\"value\":\"1\"},\"metric\":[1],\"type\":{\"a\":1}}",
        "{\"data\":1,\"value\":2}",
        "{\"type\":\"Metric\",\"data\":{\"name\":\"m\",\"thresholds\":[\"p(95)<300\"],\"submetrics\":null},"
        "\"metric\":\"m\"}",
    };
    struct scan_paths paths;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scan_paths_init(&paths, pointers, &err), 0);
    CLEANUP(scanner_free) struct scanner *s = scanner_new(&paths);
    for (int round = 0; round < 3; round++)
        for (size_t i = 0; i < ARRAY_LEN(lines); i++)
            if (!scanned(s, lines[i]))
                fail_msg("not scanned: %s", lines[i]);
}

static void never_accepted(void **state)
{
    static const char *const lines[] = {
        "",
        "[]",
        "1",
        "{",
        "{}x",
        "{}{}",
        "{\"a\"}",
        "{\"a\":1,}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "{\"a\":}",
        "{\"a\":01}",
        "{\"a\":+1}",
        "{\"a\":1.}",
        "{\"a\":.5}",
        "{\"a\":-}",
        "{\"a\":1e}",
        "{\"a\":1e+}",
        "{\"a\":1e400}",
        "{\"a\":nul}",
        "{\"a\":tru",
        "{\"a\":[1,]}",
        "{\"a\":[1 2]}",
        "{\"a\":\"\\x\"}",
        "{\"a\":\"\\u12g4\"}",
        "{\"a\":\"\\ud83d\"}",
        "{\"a\":\"\x01\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":\"\xc0\x80\"}",
        "{\"a\":\"\xed\xa0\x80\"}",
        "{\"a\":\"\xf4\x90\x80\x80\"}",
        "{\"a\":\"\xe2\x82\"}",
        "{\"a\":\"open",
        "{\"a\":\"open\\",
        "{\"a\":1,\"a\":2}",
        "{\"data\":{\"value\":1,\"value\":2}}",
        "{'a':1}",
        "\xef\xbb\xbf{}",
    };
    struct scan_paths paths;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scan_paths_init(&paths, pointers, &err), 0);
    CLEANUP(scanner_free) struct scanner *s = scanner_new(&paths);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (scanned(s, lines[i]))
            fail_msg("accepted: %s", lines[i]);
}

/* The same rest of a line is only the same after the same keys. */
static void rests_belong_to_keys(void **state)
{
    static const char taught[] = "{\"data\":{\"value\":1,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}";
    static const char *const twice[] = {
        "{\"data\":{\"tags\":1,\"value\":1,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}",
        "{\"metric\":1,\"data\":{\"value\":1,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}",
    };
    static const char *const deeper[] = {
        "{\"other\":{\"value\":1,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}",
        "{\"x\":0,\"data\":{\"value\":2e3,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}",
        "{\"data\":{\"time\":\"x\",\"value\":3,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}",
    };
    struct scan_paths paths;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scan_paths_init(&paths, pointers, &err), 0);
    CLEANUP(scanner_free) struct scanner *s = scanner_new(&paths);
    for (int round = 0; round < 2; round++) {
        assert_true(scanned(s, taught) && scanned(s, taught));
        for (size_t i = 0; i < ARRAY_LEN(twice); i++)
            assert_false(scanned(s, twice[i]));
        for (size_t i = 0; i < ARRAY_LEN(deeper); i++)
            assert_true(scanned(s, deeper[i]));
        assert_false(
            scanned(s, "{\"x\":{\"data\":{\"value\":1,\"tags\":{\"status\":" LONG "}},\"metric\":\"m\"}"));
    }
}

static void every_cut(void **state)
{
    static const char line[] =
        "{\"type\":\"Point\",\"data\":{\"time\":\"t\",\"value\":1.5e1,\"tags\":{\"a\":" LONG
        ",\"status\":\"\xc3\xa9\\u00e9\"}},\"metric\":\"m\"}";
    struct scan_paths paths;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(scan_paths_init(&paths, pointers, &err), 0);
    CLEANUP(scanner_free) struct scanner *s = scanner_new(&paths);
    for (size_t len = 0; len < strlen(line); len++) {
        CLEANUP_FREE char *cut = xstrndup(line, len);
        assert_false(scanned(s, cut));
    }
}

static void pointers_of_streams(void **state)
{
    static const struct {
        const char *metric, *value, *why;
    } bad[] = {
        {"metric", "/value", "it is not a '/'"},   {"/a", "/a", "it is used twice"},
        {"/a/b/c/d/e", "/value", "more than 4"},   {"/a~1b", "/value", "it is not a '/'"},
        {"/a//b", "/value", "a step is no name"},  {"/0", "/value", "a step is no name"},
        {"/a/[x=1]", "/value", "it is not a '/'"}, {"/", "/value", "a step is no name"},
    };
    struct scan_paths paths;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        const char *const list[SCAN_SLOTS] = {[SLOT_METRIC] = bad[i].metric, [SLOT_VALUE] = bad[i].value};
        struct error err = ERROR_INIT;
        assert_int_equal(scan_paths_init(&paths, list, &err), -1);
        assert_has(err.message, bad[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_lines),          cmocka_unit_test(never_accepted),
        cmocka_unit_test(rests_belong_to_keys), cmocka_unit_test(every_cut),
        cmocka_unit_test(pointers_of_streams),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
