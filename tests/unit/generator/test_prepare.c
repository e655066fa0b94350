/* SPDX-License-Identifier: MIT */
/* Requests made ready: the bytes that are sent, what is refused, and what is expected of answers. */
#include "../check.h"
#include "benchctl/base/fs.h"
#include "plain_message.h"
#include "support/scratch.h"

struct fixture {
    struct loop *loop;
    struct arena *arena;
    struct workload w;
    struct workload_request form;
    struct text_pair headers[4], common[4];
    struct transport *transport;
    struct request_kind *kinds;
    size_t count;
    struct error err;
};

static void begin(struct fixture *f)
{
    struct error err = ERROR_INIT;

    *f = (struct fixture){.err = ERROR_INIT};
    assert_int_equal(loop_new(&f->loop, &err), 0);
    f->arena = arena_new();
    f->form = (struct workload_request){.name = "it",
                                        .method = "GET",
                                        .path = "/",
                                        .timeout_ns = SCHEMA_ABSENT,
                                        .at = {"m.yaml", 7, 3},
                                        .path_at = {"m.yaml", 8, 9},
                                        .body_at = {"m.yaml", 9, 9},
                                        .expect_at = {"m.yaml", 10, 9}};
    f->w = (struct workload){.target = "http://127.0.0.1:8080",
                             .keepalive = true,
                             .timeout_ns = 123,
                             .requests = {&f->form, 1},
                             .headers = {f->common, 0},
                             .at = {"m.yaml", 1, 1}};
    f->form.headers.items = f->headers;
}

static int prepare(struct fixture *f)
{
    if (transport_new(f->loop, &f->w, &f->transport, &f->err) < 0)
        return -1;
    return transport_prepare(f->transport, &f->w, NULL, f->arena, &f->kinds, &f->count, &f->err);
}

static void end(struct fixture *f)
{
    transport_free(f->transport);
    arena_free(f->arena);
    loop_free(f->loop);
}

/* What goes over the wire; the caller frees. NULL: it cannot be sent. */
static char *message(const struct fixture *f, const struct workload_values *v)
{
    struct strbuf out = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;

    if (f->kinds[0].message)
        return xstrndup(f->kinds[0].message, f->kinds[0].message_len);
    if (message_render(f->kinds, v, &out, &body)) {
        strbuf_release(&out);
        return NULL;
    }
    return strbuf_detach(&out);
}

static void assert_message(struct fixture *f, const struct workload_values *v, const char *wanted)
{
    if (prepare(f) < 0)
        fail_msg("%s", f->err.message);
    CLEANUP_FREE char *bytes = message(f, v);
    assert_string_equal(bytes, wanted);
    end(f);
}

static void assert_refused(struct fixture *f, const char *part)
{
    assert_int_equal(prepare(f), -1);
    assert_has(f->err.message, part);
    assert_int_equal(f->err.kind, ERROR_INVALID);
    end(f);
}

#define AGENT "User-Agent: benchctl/" BENCHCTL_VERSION "\r\n"

static void a_constant_request_is_one_text(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.w.target = "http://127.0.0.1:80/base/";
    f.form.path = "/a?b=c";
    assert_int_equal(prepare(&f), 0);
    assert_non_null(f.kinds[0].message);
    assert_int_equal(f.kinds[0].timeout_ns, 123);
    assert_string_equal(f.kinds[0].message, "GET /base/a?b=c HTTP/1.1\r\nHost: 127.0.0.1\r\n" AGENT "\r\n");
    end(&f);
}

static void headers_replace_each_other(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.common[0] = (struct text_pair){.key = "user-agent", .value = "mine"};
    f.common[1] = (struct text_pair){.key = "X-A", .value = "common"};
    f.w.headers.len = 2;
    f.headers[0] = (struct text_pair){.key = "x-a", .value = "own"};
    f.headers[1] = (struct text_pair){.key = "Host", .value = "example.org"};
    f.headers[2] = (struct text_pair){.key = "X-Empty", .value = ""};
    f.form.headers.len = 3;
    f.w.keepalive = false;
    assert_message(
        &f, NULL,
        "GET / HTTP/1.1\r\nHost: example.org\r\nuser-agent: mine\r\nConnection: close\r\nx-a: own\r\n"
        "X-Empty: \r\n\r\n");
}

static void bodies_have_their_length(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.form.method = "POST";
    f.form.body = "{\"a\": 1}";
    assert_message(&f, NULL,
                   "POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT "Content-Length: 8\r\n\r\n{\"a\": 1}");
    begin(&f);
    f.form.method = "PUT"; /* without a body it says so */
    assert_message(&f, NULL, "PUT / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT "Content-Length: 0\r\n\r\n");
    begin(&f);
    f.form.method = "DELETE";
    assert_message(&f, NULL, "DELETE / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT "\r\n");
    begin(&f);
    f.form.method = "POST";
    f.form.raw = true;
    f.form.body = "{{counter}}";
    assert_message(&f, NULL,
                   "POST / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT
                   "Content-Length: 11\r\n\r\n{{counter}}");
}

static void templates_are_filled_in(void **state)
{
    (void)state;
    struct workload_values v = {.counter = 12345, .vu = 6, .id = "the-id"};
    struct fixture f;
    begin(&f);
    f.w.id_header = "X-Request-Id";
    f.form.method = "POST";
    f.form.path = "/items/{{counter}}?vu={{vu}}";
    f.form.body = "id={{id}}";
    f.headers[0] = (struct text_pair){.key = "X-Vu", .value = "{{vu}}"};
    f.form.headers.len = 1;
    assert_message(&f, &v,
                   "POST /items/12345?vu=6 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT
                   "X-Request-Id: the-id\r\nX-Vu: 6\r\nContent-Length: 9\r\n\r\nid=the-id");
}

static void nothing_rendered_can_end_a_line(void **state)
{
    (void)state;
    struct workload_values v = {.id = "x HTTP/1.1\r\nX-Evil: 1"};
    struct fixture f;
    begin(&f);
    f.form.path = "/{{id}}";
    assert_message(&f, &v,
                   "GET /x%20HTTP/1.1%0D%0AX-Evil:%201 HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT "\r\n");
    begin(&f);
    f.headers[0] = (struct text_pair){.key = "X-Id", .value = "{{id}}"};
    f.form.headers.len = 1;
    assert_int_equal(prepare(&f), 0);
    assert_null(message(&f, &v));
    v.id = "fine";
    CLEANUP_FREE char *bytes = message(&f, &v);
    assert_has(bytes, "\r\nX-Id: fine\r\n");
    end(&f);
}

static void paths_are_encoded(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.form.path = "/caf\xc3\xa9 \"x\"?q=%20&r=<>#top";
    assert_message(&f, NULL,
                   "GET /caf%C3%A9%20%22x%22?q=%20&r=%3C%3E%23top HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT
                   "\r\n");
    begin(&f);
    f.form.path = "relative";
    assert_message(&f, NULL, "GET /relative HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n" AGENT "\r\n");
}

static void body_files_are_read(void **state)
{
    struct fixture f;
    struct workload_values v = {.counter = 3};
    CLEANUP_FREE char *path = path_join(*state, "body.txt");
    struct error err = ERROR_INIT;
    assert_int_equal(fs_write(path, "n={{counter}}\0z", 15, &err), 0);
    begin(&f);
    f.form.method = "POST";
    f.form.body_file = path;
    assert_int_equal(prepare(&f), 0);
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT, body = STRBUF_INIT;
    assert_null(message_render(f.kinds, &v, &out, &body));
    assert_int_equal(body.len, 5);
    assert_memory_equal(body.data, "n=3\0z", 5);
    end(&f);
    begin(&f);
    f.form.method = "POST";
    f.form.body_file = path;
    f.form.raw = true;
    assert_int_equal(prepare(&f), 0);
    assert_int_equal(f.kinds[0].body.len, 15);
    end(&f);
    begin(&f);
    f.form.body_file = "/nowhere/at/all";
    assert_int_equal(prepare(&f), -1);
    assert_has(f.err.message, "m.yaml:9:9: body_file: ");
    end(&f);
}

static void what_would_break_a_message_is_refused(void **state)
{
    (void)state;
    static const struct {
        struct text_pair header;
        const char *part;
    } all[] = {{{.key = "Content-Length", .value = "5"}, "m.yaml:7:3: header 'Content-Length' is set by"},
               {{.key = "transfer-encoding", .value = "chunked"}, "header 'transfer-encoding' is set by"},
               {{.key = "Bad Name", .value = "x"}, "'Bad Name' is no name of a header"},
               {{.key = "", .value = "x"}, "is no name of a header"},
               {{.key = "X", .value = "a\r\nY: b"}, "header 'X': its value has a line break"}};
    struct fixture f;
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        begin(&f);
        f.headers[0] = all[i].header;
        f.form.headers.len = 1;
        assert_refused(&f, all[i].part);
    }
    begin(&f);
    f.form.method = "GET /x HTTP/1.1\r\nX:";
    assert_refused(&f, "is no HTTP method");
    begin(&f);
    f.form.method = "CONNECT";
    assert_refused(&f, "method CONNECT makes a tunnel");
    begin(&f);
    f.form.path = "/{{nonsense}}";
    assert_refused(&f, "m.yaml:8:9: path: ");
}

static void statuses_are_listed(void **state)
{
    (void)state;
    static const char *const bad[] = {"",        "20",  "2000",     "abc",  "2x", "200-",
                                      "204-200", "099", "200-1000", "200 ", "600"};
    const char *good[] = {"204", "3XX", "500-502"};
    struct fixture f;
    begin(&f);
    assert_int_equal(prepare(&f), 0);
    for (int s = 100; s < 1000; s++)
        assert_int_equal(f.kinds[0].status_ok[s], s >= 200 && s < 400);
    end(&f);
    begin(&f);
    f.form.expect.status = (struct text_list){good, ARRAY_LEN(good)};
    assert_int_equal(prepare(&f), 0);
    for (int s = 100; s < 1000; s++)
        assert_int_equal(f.kinds[0].status_ok[s],
                         s == 204 || (s >= 300 && s < 400) || (s >= 500 && s <= 502));
    end(&f);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        begin(&f);
        f.form.expect.status = (struct text_list){(const char *[]){bad[i]}, 1};
        assert_refused(&f, "is no status");
    }
}

static void expectations_are_compiled(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    f.form.expect.body = "a(";
    assert_refused(&f, "m.yaml:10:9: expect.body: bad regular expression 'a('");
    begin(&f);
    f.form.expect.header = "no colon";
    assert_refused(&f, "expect.header has no name");
    begin(&f);
    f.form.expect.header = "X-A:   ^b$";
    assert_int_equal(prepare(&f), 0);
    assert_string_equal(f.kinds[0].header_name, "X-A");
    assert_true(header_matches(f.kinds, "b", 1));
    assert_false(header_matches(f.kinds, "bc", 2));
    end(&f);
}

static void answers_are_judged_in_order(void **state)
{
    (void)state;
    const struct answer_facts good = {.status = 200, .grpc_status = -1, .header_ok = true};
    struct answer_facts facts = good;
    const char *detail;
    struct fixture f;
    begin(&f);
    f.form.expect.body = "x";
    f.form.fallback = "ab?$";
    assert_int_equal(prepare(&f), 0);
    struct exchange x = {.kind = f.kinds};
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_MISMATCH);
    facts.body = "axb";
    facts.body_len = 3;
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_OK);
    assert_null(detail);
    assert_false(x.fallback);
    facts.body = "xab";
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_OK);
    assert_true(x.fallback);
    x.fallback = false;
    facts.body = "ab"; /* it would match, but is not ok */
    facts.body_len = 2;
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_MISMATCH);
    assert_false(x.fallback);
    facts.body_len = 1;
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_MISMATCH);
    facts.header_ok = false;
    facts.status = 500;
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_STATUS);
    facts.status = 100000;
    assert_int_equal(answer_judge(&x, &facts, &detail), REQUEST_STATUS);
    end(&f);
}

static void failures_to_connect_are_told_apart(void **state)
{
    (void)state;
    static const int ours[] = {EADDRNOTAVAIL, EAGAIN, EMFILE, ENFILE, ENOBUFS, ENOMEM, ENOSPC};
    static const int theirs[] = {ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ETIMEDOUT, EACCES};

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        assert_int_equal(connect_error(ours[i]), REQUEST_GENERATOR);
    for (size_t i = 0; i < ARRAY_LEN(theirs); i++)
        assert_int_equal(connect_error(theirs[i]), REQUEST_CONNECT);
    assert_int_equal(connect_error(ECONNRESET), REQUEST_RESET);
    assert_string_equal(errno_text(ECONNREFUSED), "Connection refused");
    assert_string_equal(errno_text(100000), "unknown error");
}

/* --- targets --- */

static void targets_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *url, *host, *authority, *prefix;
        int port;
        bool tls;
    } good[] = {{"http://a", "a", "a", "", 80, false},
                {"HTTP://a:80/", "a", "a", "", 80, false},
                {"http://a:8080/x/y//", "a", "a:8080", "/x/y", 8080, false},
                {"https://a.b:443/x", "a.b", "a.b", "/x", 443, true},
                {"https://[::1]:8443", "::1", "[::1]:8443", "", 8443, true},
                {"http://[fd00::2]/", "fd00::2", "[fd00::2]", "", 80, false}};
    static const char *const bad[] = {
        "",           "a:80",           "ftp://a",        "http://",       "http://:80",
        "http://a:",  "http://a:0",     "http://a:65536", "http://a:8x",   "http://[::1",
        "http://[]",  "http://[::1]80", "http://u:p@a/",  "http://a/?q=1", "http://a#b",
        "http://a b/"};
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct position at = {"m.yaml", 2, 5};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct target t;
        struct error err = ERROR_INIT;
        assert_int_equal(target_parse(good[i].url, at, a, &t, &err), 0);
        assert_string_equal(t.host, good[i].host);
        assert_string_equal(t.authority, good[i].authority);
        assert_string_equal(t.prefix, good[i].prefix);
        assert_int_equal(t.port, good[i].port);
        assert_int_equal(t.tls, good[i].tls);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct target t;
        struct error err = ERROR_INIT;
        if (target_parse(bad[i], at, a, &t, &err) == 0)
            fail_msg("taken: %s", bad[i]);
        assert_has(err.message, "m.yaml:2:5: target '");
    }
}

static void the_transport_is_chosen(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f);
    assert_null(transport_needs_curl(&f.w));
    assert_int_equal(prepare(&f), 0);
    assert_string_equal(transport_name(f.transport), "plain");
    end(&f);
    begin(&f);
    f.w.transport = TRANSPORT_CURL;
    assert_int_equal(prepare(&f), 0);
    assert_string_equal(transport_name(f.transport), "curl");
    end(&f);
    begin(&f);
    f.w.target = "https://127.0.0.1:1";
    f.w.transport = TRANSPORT_PLAIN;
    assert_refused(&f, "transport 'plain' cannot carry this load: the target is https");
    begin(&f);
    f.w.http = HTTP_VERSION_2;
    assert_non_null(transport_needs_curl(&f.w));
    f.w.http = HTTP_VERSION_1_1;
    f.form.grpc = "a.B/C";
    assert_non_null(transport_needs_curl(&f.w));
    end(&f);
    begin(&f);
    f.w.target = "https://127.0.0.1:1";
    f.w.ca_file = "/nowhere/ca.pem";
    assert_refused(&f, "m.yaml:1:1: ca_file '/nowhere/ca.pem' does not exist");
    begin(&f);
    f.w.target = "http://no-such-host.invalid";
    assert_int_equal(prepare(&f), -1);
    assert_has(f.err.message, "cannot resolve 'no-such-host.invalid'");
    assert_int_equal(f.err.kind, ERROR_ENVIRONMENT);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_request_is_one_text),
        cmocka_unit_test(headers_replace_each_other),
        cmocka_unit_test(bodies_have_their_length),
        cmocka_unit_test(templates_are_filled_in),
        cmocka_unit_test(nothing_rendered_can_end_a_line),
        cmocka_unit_test(paths_are_encoded),
        cmocka_unit_test_setup_teardown(body_files_are_read, scratch_setup, scratch_teardown),
        cmocka_unit_test(what_would_break_a_message_is_refused),
        cmocka_unit_test(statuses_are_listed),
        cmocka_unit_test(expectations_are_compiled),
        cmocka_unit_test(answers_are_judged_in_order),
        cmocka_unit_test(failures_to_connect_are_told_apart),
        cmocka_unit_test(targets_are_taken_apart),
        cmocka_unit_test(the_transport_is_chosen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
