/* SPDX-License-Identifier: MIT */
/* What all streams have in common. */
#include "engine_internal.h"

int engine_stream_start(struct engine *e, const char *path, const struct http_options *callbacks,
                        struct http_request **ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    struct engine_request r = {.path = path};
    struct http_options o = engine_http_options(e, &r, keep);

    o.on_head = callbacks->on_head;
    o.on_body = callbacks->on_body;
    o.done = callbacks->done;
    o.data = callbacks->data;
    o.idle_timeout_ns = callbacks->idle_timeout_ns;
    o.fresh_connection = true;
    return http_start(e->http, &o, ret, err);
}

void engine_stream_close(struct engine_stream *s)
{
    if (s)
        s->close(s);
}

int json_drain(struct strbuf *buffer,
               void (*each)(const struct json *j, const char *bytes, size_t len, void *data), void *data,
               struct error *err)
{
    size_t at = 0, used = 0;
    int got = 0;

    while (at < buffer->len) {
        CLEANUP(json_free) struct json *j = NULL;

        got = json_take(buffer->data + at, buffer->len - at, &j, &used, err);
        if (got <= 0)
            break;
        each(j, buffer->data + at, used, data);
        at += used;
    }
    strbuf_consume(buffer, at);
    return got < 0 ? -1 : 0;
}

struct download {
    struct engine *engine;
    const struct http_options *callbacks;
    bool done;
    struct error *err; /* filled when it failed */
    bool failed;
};

static void on_head(int status, const char *type, void *data)
{
    struct download *d = data;

    if (engine_status_ok(status) && d->callbacks->on_head)
        d->callbacks->on_head(status, type, d->callbacks->data);
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct download *d = data;

    return d->callbacks->on_body(bytes, len, d->callbacks->data);
}

static void on_done(const struct http_result *r, void *data)
{
    struct download *d = data;

    d->done = true;
    d->failed = !r->ok || !engine_status_ok(r->status);
    engine_count_fault(d->engine, r->ok ? r->status : 0, &r->error);
    if (!r->ok)
        *d->err = r->error;
    else if (d->failed)
        (void)engine_refusal(r->status, r->body, r->body_len, d->err);
}

int engine_download(struct engine *e, const char *path, const struct http_options *callbacks,
                    struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    struct download d = {.engine = e, .callbacks = callbacks, .err = err};
    struct http_options o = engine_http_options(e, &(struct engine_request){.path = path}, keep);
    struct http_request *request = NULL;

    o.on_head = on_head;
    o.on_body = on_body;
    o.done = on_done;
    o.data = &d;
    o.idle_timeout_ns = SLOW_NS;
    if (engine_time_left(e, 0, &o.timeout_ns, err) || http_start(e->http, &o, &request, err))
        return -1;
    if (loop_wait_until(e->loop, &d.done, LOOP_FOREVER, err)) {
        http_cancel(request);
        return -1;
    }
    return d.failed ? -1 : 0;
}
