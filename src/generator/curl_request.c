/* SPDX-License-Identifier: MIT */
/* Options of libcurl's handles: most once, some when another kind comes, the least each time. */
#include "benchctl/base/clock.h"
#include "curl.h"

#define KEPT_MAX_S (30L * 86400)
#define SET(c, option, value) ((void)curl_easy_setopt((c)->easy, CURLOPT_##option, value))

static void setup_connection(struct curl_channel *c)
{
    const struct curl_transport *t = (const struct curl_transport *)c->base.transport;
    const struct workload *w = t->base.w;

    SET(c, SHARE, c->shard->pool);
    SET(c, PROXY, "");
    SET(c, NOPROXY, "*");
    SET(c, SSL_VERIFYPEER, w->insecure ? 0L : 1L);
    SET(c, SSL_VERIFYHOST, w->insecure ? 0L : 2L);
    if (w->ca_file)
        SET(c, CAINFO, w->ca_file);
    SET(c, DNS_CACHE_TIMEOUT, -1L); /* resolved once; and nothing to tidy up after each request */
    SET(c, RESOLVE, t->resolve);
    SET(c, FORBID_REUSE, w->keepalive ? 0L : 1L);
    SET(c, MAXAGE_CONN, KEPT_MAX_S); /* a virtual user may think for long */
    SET(c, OPENSOCKETFUNCTION, curl_open_socket);
    SET(c, OPENSOCKETDATA, c);
    SET(c, CLOSESOCKETFUNCTION, curl_close_socket);
    SET(c, CLOSESOCKETDATA, t);
    SET(c, PREREQFUNCTION, curl_connected);
    SET(c, PREREQDATA, c);
}

/*
 * Up to libcurl 8.7 each transfer has buffers of its own, of 16 KB and, with TLS, of 64 KB more. Where there
 * are many, memory is dearer than the calls for what comes in more pieces.
 */
#define MANY_CHANNELS 500
#define SMALL_BUFFER 2048L
#define SMALL_UPLOAD_BUFFER 16384L /* the least that it takes */

void curl_setup(struct curl_channel *c)
{
    const struct target *target = &c->base.transport->target;
    CLEANUP_FREE char *url = xasprintf("%s://%s/", target->tls ? "https" : "http", target->authority);

    SET(c, URL, url);
    SET(c, PRIVATE, c);
    SET(c, NOSIGNAL, 1L);
    SET(c, PROTOCOLS_STR, "http,https");
    SET(c, ERRORBUFFER, c->text);
    SET(c, HEADERFUNCTION, curl_on_header);
    SET(c, HEADERDATA, c);
    SET(c, WRITEFUNCTION, curl_on_body);
    SET(c, WRITEDATA, c);
    if (c->base.transport->channels >= MANY_CHANNELS) {
        SET(c, BUFFERSIZE, SMALL_BUFFER);
        SET(c, UPLOAD_BUFFERSIZE, SMALL_UPLOAD_BUFFER);
    }
    setup_connection(c);
}

static void apply_kind(struct curl_channel *c, const struct request_kind *k)
{
    const struct curl_kind *ck = k->curl;
    const struct curl_transport *t = (const struct curl_transport *)c->base.transport;

    SET(c, NOBODY, 0L);
    SET(c, CUSTOMREQUEST, (char *)NULL);
    if (k->is_head)
        SET(c, NOBODY, 1L);
    else if (k->has_body)
        SET(c, POST, 1L);
    else
        SET(c, HTTPGET, 1L);
    if (strcmp(k->method, k->is_head ? "HEAD" : k->has_body ? "POST" : "GET") != 0)
        SET(c, CUSTOMREQUEST, k->method);
    if (k->path.text)
        SET(c, REQUEST_TARGET, k->path.text);
    if (k->has_body && ck->body.text) {
        SET(c, POSTFIELDSIZE_LARGE, (curl_off_t)ck->body.len);
        SET(c, POSTFIELDS, ck->body.text);
    }
    SET(c, HTTPHEADER, ck->constant);
    SET(c, HTTP_VERSION, ck->version);
    SET(c, IGNORE_CONTENT_LENGTH,
        k->is_grpc ? 1L : 0L); /* libcurl would not wait for what follows the body */
    if (t->scoped)
        SET(c, ADDRESS_SCOPE, 2L * c->place + (ck->wanted_version ? 2 : 1)); /* 0 would be none */
    c->applied = k;
}

/* The list's first members are ours and point into what was rendered; the rest is the kind's. */
static const char *apply_headers(struct curl_channel *c, const struct curl_kind *ck, const struct exchange *x)
{
    size_t count = ck->dynamic_count, at = 0;

    strbuf_clear(&c->headers);
    for (size_t i = 0; i < count; i++) {
        const struct request_header *h = ck->dynamic[i];
        strbuf_addf(&c->headers, "%s: ", h->name);
        size_t start = c->headers.len;
        const char *problem = render_header(&h->value, x->values, &c->headers);
        if (problem)
            return problem;
        if (c->headers.len == start)
            c->headers.data[start - 2] = ';', c->headers.data[start - 1] = '\0'; /* without a value */
        strbuf_addc(&c->headers, '\0');
    }
    c->nodes = xrealloc(c->nodes, count * sizeof(*c->nodes));
    for (size_t i = 0; i < count; i++) {
        c->nodes[i].data = c->headers.data + at;
        c->nodes[i].next = i + 1 < count ? &c->nodes[i + 1] : ck->constant;
        at = (size_t)((char *)memchr(c->headers.data + at, '\0', c->headers.len - at) - c->headers.data) + 1;
        while (at < c->headers.len && !c->headers.data[at])
            at++;
    }
    SET(c, HTTPHEADER, c->nodes);
    return NULL;
}

static const char *apply_body(struct curl_channel *c, const struct request_kind *k, const struct exchange *x)
{
    char prefix[5] = {0};

    strbuf_clear(&c->body);
    c->body.overflow = false;
    if (k->is_grpc)
        strbuf_add(&c->body, prefix, sizeof(prefix));
    render_body(&k->body, x->values, &c->body);
    if (c->body.overflow)
        return "a body that is too long";
    if (k->is_grpc)
        grpc_prefix(c->body.data, c->body.len - sizeof(prefix));
    SET(c, POSTFIELDSIZE_LARGE, (curl_off_t)c->body.len);
    SET(c, POSTFIELDS, c->body.data ? c->body.data : "");
    return NULL;
}

#define LONG_IDLE_NS (10 * NS_PER_MS)

/*
 * Is the connection still good? libcurl looks, too, but takes a reset one for good. And libcurl 7.88 fails
 * when a kept connection is told once more that HTTP/2 is known to be spoken.
 */
static void apply_connection(struct curl_channel *c, const struct curl_kind *ck)
{
    const struct curl_transport *t = (const struct curl_transport *)c->base.transport;
    bool prior = t->prior_once && ck->version == CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;

    c->kept_only = false;
    if (!prior && (c->first_socket < 0 || clock_now_ns() - c->idle_since_ns < LONG_IDLE_NS))
        return;
    bool h2 = curl_check_sockets(c); /* false, too, when libcurl has closed what there was */
    if (!prior)
        return;
    c->kept_only = h2;
    SET(c, HTTP_VERSION, h2 ? (long)CURL_HTTP_VERSION_2TLS : ck->version);
}

const char *curl_apply(struct curl_channel *c, const struct exchange *x)
{
    const struct request_kind *k = x->kind;
    const struct curl_kind *ck = k->curl;
    const char *problem = NULL;

    if (c->applied != k)
        apply_kind(c, k);
    apply_connection(c, ck);
    if (!k->path.text) {
        strbuf_clear(&c->path);
        problem = render_path(&k->path, x->values, &c->path);
        if (!problem)
            SET(c, REQUEST_TARGET, strbuf_text(&c->path));
    }
    if (!problem && ck->dynamic_count)
        problem = apply_headers(c, ck, x);
    if (!problem && k->has_body && !ck->body.text)
        problem = apply_body(c, k, x);
    return problem;
}
