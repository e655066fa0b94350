/* SPDX-License-Identifier: MIT */
/* Webhooks to servers that behave, and to others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "benchctl/base/log.h"
#include "internal.h"
#include "scripted_server.h"

#define PATIENCE_NS (20 * NS_PER_S)

struct bench {
    struct server *server;
    struct loop *loop;
    struct webhook *hook;
    int lost;
    char why[1024], host[256];
};

static void on_lost(const char *event, const char *host, const char *why, void *data)
{
    struct bench *b = data;

    (void)event;
    b->lost++;
    (void)snprintf(b->why, sizeof(b->why), "%s", why);
    (void)snprintf(b->host, sizeof(b->host), "%s", host);
}

static void begin(struct bench *b, const struct reply *reply, int64_t timeout_ns)
{
    static struct rule rules[1];
    char url[128];
    struct error err = ERROR_INIT;

    *b = (struct bench){0};
    rules[0] = (struct rule){"*", .reply = *reply};
    b->server = server_start(&(struct server_options){.rules = rules, .rules_len = 1, .tcp = true});
    (void)snprintf(url, sizeof(url), "http://u:secret-word@127.0.0.1:%d/secret-word", server_port(b->server));
    assert_int_equal(loop_new(&b->loop, &err), 0);
    const struct webhook_options o = {
        .url = url, .lost = on_lost, .data = b, .retry_ns = 5 * NS_PER_MS, .timeout_ns = timeout_ns};
    assert_int_equal(webhook_open(b->loop, &o, &b->hook, &err), 0);
}

static void end(struct bench *b)
{
    webhook_close(b->hook);
    server_finish(b->server);
    loop_free(b->loop);
    assert_null(strstr(b->why, "secret-word"));
    assert_null(strstr(b->host, "secret-word"));
}

static void tell(struct bench *b, const char *body)
{
    webhook_send(b->hook, WATCH_EVENT_STALLED, body, strlen(body));
}

static void drain(struct bench *b)
{
    webhook_drain(b->hook, clock_now_ns() + PATIENCE_NS);
}

static void deliveries_keep_their_order(void **state)
{
    (void)state;
    struct bench b;

    begin(&b, &(struct reply){.status = 204}, 0);
    tell(&b, "{\"n\": 1}");
    tell(&b, "{\"n\": 2}");
    tell(&b, "{\"n\": 3}");
    drain(&b);
    assert_int_equal(server_calls(b.server), 3);
    for (size_t i = 0; i < 3; i++) {
        const struct seen *s = server_seen(b.server, i);
        char body[16];
        (void)snprintf(body, sizeof(body), "{\"n\": %zu}", i + 1);
        assert_string_equal(s->body, body);
        assert_string_equal(s->method, "POST");
        assert_non_null(strstr(s->headers, "Content-Type: application/json"));
    }
    assert_int_equal(b.lost, 0);
    end(&b);
}

static void expect_lost(const struct reply *reply, size_t calls, const char *why, int64_t timeout_ns)
{
    struct bench b;

    begin(&b, reply, timeout_ns);
    tell(&b, "{}");
    drain(&b);
    assert_int_equal(b.lost, 1);
    if (!strstr(b.why, why))
        fail_msg("'%s' does not contain '%s'", b.why, why);
    assert_int_equal(server_calls(b.server), calls);
    tell(&b, "{}"); /* told of once */
    drain(&b);
    assert_int_equal(b.lost, 1);
    end(&b);
}

static void a_sick_server_is_asked_again(void **state)
{
    (void)state;
    expect_lost(&(struct reply){.status = 500}, 3, "status 500", 0);
}

static void one_that_says_no_is_not(void **state)
{
    (void)state;
    expect_lost(&(struct reply){.status = 404}, 1, "status 404", 0);
}

static void redirects_are_not_followed(void **state)
{
    (void)state;
    expect_lost(&(struct reply){.status = 302, .headers = "Location: http://127.0.0.1:1/elsewhere\r\n"}, 1,
                "redirects are not followed", 0);
}

static void it_closes(void **state)
{
    (void)state;
    expect_lost(&(struct reply){.raw = "HTTP/1.1 2", .end = END_CLOSE}, 3, "the webhook at '127.0.0.1:", 0);
}

static void it_never_answers(void **state)
{
    (void)state;
    expect_lost(&(struct reply){.delay_ms = 5000}, 3, "no answer", 300 * NS_PER_MS);
}

static void a_failure_that_passes_is_none(void **state)
{
    (void)state;
    struct bench b;

    begin(&b, &(struct reply){.status = 200}, 0);
    server_fail_call(b.server, 1, NULL, FAIL_STATUS);
    tell(&b, "{}");
    drain(&b);
    assert_int_equal(b.lost, 0);
    assert_int_equal(server_calls(b.server), 2);
    end(&b);
}

static void nobody_listens(void **state)
{
    (void)state;
    struct bench b = {0};
    struct error err = ERROR_INIT;
    const struct webhook_options o = {
        .url = "http://127.0.0.1:1/x", .lost = on_lost, .data = &b, .retry_ns = NS_PER_MS};

    assert_int_equal(loop_new(&b.loop, &err), 0);
    assert_int_equal(webhook_open(b.loop, &o, &b.hook, &err), 0);
    tell(&b, "{}");
    drain(&b);
    assert_int_equal(b.lost, 1);
    assert_non_null(strstr(b.why, "cannot connect to the webhook at '127.0.0.1:1'"));
    webhook_close(b.hook);
    loop_free(b.loop);
}

static void the_end_is_not_waited_for_without_limit(void **state)
{
    (void)state;
    struct bench b;
    int64_t begin_ns = clock_now_ns();

    begin(&b, &(struct reply){.delay_ms = 4000}, 0);
    loop_interrupt(b.loop); /* also when somebody asked for the end */
    tell(&b, "{}");
    webhook_drain(b.hook, clock_now_ns() + 100 * NS_PER_MS);
    assert_int_equal(b.lost, 1);
    assert_non_null(strstr(b.why, "no time was left"));
    assert_true(clock_now_ns() - begin_ns < 3500 * NS_PER_MS);
    end(&b);
}

static void there_is_an_end_to_telling(void **state)
{
    (void)state;
    struct bench b;

    begin(&b, &(struct reply){.status = 200}, 0);
    for (int i = 0; i < 50; i++)
        tell(&b, "{}");
    webhook_send(b.hook, WATCH_EVENT_FINISHED, "{}", 2); /* this one always */
    drain(&b);
    assert_int_equal(server_calls(b.server), 21);
    end(&b);
}

static void what_is_too_long_is_told(void **state)
{
    static char body[20000];
    struct bench b;

    (void)state;
    memset(body, 'x', sizeof(body) - 1);
    begin(&b, &(struct reply){.status = 200}, 0);
    tell(&b, body);
    assert_int_equal(b.lost, 1);
    assert_string_equal(b.why, "what there is to tell is too long");
    drain(&b);
    end(&b);
}

static void what_is_no_url_is_not_shown(void **state)
{
    (void)state;
    struct loop *l;
    struct webhook *h = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(webhook_open(l, &(struct webhook_options){.url = "secret-word"}, &h, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_null(strstr(err.message, "secret-word"));
    loop_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deliveries_keep_their_order),
        cmocka_unit_test(a_sick_server_is_asked_again),
        cmocka_unit_test(one_that_says_no_is_not),
        cmocka_unit_test(redirects_are_not_followed),
        cmocka_unit_test(it_closes),
        cmocka_unit_test(it_never_answers),
        cmocka_unit_test(a_failure_that_passes_is_none),
        cmocka_unit_test(nobody_listens),
        cmocka_unit_test(the_end_is_not_waited_for_without_limit),
        cmocka_unit_test(there_is_an_end_to_telling),
        cmocka_unit_test(what_is_too_long_is_told),
        cmocka_unit_test(what_is_no_url_is_not_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
