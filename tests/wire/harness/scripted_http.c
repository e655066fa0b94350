/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <fnmatch.h>
#include <strings.h>
#include "benchctl/base/mem.h"
#include "scripted_http.h"

static const char *find(const char *bytes, size_t len, const char *text)
{
    return memmem(bytes, len, text, strlen(text));
}

static char *header_value(const char *headers, const char *name)
{
    for (const char *line = headers; line && *line; line = strstr(line, "\r\n")) {
        line += strspn(line, "\r\n");
        if (strncasecmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            line += strlen(name) + 1;
            line += strspn(line, " ");
            return xstrndup(line, strcspn(line, "\r\n"));
        }
    }
    return NULL;
}

/* The chunked body at the front of bytes: its total length, 0 when it is not all there, -1 when it is none.
 */
static long take_chunks(const char *bytes, size_t len, struct strbuf *body)
{
    size_t at = 0;

    for (;;) {
        const char *eol = find(bytes + at, len - at, "\r\n");
        char *end;

        if (!eol)
            return 0;
        unsigned long size = strtoul(bytes + at, &end, 16);
        if (end == bytes + at)
            return -1;
        at = (size_t)(eol - bytes) + 2;
        if (len - at < size + 2)
            return 0;
        strbuf_add(body, bytes + at, size);
        at += size + 2;
        if (size == 0)
            return (long)at;
    }
}

static void percent_decode(char *text)
{
    char *to = text, *end;

    for (char *from = text; *from; from++) {
        char hex[3] = {from[0] == '%' ? from[1] : '\0', from[0] == '%' && from[1] ? from[2] : '\0', '\0'};

        if (hex[0] && hex[1] && isxdigit((unsigned char)hex[0]) && isxdigit((unsigned char)hex[1])) {
            *to++ = (char)strtoul(hex, &end, 16);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static int take_line(const char *bytes, size_t len, struct seen *ret)
{
    char method[16], target[8192];
    CLEANUP_FREE char *line = xstrndup(bytes, len);

    if (sscanf(line, "%15s %8191s HTTP/1.1", method, target) != 2)
        return -1;
    char *path = target;
    ret->version = xstrdup("");
    if (path[0] == '/' && path[1] == 'v' && isdigit((unsigned char)path[2])) {
        free(ret->version);
        size_t n = strcspn(path + 1, "/");
        ret->version = xstrndup(path + 2, n - 1);
        path += 1 + n;
    }
    percent_decode(path);
    ret->method = xstrdup(method);
    ret->path = xstrdup(path);
    return 0;
}

int seen_take(struct strbuf *in, struct seen *ret)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    const char *end = in->len ? find(in->data, in->len, "\r\n\r\n") : NULL;
    const char *eol = end ? find(in->data, in->len, "\r\n") : NULL;
    struct seen s = {0};
    long used = 0;

    if (in->len && !isupper((unsigned char)in->data[0]))
        return -1; /* a TLS greeting, for instance */
    if (!end)
        return 0;
    if (take_line(in->data, (size_t)(eol - in->data), &s))
        return -1;
    size_t head = (size_t)(end - in->data) + 4;
    s.headers = xstrndup(eol + 2, (size_t)(end + 2 - (eol + 2)));
    CLEANUP_FREE char *length = header_value(s.headers, "Content-Length");
    CLEANUP_FREE char *coding = header_value(s.headers, "Transfer-Encoding");
    if (coding) {
        used = take_chunks(in->data + head, in->len - head, &body);
    } else {
        size_t n = length ? strtoul(length, NULL, 10) : 0;
        used = in->len - head >= n ? (long)n : 0;
        if (used)
            strbuf_add(&body, in->data + head, n);
        if (n == 0)
            used = -2; /* nothing to take, and complete */
    }
    if (used == 0 || used == -1) {
        seen_release(&s);
        return (int)used;
    }
    s.body_len = body.len;
    s.body = strbuf_detach(&body);
    strbuf_consume(in, head + (size_t)(used > 0 ? used : 0));
    *ret = s;
    return 1;
}

void seen_release(struct seen *s)
{
    free(s->method);
    free(s->version);
    free(s->path);
    free(s->headers);
    free(s->body);
    *s = (struct seen){0};
}

bool seen_matches(const struct seen *s, const char *pattern)
{
    size_t n = strcspn(pattern, " ");

    if (pattern[0] != '/' && pattern[0] != '*') {
        if (strlen(s->method) != n || strncmp(s->method, pattern, n) != 0)
            return false;
        pattern += n + (pattern[n] == ' ');
    }
    return fnmatch(pattern, s->path, FNM_NOESCAPE) == 0;
}

void chunk_add(struct strbuf *out, const void *bytes, size_t len)
{
    strbuf_addf(out, "%zx\r\n", len);
    strbuf_add(out, bytes, len);
    strbuf_adds(out, "\r\n");
}

void reply_compose(const struct reply *r, struct strbuf *out)
{
    const char *type = r->type ? r->type : "application/json";
    const char *body = r->body ? r->body : "";
    size_t len = r->body_len ? r->body_len : strlen(body);
    int status = r->status ? r->status : 200;
    bool stream = r->end == END_OPEN;

    if (r->raw) {
        strbuf_add(out, r->raw, r->raw_len ? r->raw_len : strlen(r->raw));
        return;
    }
    strbuf_addf(out, "HTTP/1.1 %d Scripted\r\n%s", status, r->headers ? r->headers : "");
    if (*type)
        strbuf_addf(out, "Content-Type: %s\r\n", type);
    if (stream || r->chunked)
        strbuf_adds(out, "Transfer-Encoding: chunked\r\n\r\n");
    else if (status == 204 || status == 304)
        strbuf_adds(out, "\r\n");
    else
        strbuf_addf(out, "Content-Length: %zu\r\n\r\n", len);
    if (!stream && !r->chunked) {
        strbuf_add(out, body, len);
        return;
    }
    if (len)
        chunk_add(out, body, len);
    if (!stream)
        strbuf_adds(out, "0\r\n\r\n");
}
