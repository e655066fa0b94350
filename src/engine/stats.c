/* SPDX-License-Identifier: MIT */
/* The stats stream: one JSON value a second. */
#include "engine_internal.h"

#define MAX_VALUE ((size_t)1 << 20)
#define OPEN_NS (15 * NS_PER_S)

struct stats_stream {
    struct engine_stream base;
    void (*on_stats)(const struct json *stats, void *data);
    void *data;
    struct http_request *request;
    struct strbuf buffer;
    bool settled, open;
    struct error error;
};

static void on_value(const struct json *j, const char *bytes, size_t len, void *data)
{
    struct stats_stream *s = data;

    (void)bytes;
    (void)len;
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
}

static void close_stats(struct engine_stream *base)
{
    struct stats_stream *s = (struct stats_stream *)base;

    http_cancel(s->request);
    strbuf_release(&s->buffer);
    free(s);
}

int engine_stats_open(struct engine *e, const char *id,
                      void (*on_stats)(const struct json *stats, void *data), void *data,
                      struct engine_stream **ret, struct error *err)
{
    struct stats_stream *s = xcalloc(1, sizeof(*s));
    CLEANUP(engine_stream_close) struct engine_stream *base = &s->base;
    CLEANUP_FREE char *path = engine_path("/containers/", id, "/stats?stream=1");
    struct http_options callbacks = {.on_head = on_head, .on_body = on_body, .done = on_done, .data = s};
    char brief[SHORT_ID];

    s->base = (struct engine_stream){.engine = e, .close = close_stats};
    s->on_stats = on_stats;
    s->data = data;
    s->buffer.max = MAX_VALUE;
    if (engine_stream_start(e, path, &callbacks, &s->request, err) ||
        loop_wait_until(e->loop, &s->settled, clock_now_ns() + OPEN_NS, err))
        return error_wrap(err, "cannot read the stats of container '%s'", engine_short_id(id, brief));
    if (!s->open) {
        *err = s->error;
        return error_wrap(err, "cannot read the stats of container '%s'", engine_short_id(id, brief));
    }
    *ret = TAKE(base);
    return 0;
}
