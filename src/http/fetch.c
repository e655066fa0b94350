/* SPDX-License-Identifier: MIT */
/* A request that is waited for, and percent-encoding. */
#include "benchctl/base/clock.h"
#include "http_internal.h"

struct fetch {
    bool done;
    struct http_result result;
    struct strbuf *body;
    const struct http_options *options;
};

static void on_fetched(const struct http_result *r, void *data)
{
    struct fetch *f = data;

    f->result = *r;
    if (f->body)
        strbuf_add(f->body, r->body, r->body_len);
    f->done = true;
}

static int pass_body(const char *bytes, size_t len, void *data)
{
    struct fetch *f = data;

    return f->options->on_body(bytes, len, f->options->data);
}

static ptrdiff_t pass_upload(char *buffer, size_t size, void *data)
{
    struct fetch *f = data;

    return f->options->read_body(buffer, size, f->options->data);
}

int http_fetch(struct http *h, const struct http_options *options, int *ret_status, struct strbuf *ret_body,
               struct error *err)
{
    struct fetch f = {.body = ret_body, .options = options};
    struct http_options mine = *options;
    struct http_request *r;

    mine.on_head = NULL;
    mine.on_body = options->on_body ? pass_body : NULL;
    mine.read_body = options->read_body ? pass_upload : NULL;
    mine.done = on_fetched;
    mine.data = &f;
    if (http_start(h, &mine, &r, err))
        return -1;
    if (loop_wait_until(h->loop, &f.done, LOOP_FOREVER, err)) {
        http_cancel(r);
        return -1;
    }
    if (!f.result.ok) {
        *err = f.result.error;
        return -1;
    }
    *ret_status = f.result.status;
    return 0;
}

void http_escape(struct strbuf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

    for (; *text; text++) {
        if (strchr(plain, *text))
            strbuf_addc(out, *text);
        else
            strbuf_addf(out, "%%%02X", (unsigned)(unsigned char)*text);
    }
}
