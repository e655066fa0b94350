/* SPDX-License-Identifier: MIT */
/* The reader's states: which lines and which bytes of a body are to come. Headers: plain_header.c. */
#include "plain_answer_internal.h"

struct answer_store {
    struct strbuf line, body;
};

static void drop_store(struct answer *a)
{
    if (!a->store)
        return;
    strbuf_release(&a->store->line);
    strbuf_release(&a->store->body);
    free(a->store);
    a->store = NULL;
}

void answer_begin(struct answer *a, const struct request_kind *k)
{
    drop_store(a);
    *a = (struct answer){.kind = k, .keep = true, .header_ok = k->header_name == NULL};
}

void answer_release(struct answer *a)
{
    drop_store(a);
}

static struct answer_store *store(struct answer *a)
{
    if (!a->store)
        a->store = xcalloc(1, sizeof(*a->store));
    return a->store;
}

bool answer_refuse(struct answer *a, const char *problem)
{
    a->problem = problem;
    a->keep = false;
    return false;
}

/* --- lines --- */

/* What is sure before the end of the line has come, so that garbage without one is not waited for. */
static bool hopeless(const struct answer *a, const char *line, size_t len)
{
    static const char start[] = "HTTP/1.";

    if (a->state == STATE_STATUS)
        return memcmp(line, start, len < sizeof(start) - 1 ? len : sizeof(start) - 1) != 0;
    if (a->state == STATE_CHUNK_END)
        return line[0] != '\r' || len > 1;
    return false;
}

/* Takes a line, or the part of one that is there; false: not whole yet, or refused. */
static bool take_line(struct answer *a, const char **at, const char *end, const char **ret, size_t *ret_len)
{
    const char *from = *at, *newline = memchr(from, '\n', (size_t)(end - from));
    size_t len = (size_t)((newline ? newline + 1 : end) - from);

    if (len > ANSWER_HEAD_MAX - a->line_bytes)
        return answer_refuse(a, "a head that does not end");
    a->line_bytes += (uint32_t)len;
    *at += len;
    if (!newline || (a->store && a->store->line.len)) {
        strbuf_add(&store(a)->line, from, len);
        from = a->store->line.data;
        len = a->store->line.len;
    }
    if (!newline) {
        if (len && hopeless(a, from, len))
            return answer_refuse(a, "no HTTP answer");
        return false;
    }
    len--;
    if (len && from[len - 1] == '\r')
        len--;
    *ret = from;
    *ret_len = len;
    return true;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : -1;
}

/* HTTP/1.1 200 OK */
static bool status_line(struct answer *a, const char *line, size_t len)
{
    if (len < 12 || memcmp(line, "HTTP/1.", 7) != 0 || digit(line[7]) < 0 || line[8] != ' ' ||
        (len > 12 && line[12] != ' '))
        return answer_refuse(a, "no HTTP answer");
    a->version = (uint8_t)digit(line[7]);
    a->status = 0;
    for (int i = 9; i < 12; i++) {
        if (digit(line[i]) < 0)
            return answer_refuse(a, "no HTTP answer");
        a->status = a->status * 10 + digit(line[i]);
    }
    if (a->status < 100)
        return answer_refuse(a, "a status that is none");
    a->state = STATE_HEADER;
    return true;
}

/* The size in hexadecimal; extensions are passed over. */
static bool chunk_size(struct answer *a, const char *line, size_t len)
{
    uint64_t size = 0;
    size_t i = 0;

    for (; i < len; i++) {
        char c = (char)(line[i] | 0x20);
        int value = digit(line[i]) >= 0 ? digit(line[i]) : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (value < 0)
            break;
        if (size >> 56)
            return answer_refuse(a, "a chunk size that is too large");
        size = size << 4 | (uint64_t)value;
    }
    size_t digits = i;
    while (i < len && (line[i] == ' ' || line[i] == '\t'))
        i++;
    if (!digits || (i < len && line[i] != ';'))
        return answer_refuse(a, "a chunk size that is none");
    a->left = size;
    a->state = size ? STATE_CHUNK : STATE_TRAILER;
    a->line_bytes = 0;
    return true;
}

/* What follows the final head. */
static void choose_body(struct answer *a)
{
    if (a->kind->is_head || a->status == 204 || a->status == 304)
        a->state = STATE_WHOLE;
    else if (a->chunked)
        a->state = STATE_CHUNK_SIZE;
    else if (a->coded || !a->has_length)
        a->state = STATE_UNTIL_CLOSE;
    else
        a->state = a->left ? STATE_LENGTH : STATE_WHOLE;
    a->keep = a->version == 0 ? a->said_keep && !a->said_close : !a->said_close;
    if (a->state == STATE_UNTIL_CLOSE || ((a->chunked || a->coded) && (a->has_length || a->version == 0)))
        a->keep = false; /* its framing is doubtful */
}

static bool head_done(struct answer *a)
{
    if (a->status == 101)
        return answer_refuse(a, "a switch of protocols that was not asked for");
    if (a->status < 200) {
        struct answer next = {.kind = a->kind,
                              .keep = true,
                              .header_ok = a->kind->header_name == NULL,
                              .line_bytes = a->line_bytes, /* not without end */
                              .store = a->store};
        *a = next;
        return true;
    }
    a->headed = true;
    choose_body(a);
    a->line_bytes = 0;
    return true;
}

static bool on_line(struct answer *a, const char *line, size_t len)
{
    switch ((enum answer_state)a->state) {
    case STATE_STATUS:
        return status_line(a, line, len);
    case STATE_HEADER:
        return len ? answer_header(a, line, len) : head_done(a);
    case STATE_CHUNK_SIZE:
        return chunk_size(a, line, len);
    case STATE_CHUNK_END:
        if (len)
            return answer_refuse(a, "a chunk longer than its size");
        a->state = STATE_CHUNK_SIZE;
        a->line_bytes = 0;
        return true;
    default: /* STATE_TRAILER */
        if (!len)
            a->state = STATE_WHOLE;
        return true;
    }
}

/* --- bodies --- */

static void body_piece(struct answer *a, const char *bytes, size_t len)
{
    if (!a->kind->wants_body)
        return;
    if (a->state == STATE_LENGTH && len == a->left && !(a->store && a->store->body.len)) {
        a->body = bytes; /* all of it in one piece */
        a->body_len = len < ANSWER_BODY_MAX ? len : ANSWER_BODY_MAX;
        return;
    }
    struct strbuf *body = &store(a)->body;
    size_t room = ANSWER_BODY_MAX - body->len;
    strbuf_add(body, bytes, len < room ? len : room);
    a->body = body->data;
    a->body_len = body->len;
}

static void body_advance(struct answer *a, uint64_t count)
{
    if (a->state == STATE_UNTIL_CLOSE)
        return;
    a->left -= count;
    if (!a->left)
        a->state = a->state == STATE_LENGTH ? STATE_WHOLE : STATE_CHUNK_END;
}

static size_t take_body(struct answer *a, const char *bytes, size_t len)
{
    if (a->state != STATE_UNTIL_CLOSE && len > a->left)
        len = (size_t)a->left;
    body_piece(a, bytes, len);
    body_advance(a, len);
    return len;
}

static bool in_body(const struct answer *a)
{
    return a->state == STATE_LENGTH || a->state == STATE_CHUNK || a->state == STATE_UNTIL_CLOSE;
}

enum answer_result answer_feed(struct answer *a, const char *bytes, size_t len, size_t *ret_used)
{
    const char *at = bytes, *end = bytes + len, *line;
    size_t line_len;

    while (at < end && a->state != STATE_WHOLE && !a->problem) {
        if (in_body(a)) {
            at += take_body(a, at, (size_t)(end - at));
            continue;
        }
        if (!take_line(a, &at, end, &line, &line_len))
            continue;
        (void)on_line(a, line, line_len);
        if (a->store)
            strbuf_clear(&a->store->line);
    }
    *ret_used = (size_t)(at - bytes);
    return a->problem ? ANSWER_BAD : a->state == STATE_WHOLE ? ANSWER_WHOLE : ANSWER_MORE;
}

enum answer_result answer_close(struct answer *a)
{
    a->keep = false;
    return a->state == STATE_UNTIL_CLOSE ? ANSWER_WHOLE : ANSWER_MORE;
}

uint64_t answer_skippable(const struct answer *a)
{
    return a->state == STATE_LENGTH && !a->kind->wants_body ? a->left : 0;
}

enum answer_result answer_skip(struct answer *a, uint64_t count)
{
    body_advance(a, count);
    return a->state == STATE_WHOLE ? ANSWER_WHOLE : ANSWER_MORE;
}

bool answer_promises_close(const struct answer *a)
{
    return a->said_close || (a->version == 0 && !a->said_keep);
}
