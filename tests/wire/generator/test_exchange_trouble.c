/* SPDX-License-Identifier: MIT */
/* What a server can do to an exchange, and what it counts as. Runs over both transports. */
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include "exchange.h"

static void answers_that_break_are_resets(void **state)
{
    (void)state;
    static const struct {
        struct peer_step step;
        int status;
    } all[] = {
        {{.end = PEER_CLOSE}, 0},
        {{.end = PEER_RESET}, 0},
        {{.end = PEER_CLOSE, .at_once = true}, 0},
        {{.end = PEER_RESET, .at_once = true}, 0},
        {{.answer = "HTTP/1.1 20", .end = PEER_CLOSE}, 0},
        {{.answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .end = PEER_CLOSE}, 200},
        {{.answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .end = PEER_RESET, .piece = 20},
         200},
        {{.answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n0\r\n",
          .end = PEER_CLOSE},
         200}};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct peer_step steps[] = {all[i].step, {.answer = OK2}};
        struct caller c;
        struct peer p;
        begin(&c, &p, steps, 2);
        caller_open_port(&c, p.port);
        assert_error(caller_call(&c, 0), REQUEST_RESET);
        if (all[i].step.end == PEER_CLOSE)
            assert_int_equal(c.x.status, all[i].status);
        assert_non_null(c.x.detail);
        assert_error(caller_call(&c, 0), REQUEST_OK); /* and life goes on */
        assert_true(c.x.new_connection);
        end(&c, &p);
    }
}

static void a_kept_connection_that_ends_without_an_answer_is_a_reset(void **state)
{
    (void)state;
    /* whether the request took effect is not known: it is not sent again */
    static const enum peer_end ways[] = {PEER_CLOSE, PEER_RESET};
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct peer_step steps[] = {{.answer = OK2}, {.end = ways[i]}, {.answer = OK2}};
        struct caller c;
        struct peer p;
        begin(&c, &p, steps, ARRAY_LEN(steps));
        caller_open_port(&c, p.port);
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_error(caller_call(&c, 0), REQUEST_RESET);
        assert_int_equal(p.requests, 2);
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
        assert_int_equal(p.requests, 3);
        end(&c, &p);
    }
}

static void garbage_is_a_protocol_error(void **state)
{
    (void)state;
    static const char *const all[] = {"SSH-2.0-OpenSSH_9.2\r\n",
                                      "x",
                                      "HTTP/1.1 200 OK\r\nContent-Length: a\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                                      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
                                      "HTTP/1.1 101 Switching\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct peer_step steps[] = {{.answer = all[i], .end = PEER_SILENT}, {.answer = OK2}};
        struct caller c;
        struct peer p;
        begin(&c, &p, steps, 2);
        caller_open_port(&c, p.port);
        assert_error(caller_call(&c, 0), REQUEST_PROTOCOL);
        assert_non_null(c.x.detail);
        assert_error(caller_call(&c, 0), REQUEST_OK);
        end(&c, &p);
    }
}

static void a_head_without_end_is_refused(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf endless = STRBUF_INIT;
    struct caller c;
    struct peer p;
    strbuf_adds(&endless, "HTTP/1.1 200 OK\r\n");
    while (endless.len < 4 * ANSWER_HEAD_MAX)
        strbuf_adds(&endless, "X-Filler: 0123456789\r\n");
    struct peer_step steps[] = {{.answer = endless.data, .piece = 5000}};
    begin(&c, &p, steps, 1);
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_PROTOCOL);
    assert_true(c.x.received_bytes < 2 * ANSWER_HEAD_MAX);
    end(&c, &p);
}

/* libcurl calls it "out of memory"; it is nothing that this machine lacks. */
static void a_line_without_end_is_refused(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf endless = STRBUF_INIT;
    struct caller c;
    struct peer p;
    strbuf_adds(&endless, "HTTP/1.1 200 OK\r\nX: ");
    while (endless.len < 4 * ANSWER_HEAD_MAX)
        strbuf_adds(&endless, "0123456789");
    struct peer_step steps[] = {{.answer = endless.data, .piece = 5000}};
    begin(&c, &p, steps, 1);
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_PROTOCOL);
    assert_string_equal(c.x.detail, "a head that does not end");
    end(&c, &p);
}

static void bytes_behind_an_answer_end_its_connection(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2 "HTTP/1.1 200 OK\r\n"}, {.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 2);
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_true(c.x.new_connection);
    peer_say(&p, "HTTP/1.1 408 Timeout\r\n\r\n"); /* an answer to nothing */
    caller_idle(&c);
    if (IS_PLAIN) /* libcurl looks when it is used next */
        assert_int_equal(p.open, 0);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_true(c.x.new_connection);
    end(&c, &p);
}

static void a_kept_connection_that_was_closed_is_no_error(void **state)
{
    (void)state;
    static const enum peer_end ways[] = {PEER_CLOSE, PEER_RESET};
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct error err = ERROR_INIT;
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        struct caller c;
        struct peer p;
        begin(&c, &p, steps, 1);
        caller_open_port(&c, p.port);
        assert_error(caller_call(&c, 0), REQUEST_OK);
        peer_end_all(&p, ways[i]);
        caller_idle(&c); /* the loop tells */
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
        /* the loop could not yet tell: idle for longer, or the write itself fails */
        assert_int_equal(loop_sleep_until(c.loop, clock_now_ns() + 20 * NS_PER_MS, &err), 0);
        peer_end_all(&p, ways[i]);
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
        end(&c, &p);
    }
}

static void a_server_that_closes_together_with_its_answer(void **state)
{
    (void)state;
    /* the end of the connection is there before the next request would be written */
    static const struct peer_step steps[] = {{.answer = OK2, .end = PEER_CLOSE}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    caller_open_port(&c, p.port);
    for (int i = 0; i < 50; i++) {
        assert_error(caller_call(&c, 0), REQUEST_OK);
        assert_true(c.x.new_connection);
    }
    end(&c, &p);
}

static void refused_connections_are_told_later(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    int port = p.port;
    caller_open_port(&c, port);
    peer_stop(&p);
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&c, 0), REQUEST_CONNECT);
        assert_string_equal(c.x.detail, "Connection refused");
        assert_int_equal(c.x.status, 0);
        assert_true(c.x.new_connection);
    }
    caller_start(&c, 0);
    channel_cancel(c.channel); /* while it waits to be told, or to be refused */
    caller_idle(&c);
    assert_int_equal(c.ends, 3);
    caller_close(&c);
}

static void cancelling_closes_the_connection(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"},
                                             {.answer = OK2}};
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 2);
    caller_open_port(&c, p.port);
    channel_cancel(c.channel); /* nothing is under way */
    caller_start(&c, 0);
    caller_idle(&c);
    assert_false(c.done);
    channel_cancel(c.channel);
    assert_int_equal(c.x.received_bytes, strlen(steps[0].answer));
    caller_idle(&c);
    assert_int_equal(p.open, 0);
    assert_int_equal(c.ends, 0);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    caller_start(&c, 0);
    end(&c, &p); /* freed under way */
}

static void a_server_that_does_not_take_connections_in_time(void **state)
{
    (void)state;
    /* a listener whose queue is full answers no SYN */
    struct caller c;
    int listener = socket(AF_INET, SOCK_STREAM, 0), fill[8];
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    for (size_t i = 0; i < ARRAY_LEN(fill); i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        (void)connect(fill[i], (struct sockaddr *)&at, len);
    }
    caller_init(&c);
    c.w.connect_timeout_ns = 50 * NS_PER_MS;
    caller_open_port(&c, ntohs(at.sin_port));
    assert_error(caller_call(&c, 0), REQUEST_CONNECT);
    assert_string_equal(c.x.detail, "no connection in time");
    assert_true(c.x.done_ns - c.x.sent_ns >= 50 * NS_PER_MS);
    caller_close(&c);
    for (size_t i = 0; i < ARRAY_LEN(fill); i++)
        (void)close(fill[i]);
    (void)close(listener);
}

static void no_descriptor_is_the_generators_limit(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = OK2}};
    struct rlimit old, tight;
    struct caller c;
    struct peer p;
    begin(&c, &p, steps, 1);
    caller_open_port(&c, p.port);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    tight = old;
    tight.rlim_cur = 3; /* fewer than are open */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    const struct exchange *x = caller_call(&c, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_error(x, REQUEST_GENERATOR);
    assert_int_equal(x->sent_ns, 0);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    end(&c, &p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_that_break_are_resets),
        cmocka_unit_test(a_kept_connection_that_ends_without_an_answer_is_a_reset),
        cmocka_unit_test(garbage_is_a_protocol_error),
        cmocka_unit_test(a_head_without_end_is_refused),
        cmocka_unit_test(a_line_without_end_is_refused),
        cmocka_unit_test(bytes_behind_an_answer_end_its_connection),
        cmocka_unit_test(a_kept_connection_that_was_closed_is_no_error),
        cmocka_unit_test(a_server_that_closes_together_with_its_answer),
        cmocka_unit_test(refused_connections_are_told_later),
        cmocka_unit_test(cancelling_closes_the_connection),
        cmocka_unit_test(a_server_that_does_not_take_connections_in_time),
        cmocka_unit_test(no_descriptor_is_the_generators_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
