/* SPDX-License-Identifier: MIT */
#include "benchctl/base/plain_text.h"

#include <string.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/units.h"

/* The bytes of the control character at `p`: C0 and DEL have one, C1 in UTF-8 two; 0 when it is none. */
static size_t control_len(const char *p)
{
    unsigned char c = (unsigned char)p[0], next = (unsigned char)p[1];

    if (c < 0x20 || c == 0x7f)
        return 1;
    return c == 0xc2 && next >= 0x80 && next <= 0x9f ? 2 : 0;
}

void plain_add(struct strbuf *out, const char *text, const char *kept)
{
    while (*text) {
        const char *c = text[0] == '\r' && text[1] == '\n' ? text + 1 : text; /* a line's end is one thing */
        size_t n = strchr(kept, *c) ? 0 : control_len(text);
        strbuf_addc(out, n ? '?' : *text);
        text += n ? n : 1;
    }
}

static bool looks_like_formula(const char *text)
{
    double ignored;

    return text[0] && strchr("=+-@\t\r", text[0]) &&
           number_scan(text, strlen(text), &ignored) != strlen(text);
}

void csv_add(struct strbuf *out, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    if (looks_like_formula(text))
        strbuf_addc(&plain, '\'');
    plain_add(&plain, text, "\t\n");
    const char *p = strbuf_text(&plain);
    if (!p[strcspn(p, ",\"\n")]) {
        strbuf_adds(out, p);
        return;
    }
    strbuf_addc(out, '"');
    for (; *p; p++) {
        if (*p == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *p);
    }
    strbuf_addc(out, '"');
}
