/* SPDX-License-Identifier: MIT */
/* TLS: certificates that are trusted, that are not, and a server that speaks something else. */
#include <errno.h>
#include "peer.h"
#include "server.h"

struct secure {
    struct caller c;
    struct process *server;
    int port;
};

/* `openssl s_server -www` answers each GET and closes; it knows no HTTP/2. */
static bool begin(struct secure *s, const char *dir, const char *who)
{
    if (!have_program("openssl"))
        return false;
    caller_init(&s->c);
    make_certificate(dir, "own", who);
    make_certificate(dir, "other", who);
    s->port = free_port();
    CLEANUP_FREE char *port = xasprintf("%d", s->port);
    CLEANUP_FREE char *cert = path_join(dir, "own.pem");
    CLEANUP_FREE char *key = path_join(dir, "own.key");
    const char *argv[] = {"openssl", "s_server", "-www", "-quiet", "-accept", port,
                          "-cert",   cert,       "-key", key,      NULL};
    s->server = server_run(s->c.loop, argv, s->port);
    return true;
}

static void end(struct secure *s)
{
    process_free(s->server);
    caller_close(&s->c);
}

static void open_at(struct secure *s, const char *host, const char *dir, const char *ca)
{
    if (ca)
        s->c.w.ca_file = arena_printf(s->c.arena, "%s/%s.pem", dir, ca);
    caller_open(&s->c, arena_printf(s->c.arena, "https://%s:%d", host, s->port));
    assert_string_equal(transport_name(s->c.transport), "curl");
}

static void a_trusted_certificate_is_enough(void **state)
{
    struct secure s;
    if (!begin(&s, *state, "IP:127.0.0.1"))
        return;
    open_at(&s, "127.0.0.1", *state, "own");
    for (int i = 0; i < 3; i++) {
        assert_error(caller_call(&s.c, 0), REQUEST_OK);
        assert_int_equal(s.c.x.status, 200);
        assert_true(s.c.x.received_bytes > 0);
    }
    end(&s);
}

static void certificates_of_others_are_refused(void **state)
{
    static const char *const all[] = {"other", NULL}; /* NULL: those of the system */
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        struct secure s;
        if (!begin(&s, *state, "IP:127.0.0.1"))
            return;
        open_at(&s, "127.0.0.1", *state, all[i]);
        assert_error(caller_call(&s.c, 0), REQUEST_TLS);
        assert_string_equal(s.c.x.detail, "certificate is self-signed");
        assert_int_equal(s.c.x.status, 0);
        end(&s);
    }
}

static void a_certificate_for_another_host_is_refused(void **state)
{
    struct secure s;
    if (!begin(&s, *state, "DNS:elsewhere.example"))
        return;
    open_at(&s, "127.0.0.1", *state, "own");
    assert_error(caller_call(&s.c, 0), REQUEST_TLS);
    assert_string_equal(s.c.x.detail, "certificate is for another host");
    end(&s);
}

static void insecure_takes_any(void **state)
{
    struct secure s;
    if (!begin(&s, *state, "DNS:elsewhere.example"))
        return;
    s.c.w.insecure = true;
    open_at(&s, "127.0.0.1", *state, NULL);
    assert_error(caller_call(&s.c, 0), REQUEST_OK);
    end(&s);
}

static void http_2_is_not_taken_for_granted(void **state)
{
    struct secure s;
    if (!begin(&s, *state, "IP:127.0.0.1"))
        return;
    s.c.w.http = HTTP_VERSION_2;
    open_at(&s, "127.0.0.1", *state, "own");
    assert_error(caller_call(&s.c, 0), REQUEST_PROTOCOL);
    assert_string_equal(s.c.x.detail, "the server does not speak HTTP/2");
    end(&s);
}

static void a_server_without_tls_has_no_session(void **state)
{
    (void)state;
    static const struct peer_step steps[] = {
        {.answer = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n",
         .at_once = true,
         .end = PEER_CLOSE}};
    struct caller c;
    struct peer p = {0};
    caller_init(&c);
    peer_start(&p, c.loop, steps, 1);
    caller_open(&c, arena_printf(c.arena, "https://127.0.0.1:%d", p.port));
    assert_error(caller_call(&c, 0), REQUEST_TLS);
    assert_string_equal(c.x.detail, "TLS handshake failed: the server speaks no TLS");
    peer_stop(&p);
    caller_close(&c);
}

/* Runs the loop until something has come on `fd`. */
static ssize_t read_later(struct caller *c, int fd, char *bytes, size_t size)
{
    ssize_t n = -1;

    for (int i = 0; i < 1000 && (n = recv(fd, bytes, size, MSG_DONTWAIT)) < 0 && errno == EAGAIN; i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(loop_sleep_until(c->loop, clock_now_ns() + 10 * NS_PER_MS, &err), 0);
    }
    return n;
}

/* libcurl would read what the server said, and answer it. */
static void a_cancelled_handshake_is_not_gone_on_with(void **state)
{
    (void)state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    struct caller c;
    char bytes[4096];
    CLEANUP_CLOSE int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    caller_init(&c);
    caller_open(&c, arena_printf(c.arena, "https://127.0.0.1:%d", ntohs(at.sin_port)));
    c.x = (struct exchange){.kind = c.kinds, .values = &c.values, .done = caller_done, .data = &c};
    channel_start(c.channel, &c.x);
    CLEANUP_CLOSE int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(read_later(&c, fd, bytes, sizeof(bytes)) > 0);                   /* its hello */
    assert_int_equal(send(fd, "\x16\x03\x03\x00\x04\x02\x00\x00\x00", 9, 0), 9); /* an empty ServerHello */
    channel_cancel(c.channel);
    assert_true(read_later(&c, fd, bytes, sizeof(bytes)) <= 0); /* the end, no alert */
    assert_false(c.done);
    caller_close(&c);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_trusted_certificate_is_enough),           TEST(certificates_of_others_are_refused),
        TEST(a_certificate_for_another_host_is_refused), TEST(insecure_takes_any),
        TEST(http_2_is_not_taken_for_granted),           TEST(a_server_without_tls_has_no_session),
        TEST(a_cancelled_handshake_is_not_gone_on_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
