/* SPDX-License-Identifier: MIT */
/* A workload made by hand, a transport for it, one channel and what became of its exchanges. */
#ifndef TESTS_WIRE_GENERATOR_CALLER_H
#define TESTS_WIRE_GENERATOR_CALLER_H

#include "../../unit/check.h"
#include "benchctl/base/clock.h"
#include "transport.h"

/* The same tests run over both: compiled once more with TRANSPORT_CURL. */
#ifndef UNDER_TEST
#define UNDER_TEST TRANSPORT_AUTO
#endif

struct caller {
    struct loop *loop;
    struct arena *arena;
    struct workload w;
    struct workload_request forms[4];
    struct transport *transport;
    struct request_kind *kinds;
    size_t kind_count;
    struct channel *channel;
    struct exchange x;
    struct workload_values values;
    bool done;
    int ends; /* calls of done */
};

/* Before caller_open(): forms and workload may be changed. */
static inline void caller_init(struct caller *c)
{
    struct error err = ERROR_INIT;

    *c = (struct caller){.values.id = "id-1"};
    assert_int_equal(loop_new(&c->loop, &err), 0);
    c->arena = arena_new();
    c->w = (struct workload){.keepalive = true,
                             .timeout_ns = 10 * NS_PER_S,
                             .connect_timeout_ns = 5 * NS_PER_S,
                             .transport = UNDER_TEST,
                             .requests = {c->forms, 1},
                             .at = {"spec.yaml", 1, 1}};
    for (size_t i = 0; i < ARRAY_LEN(c->forms); i++)
        c->forms[i] = (struct workload_request){.name = "it",
                                                .method = "GET",
                                                .path = "/",
                                                .timeout_ns = SCHEMA_ABSENT,
                                                .at = {"spec.yaml", 2, 3}};
}

static inline int caller_prepare(struct caller *c, struct error *err)
{
    if (transport_new(c->loop, &c->w, &c->transport, err) < 0)
        return -1;
    return transport_prepare(c->transport, &c->w, NULL, c->arena, &c->kinds, &c->kind_count, err);
}

static inline void caller_open(struct caller *c, const char *target)
{
    struct error err = ERROR_INIT;

    c->w.target = arena_strdup(c->arena, target);
    if (caller_prepare(c, &err) < 0)
        fail_msg("%s", err.message);
    c->channel = channel_new(c->transport);
}

static inline void caller_open_port(struct caller *c, int port)
{
    caller_open(c, arena_printf(c->arena, "http://127.0.0.1:%d", port));
}

static inline void caller_done(struct exchange *x, void *data)
{
    struct caller *c = data;

    assert_ptr_equal(x, &c->x);
    c->done = true;
    c->ends++;
}

static inline void caller_start(struct caller *c, size_t kind)
{
    c->done = false;
    c->x = (struct exchange){.kind = &c->kinds[kind],
                             .values = &c->values,
                             .done = caller_done,
                             .data = c,
                             .error = REQUEST_ERRORS};
    int ends = c->ends;
    channel_start(c->channel, &c->x);
    assert_int_equal(c->ends, ends); /* never from inside */
}

static inline void caller_wait(struct caller *c, const bool *flag)
{
    struct error err = ERROR_INIT;

    if (loop_wait_until(c->loop, flag, clock_now_ns() + 5 * NS_PER_S, &err) < 0)
        fail_msg("%s", err.message);
}

/* One exchange from beginning to end. */
static inline const struct exchange *caller_call(struct caller *c, size_t kind)
{
    int ends = c->ends;

    caller_start(c, kind);
    caller_wait(c, &c->done);
    assert_int_equal(c->ends, ends + 1);
    assert_true(c->x.done_ns >= c->x.sent_ns);
    return &c->x;
}

/* Serves whatever is ready. */
static inline void caller_idle(struct caller *c)
{
    struct error err = ERROR_INIT;

    for (int i = 0; i < 5; i++)
        assert_int_equal(loop_sleep_until(c->loop, clock_now_ns() + 2 * NS_PER_MS, &err), 0);
}

static inline void caller_close(struct caller *c)
{
    channel_free(c->channel);
    transport_free(c->transport);
    arena_free(c->arena);
    loop_free(c->loop);
}

#define assert_error(X, WANTED)                                                                              \
    do {                                                                                                     \
        const struct exchange *x_ = (X);                                                                     \
        if (x_->error != (WANTED))                                                                           \
            fail_msg("error %d instead of %d: %s", x_->error, (WANTED), x_->detail ? x_->detail : "-");      \
    } while (0)

#endif
