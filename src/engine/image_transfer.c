/* SPDX-License-Identifier: MIT */
/* Images that leave an engine and come into another one, as streams. */
#include "engine_internal.h"

/* The buffer holds what one turn of the loop brings: libcurl's 16 KiB, and over TLS what it had decrypted. */
#define EXPORT_BUFFER_MAX ((size_t)16 << 20)

#define LOADED_ID "Loaded image ID: "

/* --- out --- */

struct engine_export {
    struct engine *engine;
    struct http_request *request; /* NULL once it has ended */
    struct strbuf buffer;
    size_t at;   /* of the buffer: taken so far */
    bool ready;  /* there are bytes, or the end */
    bool failed; /* with `error` */
    struct error error;
};

static int on_body(const char *bytes, size_t len, void *data)
{
    struct engine_export *x = data;

    strbuf_add(&x->buffer, bytes, len);
    x->ready = true;
    return x->buffer.overflow ? -1 : 0;
}

static void on_done(const struct http_result *r, void *data)
{
    struct engine_export *x = data;

    x->request = NULL;
    x->ready = true;
    x->failed = !r->ok || !engine_status_ok(r->status);
    if (!r->ok)
        x->error = r->error;
    else if (x->failed)
        (void)engine_refusal(r->status, r->body, r->body_len, &x->error);
    if (x->failed)
        engine_add_hint(x->engine, &x->error);
}

int engine_export_open(struct engine *e, const char *const *images, size_t count, struct engine_export **ret,
                       struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    CLEANUP(engine_export_close) struct engine_export *x = xcalloc(1, sizeof(*x));
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;

    strbuf_adds(&path, "/images/get");
    for (size_t i = 0; i < count; i++)
        query_add(&path, "names", images[i]);
    struct http_options o = engine_http_options(e, &(struct engine_request){.path = path.data}, keep);
    o.on_body = on_body;
    o.done = on_done;
    o.data = x;
    o.fresh_connection = true;
    o.idle_timeout_ns = SILENT_NS; /* it collects all layers before it sends the first byte */
    x->engine = e;
    x->buffer.max = EXPORT_BUFFER_MAX;
    if (engine_time_left(e, 0, &o.timeout_ns, err) || http_start(e->http, &o, &x->request, err))
        return error_wrap(err, "cannot export images");
    *ret = TAKE(x);
    return 0;
}

ptrdiff_t engine_export_read(struct engine_export *x, void *buffer, size_t size, struct error *err)
{
    if (x->at == x->buffer.len && x->request) {
        strbuf_clear(&x->buffer);
        x->at = 0;
        x->ready = false;
        if (loop_wait_until(x->engine->loop, &x->ready, LOOP_FOREVER, err))
            return error_wrap(err, "cannot export images");
    }
    size_t n = x->buffer.len - x->at;
    if (n > size)
        n = size;
    if (n) {
        memcpy(buffer, x->buffer.data + x->at, n);
        x->at += n;
    } else if (x->failed) {
        *err = x->error;
        return error_wrap(err, "cannot export images");
    }
    return (ptrdiff_t)n;
}

void engine_export_close(struct engine_export *x)
{
    if (!x)
        return;
    http_cancel(x->request);
    strbuf_release(&x->buffer);
    free(x);
}

/* --- in --- */

/* The engine's words at the end: "Loaded image ID: sha256:...". */
static char *loaded_id(const struct strbuf *output)
{
    const char *last = NULL;

    for (const char *p = strbuf_text(output); (p = strstr(p, LOADED_ID)); p++)
        last = p + strlen(LOADED_ID);
    return last ? xstrndup(last, strcspn(last, " \t\r\n")) : NULL;
}

int engine_image_upload(struct engine *e, const struct engine_upload *u, char **ret_id, struct error *err)
{
    CLEANUP_VALUE(progress_end_release) struct progress_end end = {0};
    struct engine_request r = {.method = "POST",
                               .path = "/images/load?quiet=0",
                               .content_type = "application/x-tar",
                               .read_body = u->read,
                               .data = u->read_data};
    struct progress_run run = {
        .request = &r, .progress = u->progress, .data = u->data, .idle_timeout_ns = SILENT_NS};

    if (engine_progress(e, &run, &end, err))
        return error_wrap(err, "cannot load images");
    *ret_id = loaded_id(&end.output);
    return 0;
}

int engine_image_tag(struct engine *e, const char *id, const char *reference, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf path = STRBUF_INIT;
    CLEANUP_FREE char *name = NULL, *tag = NULL, *before = engine_path("/images/", id, "/tag"),
                      *what = xasprintf("cannot name an image '%s'", reference);

    split_reference(reference, &name, &tag);
    strbuf_adds(&path, before);
    query_add(&path, "repo", name);
    query_add(&path, "tag", tag);
    return engine_request(e, &(struct engine_request){.method = "POST", .path = path.data, .what = what},
                          NULL, err);
}
