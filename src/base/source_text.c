/* SPDX-License-Identifier: MIT */
/* Bytes of a file → valid UTF-8 that libyaml cannot stumble over, with messages that name the character. */
#include "tree_internal.h"

struct cursor {
    const char *file;
    int line, column; /* from 1, of the next character */
    bool indent;      /* only blanks so far on this line */
    struct odd_indent odd;
};

static struct position here(const struct cursor *c)
{
    return (struct position){.file = c->file, .line = c->line, .column = c->column};
}

/* One character of UTF-8; 0 when it is not one (the NUL character is the caller's to refuse). */
static size_t decode_utf8(const unsigned char *p, size_t len, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] < 0x80             ? 1
               : (p[0] & 0xe0) == 0xc0 ? 2
               : (p[0] & 0xf0) == 0xe0 ? 3
               : (p[0] & 0xf8) == 0xf0 ? 4
                                       : 0;

    if (!n || n > len)
        return 0;
    uint32_t c = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *ret = c;
    return n;
}

static bool is_break(uint32_t c)
{
    return c == '\n' || c == '\r' || c == 0x85 || c == 0x2028 || c == 0x2029;
}

static bool is_allowed(uint32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c < 0x7f) || c == 0x85 ||
           (c >= 0xa0 && c < 0xfeff) || (c > 0xfeff && c < 0xfffe) || c >= 0x10000;
}

static void end_line(struct source_text *s, struct cursor *c)
{
    if (c->odd.line) {
        c->odd.blank |= c->indent;
        vec_push(&s->odd, c->odd);
    }
    c->odd = (struct odd_indent){0};
    c->line++;
    c->column = 1;
    c->indent = true;
}

static void look_at_indent(struct cursor *c, uint32_t ch)
{
    if (ch == '\t' || ch == 0xa0) {
        if (!c->odd.line)
            c->odd = (struct odd_indent){.line = c->line, .column = c->column, .tab = ch == '\t'};
    } else if (ch == '#' && c->odd.tab) {
        c->indent = false;
        c->odd.blank = true; /* a comment is as good as nothing */
    } else if (ch != ' ') {
        c->indent = false;
    }
}

static int check_text(struct source_text *s, const char *file, struct error *err)
{
    const unsigned char *p = (const unsigned char *)s->bytes;
    struct cursor c = {.file = file, .line = 1, .column = 1, .indent = true};

    for (size_t i = 0, n; i < s->len; i += n) {
        uint32_t ch;
        n = decode_utf8(p + i, s->len - i, &ch);
        if (!n) {
            position_error(err, here(&c), "byte 0x%02x is not valid UTF-8", p[i]);
            return error_hint(err, "save the file as UTF-8");
        }
        if (!ch)
            return position_error(err, here(&c), "a NUL character cannot be part of a text file");
        if (!is_allowed(ch))
            return position_error(err, here(&c), "control character U+%04X is not allowed", ch);
        if (is_break(ch)) {
            if (ch == '\r' && i + 1 < s->len && p[i + 1] == '\n')
                n = 2;
            end_line(s, &c);
            continue;
        }
        if (c.indent)
            look_at_indent(&c, ch);
        c.column++;
    }
    end_line(s, &c);
    return 0;
}

static void add_utf8(struct strbuf *out, uint32_t c)
{
    if (c < 0x80) {
        strbuf_addc(out, (char)c);
    } else if (c < 0x800) {
        strbuf_addc(out, (char)(0xc0 | c >> 6));
        strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        if (c < 0x10000) {
            strbuf_addc(out, (char)(0xe0 | c >> 12));
        } else {
            strbuf_addc(out, (char)(0xf0 | c >> 18));
            strbuf_addc(out, (char)(0x80 | ((c >> 12) & 0x3f)));
        }
        strbuf_addc(out, (char)(0x80 | ((c >> 6) & 0x3f)));
        strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
    }
}

static int convert_utf16(struct source_text *s, const char *file, bool big, struct error *err)
{
    const unsigned char *p = (const unsigned char *)s->bytes;
    struct strbuf out = STRBUF_INIT;
    size_t units = s->len / 2;
    uint32_t high = 0;
    bool broken = s->len % 2 != 0;

    for (size_t i = 0; i < units && !broken; i++) {
        uint32_t c =
            big ? (uint32_t)(p[2 * i] << 8 | p[2 * i + 1]) : (uint32_t)(p[2 * i + 1] << 8 | p[2 * i]);
        bool low = c >= 0xdc00 && c < 0xe000;
        broken = low != (high != 0);
        if (!low && c >= 0xd800 && c < 0xdc00) {
            high = c;
            continue;
        }
        add_utf8(&out, low ? 0x10000 + ((high & 0x3ff) << 10) + (c & 0x3ff) : c);
        high = 0;
    }
    s->len = out.len;
    s->bytes = s->owned = strbuf_detach(&out);
    if (broken || high)
        return error_set(err, ERROR_INVALID, "%s: not valid UTF-16", file);
    return 0;
}

int source_text_read(struct source_text *s, const char *bytes, size_t len, const char *file,
                     struct error *err)
{
    *s = (struct source_text){.bytes = bytes, .len = len};
    if (len > TREE_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "%s: larger than %zu MiB", file, TREE_MAX_BYTES >> 20);
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        s->bytes += 3;
        s->len -= 3;
    } else if (len >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0)) {
        s->bytes += 2;
        s->len -= 2;
        if (convert_utf16(s, file, bytes[0] == '\xfe', err) < 0)
            return -1;
    }
    return check_text(s, file, err);
}

void source_text_release(struct source_text *s)
{
    free(s->owned);
    vec_release(&s->odd);
    *s = (struct source_text){0};
}
