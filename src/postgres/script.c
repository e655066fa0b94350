/* SPDX-License-Identifier: MIT */
#include "script.h"

#include <string.h>
#include <strings.h>

#define WORDS 4 /* CREATE OR REPLACE FUNCTION */

/* What the scanner has seen of the present statement. */
struct scan {
    struct script *script;
    int parens, atomic;
    const char *words[WORDS];
    size_t word_len[WORDS];
    size_t word_count;
};

static int script_fail(const struct script *s, int line, const char *message, struct error *err)
{
    return error_set(err, ERROR_INVALID, "%s:%d: %s", s->name, line, message);
}

static bool starts_with(const struct script *s, const char *prefix, size_t n)
{
    return s->len >= n && memcmp(s->text, prefix, n) == 0;
}

int script_open(struct script *s, const char *name, const char *text, size_t len, struct error *err)
{
    *s = (struct script){.name = name, .text = text, .len = len, .line = 1};
    if (starts_with(s, "PGDMP", 5)) {
        (void)error_set(err, ERROR_INVALID, "%s is an archive of pg_dump, not SQL", name);
        return error_hint(err, "turn it into SQL: pg_restore -f seed.sql %s", name);
    }
    if (starts_with(s, "\x1f\x8b", 2) || starts_with(s, "\x28\xb5\x2f\xfd", 4))
        return error_set(err, ERROR_INVALID, "%s is compressed, not SQL", name);
    if (starts_with(s, "\xff\xfe", 2) || starts_with(s, "\xfe\xff", 2))
        return error_set(err, ERROR_INVALID, "%s is UTF-16, it must be UTF-8", name);
    const char *nul = len ? memchr(text, '\0', len) : NULL;
    if (nul) {
        for (const char *c = text; c < nul; c++)
            s->line += *c == '\n';
        return script_fail(s, s->line, "NUL byte in the text", err);
    }
    if (starts_with(s, "\xef\xbb\xbf", 3))
        s->at = 3;
    return 0;
}

static int peek(const struct script *s, size_t ahead)
{
    return s->at + ahead < s->len ? (unsigned char)s->text[s->at + ahead] : -1;
}

static void advance(struct script *s, size_t n)
{
    for (; n > 0 && s->at < s->len; n--)
        s->line += s->text[s->at++] == '\n';
}

static void skip_line(struct script *s)
{
    while (s->at < s->len && s->text[s->at] != '\n')
        s->at++;
}

static bool is_blank(int c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_word_start(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

static bool is_word(int c)
{
    return is_word_start(c) || (c >= '0' && c <= '9') || c == '$';
}

static int skip_comment(struct script *s, struct error *err)
{
    int line = s->line, depth = 0;

    do {
        if (peek(s, 0) == '/' && peek(s, 1) == '*') {
            depth++;
            advance(s, 2);
        } else if (peek(s, 0) == '*' && peek(s, 1) == '/') {
            depth--;
            advance(s, 2);
        } else if (peek(s, 0) < 0)
            return script_fail(s, line, "comment is not closed", err);
        else
            advance(s, 1);
    } while (depth > 0);
    return 0;
}

/* At the opening quote; a doubled one inside stands for itself. */
static int skip_quoted(struct script *s, char quote, bool backslashes, struct error *err)
{
    int line = s->line;

    advance(s, 1);
    for (; peek(s, 0) != quote || peek(s, 1) == quote; advance(s, 1)) {
        if (peek(s, 0) < 0)
            return script_fail(
                s, line, quote == '"' ? "quoted name is not closed" : "text in quotes is not closed", err);
        if (peek(s, 0) == quote || (backslashes && peek(s, 0) == '\\'))
            advance(s, 1);
    }
    advance(s, 1);
    return 0;
}

/* At a dollar: $tag$...$tag$, or only a parameter such as $1. */
static int skip_dollar(struct script *s, struct error *err)
{
    int line = s->line;
    size_t tag = 1;

    while (is_word(peek(s, tag)) && peek(s, tag) != '$')
        tag++;
    if (peek(s, tag) != '$' || (tag > 1 && !is_word_start(peek(s, 1)))) {
        advance(s, 1);
        return 0;
    }
    const char *opening = s->text + s->at;
    tag++;
    advance(s, tag);
    const char *closing = memmem(s->text + s->at, s->len - s->at, opening, tag);
    if (!closing)
        return script_fail(s, line, "dollar-quoted text is not closed", err);
    advance(s, (size_t)(closing - (s->text + s->at)) + tag);
    return 0;
}

static bool word_is(const struct scan *c, size_t i, const char *word)
{
    return i < c->word_count && c->word_len[i] == strlen(word) &&
           strncasecmp(c->words[i], word, c->word_len[i]) == 0;
}

static bool makes_function(const struct scan *c)
{
    size_t i = word_is(c, 1, "or") && word_is(c, 2, "replace") ? 3 : 1;

    return word_is(c, 0, "create") && (word_is(c, i, "function") || word_is(c, i, "procedure"));
}

/* BEGIN ATOMIC ... END and CASE ... END inside it, where semicolons do not end the statement. */
static void count_blocks(struct scan *c, const char *word, size_t len)
{
    if (c->parens || !makes_function(c))
        return;
    if (len == 5 && strncasecmp(word, "begin", 5) == 0)
        c->atomic++;
    else if (len == 4 && strncasecmp(word, "case", 4) == 0 && c->atomic)
        c->atomic++;
    else if (len == 3 && strncasecmp(word, "end", 3) == 0 && c->atomic)
        c->atomic--;
}

static int take_word(struct scan *c, struct error *err)
{
    struct script *s = c->script;
    const char *word = s->text + s->at;
    size_t len = 0;

    while (is_word(peek(s, len)))
        len++;
    if (c->word_count < WORDS && c->parens == 0) {
        c->words[c->word_count] = word;
        c->word_len[c->word_count++] = len;
    }
    count_blocks(c, word, len);
    advance(s, len);
    if (len == 1 && (*word == 'e' || *word == 'E') && peek(s, 0) == '\'')
        return skip_quoted(s, '\'', true, err);
    return 0;
}

static int refuse_command(const struct script *s, struct error *err)
{
    size_t len = 1;

    while (len < 20 && is_word(peek(s, len)))
        len++;
    if (peek(s, 1) == '.')
        return script_fail(s, s->line, "'\\.' without COPY ... FROM stdin before it", err);
    (void)error_set(err, ERROR_INVALID, "%s:%d: '%.*s' is a command of psql, not SQL", s->name, s->line,
                    (int)len, s->text + s->at);
    if (len == 1 + strlen("connect") && strncmp(s->text + s->at, "\\connect", len) == 0)
        return error_hint(err, "benchctl makes the database itself: dump without --create");
    return error_hint(err, "list the files that it would include, or write what it does in SQL");
}

/* Blanks, comments, stray semicolons and pg_dump's \restrict between statements. */
static int skip_between(struct script *s, struct error *err)
{
    for (;;) {
        if (is_blank(peek(s, 0)) || peek(s, 0) == ';')
            advance(s, 1);
        else if (peek(s, 0) == '-' && peek(s, 1) == '-')
            skip_line(s);
        else if (peek(s, 0) == '/' && peek(s, 1) == '*') {
            if (skip_comment(s, err) < 0)
                return -1;
        } else if ((s->len - s->at > 10 && strncmp(s->text + s->at, "\\restrict ", 10) == 0) ||
                   (s->len - s->at > 12 && strncmp(s->text + s->at, "\\unrestrict ", 12) == 0))
            skip_line(s);
        else
            return 0;
    }
}

static int take_token(struct scan *c, struct error *err)
{
    struct script *s = c->script;
    int at = peek(s, 0), next = peek(s, 1);

    if (at == '\'' || at == '"')
        return skip_quoted(s, (char)at, at == '\'' && s->escapes, err);
    if (at == '$')
        return skip_dollar(s, err);
    if (at == '-' && next == '-') {
        skip_line(s);
        return 0;
    }
    if (at == '/' && next == '*')
        return skip_comment(s, err);
    if (at == '\\')
        return refuse_command(s, err);
    if (is_word_start(at))
        return take_word(c, err);
    if (at >= '0' && at <= '9') { /* so that neither 1e'..' nor 2$ look like something else */
        while (is_word(peek(s, 0)))
            advance(s, 1);
        return 0;
    }
    c->parens += at == '(' ? 1 : at == ')' && c->parens > 0 ? -1 : 0;
    advance(s, 1);
    return 0;
}

int script_next(struct script *s, struct statement *ret, bool *ret_end, struct error *err)
{
    struct scan c = {.script = s};

    if (skip_between(s, err) < 0)
        return -1;
    size_t start = s->at;
    int line = s->line;
    while (s->at < s->len && !(s->text[s->at] == ';' && c.parens == 0 && c.atomic == 0))
        if (take_token(&c, err) < 0)
            return -1;
    *ret = (struct statement){.text = s->text + start, .len = s->at - start, .line = line};
    *ret_end = s->at == start;
    if (s->at < s->len)
        advance(s, 1); /* the semicolon */
    return 0;
}

int script_data(struct script *s, const char **ret, size_t *ret_len, int *ret_line, struct error *err)
{
    while (s->at < s->len && is_blank(s->text[s->at]) && s->text[s->at] != '\n')
        s->at++;
    if (peek(s, 0) == '-' && peek(s, 1) == '-')
        skip_line(s);
    if (s->at < s->len && s->text[s->at] != '\n')
        return script_fail(s, s->line, "text after COPY ... FROM stdin; its data starts on the next line",
                           err);
    advance(s, 1);
    const char *start = s->text + s->at, *end = s->text + s->len, *line = start;
    *ret = start;
    *ret_line = s->line;
    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *stop = newline ? newline : end;
        size_t len = (size_t)(stop - line);
        if (len > 0 && line[len - 1] == '\r')
            len--;
        if (len == 2 && line[0] == '\\' && line[1] == '.')
            break;
        line = newline ? newline + 1 : end;
    }
    *ret_len = (size_t)(line - start);
    advance(s, *ret_len);
    if (line < end)
        skip_line(s); /* the "\." */
    return 0;
}

int statement_line(const struct statement *s, int position)
{
    int line = s->line;
    size_t i = 0;

    for (int c = 1; c < position && i < s->len; c++) {
        line += s->text[i++] == '\n';
        while (i < s->len && ((unsigned char)s->text[i] & 0xc0) == 0x80)
            i++; /* the rest of a UTF-8 character */
    }
    return line;
}

void statement_snippet(const struct statement *s, char buf[SNIPPET_SIZE])
{
    size_t n = 0, i = 0;

    for (; i < s->len && n + 4 < SNIPPET_SIZE; i++) {
        if (!is_blank((unsigned char)s->text[i]))
            buf[n++] = s->text[i];
        else if (n > 0 && buf[n - 1] != ' ')
            buf[n++] = ' ';
    }
    while (n > 0 && i < s->len && ((unsigned char)s->text[i] & 0xc0) == 0x80 &&
           ((unsigned char)buf[n - 1] & 0x80))
        n--, i--; /* not half a character */
    memcpy(buf + n, i < s->len ? "..." : "", i < s->len ? 4 : 1);
    char *secret = strcasestr(buf, "password ");
    if (secret) /* CREATE ROLE ... PASSWORD '...' */
        secret[strlen("password")] = '\0';
}
