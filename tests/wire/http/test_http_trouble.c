/* SPDX-License-Identifier: MIT */
/* What goes wrong on the wire, and what the message says about it. */
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include "http_fixture.h"
#include "scripted_server.h"

/* One request that must fail; the error is left in err. */
static void must_fail(struct http_options *options, struct error *err)
{
    struct client c;
    int status;

    client_start(&c);
    assert_int_equal(http_fetch(c.http, options, &status, NULL, err), -1);
    client_end(&c);
}

static void must_fail_against(const struct reply *reply, struct http_options *options, struct error *err)
{
    struct rule rules[] = {{"*", .reply = *reply}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s), .name = "the peer"};

    options->endpoint = &endpoint;
    options->url = "http://h/x";
    must_fail(options, err);
    server_finish(s);
}

static void nobody_there(void **state)
{
    (void)state;
    struct http_endpoint endpoint = {.unix_socket = "/tmp/benchctl-no-such/sock"};
    struct error err = ERROR_INIT;

    must_fail(&(struct http_options){.endpoint = &endpoint, .url = "http://h/"}, &err);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_int_equal(err.code, ENOENT);
    assert_string_equal(err.message, "cannot connect to 'http://h': No such file or directory");

    endpoint.name = "the Docker Engine at 'unix:///x'";
    must_fail(&(struct http_options){.endpoint = &endpoint, .url = "http://h/"}, &err);
    assert_string_equal(err.message,
                        "cannot connect to the Docker Engine at 'unix:///x': No such file or directory");

    must_fail(&(struct http_options){.url = "http://127.0.0.1:1/path"}, &err);
    assert_int_equal(err.code, ECONNREFUSED);
    assert_string_equal(err.message, "cannot connect to 'http://127.0.0.1:1': Connection refused");
}

/* A socket file whose listener is gone, and one that we may not open. */
static void a_dead_or_forbidden_socket(void **state)
{
    (void)state;
    char directory[] = "/tmp/benchctl-wire-XXXXXX";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct http_endpoint endpoint = {.unix_socket = a.sun_path};
    struct error err = ERROR_INIT;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_non_null(mkdtemp(directory));
    snprintf(a.sun_path, sizeof(a.sun_path), "%s/sock", directory);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    must_fail(&(struct http_options){.endpoint = &endpoint, .url = "http://h/"}, &err);
    assert_int_equal(err.code, ECONNREFUSED);
    if (geteuid() == 0) {
        assert_int_equal(chmod(directory, 0755), 0);
        assert_int_equal(chmod(a.sun_path, 0600), 0);
        assert_int_equal(seteuid(65534), 0);
        must_fail(&(struct http_options){.endpoint = &endpoint, .url = "http://h/"}, &err);
        assert_int_equal(seteuid(0), 0);
        assert_int_equal(err.code, EACCES);
        assert_string_equal(err.message, "cannot connect to 'http://h': Permission denied");
    }
    close(fd);
    unlink(a.sun_path);
    rmdir(directory);
}

static void replies_that_end_early(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    must_fail_against(&(struct reply){.body = "0123456789", .cut_after = 82}, &(struct http_options){0},
                      &err);
    assert_string_equal(err.message, "the reply of the peer ended early");
    must_fail_against(&(struct reply){.body = "0123456789", .chunked = true, .cut_after = 92},
                      &(struct http_options){0}, &err);
    assert_string_equal(err.message, "the reply of the peer ended early");
    must_fail_against(&(struct reply){.raw = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
                                      .end = END_CLOSE},
                      &(struct http_options){0}, &err);
    assert_string_equal(err.message, "the reply of the peer ended early");
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);

    must_fail_against(&(struct reply){.body = "x", .cut_after = 30}, &(struct http_options){0},
                      &err); /* in its head */
    assert_string_equal(err.message, "the reply of the peer ended early");

    struct rule rules[] = {{"*", .reply = {0}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s), .name = "the peer"};
    server_fail_call(s, 1, NULL, FAIL_CLOSE);
    must_fail(&(struct http_options){.endpoint = &endpoint, .url = "http://h/"}, &err);
    assert_string_equal(err.message, "the peer closed the connection without an answer");
    server_finish(s);
}

static void answers_that_are_not_http(void **state)
{
    (void)state;
    static const char alert[] = "\x15\x03\x01\x00\x02\x02\x46";
    struct error err = ERROR_INIT;

    must_fail_against(&(struct reply){.raw = alert, .raw_len = 7, .end = END_CLOSE},
                      &(struct http_options){0}, &err);
    assert_non_null(strstr(err.message, "the answer of the peer is not HTTP"));
    assert_non_null(strstr(err.hint, "TLS"));
    must_fail_against(&(struct reply){.raw = "220 mail.test ESMTP\r\n", .end = END_CLOSE},
                      &(struct http_options){0}, &err);
    assert_non_null(strstr(err.message, "the answer of the peer is not HTTP"));
}

static int ignore_body(const char *bytes, size_t len, void *data)
{
    (void)bytes;
    (void)len;
    (void)data;
    return 0;
}

static int refuse_body(const char *bytes, size_t len, void *data)
{
    (void)bytes;
    (void)len;
    (void)data;
    return -1;
}

static ptrdiff_t refuse_upload(char *buffer, size_t size, void *data)
{
    (void)buffer;
    (void)size;
    (void)data;
    return -1;
}

static void deadlines(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    must_fail_against(&(struct reply){.delay_ms = 60000},
                      &(struct http_options){.timeout_ns = 50 * NS_PER_MS}, &err);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_non_null(strstr(err.message, "no answer from the peer within"));

    must_fail_against(&(struct reply){.body = "half", .piece = 77, .piece_delay_ms = 60000},
                      &(struct http_options){.timeout_ns = 80 * NS_PER_MS}, &err);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_non_null(strstr(err.message, "the reply of the peer is not complete after"));

    must_fail_against(&(struct reply){.body = "one", .end = END_OPEN},
                      &(struct http_options){.idle_timeout_ns = 80 * NS_PER_MS, .on_body = ignore_body},
                      &err);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
    assert_non_null(strstr(err.message, "no more bytes from the peer for"));

    must_fail_against(&(struct reply){.delay_ms = 60000},
                      &(struct http_options){.idle_timeout_ns = 80 * NS_PER_MS}, &err);
    assert_int_equal(err.kind, ERROR_TIMEOUT);
}

/* Bytes keep arriving, each before the idle limit: the limit must not strike. */
static void slow_but_steady_is_not_idle(void **state)
{
    (void)state;
    struct rule rules[] = {{"*", .reply = {.body = "0123456789", .piece = 12, .piece_delay_ms = 30}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s)};
    struct error err = ERROR_INIT;
    struct client c;
    int status;

    client_start(&c);
    struct http_options options = {
        .endpoint = &endpoint, .url = "http://h/", .idle_timeout_ns = 2000 * NS_PER_MS};
    assert_int_equal(http_fetch(c.http, &options, &status, NULL, &err), 0);
    client_end(&c);
    server_finish(s);
}

static void bodies_have_limits_and_may_be_refused(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;
    char big[5000];

    memset(big, 'x', sizeof(big));
    must_fail_against(&(struct reply){.body = big, .body_len = sizeof(big)},
                      &(struct http_options){.max_body = 4096}, &err);
    assert_string_equal(err.message, "the reply of the peer is larger than 4.0 KiB");
    must_fail_against(&(struct reply){.body = "x"}, &(struct http_options){.on_body = refuse_body}, &err);
    assert_non_null(strstr(err.message, "stopped half way"));
    must_fail_against(&(struct reply){.body = "x"},
                      &(struct http_options){.method = "POST", .read_body = refuse_upload}, &err);
    assert_non_null(strstr(err.message, "stopped half way"));
}

static void exactly_the_limit_is_fine(void **state)
{
    (void)state;
    char body[4096];
    memset(body, 'x', sizeof(body));
    struct rule rules[] = {{"*", .reply = {.body = body, .body_len = sizeof(body)}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s)};
    CLEANUP_VALUE(strbuf_release) struct strbuf got = STRBUF_INIT;
    struct http_options options = {.endpoint = &endpoint, .url = "http://h/", .max_body = sizeof(body)};
    struct error err = ERROR_INIT;
    struct client c;
    int status;

    client_start(&c);
    assert_int_equal(http_fetch(c.http, &options, &status, &got, &err), 0);
    assert_int_equal(got.len, sizeof(body));
    client_end(&c);
    server_finish(s);
}

static void interrupt(void *data)
{
    loop_interrupt(data);
}

static void an_interruption_ends_the_wait(void **state)
{
    (void)state;
    struct rule rules[] = {{"*", .reply = {.delay_ms = 60000}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s)};
    struct error err = ERROR_INIT;
    struct client c;
    int status;

    client_start(&c);
    struct loop_timer *t = loop_add_timer(c.loop, clock_now_ns() + 30 * NS_PER_MS, 0, interrupt, c.loop);
    assert_int_equal(http_fetch(c.http, &(struct http_options){.endpoint = &endpoint, .url = "http://h/"},
                                &status, NULL, &err),
                     -1);
    assert_int_equal(err.kind, ERROR_INTERRUPTED);
    loop_remove_timer(t);
    client_end(&c);
    server_finish(s);
}

static void urls_that_are_none(void **state)
{
    (void)state;
    struct error err = ERROR_INIT;

    must_fail(&(struct http_options){.url = ""}, &err);
    assert_int_equal(err.kind, ERROR_INVALID);
    must_fail(&(struct http_options){.url = "file:///etc/passwd"}, &err);
    must_fail(&(struct http_options){.url = "http://"}, &err);
    must_fail(&(struct http_options){.url = "http://no such host/"}, &err);
}

/* A connection that the server closed while it lay idle is noticed and replaced, not an error. */
static void a_stale_connection_is_replaced(void **state)
{
    (void)state;
    struct rule rules[] = {
        {"*", .reply = {.raw = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", .end = END_CLOSE}}};
    struct server *s = server_start(&(struct server_options){.rules = rules, .rules_len = 1});
    struct http_endpoint endpoint = {.unix_socket = server_socket(s)};
    struct http_options options = {.endpoint = &endpoint, .url = "http://h/"};
    struct error err = ERROR_INIT;
    struct client c;
    int status;

    client_start(&c);
    for (int i = 0; i < 3; i++) {
        if (http_fetch(c.http, &options, &status, NULL, &err))
            fail_msg("%s", err.message);
    }
    assert_int_equal(server_calls(s), 3);
    client_end(&c);
    server_finish(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(a_dead_or_forbidden_socket),
        cmocka_unit_test(replies_that_end_early),
        cmocka_unit_test(answers_that_are_not_http),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(slow_but_steady_is_not_idle),
        cmocka_unit_test(bodies_have_limits_and_may_be_refused),
        cmocka_unit_test(exactly_the_limit_is_fine),
        cmocka_unit_test(an_interruption_ends_the_wait),
        cmocka_unit_test(urls_that_are_none),
        cmocka_unit_test(a_stale_connection_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
