/* SPDX-License-Identifier: MIT */
/* Exchanges that go well, in every framing and size. Runs over both transports. */
#include "exchange.h"

static void exchanges_share_a_kept_connection(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    caller_open_port(&c, p.port);
    assert_string_equal(transport_name(c.transport), IS_PLAIN ? "plain" : "curl");
    assert_int_equal(c.kinds[0].message != NULL, IS_PLAIN);
    for (int i = 0; i < 5; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_int_equal(c.x.status, 200);
        assert_int_equal(c.x.grpc_status, -1);
        assert_int_equal(c.x.received_bytes, strlen(OK2));
        assert_int_equal(c.x.new_connection, i == 0);
        assert_true(c.x.sent_ns > 0);
    }
    assert_int_equal(p.connections, 1);
    assert_int_equal(p.requests, 5);
    CLEANUP_FREE char *wanted =
        xasprintf("GET / HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUser-Agent: benchctl/%s\r\n\r\nGET /", p.port,
                  BENCHCTL_VERSION);
    assert_int_equal(strncmp(p.seen.data, wanted, strlen(wanted)), 0);
    channel_disconnect(c.channel);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_true(c.x.new_connection);
    end(&c, &p);
}

static void a_new_connection_each_when_asked_for(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    c.w.keepalive = false;
    caller_open_port(&c, p.port);
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
    }
    assert_int_equal(p.connections, 3);
    assert_has(p.seen.data, "\r\nConnection: close\r\n");
    end(&c, &p);
}

static void answers_in_single_bytes_are_the_same(void **state)
{
    (void)state;
    static const char chunked[] =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n"
        "X-Node: a7\r\n\r\n3;x=y\r\nabc\r\n3\r\ndef\r\n0\r\nTrailer: x\r\n\r\n";
    static const struct peer_step steps[] = {{.answer = chunked, .piece = 1}, {.answer = OK2, .piece = 1}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 2);
    c.forms[0].expect.body = "^abcdef$";
    c.forms[0].expect.header = "x-node: ^a[0-9]$";
    c.forms[1].expect.body = "^ok$";
    c.w.requests.len = 2;
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_int_equal(c.x.status, 201);
    if (IS_PLAIN) /* libcurl does not tell what framed the chunks */
        assert_int_equal(c.x.received_bytes, strlen(chunked));
    assert_error(caller_call(&c, 1), REQUEST_OK);
    assert_int_equal(p.connections, 1);
    end(&c, &p);
}

static void what_was_expected_is_judged(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {
        {.answer = "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"},
        {.answer = "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n"},
        {.answer = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"},
        {.answer = "HTTP/1.1 204 No\r\n\r\n"},
        {.answer = OK2},
        {.answer = OK2},
        {.answer = "HTTP/1.1 777 Odd\r\nContent-Length: 0\r\n\r\n"}};
    struct caller c;
    struct peer p;
    const char *statuses[] = {"204", "5xx"};
    begin(&c, &p, steps, ARRAY_LEN(steps));
    c.w.requests.len = 4;
    c.forms[1].expect.status = (struct text_list){statuses, 2};
    c.forms[2].expect.body = "not ok";
    c.forms[3].expect.header = "X-Node: .";
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_STATUS);
    assert_int_equal(c.x.status, 500);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_error(caller_call(&c, 1), REQUEST_STATUS);
    assert_error(caller_call(&c, 1), REQUEST_OK);
    assert_error(caller_call(&c, 2), REQUEST_MISMATCH);
    assert_error(caller_call(&c, 3), REQUEST_MISMATCH);
    assert_error(caller_call(&c, 0), REQUEST_STATUS);
    assert_int_equal(p.connections, 1); /* a whole answer is whole, whatever it says */
    end(&c, &p);
}

static void bodies_until_the_end_and_without_keep_alive(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {
        {.answer = "HTTP/1.1 200 OK\r\n\r\nuntil the end", .end = PEER_CLOSE, .piece = 3},
        {.answer = "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", .end = PEER_KEEP},
        {.answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", .end = PEER_KEEP},
        {.answer = OK2, .end = PEER_CLOSE}, /* without a word */
        {.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, ARRAY_LEN(steps));
    c.forms[0].expect.body = "^(until the end|ok)$";
    caller_open_port(&c, p.port);
    for (int i = 0; i < 5; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
        caller_idle(&c);
    }
    assert_int_equal(p.connections, 5);
    end(&c, &p);
}

static void a_server_that_closes_is_waited_for(void **state)
{
    (void)state;
    /* it says so and takes its time: whoever closes first keeps the port */
    static const struct peer_step steps[] = {
        {.answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    c.w.keepalive = false;
    caller_open_port(&c, p.port);
    for (size_t i = 1; i <= 600; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
        if (IS_PLAIN && i <= 500) /* so many, then the oldest goes */
            assert_int_equal(p.open, i);
    }
    caller_idle(&c);
    assert_int_equal(p.open, IS_PLAIN ? 500 : 0);
    peer_end_all(&p, PEER_CLOSE);
    caller_idle(&c);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    end(&c, &p);
}

static void a_head_request_has_no_body(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    c.forms[0].method = "HEAD";
    caller_open_port(&c, p.port);
    for (int i = 0; i < 3; i++)
        assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_int_equal(p.connections, 1);
    end(&c, &p);
}

/* --- sizes --- */

static void large_requests_and_answers_pass(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf answer = STRBUF_INIT, body = STRBUF_INIT;
    struct caller c;
    struct peer p;
    strbuf_adds(&answer, "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n");
    size_t head = answer.len;
    while (answer.len < head + 3000000)
        strbuf_adds(&answer, "0123456789");
    while (body.len < 1000000)
        strbuf_adds(&body, "{{counter}} abc ");
    struct peer_step steps[] = {{.answer = answer.data}};
    begin(&c, &p, steps, 1);
    c.w.requests.len = 3;
    c.forms[0].method = c.forms[1].method = "POST";
    c.forms[0].body = c.forms[1].body = body.data;
    c.forms[0].raw = true;
    c.forms[2].expect.body = "9012345678901234567890";
    caller_open_port(&c, p.port);
    for (size_t kind = 0; kind < 3; kind++) {
        size_t before = p.seen.len;
        assert_error(caller_call(&c, kind), REQUEST_OK);
        assert_int_equal(c.x.received_bytes, answer.len);
        const char *seen = p.seen.data + before;
        if (kind == 0)
            assert_string_equal(strstr(seen, "\r\n\r\n") + 4, body.data);
        if (kind == 1)
            assert_has(strstr(seen, "\r\n\r\n"), "0 abc 0 abc 0 abc");
    }
    assert_int_equal(p.connections, 1);
    end(&c, &p);
}

static void an_answer_before_all_was_sent_is_taken(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    static const struct peer_step steps[] = {{.answer = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n",
                                              .at_once = true,
                                              .end = PEER_SILENT},
                                             {.answer = OK2}};
    struct caller c;
    struct peer p;
    while (body.len < 20000000)
        strbuf_adds(&body, "0123456789");
    begin(&c, &p, steps, 2);
    c.w.requests.len = 2;
    c.forms[0].method = "POST";
    c.forms[0].body = body.data;
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_STATUS);
    assert_int_equal(c.x.status, 413);
    assert_error(caller_call(&c, 1), REQUEST_OK);
    assert_true(c.x.new_connection); /* the first one still had a body to come */
    end(&c, &p);
}

/* --- addresses --- */

static void ipv6_is_reached(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct caller c;
    struct peer p = {.v6 = true};
    caller_init(&c);
    peer_start(&p, c.loop, steps, 1);
    if (!p.port) {
        print_message("skipped: no IPv6 here\n");
    } else {
        caller_open(&c, arena_printf(c.arena, "http://[::1]:%d/base/", p.port));
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_has(p.seen.data, "GET /base/ HTTP/1.1\r\nHost: [::1]:");
    }
    end(&c, &p);
}

static void the_next_address_of_a_name_is_tried(void **state)
{
    (void)state;
    /* localhost is ::1 and 127.0.0.1 on most machines; the server has only one of them */
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    caller_open(&c, arena_printf(c.arena, "http://localhost:%d", p.port));
    for (int i = 0; i < 2; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        channel_disconnect(c.channel);
    }
    end(&c, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exchanges_share_a_kept_connection),
        cmocka_unit_test(a_new_connection_each_when_asked_for),
        cmocka_unit_test(answers_in_single_bytes_are_the_same),
        cmocka_unit_test(what_was_expected_is_judged),
        cmocka_unit_test(bodies_until_the_end_and_without_keep_alive),
        cmocka_unit_test(a_server_that_closes_is_waited_for),
        cmocka_unit_test(a_head_request_has_no_body),
        cmocka_unit_test(large_requests_and_answers_pass),
        cmocka_unit_test(an_answer_before_all_was_sent_is_taken),
        cmocka_unit_test(ipv6_is_reached),
        cmocka_unit_test(the_next_address_of_a_name_is_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
