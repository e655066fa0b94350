/* SPDX-License-Identifier: MIT */
#include "request.h"

#include <string.h>
#include <strings.h>

enum { BODY_LENGTH, CHUNK_SIZE, CHUNK_EXTENSION, CHUNK_DATA, CHUNK_END, TRAILER };

#define MAX_CHUNK_LINE 1024
#define MAX_TRAILERS 8192
#define MAX_LENGTH (UINT64_C(1) << 40)

bool slice_equal(struct slice s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.text, text, s.len) == 0;
}

static bool same_word(struct slice s, const char *word)
{
    return s.len == strlen(word) && strncasecmp(s.text, word, s.len) == 0;
}

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (!is_token_char(s.text[i]))
            return false;
    }
    return s.len > 0;
}

static bool is_printable(struct slice s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char)s.text[i] <= ' ' || s.text[i] == 0x7f)
            return false;
    }
    return s.len > 0;
}

static struct slice trimmed(const char *from, const char *end)
{
    while (from < end && (*from == ' ' || *from == '\t'))
        from++;
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return (struct slice){from, (size_t)(end - from)};
}

/* "http://host/path" as proxies get it. */
static struct slice path_of(struct slice target)
{
    struct slice path = target;

    if (target.len > 7 && strncasecmp(target.text, "http://", 7) == 0) {
        const char *slash = memchr(target.text + 7, '/', target.len - 7);
        path = slash ? (struct slice){slash, target.len - (size_t)(slash - target.text)}
                     : (struct slice){"/", 1};
    }
    const char *query = path.len ? memchr(path.text, '?', path.len) : NULL;
    if (query)
        path.len = (size_t)(query - path.text);
    return path;
}

static int parse_line(const char *line, const char *end, struct request *r)
{
    const char *first = memchr(line, ' ', (size_t)(end - line));
    const char *second = first ? memchr(first + 1, ' ', (size_t)(end - first - 1)) : NULL;

    if (!second)
        return 400;
    r->method = (struct slice){line, (size_t)(first - line)};
    r->target = (struct slice){first + 1, (size_t)(second - first - 1)};
    struct slice version = {second + 1, (size_t)(end - second - 1)};
    if (!is_token(r->method) || !is_printable(r->target))
        return 400;
    if (version.len != 8 || memcmp(version.text, "HTTP/", 5) != 0)
        return 400;
    if (memcmp(version.text + 5, "1.", 2) != 0)
        return 505;
    if (version.text[7] != '0' && version.text[7] != '1')
        return 505;
    r->old = version.text[7] == '0';
    r->keep_alive = !r->old;
    r->path = path_of(r->target);
    return r->path.text[0] == '/' || slice_equal(r->path, "*") ? 0 : 400;
}

static int parse_length(struct slice value, uint64_t *ret)
{
    uint64_t length = 0;

    if (value.len == 0 || value.len > 15)
        return 400;
    for (size_t i = 0; i < value.len; i++) {
        if (value.text[i] < '0' || value.text[i] > '9')
            return 400;
        length = length * 10 + (uint64_t)(value.text[i] - '0');
    }
    if (length > MAX_LENGTH)
        return 413;
    *ret = length;
    return 0;
}

static void parse_connection(struct slice value, struct request *r)
{
    const char *at = value.text, *end = value.text + value.len;

    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        struct slice word = trimmed(at, comma ? comma : end);
        if (same_word(word, "close"))
            r->keep_alive = false;
        else if (same_word(word, "keep-alive") && r->old)
            r->keep_alive = true;
        at = comma ? comma + 1 : end;
    }
}

struct heads { /* what is decided when all header lines are known */
    bool length, chunked;
    uint64_t bytes;
};

static int parse_header(const char *line, const char *end, const char *id_header, struct request *r,
                        struct heads *h)
{
    const char *colon = memchr(line, ':', (size_t)(end - line));

    if (!colon)
        return 400;
    struct slice name = {line, (size_t)(colon - line)}, value = trimmed(colon + 1, end);
    if (!is_token(name) || memchr(value.text, '\0', value.len) || memchr(value.text, '\r', value.len))
        return 400;
    if (same_word(name, "content-length")) {
        uint64_t bytes = 0;
        int status = parse_length(value, &bytes);
        if (status || (h->length && bytes != h->bytes))
            return status ? status : 400;
        h->length = true;
        h->bytes = bytes;
    } else if (same_word(name, "transfer-encoding")) {
        if (!same_word(value, "chunked"))
            return 501;
        if (h->chunked)
            return 400;
        h->chunked = true;
    } else if (same_word(name, "connection")) {
        parse_connection(value, r);
    } else if (same_word(name, "expect")) {
        r->expects_continue = same_word(value, "100-continue");
    } else if (*id_header && same_word(name, id_header)) {
        r->id = value;
    }
    return 0;
}

static int finish(const struct heads *h, struct request *r)
{
    if (h->chunked && (h->length || r->old))
        return 400; /* two ways to find its end: one of them is an attack */
    r->has_body = h->chunked || h->bytes > 0;
    r->body = (struct body){.state = h->chunked ? CHUNK_SIZE : BODY_LENGTH, .left = h->bytes};
    return 0;
}

int request_parse(const char *bytes, size_t len, const char *id_header, struct request *ret)
{
    const char *at = bytes, *stop = bytes + (len < REQUEST_MAX_HEAD ? len : REQUEST_MAX_HEAD);
    struct heads h = {0};
    int status;

    *ret = (struct request){0};
    for (bool first = true;; first = false) {
        const char *newline = memchr(at, '\n', (size_t)(stop - at));
        if (!newline)
            return len >= REQUEST_MAX_HEAD ? -431 : 0;
        const char *end = newline > at && newline[-1] == '\r' ? newline - 1 : newline;
        if (end == at && !first)
            break;
        if (first)
            status = end == at ? 400 : parse_line(at, end, ret);
        else
            status = parse_header(at, end, id_header, ret, &h);
        if (status)
            return -status;
        at = newline + 1;
        if (at == stop)
            return len >= REQUEST_MAX_HEAD ? -431 : 0;
    }
    status = finish(&h, ret);
    const char *newline = memchr(at, '\n', (size_t)(stop - at));
    return status ? -status : (int)(newline + 1 - bytes);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* One byte between chunks. -1: malformed; 1: the body's end; 0: go on. */
static int take_framing(struct body *b, char c)
{
    int digit = hex_digit(c);

    if (++b->line > (b->state == TRAILER ? MAX_TRAILERS : MAX_CHUNK_LINE))
        return -1;
    switch (b->state) {
    case CHUNK_SIZE:
        if (digit >= 0) {
            b->left = b->left << 4 | (uint64_t)digit;
            return b->line > 10 ? -1 : 0;
        }
        if (b->line == 1 || !strchr("; \t\r\n", c) || !c)
            return -1;
        b->state = CHUNK_EXTENSION;
        /* fall through */
    case CHUNK_EXTENSION:
        if (c == '\n') {
            b->state = b->left ? CHUNK_DATA : TRAILER;
            b->line = 0;
        }
        return 0;
    case CHUNK_END: /* CR LF behind the data */
        if (c == '\n') {
            b->state = CHUNK_SIZE;
            b->line = 0;
            return 0;
        }
        return c == '\r' && b->line == 1 ? 0 : -1;
    default: /* trailers, up to an empty line; `left` counts the bytes of this line */
        if (c == '\n' && b->left == 0)
            return 1;
        b->left = c == '\n' ? 0 : b->left + (c != '\r');
        return 0;
    }
}

int64_t body_take(struct body *b, const char *bytes, size_t len, bool *done)
{
    size_t used = 0;

    *done = false;
    while (used < len && !*done) {
        if (b->state == BODY_LENGTH || b->state == CHUNK_DATA) {
            size_t take = len - used < b->left ? len - used : (size_t)b->left;
            used += take;
            b->left -= take;
            if (b->left == 0 && b->state == BODY_LENGTH)
                *done = true;
            else if (b->left == 0)
                b->state = CHUNK_END;
            continue;
        }
        int step = take_framing(b, bytes[used++]);
        if (step < 0)
            return -1;
        *done = step > 0;
    }
    return (int64_t)used;
}
