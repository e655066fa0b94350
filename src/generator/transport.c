/* SPDX-License-Identifier: MIT */
/* The interface, in front of the two that carry it out. */
#include <errno.h>
#include <sys/resource.h>
#include <assert.h>
#include "benchctl/base/clock.h"
#include "transport_internal.h"

/* --- ends --- */

void channel_finish(struct channel *c, enum request_error error, const char *detail)
{
    struct exchange *x = TAKE(c->x);

    x->error = error;
    x->detail = detail;
    if (!x->done_ns)
        x->done_ns = clock_now_ns();
    x->done(x, x->data);
}

static void enqueue(struct channel_list *list, struct channel *c, enum channel_queue which)
{
    TAILQ_INSERT_TAIL(list, c, queue);
    c->queued = which;
}

static void unqueue(struct channel *c)
{
    struct transport *t = c->transport;

    if (c->queued == QUEUE_NONE)
        return;
    TAILQ_REMOVE(c->queued == QUEUE_FAILED ? &t->failed : &t->connecting, c, queue);
    c->queued = QUEUE_NONE;
}

void channel_finish_later(struct channel *c, enum request_error error, const char *detail)
{
    struct transport *t = c->transport;

    unqueue(c);
    c->x->error = error;
    c->x->detail = detail;
    if (TAILQ_EMPTY(&t->failed)) /* after now: not in the round of timers that may be under way */
        loop_set_timer(t->failed_timer, clock_now_ns() + 1, 0);
    enqueue(&t->failed, c, QUEUE_FAILED);
}

/* Those that fail again meanwhile come in the next round: a dead server must not keep the loop here. */
static void tell_failed(void *data)
{
    struct transport *t = data;
    struct channel *c;
    size_t count = 0;

    TAILQ_FOREACH(c, &t->failed, queue)
    count++;
    while (count-- && (c = TAILQ_FIRST(&t->failed))) {
        unqueue(c);
        channel_finish(c, c->x->error, c->x->detail);
    }
    if (!TAILQ_EMPTY(&t->failed))
        loop_set_timer(t->failed_timer, clock_now_ns() + 1, 0);
}

/* --- the time to connect: the same for all, so that the list is in order of its ends --- */

void channel_connecting(struct channel *c, int64_t since_ns)
{
    struct transport *t = c->transport;

    unqueue(c);
    if (t->w->connect_timeout_ns <= 0)
        return;
    c->connect_by_ns = since_ns + t->w->connect_timeout_ns;
    if (TAILQ_EMPTY(&t->connecting))
        loop_set_timer(t->connect_timer, c->connect_by_ns, 0);
    enqueue(&t->connecting, c, QUEUE_CONNECTING);
}

void channel_connected(struct channel *c)
{
    unqueue(c);
}

static void connect_expired(void *data)
{
    struct transport *t = data;
    int64_t now_ns = clock_now_ns();
    struct channel *c;

    while ((c = TAILQ_FIRST(&t->connecting)) && c->connect_by_ns <= now_ns) {
        unqueue(c);
        t->ops->stop(c);
        channel_finish(c, REQUEST_CONNECT, "no connection in time");
    }
    if (c)
        loop_set_timer(t->connect_timer, c->connect_by_ns, 0);
}

/* --- transports --- */

const char *transport_needs_curl(const struct workload *w)
{
    const struct workload_request *requests = w->requests.items;

    if (w->target && strncasecmp(w->target, "https:", 6) == 0)
        return "the target is https";
    if (w->http != HTTP_VERSION_1_1)
        return "http: is not 1.1";
    for (size_t i = 0; i < w->requests.len; i++)
        if (requests[i].grpc)
            return "a request is a gRPC call";
    return NULL;
}

/* 10,000 virtual users need as many descriptors; the soft limit is mostly 1,024 for the sake of select(). */
static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

static int choose(const struct workload *w, const struct transport_ops **ret, struct error *err)
{
    const char *why = transport_needs_curl(w);

    if (w->transport == TRANSPORT_PLAIN && why) {
        (void)position_error(err, w->at, "transport 'plain' cannot carry this load: %s", why);
        return error_hint(err, "leave transport: out, then it is chosen by what the load needs");
    }
    *ret = w->transport == TRANSPORT_CURL || why ? &curl_ops : &plain_ops;
    return 0;
}

int transport_new(struct loop *l, const struct workload *w, struct transport **ret, struct error *err)
{
    CLEANUP(transport_free) struct transport *t = NULL;
    const struct transport_ops *ops = &plain_ops;

    if (choose(w, &ops, err) < 0 || !(t = ops->make(l, w, err)))
        return -1;
    t->ops = ops;
    t->loop = l;
    t->w = w;
    t->arena = arena_new();
    TAILQ_INIT(&t->failed);
    TAILQ_INIT(&t->connecting);
    t->failed_timer = loop_add_timer(l, LOOP_FOREVER, 0, tell_failed, t);
    t->connect_timer = loop_add_timer(l, LOOP_FOREVER, 0, connect_expired, t);
    if (target_parse(w->target, w->at, t->arena, &t->target, err) < 0 ||
        target_resolve(&t->target, &t->addresses, err) < 0)
        return -1;
    if (ops->ready)
        ops->ready(t);
    raise_file_limit();
    *ret = TAKE(t);
    return 0;
}

void transport_free(struct transport *t)
{
    if (!t)
        return;
    assert(t->channels == 0);
    loop_remove_timer(t->failed_timer);
    loop_remove_timer(t->connect_timer);
    vec_each (k, &t->kinds)
        if (t->ops->release)
            t->ops->release(t, *k);
    vec_release(&t->kinds);
    vec_each (r, &t->regexes) {
        regfree(*r);
        free(*r);
    }
    vec_release(&t->regexes);
    arena_free(t->arena);
    t->ops->free(t);
}

const char *transport_name(const struct transport *t)
{
    return t->ops->name;
}

/* --- channels --- */

struct channel *channel_new(struct transport *t)
{
    struct channel *c = t->ops->channel_new(t);

    c->transport = t;
    t->channels++;
    return c;
}

void channel_free(struct channel *c)
{
    if (!c)
        return;
    struct transport *t = c->transport;
    channel_cancel(c);
    t->ops->channel_free(c);
    t->channels--;
}

void channel_start(struct channel *c, struct exchange *x)
{
    assert(!c->x);
    c->x = x;
    x->error = REQUEST_OK;
    x->status = 0;
    x->grpc_status = -1;
    x->sent_ns = x->done_ns = 0;
    x->received_bytes = 0;
    x->new_connection = false;
    x->detail = NULL;
    c->transport->ops->start(c, x);
}

void channel_cancel(struct channel *c)
{
    if (!c->x)
        return;
    if (c->queued != QUEUE_FAILED)
        c->transport->ops->stop(c);
    unqueue(c);
    c->x = NULL;
}

void channel_disconnect(struct channel *c)
{
    assert(!c->x);
    c->transport->ops->disconnect(c);
}
