/* SPDX-License-Identifier: MIT */
/* One call: sent, waited for, and its refusal turned into an error. */
#include <errno.h>
#include "engine_internal.h"

#define MAX_TEXT ((size_t)2000) /* of the engine's own words in a message */

bool engine_status_ok(int status)
{
    return (status >= 200 && status < 300) || status == 304;
}

/* JSON {"message": ...} from most engines and calls, plain text from others. */
static void add_reply_text(struct strbuf *out, const char *body, size_t len)
{
    CLEANUP(json_free) struct json *j = NULL;
    struct error ignored = ERROR_INIT;
    const char *text = NULL;

    if (len && json_parse(body, len, "reply", &j, &ignored) == 0)
        text = json_get_text(j, "message");
    if (text)
        add_clean(out, text, strnlen(text, MAX_TEXT), false);
    else
        add_clean(out, body, len < MAX_TEXT ? len : MAX_TEXT, false);
    strbuf_trim_end(out);
}

void engine_count_fault(struct engine *e, int status, const struct error *err)
{
    if (status >= LEAST_FAULT || (status == 0 && err->kind != ERROR_INTERRUPTED))
        e->faults++;
}

uint64_t engine_faults(const struct engine *e)
{
    return e->faults;
}

int engine_refusal(int status, const char *body, size_t len, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    enum error_kind kind = status == 404   ? ERROR_NOT_FOUND
                           : status == 409 ? ERROR_CONFLICT
                                           : ERROR_ENVIRONMENT;

    add_reply_text(&text, body, len);
    if (text.len)
        (void)error_set(err, kind, "%s", text.data);
    else
        (void)error_set(err, kind, "the engine answered with HTTP status %d and no text", status);
    err->code = status;
    if (strcasestr(strbuf_text(&text), "HTTP request to an HTTPS server"))
        (void)error_hint(
            err,
            "the engine wants TLS: set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH, or use an https:// address");
    return -1;
}

void engine_add_hint(const struct engine *e, struct error *err)
{
    if (err->hint[0])
        return;
    switch (err->code) {
    case EACCES:
    case EPERM:
        (void)error_hint(err, "become root, or join the group that owns the socket (often 'docker')");
        break;
    case ENOENT:
    case ECONNREFUSED:
        if (e->facts.local)
            (void)error_hint(
                err, "start it (systemctl start docker), or name another with DOCKER_HOST or --engine");
        else
            (void)error_hint(
                err,
                "is it running, and does it listen on that address? DOCKER_HOST and --engine name another");
        break;
    default:
        if (!e->facts.local && text_starts(e->origin, "http:"))
            (void)error_hint(err, "if it expects TLS, set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH");
        break;
    }
}

int engine_time_left(const struct engine *e, int64_t timeout_ns, int64_t *ret_ns, struct error *err)
{
    int64_t left = e->deadline_ns == LOOP_FOREVER ? LOOP_FOREVER : e->deadline_ns - clock_now_ns();

    if (left <= 0)
        return error_set(err, ERROR_TIMEOUT, "no time is left for it");
    *ret_ns = timeout_ns > 0 && timeout_ns < left ? timeout_ns : left == LOOP_FOREVER ? 0 : left;
    return 0;
}

struct http_options engine_http_options(struct engine *e, const struct engine_request *r, struct arena *keep)
{
    const char **headers = arena_array(keep, const char *, 3);
    struct http_options o = {
        .endpoint = &e->endpoint, .method = r->method, .headers = headers, .fresh_connection = r->once};
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    size_t n = 0;

    o.url = arena_printf(keep, "%s%s%s", e->origin, r->unversioned ? "" : e->prefix, r->path);
    if (r->json) {
        json_write(r->json, JSON_STYLE_COMPACT, &body);
        o.body = arena_strndup(keep, body.data, body.len);
        o.body_len = body.len;
        headers[n++] = "Content-Type: application/json";
    } else if (r->read_body) {
        o.read_body = r->read_body;
        o.data = r->data;
        headers[n++] = arena_printf(keep, "Content-Type: %s", r->content_type);
    }
    if (r->extra_header)
        headers[n++] = r->extra_header;
    return o;
}

static int wrap(const struct engine_request *r, struct error *err)
{
    return r->what ? error_wrap(err, "%s", r->what) : -1;
}

int engine_request(struct engine *e, const struct engine_request *r, struct json **ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *keep = arena_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    struct http_options o = engine_http_options(e, r, keep);
    struct json *j = NULL;
    int status = 0;

    if (engine_time_left(e, r->timeout_ns ? r->timeout_ns : QUICK_NS, &o.timeout_ns, err) ||
        http_fetch(e->http, &o, &status, &body, err)) {
        engine_count_fault(e, 0, err);
        engine_add_hint(e, err);
        return wrap(r, err);
    }
    if (status)
        engine_count_fault(e, status, err);
    if (!engine_status_ok(status)) {
        (void)engine_refusal(status, strbuf_text(&body), body.len, err);
        return wrap(r, err);
    }
    if (ret && body.len && json_parse(body.data, body.len, "the engine's reply", &j, err)) {
        err->kind = ERROR_ENVIRONMENT;
        return wrap(r, err);
    }
    if (ret)
        *ret = j;
    return 0;
}
