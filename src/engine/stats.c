/* SPDX-License-Identifier: MIT */
/* The stats stream: one JSON value a second. */
#include "engine_internal.h"

#define MAX_VALUE ((size_t)1 << 20)
#define OPEN_NS (15 * NS_PER_S)
#define IDLE_NS (10 * NS_PER_S) /* it has something to say every second */
#define RETRY_FIRST_NS (200 * NS_PER_MS)
#define RETRY_LAST_NS (10 * NS_PER_S)

struct stats_stream {
    struct engine_stream base;
    void (*on_stats)(const struct json *stats, void *data);
    void *data;
    char *path;
    struct http_request *request; /* NULL while there is no connection */
    struct loop_timer *retry;
    int64_t retry_ns;
    struct strbuf buffer;
    bool settled, open;
    struct error error;
};

static void on_value(const struct json *j, const char *bytes, size_t len, void *data)
{
    struct stats_stream *s = data;

    (void)bytes;
    (void)len;
    s->retry_ns = RETRY_FIRST_NS;
    s->on_stats(j, s->data);
}

static void on_head(int status, const char *type, void *data)
{
    struct stats_stream *s = data;

    (void)type;
    if (engine_status_ok(status))
        s->open = s->settled = true;
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct stats_stream *s = data;
    struct error bad = ERROR_INIT;

    strbuf_add(&s->buffer, bytes, len);
    return s->buffer.overflow || json_drain(&s->buffer, on_value, s, &bad) ? -1 : 0;
}

static void on_done(const struct http_result *r, void *data)
{
    struct stats_stream *s = data;

    s->request = NULL;
    s->settled = true;
    if (!r->ok)
        s->error = r->error;
    else if (!engine_status_ok(r->status))
        (void)engine_refusal(r->status, r->body, r->body_len, &s->error);
    if (!s->open || r->ok)
        return; /* it was never open, or there is nothing any more that it could tell of */
    loop_set_timer(s->retry, clock_now_ns() + s->retry_ns, 0);
    s->retry_ns = s->retry_ns * 2 < RETRY_LAST_NS ? s->retry_ns * 2 : RETRY_LAST_NS;
}

static int subscribe(struct stats_stream *s, struct error *err)
{
    struct http_options callbacks = {
        .on_head = on_head, .on_body = on_body, .idle_timeout_ns = IDLE_NS, .done = on_done, .data = s};

    strbuf_clear(&s->buffer); /* a value that was cut */
    s->buffer.overflow = false;
    return engine_stream_start(s->base.engine, s->path, &callbacks, &s->request, err);
}

static void on_retry(void *data)
{
    struct stats_stream *s = data;

    if (subscribe(s, &s->error))
        loop_set_timer(s->retry, clock_now_ns() + RETRY_LAST_NS, 0);
}

static void close_stats(struct engine_stream *base)
{
    struct stats_stream *s = (struct stats_stream *)base;

    http_cancel(s->request);
    loop_remove_timer(s->retry);
    free(s->path);
    strbuf_release(&s->buffer);
    free(s);
}

int engine_stats_open(struct engine *e, const char *id,
                      void (*on_stats)(const struct json *stats, void *data), void *data,
                      struct engine_stream **ret, struct error *err)
{
    struct stats_stream *s = xcalloc(1, sizeof(*s));
    CLEANUP(engine_stream_close) struct engine_stream *base = &s->base;
    char brief[SHORT_ID];

    s->base = (struct engine_stream){.engine = e, .close = close_stats};
    s->on_stats = on_stats;
    s->data = data;
    s->buffer.max = MAX_VALUE;
    s->path = engine_path("/containers/", id, "/stats?stream=1");
    s->retry_ns = RETRY_FIRST_NS;
    s->retry = loop_add_timer(e->loop, LOOP_FOREVER, 0, on_retry, s);
    if (subscribe(s, err) || loop_wait_until(e->loop, &s->settled, clock_now_ns() + OPEN_NS, err))
        return error_wrap(err, "cannot read the stats of container '%s'", engine_short_id(id, brief));
    if (!s->open) {
        *err = s->error;
        return error_wrap(err, "cannot read the stats of container '%s'", engine_short_id(id, brief));
    }
    *ret = TAKE(base);
    return 0;
}
