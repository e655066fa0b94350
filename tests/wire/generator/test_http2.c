/* SPDX-License-Identifier: MIT */
/* HTTP/2 and gRPC: against nghttpd, and against frames written by hand where no server sends such. */
#include "peer.h"
#include "server.h"

struct h2 {
    struct caller c;
    struct process *server;
    int port;
};

/* Serves DIR, gives uploads back; with a trailer when there is one. */
static bool begin(struct h2 *s, const char *dir, const char *trailer, bool tls)
{
    if (!have_program("nghttpd") || (tls && !have_program("openssl")))
        return false;
    caller_init(&s->c);
    put(dir, "index.html", "hello");
    s->port = free_port();
    CLEANUP_FREE char *port = xasprintf("%d", s->port);
    CLEANUP_FREE char *root = xasprintf("--htdocs=%s", dir);
    CLEANUP_FREE char *trailers = xasprintf("--trailer=%s", trailer ? trailer : "x-none: 1");
    CLEANUP_FREE char *key = path_join(dir, "own.key");
    CLEANUP_FREE char *cert = path_join(dir, "own.pem");
    if (tls)
        make_certificate(dir, "own", "IP:127.0.0.1");
    const char *argv[] = {"nghttpd", "--address=127.0.0.1",   "--echo-upload",  root,
                          trailers,  tls ? port : "--no-tls", tls ? key : port, tls ? cert : NULL,
                          NULL};
    s->server = server_run(s->c.loop, argv, s->port);
    s->c.w.http = tls ? HTTP_VERSION_2 : HTTP_VERSION_2_PRIOR;
    return true;
}

static void end(struct h2 *s)
{
    process_free(s->server);
    caller_close(&s->c);
}

static void exchanges(struct h2 *s)
{
    struct workload_request *f = s->c.forms;

    s->c.w.requests.len = 4;
    f[0].expect.body = "^hello$";
    f[1].method = "HEAD";
    f[2].path = "/missing";
    f[3].method = "POST";
    f[3].body = "n={{counter}}";
    f[3].expect.body = "^n=0$";
    f[3].headers = (struct text_map){&(struct text_pair){.key = "X-Id", .value = "{{id}}"}, 1};
    caller_open(&s->c,
                arena_printf(s->c.arena, "%s://127.0.0.1:%d", s->c.w.ca_file ? "https" : "http", s->port));
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&s->c, 0), REQUEST_OK);
        assert_int_equal(s->c.x.status, 200);
        assert_int_equal(s->c.x.new_connection, i == 0);
        assert_error(caller_call(&s->c, 1), REQUEST_OK);
        assert_error(caller_call(&s->c, 2), REQUEST_STATUS);
        assert_int_equal(s->c.x.status, 404);
        assert_error(caller_call(&s->c, 3), REQUEST_OK);
        assert_false(s->c.x.new_connection);
    }
}

static void channels_have_connections_of_their_own(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, NULL, false))
        return;
    exchanges(&s);
    struct channel *first = s.c.channel;
    s.c.channel = channel_new(s.c.transport);
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&s.c, 0), REQUEST_OK);
        assert_int_equal(s.c.x.new_connection, i == 0);
    }
    channel_disconnect(s.c.channel);
    assert_error(caller_call(&s.c, 0), REQUEST_OK);
    assert_true(s.c.x.new_connection);
    channel_free(first);
    end(&s);
}

static void it_is_agreed_on_during_tls(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, NULL, true))
        return;
    s.c.w.ca_file = arena_printf(s.c.arena, "%s/own.pem", (const char *)*state);
    exchanges(&s);
    end(&s);
}

static void cancelled_exchanges_do_no_harm(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, NULL, false))
        return;
    exchanges(&s);
    for (int i = 0; i < 20; i++) {
        caller_start(&s.c, 3);
        channel_cancel(s.c.channel);
        assert_error(caller_call(&s.c, 0), REQUEST_OK);
    }
    end(&s);
}

static void a_server_of_http_1_is_found_out(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}};
    static const int versions[] = {HTTP_VERSION_2, HTTP_VERSION_2_PRIOR};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct caller c;
        struct peer p = {0};
        caller_init(&c);
        peer_start(&p, c.loop, steps, 1);
        c.w.http = versions[i];
        caller_open_port(&c, p.port);
        const struct exchange *x = caller_call(&c, 0);
        assert_true(x->error == REQUEST_PROTOCOL || (i == 1 && x->error == REQUEST_RESET));
        peer_stop(&p);
        caller_close(&c);
    }
}

/* --- gRPC --- */

static void call(struct h2 *s)
{
    s->c.w.http = HTTP_VERSION_1_1; /* a gRPC call is HTTP/2 whatever is said */
    s->c.w.requests.len = 3;
    for (size_t i = 0; i < 3; i++) {
        s->c.forms[i].method = "POST";
        s->c.forms[i].grpc = "greet.Greeter/SayHello";
    }
    s->c.forms[0].body = "constant message";
    s->c.forms[0].raw = true;
    s->c.forms[0].expect.body = "constant message$";
    s->c.forms[1].body = "message {{counter}}";
    s->c.forms[1].expect.body = "message 0$";
    s->c.forms[2].expect.grpc_status = 5;
    caller_open(&s->c, arena_printf(s->c.arena, "http://127.0.0.1:%d", s->port));
}

static void a_grpc_call_ends_with_its_status(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, "grpc-status: 0", false))
        return;
    call(&s);
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&s.c, 0), REQUEST_OK);
        assert_int_equal(s.c.x.grpc_status, 0);
        assert_int_equal(s.c.x.status, 200);
        assert_int_equal(s.c.x.new_connection, i == 0);
        assert_error(caller_call(&s.c, 1), REQUEST_OK);
    }
    assert_error(caller_call(&s.c, 2), REQUEST_STATUS);
    end(&s);
}

static void another_grpc_status_is_told(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, "grpc-status: 5", false))
        return;
    call(&s);
    assert_error(caller_call(&s.c, 0), REQUEST_STATUS);
    assert_int_equal(s.c.x.grpc_status, 5);
    assert_error(caller_call(&s.c, 2), REQUEST_OK);
    end(&s);
}

static void an_answer_without_grpc_status_is_none(void **state)
{
    struct h2 s;
    if (!begin(&s, *state, NULL, false))
        return;
    call(&s);
    assert_error(caller_call(&s.c, 0), REQUEST_PROTOCOL);
    assert_int_equal(s.c.x.grpc_status, -1);
    assert_string_equal(s.c.x.detail, "an answer without grpc-status");
    end(&s);
}

/* --- frames: length, type, flags, stream, payload --- */

#define SETTINGS "\0\0\0\x04\0\0\0\0\0"
/* :status 200 and grpc-status, at once the end of the stream */
#define TRAILERS_ONLY                                                                                        \
    "\0\0\x10\x01\x05\0\0\0\x01\x88\0\x0bgrpc-status\x01"                                                    \
    "7"
#define TRAILERS                                                                                             \
    "\0\0\x0f\x01\x05\0\0\0\x01\0\x0bgrpc-status\x01"                                                        \
    "0"
#define HEADERS_200 "\0\0\x01\x01\x04\0\0\0\x01\x88"
#define DATA_ABC                                                                                             \
    "\0\0\x03\0\0\0\0\0\x01"                                                                                 \
    "abc"
#define RST_INTERNAL "\0\0\x04\x03\0\0\0\0\x01\0\0\0\x02"
#define GOAWAY "\0\0\x08\x07\0\0\0\0\0\0\0\0\0\0\0\0\x02"

#define FRAMES(text) .answer = (text), .len = sizeof(text) - 1

static void scripted(const struct peer_step *step, int grpc_status, enum request_error error)
{
    struct caller c;
    struct peer p = {0};

    caller_init(&c);
    peer_start(&p, c.loop, step, 1);
    c.w.http = HTTP_VERSION_2_PRIOR;
    if (grpc_status >= 0)
        c.forms[0].grpc = "a.B/C";
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), error);
    if (grpc_status >= 0)
        assert_int_equal(c.x.grpc_status, grpc_status);
    peer_stop(&p);
    caller_close(&c);
}

static void an_answer_of_trailers_only_is_read(void **state)
{
    (void)state;
    static const struct peer_step step = {FRAMES(SETTINGS TRAILERS_ONLY), .end = PEER_SILENT};

    scripted(&step, 7, REQUEST_STATUS);
}

static void trailers_behind_a_body_are_read(void **state)
{
    (void)state;
    static const struct peer_step step = {FRAMES(SETTINGS HEADERS_200 DATA_ABC TRAILERS), .end = PEER_SILENT};

    scripted(&step, 0, REQUEST_OK);
}

static void streams_that_break_are_resets(void **state)
{
    (void)state;
    static const struct peer_step reset = {FRAMES(SETTINGS HEADERS_200 DATA_ABC RST_INTERNAL),
                                           .end = PEER_SILENT};
    static const struct peer_step closed = {FRAMES(SETTINGS HEADERS_200 DATA_ABC), .end = PEER_CLOSE};
    static const struct peer_step gone = {FRAMES(SETTINGS GOAWAY), .end = PEER_CLOSE};

    scripted(&reset, -1, REQUEST_RESET);
    scripted(&closed, -1, REQUEST_RESET);
    scripted(&gone, -1, REQUEST_RESET);
}

#define DATA_ABC_END                                                                                         \
    "\0\0\x03\0\x01\0\0\0\x01"                                                                               \
    "abc"

/* The preface looks like two requests to the peer. */
static void a_new_connection_speaks_http2_again(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {{.answer = NULL},
                                             {FRAMES(SETTINGS HEADERS_200 DATA_ABC_END), .end = PEER_SILENT},
                                             {.answer = NULL},
                                             {FRAMES(SETTINGS HEADERS_200 DATA_ABC_END), .end = PEER_SILENT}};
    struct caller c;
    struct peer p = {0};

    caller_init(&c);
    peer_start(&p, c.loop, steps, ARRAY_LEN(steps));
    c.w.http = HTTP_VERSION_2_PRIOR;
    caller_open_port(&c, p.port);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    caller_start(&c, 0); /* on the connection that is kept, which breaks under it */
    peer_end_all(&p, PEER_RESET);
    caller_wait(&c, &c.done);
    assert_error(&c.x, REQUEST_RESET);
    assert_error(caller_call(&c, 0), REQUEST_OK);
    assert_true(c.x.new_connection);
    peer_stop(&p);
    caller_close(&c);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(channels_have_connections_of_their_own), TEST(it_is_agreed_on_during_tls),
        TEST(cancelled_exchanges_do_no_harm),         TEST(a_server_of_http_1_is_found_out),
        TEST(a_grpc_call_ends_with_its_status),       TEST(another_grpc_status_is_told),
        TEST(an_answer_without_grpc_status_is_none),  TEST(an_answer_of_trailers_only_is_read),
        TEST(trailers_behind_a_body_are_read),        TEST(streams_that_break_are_resets),
        TEST(a_new_connection_speaks_http2_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
