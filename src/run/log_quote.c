/* SPDX-License-Identifier: MIT */
/* What a container logged last, as part of a sentence. */
#include "run_internal.h"

#define QUOTED_LINES 3
#define QUOTED_LINE_MAX 200 /* bytes of each */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Blanks that align it for a terminal are one here. */
static void quote_line(const char *line, size_t len, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < len; i++)
        if (!is_blank(line[i]))
            strbuf_addc(&text, line[i]);
        else if (text.len && !is_blank(line[i - 1]))
            strbuf_addc(&text, ' ');
    strbuf_trim_end(&text);
    size_t cut = text.len > QUOTED_LINE_MAX ? QUOTED_LINE_MAX : text.len;
    while (cut < text.len && cut && ((unsigned char)strbuf_text(&text)[cut] & 0xc0) == 0x80)
        cut--; /* not inside a character */
    strbuf_add(out, strbuf_text(&text), cut);
    if (cut < text.len)
        strbuf_adds(out, "…");
}

/* Those that are not empty; a reason, of which they become a part, is one sentence. */
const char *log_quote(const char *tail, struct arena *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    struct {
        const char *text;
        size_t len;
    } lines[QUOTED_LINES];
    size_t count = 0;

    for (const char *end = tail + strlen(tail); end > tail && count < QUOTED_LINES;) {
        const char *from = end;
        while (from > tail && from[-1] != '\n')
            from--;
        size_t len = (size_t)(end - from), i = 0;
        while (i < len && is_blank(from[i]))
            i++;
        if (i < len) {
            lines[count].text = from;
            lines[count++].len = len;
        }
        end = from > tail ? from - 1 : tail;
    }
    while (count--) {
        quote_line(lines[count].text, lines[count].len, &out);
        strbuf_adds(&out, count ? " / " : "");
    }
    return arena_strdup(a, strbuf_text(&out));
}
