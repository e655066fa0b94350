/* SPDX-License-Identifier: MIT */
/* A loop and an HTTP client for one test, and a request whose end can be waited for. */
#ifndef WIRE_HTTP_FIXTURE_H
#define WIRE_HTTP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"
#include "benchctl/http.h"

struct client {
    struct loop *loop;
    struct http *http;
};

static inline void client_start(struct client *c)
{
    struct error err = ERROR_INIT;

    assert_int_equal(loop_new(&c->loop, &err), 0);
    assert_int_equal(http_new(c->loop, &c->http, &err), 0);
}

static inline void client_end(struct client *c)
{
    http_free(c->http);
    loop_free(c->loop);
}

static inline void wait_for(struct client *c, const bool *done)
{
    struct error err = ERROR_INIT;

    if (loop_wait_until(c->loop, done, clock_now_ns() + 10 * NS_PER_S, &err))
        fail_msg("%s", err.message);
}

/* Serves everything for a while: for what must not happen. */
static inline void run_for_ms(struct client *c, int ms)
{
    struct error err = ERROR_INIT;

    assert_int_equal(loop_sleep_until(c->loop, clock_now_ns() + ms * NS_PER_MS, &err), 0);
}

#endif
