/* SPDX-License-Identifier: MIT */
#include "answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/hash.h"

static const char *reason(int status)
{
    static const struct {
        int status;
        const char *text;
    } known[] = {{200, "OK"},
                 {201, "Created"},
                 {202, "Accepted"},
                 {204, "No Content"},
                 {301, "Moved Permanently"},
                 {302, "Found"},
                 {304, "Not Modified"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {413, "Content Too Large"},
                 {429, "Too Many Requests"},
                 {431, "Request Header Fields Too Large"},
                 {500, "Internal Server Error"},
                 {501, "Not Implemented"},
                 {502, "Bad Gateway"},
                 {503, "Service Unavailable"},
                 {504, "Gateway Timeout"},
                 {505, "HTTP Version Not Supported"}};

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].status == status)
            return known[i].text;
    }
    return "Status";
}

bool answer_has_body(int status)
{
    return status != 204 && status != 304;
}

void answer_add_head(struct strbuf *out, const struct answer_head *h, size_t body_len)
{
    static const char *const connection[] = {[ENDING_DEFAULT] = "",
                                             [ENDING_KEEP_ALIVE] = "Connection: keep-alive\r\n",
                                             [ENDING_CLOSE] = "Connection: close\r\n"};

    strbuf_addf(out, "HTTP/1.%d %d %s\r\n", h->old ? 0 : 1, h->status, reason(h->status));
    if (answer_has_body(h->status)) {
        if (h->content_type)
            strbuf_addf(out, "Content-Type: %s\r\n", h->content_type);
        strbuf_addf(out, "Content-Length: %zu\r\n", body_len);
    }
    strbuf_addf(out, "%s\r\n", connection[h->ending]);
}

static void add_harmless(struct strbuf *out, struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        char c = s.text[i];
        bool fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                    (c && strchr("-._~/:@!$()*+,;=%", c));
        strbuf_addc(out, fine ? c : '_');
    }
}

/* {{random A B}}: a whole number, both ends included. */
static bool add_random(struct strbuf *out, const char *name, struct rng *random)
{
    int64_t from, to;

    if (sscanf(name, "random %" SCNd64 " %" SCNd64, &from, &to) != 2 || to < from)
        return false;
    uint64_t span = (uint64_t)to - (uint64_t)from + 1, drawn = rng_next(random);
    strbuf_addf(out, "%" PRId64, (int64_t)((uint64_t)from + (span ? drawn % span : drawn)));
    return true;
}

static bool add_value(struct strbuf *out, const char *name, const struct answer_values *v, struct rng *random)
{
    if (strcmp(name, "id") == 0)
        add_harmless(out, v->id);
    else if (strcmp(name, "path") == 0)
        add_harmless(out, v->path);
    else if (strcmp(name, "counter") == 0)
        strbuf_addf(out, "%" PRIu64, v->counter);
    else
        return add_random(out, name, random);
    return true;
}

void answer_add_body(struct strbuf *out, const struct endpoint *e, const struct answer_values *v)
{
    const char *at = e->body_text, *end = at + e->body_len;
    struct rng random;
    char name[64];

    rng_seed(&random, v->random);
    while (at < end) {
        const char *open = memmem(at, (size_t)(end - at), "{{", 2);
        const char *close = open ? memmem(open, (size_t)(end - open), "}}", 2) : NULL;
        size_t len = close ? (size_t)(close - open - 2) : 0;
        if (!close || len >= sizeof(name)) {
            const char *stop = close ? open + 2 : end;
            strbuf_add(out, at, (size_t)(stop - at));
            at = stop;
            continue;
        }
        strbuf_add(out, at, (size_t)(open - at));
        memcpy(name, open + 2, len);
        name[len] = '\0';
        if (!add_value(out, name, v, &random))
            strbuf_add(out, open, len + 4);
        at = close + 2;
    }
}
