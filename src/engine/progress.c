/* SPDX-License-Identifier: MIT */
/* The JSON streams of build, pull, load and import: progress, and failures that come after the status 200. */
#include "engine_internal.h"

#define MAX_VALUE ((size_t)4 << 20)   /* of one JSON value */
#define MAX_OUTPUT ((size_t)64 << 10) /* kept of what the steps print */
#define TEXT_MAX 500                  /* of a progress line */

/* --- one value --- */

static const char *error_text(const struct json *m)
{
    const char *detail = json_get_text(json_get(m, "errorDetail"), "message");
    const char *plain = json_get_text(m, "error");

    if (detail && *detail)
        return detail;
    if (plain)
        return plain;
    return json_get(m, "errorDetail") ? "the engine gave no reason" : NULL;
}

static char *progress_text(const struct json *m)
{
    const char *stream = json_get_text(m, "stream"), *status = json_get_text(m, "status");
    const char *id = json_get_text(m, "id"), *bar = json_get_text(m, "progress");
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (stream) {
        add_clean(&text, stream, strnlen(stream, TEXT_MAX), false);
    } else if (status) {
        if (id && *id) {
            add_clean(&text, id, strnlen(id, TEXT_MAX), false);
            strbuf_adds(&text, ": ");
        }
        add_clean(&text, status, strnlen(status, TEXT_MAX), false);
        if (bar && *bar) {
            strbuf_addc(&text, ' ');
            add_clean(&text, bar, strnlen(bar, TEXT_MAX), false);
        }
    }
    strbuf_trim_end(&text);
    return text.len ? strbuf_detach(&text) : NULL;
}

int engine_stream_message(const struct json *message, char **ret_progress, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const char *failure;

    if (json_type_of(message) != JSON_TYPE_OBJECT)
        return error_set(err, ERROR_ENVIRONMENT, "the engine's stream holds something that is not an object");
    failure = error_text(message);
    if (failure) {
        add_clean(&text, failure, strnlen(failure, 3000), false);
        strbuf_trim_end(&text);
        return error_set(err, ERROR_ENVIRONMENT, "%s", strbuf_text(&text));
    }
    *ret_progress = progress_text(message);
    return 0;
}

/* --- the whole stream --- */

struct run {
    const struct progress_run *options;
    struct progress_end *end;
    struct strbuf buffer;
    bool done, failed; /* failed: the stream carried an error */
    struct error error;
    int status;
    struct strbuf refusal;
    bool answered;
};

static void set_text(char **to, const char *text)
{
    free(*to);
    *to = xstrdup(text);
}

static void keep_output(struct strbuf *output, const char *text)
{
    strbuf_adds(output, text);
    if (output->len > MAX_OUTPUT)
        strbuf_consume(output, output->len - MAX_OUTPUT / 2);
}

static void on_message(const struct json *m, const char *bytes, size_t len, void *data)
{
    struct run *r = data;
    CLEANUP_FREE char *line = NULL;
    const char *aux = json_get_text(json_get(m, "aux"), "ID"), *status = json_get_text(m, "status");
    const char *stream = json_get_text(m, "stream");

    (void)bytes;
    (void)len;
    if (r->failed)
        return;
    if (engine_stream_message(m, &line, &r->error)) {
        r->failed = true;
        return;
    }
    if (aux)
        set_text(&r->end->id, aux);
    if (status && text_starts(status, "sha256:"))
        set_text(&r->end->id, status);
    if (status)
        set_text(&r->end->last_status, status);
    if (stream)
        keep_output(&r->end->output, stream);
    if (line && r->options->progress)
        r->options->progress(line, r->options->data);
}

static int on_body(const char *bytes, size_t len, void *data)
{
    struct run *r = data;

    strbuf_add(&r->buffer, bytes, len);
    if (r->buffer.overflow && !r->failed) {
        (void)error_set(&r->error, ERROR_ENVIRONMENT, "the engine's stream holds a value larger than 4 MiB");
        r->failed = true;
    }
    if (!r->failed && json_drain(&r->buffer, on_message, r, &r->error)) {
        r->error.kind = ERROR_ENVIRONMENT;
        r->failed = true;
    }
    return r->failed ? -1 : 0;
}

static ptrdiff_t on_upload(char *buffer, size_t size, void *data)
{
    struct run *r = data;

    return r->options->request->read_body(buffer, size, r->options->request->data);
}

static void on_done(const struct http_result *result, void *data)
{
    struct run *r = data;

    r->done = true;
    r->answered = result->ok;
    r->status = result->status;
    strbuf_add(&r->refusal, result->body, result->body_len);
    if (!result->ok && !r->failed)
        r->error = result->error;
}

static int judge(struct engine *e, struct run *r, struct error *err)
{
    if (r->failed || !r->answered) {
        *err = r->error;
        engine_add_hint(e, err);
        return -1;
    }
    if (!engine_status_ok(r->status))
        return engine_refusal(r->status, strbuf_text(&r->refusal), r->refusal.len, err);
    strbuf_trim_end(&r->buffer);
    if (r->buffer.len)
        return error_set(err, ERROR_ENVIRONMENT, "the engine's stream ended early");
    return 0;
}

int engine_progress(struct engine *e, const struct progress_run *run, struct progress_end *ret,
                    struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    struct run r = {.options = run, .end = ret, .buffer = {.max = MAX_VALUE}};
    struct http_options o = engine_http_options(e, run->request, keep);
    struct http_request *request = NULL;
    int result;

    *ret = (struct progress_end){0};
    o.read_body = run->request->read_body ? on_upload : NULL;
    o.on_body = on_body;
    o.done = on_done;
    o.data = &r;
    o.idle_timeout_ns = run->idle_timeout_ns;
    o.fresh_connection = true;
    result = engine_time_left(e, run->request->timeout_ns, &o.timeout_ns, err) ||
             http_start(e->http, &o, &request, err);
    if (result == 0 && loop_wait_until(e->loop, &r.done, LOOP_FOREVER, err)) {
        http_cancel(request);
        result = -1;
    }
    if (result == 0)
        result = judge(e, &r, err);
    strbuf_release(&r.buffer);
    strbuf_release(&r.refusal);
    return result ? -1 : 0;
}

void progress_end_release(struct progress_end *p)
{
    free(p->id);
    free(p->last_status);
    strbuf_release(&p->output);
    *p = (struct progress_end){0};
}
