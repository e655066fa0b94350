/* SPDX-License-Identifier: MIT */
/* Requests as the workload has them made ready for a transport: method, path, headers, body. */
#include "prepare.h"

#include <ctype.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/version.h"

int prepare_error(struct position at, const char *what, const struct error *inner, struct error *err)
{
    enum error_kind kind = inner->kind;

    (void)position_error(err, at, "%s: %s", what, inner->message);
    err->kind = kind == ERROR_NONE ? ERROR_INVALID : kind;
    return *inner->hint ? error_hint(err, "%s", inner->hint) : -1;
}

bool is_token(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !(text[i] && strchr("!#$%&'*+-.^_`|~", text[i])))
            return false;
    return len > 0;
}

/* Text that never changes is rendered once, here. */
struct origin {
    struct position at;
    const char *what;
};

static int compile(const struct prepare *p, struct origin from, struct request_text text,
                   struct request_text *ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct workload_template *value;
    struct error inner = ERROR_INIT;

    if (workload_template_compile(text.text, text.len, p->rows, p->arena, &value, &inner) < 0)
        return prepare_error(from.at, from.what, &inner, err);
    *ret = (struct request_text){.value = value};
    if (!workload_template_is_constant(value))
        return 0;
    workload_template_render(value, &(struct workload_values){.id = ""}, &out);
    *ret = (struct request_text){arena_strndup(p->arena, strbuf_text(&out), out.len), out.len, NULL};
    if (out.len) /* NUL bytes too */
        ret->text = arena_copy(p->arena, out.data, out.len + 1);
    return 0;
}

static struct request_text text_of(const char *text)
{
    return (struct request_text){.text = text, .len = strlen(text)};
}

static int prepare_path(struct prepare *p, struct error *err)
{
    const struct workload_request *form = p->form;
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *path = form->grpc ? arena_printf(p->arena, "/%s", form->grpc) : form->path;
    const char *slash = !path || *path != '/' ? "/" : "";
    const char *whole =
        arena_printf(p->arena, "%s%s%s", p->transport->target.prefix, slash, path ? path : "");

    if (compile(p, (struct origin){form->path_at, "path"}, text_of(whole), &p->kind->path, err) < 0)
        return -1;
    if (!p->kind->path.text)
        return 0;
    (void)path_encode(p->kind->path.text, p->kind->path.len, &out);
    p->kind->path = (struct request_text){arena_strndup(p->arena, strbuf_text(&out), out.len), out.len, NULL};
    return 0;
}

/* --- headers --- */

static int check_header(const struct prepare *p, const char *name, struct error *err)
{
    static const char *const ours[] = {"content-length", "transfer-encoding"};
    char shown[SHOWN_SIZE];

    if (!is_token(name, strlen(name)))
        return position_error(err, p->form->at, "'%s' is no name of a header", text_shown(name, shown));
    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (strcasecmp(name, ours[i]) == 0) {
            (void)position_error(err, p->form->at, "header '%s' is set by benchctl itself", name);
            return error_hint(err, "it follows from the body: take it away");
        }
    return 0;
}

/* Replaces one of the same name. */
static int set_header_at(struct prepare *p, const struct text_pair *pair, struct error *err)
{
    const char *name = pair->key, *value = pair->value ? pair->value : "";
    struct request_kind *k = p->kind;
    CLEANUP_FREE char *what = xasprintf("header '%s'", name);
    struct request_header *h = k->headers;

    if (check_header(p, name, err) < 0)
        return -1;
    while (h < k->headers + k->header_count && strcasecmp(h->name, name) != 0)
        h++;
    if (compile(p, (struct origin){pair->at, what}, text_of(value), &h->value, err) < 0)
        return -1;
    h->name = arena_strdup(p->arena, name);
    if (h == k->headers + k->header_count)
        k->header_count++;
    if (h->value.text && (strpbrk(h->value.text, "\r\n") || strlen(h->value.text) != h->value.len))
        return position_error(err, pair->at, "%s: its value has a line break", what);
    return 0;
}

static int set_header(struct prepare *p, const char *name, const char *value, struct error *err)
{
    return set_header_at(p, &(struct text_pair){name, value, p->form->at}, err);
}

static int set_headers(struct prepare *p, const struct text_map *m, struct error *err)
{
    for (size_t i = 0; i < m->len; i++)
        if (set_header_at(p, &m->items[i], err) < 0)
            return -1;
    return 0;
}

static bool asks_to_close(const struct request_kind *k)
{
    for (size_t i = 0; i < k->header_count; i++)
        if (strcasecmp(k->headers[i].name, "connection") == 0)
            return k->headers[i].value.text && strcasestr(k->headers[i].value.text, "close");
    return false;
}

static int prepare_headers(struct prepare *p, struct error *err)
{
    const struct workload *w = p->transport->w;
    const struct target *target = &p->transport->target;
    size_t most = 6 + w->headers.len + p->form->headers.len;

    p->kind->headers = arena_array(p->arena, struct request_header, most);
    if (set_header(p, "Host", target->authority, err) < 0 ||
        set_header(p, "User-Agent", "benchctl/" BENCHCTL_VERSION, err) < 0)
        return -1;
    if (p->form->grpc && (set_header(p, "Content-Type", "application/grpc", err) < 0 ||
                          set_header(p, "TE", "trailers", err) < 0))
        return -1;
    if (!w->keepalive && w->http == HTTP_VERSION_1_1 && !p->form->grpc &&
        set_header(p, "Connection", "close", err) < 0)
        return -1;
    if (w->id_header && set_header(p, w->id_header, "{{id}}", err) < 0)
        return -1;
    if (set_headers(p, &w->headers, err) < 0 || set_headers(p, &p->form->headers, err) < 0)
        return -1;
    p->kind->close = !w->keepalive || asks_to_close(p->kind);
    return 0;
}

/* --- bodies --- */

static int read_body_file(const struct prepare *p, struct request_text *ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf content = STRBUF_INIT;
    struct error inner = ERROR_INIT;

    if (fs_read(p->form->body_file, REQUEST_BODY_MAX, &content, &inner) < 0) {
        inner.kind = ERROR_INVALID; /* what the workload names is wrong, not the machine */
        return prepare_error(p->form->body_at, "body_file", &inner, err);
    }
    strbuf_add(&content, "", 0);
    *ret = (struct request_text){arena_copy(p->arena, content.data, content.len + 1), content.len, NULL};
    return 0;
}

static int prepare_body(struct prepare *p, struct error *err)
{
    static const char *const with_body[] = {"POST", "PUT", "PATCH"};
    struct request_kind *k = p->kind;
    struct request_text body = {.text = ""};

    k->has_body = p->form->body || p->form->body_file || p->form->grpc;
    for (size_t i = 0; i < ARRAY_LEN(with_body); i++)
        k->has_body |= strcmp(k->method, with_body[i]) == 0;
    if (p->form->body_file) {
        if (read_body_file(p, &body, err) < 0)
            return -1;
    } else if (p->form->body) {
        body = text_of(p->form->body);
    }
    k->body = body;
    const struct origin from = {p->form->body_at, p->form->body_file ? "body_file" : "body"};
    return p->form->raw ? 0 : compile(p, from, body, &k->body, err);
}

/* --- kinds --- */

static int prepare_kind(struct prepare *p, struct error *err)
{
    const struct workload_request *form = p->form;
    const struct workload *w = p->transport->w;
    struct request_kind *k = p->kind;
    char shown[SHOWN_SIZE];

    k->form = form;
    k->method = form->grpc ? "POST" : form->method ? form->method : "GET";
    k->is_head = strcmp(k->method, "HEAD") == 0;
    k->is_grpc = form->grpc != NULL;
    k->timeout_ns = form->timeout_ns > 0 ? form->timeout_ns : w->timeout_ns;
    if (!is_token(k->method, strlen(k->method)))
        return position_error(err, form->at, "'%s' is no HTTP method", text_shown(k->method, shown));
    if (strcmp(k->method, "CONNECT") == 0)
        return position_error(err, form->at, "method CONNECT makes a tunnel, not a request");
    if (prepare_path(p, err) < 0 || prepare_headers(p, err) < 0 || prepare_body(p, err) < 0 ||
        prepare_expect(p, err) < 0)
        return -1;
    if (!p->transport->ops->prepare)
        return 0;
    vec_push(&p->transport->kinds, k); /* release() gets it, however far prepare() came */
    return p->transport->ops->prepare(p->transport, k, p->arena, err);
}

int transport_prepare(struct transport *t, const struct workload *w, const struct workload_rows *rows,
                      struct arena *a, struct request_kind **ret, size_t *ret_len, struct error *err)
{
    const struct workload_request *forms = w->requests.items;
    struct request_kind *kinds = arena_array(a, struct request_kind, w->requests.len);

    for (size_t i = 0; i < w->requests.len; i++) {
        struct prepare p = {.transport = t, .rows = rows, .arena = a, .form = &forms[i], .kind = &kinds[i]};
        kinds[i].index = i;
        if (prepare_kind(&p, err) < 0)
            return -1;
    }
    *ret = kinds;
    *ret_len = w->requests.len;
    return 0;
}
