/* SPDX-License-Identifier: MIT */
#include "benchctl/base/strbuf.h"

#include <stdio.h>
#include "benchctl/base/mem.h"

/* Room for `extra` more bytes and the NUL; false (and overflow) past the declared maximum. */
static bool reserve(struct strbuf *b, size_t extra)
{
    size_t max = b->max ? b->max : STRBUF_MAX_DEFAULT;

    if (b->overflow || extra > max || b->len > max - extra) {
        b->overflow = true;
        return false;
    }
    size_t needed = b->len + extra + 1;
    if (needed > b->cap) {
        size_t cap = b->cap ? b->cap : 64;
        while (cap < needed)
            cap *= 2;
        b->data = xrealloc(b->data, cap);
        b->cap = cap;
    }
    return true;
}

void strbuf_release(struct strbuf *b)
{
    size_t max = b->max;

    free(b->data);
    *b = (struct strbuf){.max = max};
}

void strbuf_clear(struct strbuf *b)
{
    b->len = 0;
    b->overflow = false;
    if (b->data)
        b->data[0] = '\0';
}

void strbuf_add(struct strbuf *b, const void *bytes, size_t len)
{
    if (!reserve(b, len))
        return;
    if (len)
        memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

void strbuf_adds(struct strbuf *b, const char *text)
{
    strbuf_add(b, text, strlen(text));
}

void strbuf_addc(struct strbuf *b, char c)
{
    strbuf_add(b, &c, 1);
}

void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args)
{
    va_list again;

    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0 || !reserve(b, (size_t)n))
        return;
    (void)vsnprintf(b->data + b->len, (size_t)n + 1, fmt, args);
    b->len += (size_t)n;
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(b, fmt, args);
    va_end(args);
}

void strbuf_trim_end(struct strbuf *b)
{
    while (b->len && strchr(" \t\r\n", b->data[b->len - 1]) && b->data[b->len - 1])
        b->data[--b->len] = '\0';
}

const char *strbuf_text(const struct strbuf *b)
{
    return b->data ? b->data : "";
}

char *strbuf_detach(struct strbuf *b)
{
    char *text = b->data ? b->data : xstrdup("");

    b->data = NULL;
    strbuf_release(b);
    return text;
}

void strbuf_consume(struct strbuf *b, size_t count)
{
    if (!count)
        return;
    memmove(b->data, b->data + count, b->len - count + 1);
    b->len -= count;
}

bool text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);

    return n >= m && memcmp(text + n - m, suffix, m) == 0;
}

bool text_equal(const char *a, const char *b)
{
    if (!a || !b)
        return a == b;
    return strcmp(a, b) == 0;
}
