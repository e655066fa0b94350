/* SPDX-License-Identifier: MIT */
/* The reader of answers: each in one piece, in two cut anywhere, and byte by byte. */
#include "../check.h"
#include "benchctl/base/mem.h"
#include "plain_answer.h"
#include "benchctl/base/line_regex.h"

struct wanted {
    const char *bytes;
    enum answer_result result;
    int status;
    bool keep;
    const char *body; /* as collected; NULL: none */
    size_t rest;      /* bytes behind the answer */
    bool at_end;      /* whole only when the connection ends */
};

struct read {
    enum answer_result result, at_end;
    int status;
    bool keep, header_ok;
    char *body;
    size_t body_len, used;
};

static struct request_kind kind_of(const regex_t *body)
{
    return (struct request_kind){.body_regex = body, .wants_body = body != NULL};
}

/* From copies of their exact size, so that a sanitizer sees every read beyond the end. */
static struct read read_cut(const struct request_kind *k, const char *bytes, size_t len, size_t cut,
                            size_t step)
{
    struct answer a = {0};
    struct read r = {.result = ANSWER_MORE};

    answer_begin(&a, k);
    for (size_t at = 0, n; at < len && r.result == ANSWER_MORE; at += n) {
        size_t used;
        n = at == 0 && cut ? cut : len - at < step ? len - at : step;
        CLEANUP_FREE char *exact = xmalloc(n + 1);
        memcpy(exact, bytes + at, n);
        exact[n] = '\0';
        r.result = answer_feed(&a, exact, n, &used);
        r.used += used;
        assert_true(used <= n && (r.result != ANSWER_MORE || used == n));
        if (r.result == ANSWER_WHOLE && a.body) {
            r.body = xstrndup(a.body, a.body_len);
            r.body_len = a.body_len;
        }
    }
    r.status = a.headed ? a.status : 0;
    r.keep = a.keep;
    r.header_ok = a.header_ok;
    r.at_end = r.result;
    if (r.result == ANSWER_MORE && (r.at_end = answer_close(&a)) == ANSWER_WHOLE) {
        r.body = a.body ? xstrndup(a.body, a.body_len) : NULL;
        r.body_len = a.body_len;
        r.keep = a.keep;
    }
    assert_int_equal(r.result == ANSWER_BAD, a.problem != NULL);
    answer_release(&a);
    return r;
}

static void assert_same(const struct read *a, const struct read *b, const char *bytes, size_t cut)
{
    if (a->result != b->result || a->at_end != b->at_end || a->status != b->status || a->keep != b->keep ||
        a->body_len != b->body_len || (a->body_len && memcmp(a->body, b->body, a->body_len) != 0) ||
        (a->result == ANSWER_WHOLE && a->used != b->used) || a->header_ok != b->header_ok)
        fail_msg("another result when cut at %zu:\n%s", cut, bytes);
}

static struct read read_every_way(const struct request_kind *k, const char *bytes, size_t len)
{
    struct read whole = read_cut(k, bytes, len, 0, len ? len : 1);

    for (size_t cut = 1; cut < len; cut++) {
        struct read two = read_cut(k, bytes, len, cut, len);
        assert_same(&whole, &two, bytes, cut);
        free(two.body);
    }
    struct read single = read_cut(k, bytes, len, 0, 1);
    assert_same(&whole, &single, bytes, 1);
    free(single.body);
    return whole;
}

static void check_all(const struct wanted *all, size_t count)
{
    struct error err = ERROR_INIT;
    regex_t any;

    assert_int_equal(regex_compile(".", &any, &err), 0);
    struct request_kind k = kind_of(&any), skipping = kind_of(NULL);
    for (size_t i = 0; i < count; i++) {
        const struct wanted *w = &all[i];
        size_t len = strlen(w->bytes);
        struct read r = read_every_way(&k, w->bytes, len), skipped = read_every_way(&skipping, w->bytes, len);
        if (r.result != (w->at_end ? ANSWER_MORE : w->result) || r.at_end != w->result ||
            r.status != w->status || r.keep != w->keep)
            fail_msg("result %d, at the end %d, status %d, keep %d of\n%s", r.result, r.at_end, r.status,
                     r.keep, w->bytes);
        assert_int_equal(skipped.at_end, r.at_end);
        assert_int_equal(skipped.used, r.used);
        assert_null(skipped.body);
        if (w->result == ANSWER_WHOLE) {
            assert_int_equal(r.used, len - w->rest);
            assert_string_equal(r.body ? r.body : "(none)", w->body ? w->body : "(none)");
        }
        free(r.body);
    }
    regfree(&any);
}

static void answers_of_every_framing_are_read(void **state)
{
    (void)state;
    static const struct wanted all[] = {
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", ANSWER_WHOLE, 200, true, "hello"},
        {.bytes = "HTTP/1.1 200\r\ncontent-LENGTH:5\r\n\r\nhello", ANSWER_WHOLE, 200, true, "hello"},
        {.bytes = "HTTP/1.1 200 OK\nContent-Length: \t5 \n\nhello", ANSWER_WHOLE, 200, true, "hello"},
        {.bytes = "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", ANSWER_WHOLE, 404, true},
        {.bytes = "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n", ANSWER_WHOLE, 999, true},
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
         ANSWER_WHOLE,
         200,
         true,
         "ok"},
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok", ANSWER_WHOLE, 200, true, "ok"},
        {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
         ANSWER_WHOLE,
         200,
         true,
         "abcdefg"},
        {.bytes =
             "HTTP/1.1 200 OK\r\nTRANSFER-encoding: Chunked\r\n\r\n3;name=value;x=\"y\"\r\nabc\r\n00A ; z\r\n"
             "0123456789\r\n000\r\nX-Trailer: 1\r\nContent-Length: 7\r\n\r\n",
         ANSWER_WHOLE,
         200,
         true,
         "abc0123456789"},
        {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\nx\n0\n\n",
         ANSWER_WHOLE,
         200,
         true,
         "x"},
        {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         ANSWER_WHOLE,
         200,
         true},
        {.bytes = "HTTP/1.1 204 No Content\r\nContent-Length: 10\r\n\r\n", ANSWER_WHOLE, 204, true},
        {.bytes = "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", ANSWER_WHOLE, 304, true},
        {.bytes =
             "HTTP/1.1 100 Continue\r\nX: 1\r\nContent-Length: 7\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: "
             "x\r\n\r\n"
             "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         ANSWER_WHOLE,
         200,
         true,
         "ok"},
        {.bytes = "HTTP/1.1 200 OK\r\nX-Folded: a\r\n  b\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         true,
         "x"},
    };
    check_all(all, ARRAY_LEN(all));
}

static void what_becomes_of_the_connection_is_told(void **state)
{
    (void)state;
    static const struct wanted all[] = {
        {.bytes = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         false,
         "x"},
        {.bytes = "HTTP/1.1 200 OK\r\nconnection: Upgrade , CLOSE\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         false,
         "x"},
        {.bytes = "HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         false,
         "x"},
        {.bytes = "HTTP/1.1 200 OK\r\nConnection: closed\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         true,
         "x"},
        {.bytes = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", ANSWER_WHOLE, 200, false, "x"},
        {.bytes = "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx",
         ANSWER_WHOLE,
         200,
         true,
         "x"},
        {.bytes = "HTTP/1.1 200 OK\r\n\r\nuntil the end", ANSWER_WHOLE, 200, false, "until the end", 0, true},
        {.bytes = "HTTP/1.1 200 OK\r\n\r\n", ANSWER_WHOLE, 200, false, NULL, 0, true},
        {.bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nxyz",
         ANSWER_WHOLE,
         200,
         false,
         "xyz",
         0,
         true},
        /* doubtful framing: read, but not used again */
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 999\r\nTransfer-Encoding: "
                  "chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
         ANSWER_WHOLE,
         200,
         false,
         "x"},
        {.bytes = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         ANSWER_WHOLE,
         200,
         false},
        /* more than the answer */
        {.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200",
         ANSWER_WHOLE,
         200,
         true,
         "x",
         12},
        {.bytes = "HTTP/1.1 204 OK\r\n\r\n\r\n", ANSWER_WHOLE, 204, true, NULL, 2},
    };
    check_all(all, ARRAY_LEN(all));
}

static void answers_that_are_cut_are_not_whole(void **state)
{
    (void)state;
    static const char *const all[] = {
        "",
        "H",
        "HTTP/1.1 200 OK",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello",
        "HTTP/1.1 100 Continue\r\n\r\n"};
    struct request_kind k = kind_of(NULL);

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct read r = read_every_way(&k, all[i], strlen(all[i]));
        assert_int_equal(r.result, ANSWER_MORE);
        assert_int_equal(r.at_end, ANSWER_MORE);
    }
}

static void what_is_no_answer_is_refused(void **state)
{
    (void)state;
    static const char *const heads[] = {"SSH-2.0-OpenSSH",
                                        "\r\nHTTP/1.1 200 OK\r\n",
                                        "HTTP/2 200\r\n",
                                        "HTTP/1.1 20 OK\r\n\r\n",
                                        "HTTP/1.x 200\r\n",
                                        "HTTP/1.1  200 OK\r\n",
                                        "HTTP/1.1 2000 OK\r\n",
                                        "HTTP/1.1 099 OK\r\n",
                                        "HTTP/1.1\r\n",
                                        "{\"a\": 1}",
                                        "\x16\x03\x01\x02",
                                        "http/1.1 200 OK\r\n",
                                        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\nno colon\r\n",
                                        "HTTP/1.1 200 OK\r\n: x\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length:\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: ,\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 5\r\n",
                                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, x\r\n"};
    static const char *const chunks[] = {"x\r\n",   "\r\n",        " 5\r\nhello\r\n", "-1\r\n",
                                         "5 x\r\n", "5\r\nhelloX", "5\r\nhello\rX",   "10000000000000000\r\n",
                                         "0x5\r\n", ";a\r\n"};
    struct request_kind k = kind_of(NULL);

    for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
        struct read r = read_every_way(&k, heads[i], strlen(heads[i]));
        if (r.result != ANSWER_BAD || r.keep)
            fail_msg("taken: %s", heads[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(chunks); i++) {
        CLEANUP_FREE char *bytes =
            xasprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%s", chunks[i]);
        struct read r = read_every_way(&k, bytes, strlen(bytes));
        if (r.result != ANSWER_BAD || r.status != 200)
            fail_msg("taken: %s", bytes);
    }
}

static void a_head_has_no_body_whatever_it_says(void **state)
{
    (void)state;
    struct request_kind k = {.is_head = true};
    static const char *const all[] = {"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\n\r\n"};

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct read r = read_every_way(&k, all[i], strlen(all[i]));
        assert_int_equal(r.result, ANSWER_WHOLE);
        assert_true(r.keep);
    }
}

static void headers_are_looked_for(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    regex_t regex;
    static const struct {
        const char *head;
        bool ok;
    } all[] = {{"x-served-by: node-1\r\n", true},
               {"X-Served-By:node-22\t\r\n", true},
               {"X-Served-By: other\r\nX-Served-By: node-3\r\n", true},
               {"X-Served-By: node-\r\n", false},
               {"X-Served-By-2: node-1\r\n", false},
               {"", false}};

    assert_int_equal(regex_compile("^node-[0-9]+$", &regex, &err), 0);
    struct request_kind k = {.header_name = "X-Served-By", .header_regex = &regex};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        CLEANUP_FREE char *bytes = xasprintf("HTTP/1.1 103 Hints\r\nX-Served-By: node-0\r\n\r\n"
                                             "HTTP/1.1 200 OK\r\n%sContent-Length: 0\r\n\r\n",
                                             all[i].head);
        struct read r = read_every_way(&k, bytes, strlen(bytes));
        assert_int_equal(r.result, ANSWER_WHOLE);
        assert_int_equal(r.header_ok, all[i].ok);
    }
    regfree(&regex);
}

/* --- limits --- */

static enum answer_result feed_many(struct answer *a, const char *piece, size_t most, size_t *ret_bytes)
{
    enum answer_result result = ANSWER_MORE;
    size_t used;

    for (*ret_bytes = 0; result == ANSWER_MORE && *ret_bytes < most; *ret_bytes += strlen(piece))
        result = answer_feed(a, piece, strlen(piece), &used);
    return result;
}

static void heads_without_end_pass_a_limit(void **state)
{
    (void)state;
    static const char *const starts[] = {"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 O",
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
                                         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", ""};
    static const char *const pieces[] = {"X-Header: value\r\n", "xxxxxxxxxx", "X-Trailer: value\r\n",
                                         "ext=value;", "HTTP/1.1 100 Continue\r\n\r\n"};
    struct request_kind k = kind_of(NULL);

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        struct answer a = {0};
        size_t used, bytes;
        answer_begin(&a, &k);
        assert_int_equal(answer_feed(&a, starts[i], strlen(starts[i]), &used), ANSWER_MORE);
        assert_int_equal(feed_many(&a, pieces[i], 10 * ANSWER_HEAD_MAX, &bytes), ANSWER_BAD);
        assert_true(bytes < 2 * ANSWER_HEAD_MAX);
        answer_release(&a);
    }
}

static void large_bodies_are_collected_up_to_a_limit(void **state)
{
    (void)state;
    static const char head[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    static const char chunk[] = "10\r\n0123456789abcdef\r\n";
    struct error err = ERROR_INIT;
    regex_t any;
    struct answer a = {0};
    size_t used, bytes;

    assert_int_equal(regex_compile("f0", &any, &err), 0);
    struct request_kind k = kind_of(&any);
    answer_begin(&a, &k);
    assert_int_equal(answer_feed(&a, head, strlen(head), &used), ANSWER_MORE);
    assert_int_equal(feed_many(&a, chunk, 2 * ANSWER_BODY_MAX, &bytes), ANSWER_MORE);
    assert_int_equal(answer_feed(&a, "0\r\n\r\n", 5, &used), ANSWER_WHOLE);
    assert_int_equal(a.body_len, ANSWER_BODY_MAX);
    answer_begin(&a, &k); /* nothing of it stays */
    assert_null(a.store);
    answer_release(&a);
    regfree(&any);
}

static void what_nobody_looks_at_can_be_skipped(void **state)
{
    (void)state;
    static const char bytes[] = "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nabc";
    struct error err = ERROR_INIT;
    regex_t any;
    struct answer a = {0};
    size_t used;

    assert_int_equal(regex_compile(".", &any, &err), 0);
    struct request_kind k = kind_of(NULL), looking = kind_of(&any);
    answer_begin(&a, &k);
    assert_int_equal(answer_skippable(&a), 0);
    assert_int_equal(answer_feed(&a, bytes, strlen(bytes), &used), ANSWER_MORE);
    assert_int_equal(answer_skippable(&a), 99997);
    assert_int_equal(answer_skip(&a, 99996), ANSWER_MORE);
    assert_int_equal(answer_skip(&a, 1), ANSWER_WHOLE);
    answer_begin(&a, &looking);
    assert_int_equal(answer_feed(&a, bytes, strlen(bytes), &used), ANSWER_MORE);
    assert_int_equal(answer_skippable(&a), 0);
    answer_release(&a);
    regfree(&any);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_of_every_framing_are_read),
        cmocka_unit_test(what_becomes_of_the_connection_is_told),
        cmocka_unit_test(answers_that_are_cut_are_not_whole),
        cmocka_unit_test(what_is_no_answer_is_refused),
        cmocka_unit_test(a_head_has_no_body_whatever_it_says),
        cmocka_unit_test(headers_are_looked_for),
        cmocka_unit_test(heads_without_end_pass_a_limit),
        cmocka_unit_test(large_bodies_are_collected_up_to_a_limit),
        cmocka_unit_test(what_nobody_looks_at_can_be_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
