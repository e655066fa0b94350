/* SPDX-License-Identifier: MIT */
#include "../unit/check.h"

#include <stdio.h>
#include "benchctl/base/mem.h"
#include "request.h"

static int parse(const char *text, struct request *r)
{
    return request_parse(text, strlen(text), "X-Request-Id", r);
}

static void a_whole_head(void **state)
{
    static const char text[] =
        "POST /a/b?c=d HTTP/1.1\r\nHost: x\r\nx-request-ID:\t id 7 \r\nContent-Length: 12\r\n"
        "Expect: 100-continue\r\n\r\nbody";
    struct request r;

    (void)state;
    assert_int_equal(parse(text, &r), (int)strlen(text) - 4);
    assert_true(slice_equal(r.method, "POST") && slice_equal(r.target, "/a/b?c=d") &&
                slice_equal(r.path, "/a/b"));
    assert_true(slice_equal(r.id, "id 7"));
    assert_true(r.keep_alive && !r.old && r.has_body && r.expects_continue && r.body.left == 12);
    /* Every shorter text is a head whose end has not come. */
    for (size_t len = 0; len < strlen(text) - 4; len++)
        assert_int_equal(request_parse(text, len, "", &r), 0);
}

static void who_keeps_the_connection(void **state)
{
    static const struct {
        const char *text;
        bool keeps;
    } cases[] = {
        {"GET / HTTP/1.1\n\n", true},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nConnection: te, close ,x\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nConnection: keep-alive\r\n\r\n", true},
        {"GET http://host:80/x HTTP/1.1\r\nConnection: closed\r\n\r\n", true},
    };
    struct request r;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(parse(cases[i].text, &r), (int)strlen(cases[i].text));
        assert_int_equal(r.keep_alive, cases[i].keeps);
    }
    assert_true(slice_equal(r.path, "/x"));
}

static void what_is_refused(void **state)
{
    static const struct {
        int status;
        const char *text;
    } cases[] = {
        {400, "x\n\n"},
        {400, "GET /\r\n\r\n"},
        {400, "GET / \r\n\r\n"},
        {400, "GET  HTTP/1.1\r\n\r\n"},
        {400, "GET / HTTP/1.1 \r\n\r\n"},
        {400, "GET x HTTP/1.1\r\n\r\n"},
        {400, "G(T / HTTP/1.1\r\n\r\n"},
        {400, "GET /\x01 HTTP/1.1\r\n\r\n"},
        {400, "GET / http/1.1\r\n\r\n"},
        {505, "PRI * HTTP/2.0\r\n\r\n"},
        {505, "GET / HTTP/1.2\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nno colon\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nHost : x\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\n: x\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nA: b\r\n folded\r\n\r\n"},
        {400, "GET / HTTP/1.1\r\nA: b\rc\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1x\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"},
        {413, "POST / HTTP/1.1\r\nContent-Length: 999999999999999\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {400, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {400, "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
        {501, "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"},
    };
    struct request r;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int result = parse(cases[i].text, &r);
        if (result != -cases[i].status)
            fail_msg("%d instead of %d: %s", result, -cases[i].status, cases[i].text);
    }
}

static void a_head_without_end(void **state)
{
    static char text[REQUEST_MAX_HEAD + 10];
    struct request r;

    (void)state;
    memset(text, 'a', sizeof(text));
    memcpy(text, "GET / HTTP/1.1\r\nX: ", 19);
    assert_int_equal(request_parse(text, REQUEST_MAX_HEAD - 1, "", &r), 0);
    assert_int_equal(request_parse(text, REQUEST_MAX_HEAD, "", &r), -431);
    memcpy(text + REQUEST_MAX_HEAD - 4, "\r\n\r\n", 4);
    assert_int_equal(request_parse(text, sizeof(text), "", &r), REQUEST_MAX_HEAD);
}

/* Feeds `text` in pieces of `step`; the bytes used up to the end, -1 when malformed, -2 when it has no end.
 */
static int64_t take(struct body b, const char *text, size_t step)
{
    size_t at = 0, len = strlen(text);

    while (at < len) {
        bool done;
        size_t piece = len - at < step ? len - at : step;
        int64_t used = body_take(&b, text + at, piece, &done);
        if (used < 0)
            return -1;
        at += (size_t)used;
        if (done)
            return (int64_t)at;
        assert_int_equal(used, piece);
    }
    return -2;
}

static void bodies_end_where_they_end(void **state)
{
    static const struct {
        const char *text;
        int64_t used;
    } chunked[] = {
        {"0\r\n\r\nGET", 5},
        {"5\r\nhello\r\n0\r\n\r\nGET", 15},
        {"5;x=\"y\"\r\nhello\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\nB: c\r\n\r\nGET", 54},
        {"5\nhello\n0\n\n", 11},
        {"5\r\nhello\r\n", -2},
        {"\r\n", -1},
        {"g\r\n", -1},
        {"-1\r\n", -1},
        {"5\r\nhelloX", -1},
        {"5\r\nhello\rX", -1},
        {"fffffffffff\r\n", -1},
    };
    struct request r;

    (void)state;
    for (size_t step = 1; step < 20; step++) {
        assert_true(parse("P / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", &r) > 0);
        assert_int_equal(take(r.body, "helloGET", step), 5);
        assert_int_equal(take(r.body, "hell", step), -2);
        assert_true(parse("P / HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n", &r) > 0);
        for (size_t i = 0; i < ARRAY_LEN(chunked); i++)
            assert_int_equal(take(r.body, chunked[i].text, step), chunked[i].used);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_head),
        cmocka_unit_test(who_keeps_the_connection),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(a_head_without_end),
        cmocka_unit_test(bodies_end_where_they_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
