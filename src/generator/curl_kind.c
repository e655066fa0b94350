/* SPDX-License-Identifier: MIT */
/* What of a request libcurl is told once. */
#include <arpa/inet.h>
#include <strings.h>
#include "curl.h"

static void add_header(struct curl_kind *ck, const char *text)
{
    struct curl_slist *list = curl_slist_append(ck->constant, text);

    if (!list)
        abort(); /* out of memory */
    ck->constant = list;
}

static bool has_header(const struct request_kind *k, const char *name)
{
    for (size_t i = 0; i < k->header_count; i++)
        if (strcasecmp(k->headers[i].name, name) == 0)
            return true;
    return false;
}

/* libcurl makes Host and :authority from the URL; it must not add what nobody asked for. */
static void prepare_headers(const struct transport *t, const struct request_kind *k, struct curl_kind *ck)
{
    static const char *const unwanted[] = {"Accept", "Expect", "Content-Type"};

    for (size_t i = 0; i < k->header_count; i++) {
        const struct request_header *h = &k->headers[i];
        if (!h->value.text) {
            ck->dynamic[ck->dynamic_count++] = h;
            continue;
        }
        if (strcasecmp(h->name, "host") == 0 && strcmp(h->value.text, t->target.authority) == 0)
            continue;
        const char *mark = *h->value.text ? ": " : ";"; /* the latter: a header without a value */
        CLEANUP_FREE char *line = xasprintf("%s%s%s", h->name, mark, h->value.text);
        add_header(ck, line);
    }
    for (size_t i = 0; i < ARRAY_LEN(unwanted); i++) {
        CLEANUP_FREE char *line = xasprintf("%s:", unwanted[i]);
        if (!has_header(k, unwanted[i]))
            add_header(ck, line);
    }
}

void grpc_prefix(char prefix[5], size_t len)
{
    uint32_t size = htonl((uint32_t)len);

    prefix[0] = 0; /* not compressed */
    memcpy(prefix + 1, &size, sizeof(size));
}

static void prepare_body(const struct request_kind *k, struct curl_kind *ck, struct arena *a)
{
    ck->body = k->body;
    if (!k->is_grpc || !k->body.text)
        return;
    char *framed = arena_alloc(a, k->body.len + 6);
    grpc_prefix(framed, k->body.len);
    memcpy(framed + 5, k->body.text, k->body.len);
    ck->body = (struct request_text){framed, k->body.len + 5, NULL};
}

static void choose_version(const struct transport *t, const struct request_kind *k, struct curl_kind *ck)
{
    bool prior = t->w->http == HTTP_VERSION_2_PRIOR || (k->is_grpc && !t->target.tls);

    ck->version = CURL_HTTP_VERSION_1_1;
    if (t->w->http == HTTP_VERSION_1_1 && !k->is_grpc)
        return;
    ck->version = prior           ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
                  : t->target.tls ? CURL_HTTP_VERSION_2TLS
                                  : CURL_HTTP_VERSION_2_0;
    ck->wanted_version = CURL_HTTP_VERSION_2_0;
}

int curl_prepare(struct transport *t, struct request_kind *k, struct arena *a, struct error *err)
{
    struct curl_kind *ck = arena_new_of(a, struct curl_kind);

    (void)err;
    k->curl = ck;
    ck->dynamic = arena_array(a, const struct request_header *, k->header_count);
    prepare_headers(t, k, ck);
    prepare_body(k, ck, a);
    choose_version(t, k, ck);
    return 0;
}

void curl_release(struct transport *t, struct request_kind *k)
{
    struct curl_kind *ck = k->curl;

    (void)t;
    if (ck)
        curl_slist_free_all(TAKE(ck->constant));
}
