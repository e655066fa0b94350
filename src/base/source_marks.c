/* SPDX-License-Identifier: MIT */
#include "tree_internal.h"

#include <ctype.h>
#include <strings.h>

/* Two private-use characters, U+10FFF0 and U+10FFF1; no document needs them. */
#define OPEN_MARK "\xf4\x8f\xbf\xb0"
#define CLOSE_MARK "\xf4\x8f\xbf\xb1"
#define MARK_PREFIX "\xf4\x8f\xbf"
#define MARK_LEN ((size_t)4)

/* Where the reference whose name begins at `p` is closed; NULL when this is none. */
static const char *closing_brace(const char *p, const char *end)
{
    const char *start = p;
    bool with_default = false;

    while (p < end && (isalnum((unsigned char)*p) || strchr("_.:-", *p))) {
        with_default |= p > start && p[-1] == ':' && *p == '-';
        p++;
    }
    while (with_default && p < end && !strchr("{}\r\n", *p))
        p++;
    return p > start && p < end && *p == '}' ? p : NULL;
}

/* Could the text hold the marks already, as they are or as an escape in quotes? */
static bool uses_marks(const struct source_text *s)
{
    const char *end = s->bytes + s->len;

    if (memmem(s->bytes, s->len, MARK_PREFIX, 3))
        return true;
    for (const char *p = s->bytes; (p = memmem(p, (size_t)(end - p), "\\U", 2)); p += 2) {
        if (end - p >= 7 && strncasecmp(p + 2, "0010f", 5) == 0)
            return true;
    }
    return false;
}

void source_text_mark_references(struct source_text *s)
{
    const char *from = s->bytes, *end = s->bytes + s->len, *p = from;
    struct strbuf out = STRBUF_INIT;

    if (!memmem(s->bytes, s->len, "${", 2) || uses_marks(s))
        return;
    while ((p = memmem(p, (size_t)(end - p), "${", 2))) {
        const char *close = closing_brace(p + 2, end);
        if (!close) {
            p += 2;
            continue;
        }
        strbuf_add(&out, from, (size_t)(p - from) + 1);
        strbuf_add(&out, OPEN_MARK, MARK_LEN);
        strbuf_add(&out, p + 2, (size_t)(close - p) - 2);
        strbuf_add(&out, CLOSE_MARK, MARK_LEN);
        from = p = close + 1;
    }
    strbuf_add(&out, from, (size_t)(end - from));
    free(s->owned);
    s->len = out.len;
    s->bytes = s->owned = strbuf_detach(&out);
    s->marked = true;
}

size_t source_text_unmark(char *text, size_t len)
{
    char *to = text;

    for (size_t i = 0; i < len;) {
        bool mark = len - i >= MARK_LEN && memcmp(text + i, MARK_PREFIX, 3) == 0 &&
                    (text[i + 3] == OPEN_MARK[3] || text[i + 3] == CLOSE_MARK[3]);
        if (mark) {
            *to++ = text[i + 3] == OPEN_MARK[3] ? '{' : '}';
            i += MARK_LEN;
        } else {
            *to++ = text[i++];
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}
