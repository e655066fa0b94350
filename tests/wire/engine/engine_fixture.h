/* SPDX-License-Identifier: MIT */
/* A loop, an HTTP client and an engine for one test. */
#ifndef WIRE_ENGINE_FIXTURE_H
#define WIRE_ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "benchctl/engine.h"

struct lab {
    struct loop *loop;
    struct http *http;
    struct engine *engine;
};

static inline void lab_start(struct lab *lab)
{
    struct error err = ERROR_INIT;

    *lab = (struct lab){0};
    assert_int_equal(loop_new(&lab->loop, &err), 0);
    assert_int_equal(http_new(lab->loop, &lab->http, &err), 0);
}

static inline void lab_end(struct lab *lab)
{
    engine_close(lab->engine);
    http_free(lab->http);
    loop_free(lab->loop);
}

/* Fails the test with the error's own words. */
#define must(call)                                                                                           \
    do {                                                                                                     \
        struct error why = ERROR_INIT;                                                                       \
        if ((call) != 0)                                                                                     \
            fail_msg("%s\nhint: %s", why.message, why.hint);                                                 \
        assert_int_equal(why.kind, ERROR_NONE);                                                              \
    } while (0)

static inline void serve_ms(struct lab *lab, int ms)
{
    must(loop_sleep_until(lab->loop, clock_now_ns() + ms * NS_PER_MS, &why));
}

/* Serves everything until the condition holds; fails the test after 15 s. */
#define serve_until(lab, condition)                                                                          \
    do {                                                                                                     \
        int64_t end_ns_ = clock_now_ns() + 15 * NS_PER_S;                                                    \
        while (!(condition)) {                                                                               \
            if (clock_now_ns() > end_ns_)                                                                    \
                fail_msg("never: %s", #condition);                                                           \
            serve_ms((lab), 5);                                                                              \
        }                                                                                                    \
    } while (0)

#endif
