/* SPDX-License-Identifier: MIT */
/* Requests and replies that go well, in every shape. */
#include "http_fixture.h"
#include "scripted_server.h"

struct outcome {
    bool done, ok;
    int calls, status;
    char type[64];
    struct strbuf body, streamed;
    int heads, head_status;
    struct error error;
    struct http_request *to_cancel; /* by on_body or done */
    struct http *http;
    const struct http_options *to_start;
};

static void on_done(const struct http_result *r, void *data)
{
    struct outcome *o = data;

    o->calls++;
    o->ok = r->ok;
    o->status = r->status;
    o->error = r->error;
    assert_true(r->finished_ns >= r->started_ns);
    snprintf(o->type, sizeof(o->type), "%s", r->content_type);
    strbuf_add(&o->body, r->body, r->body_len);
    o->done = true;
}

static void on_head(int status, const char *type, void *data)
{
    struct outcome *o = data;

    o->heads++;
    o->head_status = status;
    snprintf(o->type, sizeof(o->type), "%s", type);
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct outcome *o = data;

    assert_int_equal(o->heads, 1);
    strbuf_add(&o->streamed, bytes, len);
    return 0;
}

static void outcome_release(struct outcome *o)
{
    strbuf_release(&o->body);
    strbuf_release(&o->streamed);
}

static struct http_endpoint at(struct server *s)
{
    return (struct http_endpoint){.unix_socket = server_socket(s)};
}

static void gets_status_type_and_body(void **state)
{
    (void)state;
    struct expect script[] = {{"GET /a?x=1", .reply = {.body = "hello", .type = "text/plain"}},
                              {"GET /b", .reply = {.status = 404, .body = "{}"}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 2});
    struct http_endpoint endpoint = at(s);
    struct client c;
    struct outcome o = {0};
    struct error err = ERROR_INIT;
    client_start(&c);
    struct http_options options = {
        .endpoint = &endpoint, .url = "http://host/a?x=1", .done = on_done, .data = &o};
    assert_int_equal(http_start(c.http, &options, NULL, &err), 0);
    wait_for(&c, &o.done);
    assert_true(o.ok);
    assert_int_equal(o.status, 200);
    assert_string_equal(o.type, "text/plain");
    assert_string_equal(strbuf_text(&o.body), "hello");

    int status;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    options.url = "http://host/b";
    assert_int_equal(http_fetch(c.http, &options, &status, &body, &err), 0);
    assert_int_equal(status, 404);
    assert_string_equal(strbuf_text(&body), "{}");
    assert_int_equal(server_seen(s, 0)->connection, server_seen(s, 1)->connection);
    assert_int_equal(o.calls, 1);
    outcome_release(&o);
    client_end(&c);
    server_finish(s);
}

static void a_fresh_connection_is_fresh(void **state)
{
    (void)state;
    struct rule rules[] = {{"GET /", .reply = {.body = "x"}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    struct client c;
    struct error err = ERROR_INIT;
    int status;
    char url[64];
    client_start(&c);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server_port(s));
    for (int i = 0; i < 4; i++) {
        struct http_options options = {.url = url, .fresh_connection = i >= 2};
        assert_int_equal(http_fetch(c.http, &options, &status, NULL, &err), 0);
    }
    assert_int_equal(server_seen(s, 1)->connection, 1);
    assert_int_equal(server_seen(s, 2)->connection, 2);
    assert_int_equal(server_seen(s, 3)->connection, 3);
    client_end(&c);
    server_finish(s);
}

static ptrdiff_t upload(char *buffer, size_t size, void *data)
{
    size_t *left = data, n = *left < size ? *left : size;

    memset(buffer, 'u', n);
    *left -= n;
    return (ptrdiff_t)n;
}

static void sends_bodies_and_methods(void **state)
{
    (void)state;
    struct expect script[] = {{"POST /post", .has = {"{\"a\":1}"}, .reply = {.status = 201}},
                              {"POST /empty", .reply = {.status = 204}},
                              {"DELETE /x", .reply = {.status = 204}},
                              {"HEAD /h", .reply = {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"}},
                              {"POST /up", .reply = {.body = "{}"}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 5});
    struct http_endpoint endpoint = at(s);
    const char *json[] = {"Content-Type: application/json", "X-Test: yes", NULL};
    struct client c;
    struct error err = ERROR_INIT;
    size_t left = 300000;
    int status;
    client_start(&c);
    struct http_options calls[] = {
        {.url = "http://h/post", .method = "POST", .body = "{\"a\":1}", .body_len = 7, .headers = json},
        {.url = "http://h/empty", .method = "POST"},
        {.url = "http://h/x", .method = "DELETE"},
        {.url = "http://h/h", .method = "HEAD"},
        {.url = "http://h/up", .method = "POST", .read_body = upload, .data = &left}};
    int wanted[] = {201, 204, 204, 200, 200};
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        calls[i].endpoint = &endpoint;
        if (http_fetch(c.http, &calls[i], &status, NULL, &err))
            fail_msg("%zu: %s", i, err.message);
        assert_int_equal(status, wanted[i]);
    }
    assert_non_null(strstr(server_seen(s, 0)->headers, "Content-Type: application/json"));
    assert_non_null(strstr(server_seen(s, 0)->headers, "X-Test: yes"));
    assert_null(strstr(server_seen(s, 1)->headers, "Content-Type"));
    assert_int_equal(server_seen(s, 1)->body_len, 0);
    assert_null(strstr(server_seen(s, 4)->headers, "Expect"));
    assert_int_equal(server_seen(s, 4)->body_len, 300000);
    client_end(&c);
    server_finish(s);
}

static void a_reply_in_single_bytes_is_the_same(void **state)
{
    (void)state;
    struct expect script[] = {
        {"GET /", .reply = {.body = "abc\0def", .body_len = 7, .chunked = true, .piece = 1}},
        {"GET /", .reply = {.raw = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"
                                   "Content-Length: 2\r\n\r\nok",
                            .piece = 1}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 2});
    struct http_endpoint endpoint = at(s);
    struct http_options options = {.endpoint = &endpoint, .url = "http://h/"};
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    struct client c;
    struct error err = ERROR_INIT;
    int status;
    client_start(&c);
    assert_int_equal(http_fetch(c.http, &options, &status, &body, &err), 0);
    assert_int_equal(body.len, 7);
    assert_memory_equal(body.data, "abc\0def", 7);
    strbuf_clear(&body);
    assert_int_equal(http_fetch(c.http, &options, &status, &body, &err), 0);
    assert_int_equal(status, 200);
    assert_string_equal(strbuf_text(&body), "ok");
    client_end(&c);
    server_finish(s);
}

static void a_stream_arrives_as_it_is_sent(void **state)
{
    (void)state;
    struct expect script[] = {{"GET /events", .reply = {.body = "one", .end = END_OPEN}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 1});
    struct http_endpoint endpoint = at(s);
    struct client c;
    struct outcome o = {0};
    struct error err = ERROR_INIT;
    client_start(&c);
    struct http_options options = {.endpoint = &endpoint,
                                   .url = "http://h/events",
                                   .done = on_done,
                                   .on_head = on_head,
                                   .on_body = on_body,
                                   .data = &o,
                                   .fresh_connection = true};
    assert_int_equal(http_start(c.http, &options, NULL, &err), 0);
    while (o.streamed.len < 3)
        run_for_ms(&c, 5);
    assert_int_equal(o.heads, 1);
    assert_int_equal(o.head_status, 200);
    assert_string_equal(o.type, "application/json");
    assert_int_equal(server_push(s, "/events", "two", 3), 1);
    while (o.streamed.len < 6)
        run_for_ms(&c, 5);
    assert_string_equal(strbuf_text(&o.streamed), "onetwo");
    assert_false(o.done);
    server_end_streams(s, "/events", true);
    wait_for(&c, &o.done);
    assert_true(o.ok);
    outcome_release(&o);
    client_end(&c);
    server_finish(s);
}

static void a_refused_stream_gives_its_text(void **state)
{
    (void)state;
    struct expect script[] = {{"GET /events", .reply = {.status = 404, .body = "{\"message\": \"no\"}"}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 1});
    struct http_endpoint endpoint = at(s);
    struct client c;
    struct outcome o = {0};
    struct error err = ERROR_INIT;
    client_start(&c);
    struct http_options options = {.endpoint = &endpoint,
                                   .url = "http://h/events",
                                   .done = on_done,
                                   .on_head = on_head,
                                   .on_body = on_body,
                                   .data = &o};
    assert_int_equal(http_start(c.http, &options, NULL, &err), 0);
    wait_for(&c, &o.done);
    assert_true(o.ok);
    assert_int_equal(o.status, 404);
    assert_string_equal(strbuf_text(&o.body), "{\"message\": \"no\"}");
    assert_int_equal(o.streamed.len, 0);
    outcome_release(&o);
    client_end(&c);
    server_finish(s);
}

static void redirects_and_proxies_are_not_followed(void **state)
{
    (void)state;
    struct expect script[] = {
        {"GET /", .reply = {.status = 302, .headers = "Location: http://127.0.0.1:1/elsewhere\r\n"}}};
    struct server *s = server_start(&(struct server_options){.script = script, .script_len = 1, .tcp = true});
    struct client c;
    struct error err = ERROR_INIT;
    char url[64];
    int status;
    client_start(&c);
    setenv("http_proxy", "http://127.0.0.1:1", 1);
    setenv("ALL_PROXY", "http://127.0.0.1:1", 1);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server_port(s));
    assert_int_equal(http_fetch(c.http, &(struct http_options){.url = url}, &status, NULL, &err), 0);
    assert_int_equal(status, 302);
    /* ... unless the caller asks for them: nobody listens on port 1 */
    struct http_endpoint out = {.use_proxy = true};
    assert_int_equal(
        http_fetch(c.http, &(struct http_options){.url = url, .endpoint = &out}, &status, NULL, &err), -1);
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    client_end(&c);
    server_finish(s);
}

/* --- callbacks that start and cancel --- */

static int cancel_in_body(const char *bytes, size_t len, void *data)
{
    struct outcome *o = data;
    struct error err = ERROR_INIT;

    (void)bytes;
    (void)len;
    http_cancel(TAKE(o->to_cancel));
    if (o->to_start)
        assert_int_equal(http_start(o->http, o->to_start, NULL, &err), 0);
    o->to_start = NULL;
    return 0;
}

static void callbacks_may_cancel_and_start(void **state)
{
    (void)state;
    struct rule rules[] = {{"GET /hang", .reply = {.delay_ms = 60000}},
                           {"GET /stream", .reply = {.body = "x", .end = END_OPEN}},
                           {"GET /ok", .reply = {.body = "ok"}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 3});
    struct http_endpoint endpoint = at(s);
    struct client c;
    struct outcome self = {0}, other = {0}, started = {0};
    struct error err = ERROR_INIT;
    client_start(&c);
    struct http_options hang = {
        .endpoint = &endpoint, .url = "http://h/hang", .done = on_done, .data = &other};
    struct http_options ok = {.endpoint = &endpoint, .url = "http://h/ok", .done = on_done, .data = &started};
    struct http_options stream = {.endpoint = &endpoint,
                                  .url = "http://h/stream",
                                  .done = on_done,
                                  .on_body = cancel_in_body,
                                  .data = &other};
    /* a stream's callback cancels another request and starts a third */
    struct http_request *first;
    assert_int_equal(http_start(c.http, &hang, &other.to_cancel, &err), 0);
    other.http = c.http;
    other.to_start = &ok;
    assert_int_equal(http_start(c.http, &stream, &first, &err), 0);
    wait_for(&c, &started.done);
    assert_string_equal(strbuf_text(&started.body), "ok");
    assert_int_equal(other.calls, 0);
    /* ... and one cancels itself */
    self.http = c.http;
    stream.data = &self;
    assert_int_equal(http_start(c.http, &stream, &self.to_cancel, &err), 0);
    while (self.to_cancel)
        run_for_ms(&c, 5);
    run_for_ms(&c, 20);
    assert_int_equal(self.calls, 0);
    /* one that was never cancelled goes with the client, silently */
    outcome_release(&started);
    client_end(&c);
    assert_int_equal(other.calls, 0);
    server_finish(s);
}

static void many_at_once(void **state)
{
    (void)state;
    struct rule rules[] = {{"GET /*", .reply = {.body = "x", .delay_ms = 3, .piece = 7}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = at(s);
    struct client c;
    struct outcome o[20] = {0};
    struct error err = ERROR_INIT;
    client_start(&c);
    for (size_t i = 0; i < ARRAY_LEN(o); i++) {
        struct http_options options = {
            .endpoint = &endpoint, .url = "http://h/n", .done = on_done, .data = &o[i]};
        assert_int_equal(http_start(c.http, &options, NULL, &err), 0);
    }
    for (size_t i = 0; i < ARRAY_LEN(o); i++) {
        wait_for(&c, &o[i].done);
        assert_true(o[i].ok);
        outcome_release(&o[i]);
    }
    client_end(&c);
    server_finish(s);
}

static void escapes(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf b = STRBUF_INIT;

    http_escape(&b, "aZ09-._~");
    http_escape(&b, "/?&={\"\n\xc3\xa9");
    assert_string_equal(strbuf_text(&b), "aZ09-._~%2F%3F%26%3D%7B%22%0A%C3%A9");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_status_type_and_body),
        cmocka_unit_test(a_fresh_connection_is_fresh),
        cmocka_unit_test(sends_bodies_and_methods),
        cmocka_unit_test(a_reply_in_single_bytes_is_the_same),
        cmocka_unit_test(a_stream_arrives_as_it_is_sent),
        cmocka_unit_test(a_refused_stream_gives_its_text),
        cmocka_unit_test(redirects_and_proxies_are_not_followed),
        cmocka_unit_test(callbacks_may_cancel_and_start),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
