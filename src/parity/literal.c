/* SPDX-License-Identifier: MIT */
#include "literal.h"

#include <ctype.h>

struct decoder {
    const struct language *l;
    const struct token *k;
    const char *p, *end, *text;
    const struct hole_filler *holes;
    struct strbuf *out;
    const char *problem;
};

static void add_code_point(struct strbuf *out, unsigned long c)
{
    if (c < 0x80) {
        strbuf_addc(out, (char)c);
    } else if (c < 0x800) {
        strbuf_addc(out, (char)(0xc0 | c >> 6));
        strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        strbuf_addc(out, (char)(0xe0 | c >> 12));
        strbuf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
    } else {
        strbuf_addc(out, (char)(0xf0 | (c >> 18 & 7)));
        strbuf_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
        strbuf_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
        strbuf_addc(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* Up to `most` hexadecimal digits at the cursor, at least `least`. */
static long hex(struct decoder *d, int least, int most)
{
    long value = 0;
    int n = 0;

    for (; n < most && d->p < d->end && isxdigit((unsigned char)*d->p); n++, d->p++)
        value = value * 16 + (isdigit((unsigned char)*d->p) ? *d->p - '0' : (*d->p | 0x20) - 'a' + 10);
    return n < least ? -1 : value;
}

/* What follows \u: digits, or digits in braces; a pair of surrogates is one character. */
static void unicode(struct decoder *d)
{
    while (d->l->id == LANG_JAVA && d->p < d->end && *d->p == 'u')
        d->p++;
    bool braces = d->l->id == LANG_SCRIPT && d->p < d->end && *d->p == '{';
    d->p += braces;
    long c = braces ? hex(d, 1, 6) : hex(d, 4, 4);
    if (braces && d->p < d->end && *d->p == '}')
        d->p++;
    if (c >= 0xd800 && c < 0xdc00 && d->end - d->p >= 6 && d->p[0] == '\\' && d->p[1] == 'u') {
        d->p += 2;
        long low = hex(d, 4, 4);
        c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : -1;
    }
    if (d->l->id == LANG_JAVA && c >= 0 && c < 0x80)
        d->problem = "its unicode escapes may stand for code";
    else if (c < 0 || c > 0x10ffff)
        d->problem = "it has a bad unicode escape";
    else
        add_code_point(d->out, (unsigned long)c);
}

static void octal(struct decoder *d)
{
    unsigned value = 0;

    for (int n = 0;
         n < 3 && d->p < d->end && *d->p >= '0' && *d->p <= '7' && value * 8 + (unsigned)(*d->p - '0') < 256;
         n++)
        value = value * 8 + (unsigned)(*d->p++ - '0');
    add_code_point(d->out, value);
}

/* \xHH, \x{...}-less; \UHHHHHHHH of Go, C# and Python. */
static void by_number(struct decoder *d, char kind)
{
    long c = kind == 'x' ? (d->l->id == LANG_CSHARP ? hex(d, 1, 4) : hex(d, 2, 2)) : hex(d, 8, 8);

    if (c < 0 || c > 0x10ffff)
        d->problem = "it has a bad escape";
    else if (kind == 'x' && d->l->id == LANG_GO)
        strbuf_addc(d->out, (char)c);
    else
        add_code_point(d->out, (unsigned long)c);
}

/* What stands behind a backslash. */
static void escape(struct decoder *d)
{
    static const char from[] = "ntrbfav", to[] = "\n\t\r\b\f\a\v";
    char c = *d->p++;
    const char *simple = strchr(from, c);

    if (c == 'u') {
        unicode(d);
    } else if ((c == 'x' && d->l->id != LANG_JAVA && d->l->id != LANG_KOTLIN) || c == 'U') {
        by_number(d, c);
    } else if (c >= '0' && c <= '7' && d->l->id != LANG_KOTLIN) {
        d->p--;
        octal(d);
    } else if (c == '\r' || c == '\n') { /* the line goes on */
        if (c == '\r' && d->p < d->end && *d->p == '\n')
            d->p++;
    } else if (c == 's' && d->l->id == LANG_JAVA) {
        strbuf_addc(d->out, ' ');
    } else if (c && simple) {
        strbuf_addc(d->out, to[simple - from]);
    } else if (d->l->id == LANG_PYTHON && c != '\\' && c != '\'' && c != '"') {
        if (c == 'N')
            d->problem = "it has a named escape";
        strbuf_addc(d->out, '\\');
        strbuf_addc(d->out, c);
    } else {
        strbuf_addc(d->out, c);
    }
}

static bool name_char(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' || (!first && isdigit((unsigned char)c));
}

/* The hole [from, to) of the source text. */
static void fill(struct decoder *d, const char *from, const char *to)
{
    if (!d->holes ||
        !d->holes->fill(d->text, (size_t)(from - d->text), (size_t)(to - d->text), d->out, d->holes->data))
        d->problem = "it holds a value that is not constant";
}

/* "$name" or "${expr}" at the cursor; false when it is a plain '$'. */
static bool dollar_hole(struct decoder *d)
{
    const char *name = d->p + 1;

    if (name < d->end && *name == '{') {
        size_t close = lex_hole_end(d->l, d->text, (size_t)(name + 1 - d->text), (size_t)(d->end - d->text));
        fill(d, name + 1, d->text + close);
        d->p = d->text + close + (d->text + close < d->end);
        return true;
    }
    const char *end = name;
    while (d->l->id != LANG_SCRIPT && end < d->end && name_char(*end, end == name))
        end++;
    if (end == name)
        return false;
    fill(d, name, end);
    d->p = end;
    return true;
}

/* "{expr}" of Python and C#, doubled braces are braces. False when it is a plain character. */
static bool brace_hole(struct decoder *d)
{
    char c = *d->p;

    if (d->end - d->p > 1 && d->p[1] == c) {
        strbuf_addc(d->out, c);
        d->p += 2;
        return true;
    }
    if (c == '}')
        return false;
    const char *close = memchr(d->p, '}', (size_t)(d->end - d->p));
    if (!close) {
        d->problem = "it holds a value that is not constant";
        return false;
    }
    fill(d, d->p + 1, close);
    d->p = close + 1;
    return true;
}

static bool hole(struct decoder *d)
{
    if (!d->k->templates)
        return false;
    if (d->l->id == LANG_PYTHON || d->l->id == LANG_CSHARP) {
        if (d->k->dollars > 1) {
            d->problem = "it holds a value that is not constant";
            return false;
        }
        return (*d->p == '{' || *d->p == '}') && brace_hole(d);
    }
    if (d->l->id == LANG_SCALA && d->end - d->p > 1 && d->p[0] == '$' && d->p[1] == '$') {
        strbuf_addc(d->out, '$');
        d->p += 2;
        return true;
    }
    return *d->p == '$' && dollar_hole(d);
}

static void decode(struct decoder *d)
{
    bool verbatim = d->k->prefix == '@' || (d->l->id == LANG_CSHARP && d->k->raw && !d->k->triple);

    while (d->p < d->end && !d->problem) {
        if (hole(d) || d->problem)
            continue;
        char c = *d->p++;
        if (c == '\\' && !d->k->raw && d->p < d->end)
            escape(d);
        else if (c == '"' && verbatim && d->p < d->end && *d->p == '"')
            strbuf_addc(d->out, *d->p++);
        else if (c == '\r' && d->l->id == LANG_GO && d->k->raw)
            continue;
        else if (c == '\r' && d->p < d->end && *d->p == '\n' && (d->k->triple || d->k->quote == '`'))
            continue; /* a line's end is one character, whatever the file has */
        else
            strbuf_addc(d->out, c);
    }
}

/* Java strips the indentation of the spelling first, then decodes escapes. */
static const char *java_text_block(const struct tokens *t, const struct token *k, struct strbuf *out)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf body = STRBUF_INIT;
    const char *p = t->text + k->body, *end = t->text + k->body_end;

    while (p < end && (*p == ' ' || *p == '\t' || *p == '\f' || *p == '\r'))
        p++;
    if (p == end || *p++ != '\n')
        return "its text block does not begin on a line of its own";
    for (; p < end; p++)
        if (*p != '\r')
            strbuf_addc(&body, *p);
    indent_strip(&body);
    struct token plain = *k;
    struct decoder d = {.l = t->language,
                        .k = &plain,
                        .p = strbuf_text(&body),
                        .end = strbuf_text(&body) + body.len,
                        .text = strbuf_text(&body),
                        .out = out};
    decode(&d);
    return d.problem;
}

/* C# takes the closing quotes' indentation off each line, and the first and last line's end. */
static const char *csharp_raw(const struct token *k, struct strbuf *text)
{
    const char *last = text->len ? memrchr(text->data, '\n', text->len) : NULL;

    if (!last)
        return NULL; /* on one line */
    size_t indentation = text->len - (size_t)(last + 1 - text->data);
    if (text->data[0] != '\n' || strspn(last + 1, " \t") != indentation)
        return "its raw string does not begin and end on lines of their own";
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;
    const char *stop = last;
    for (const char *p = text->data + 1; p <= stop && last != text->data;) {
        size_t n = strcspn(p, "\n"), lead = strspn(p, " \t");
        size_t drop = lead < indentation ? lead : indentation;
        if (p != text->data + 1)
            strbuf_addc(&out, '\n');
        strbuf_add(&out, p + (drop < n ? drop : n), n - (drop < n ? drop : n));
        p += n + 1;
    }
    strbuf_clear(text);
    strbuf_add(text, strbuf_text(&out), out.len);
    (void)k;
    return NULL;
}

const char *literal_value(const struct tokens *t, const struct token *k, const struct hole_filler *holes,
                          struct strbuf *out)
{
    if (k->broken)
        return "it has no end";
    if (t->language->id == LANG_PYTHON && k->prefix == 'b')
        return "it is made of bytes";
    if (t->language->id == LANG_JAVA && k->triple)
        return java_text_block(t, k, out);
    if (t->language->id == LANG_SCALA && k->prefix && k->prefix != 's')
        return "it is made by an interpolator";
    struct decoder d = {.l = t->language,
                        .k = k,
                        .p = t->text + k->body,
                        .end = t->text + k->body_end,
                        .text = t->text,
                        .holes = holes,
                        .out = out};
    CLEANUP_VALUE(strbuf_release) struct strbuf own = STRBUF_INIT;
    bool raw_block = t->language->id == LANG_CSHARP && k->triple;
    if (raw_block)
        d.out = &own;
    decode(&d);
    if (raw_block && !d.problem) {
        d.problem = csharp_raw(k, &own);
        strbuf_add(out, strbuf_text(&own), own.len);
    }
    return d.problem;
}

long literal_character(const struct tokens *t, const struct token *k)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct decoder d = {.l = t->language,
                        .k = k,
                        .p = t->text + k->body,
                        .end = t->text + k->body_end,
                        .text = t->text,
                        .out = &text};

    decode(&d);
    const unsigned char *p = (const unsigned char *)strbuf_text(&text);
    if (d.problem || !text.len)
        return -1;
    if (p[0] < 0x80)
        return text.len == 1 ? p[0] : -1;
    if (text.len == 2 && (p[0] & 0xe0) == 0xc0)
        return (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
    if (text.len == 3 && (p[0] & 0xf0) == 0xe0)
        return (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
    return -1;
}
