/* SPDX-License-Identifier: MIT */
#include "lex.h"

#include <ctype.h>

struct lexer {
    const struct language *l;
    const char *text;
    size_t at, end;
    int line;
    size_t line_start;
    struct tokens *out;
};

#define MAX_NESTING 100

static bool name_start(unsigned char c)
{
    return isalpha(c) || c == '_' || c == '$' || c >= 0x80;
}

static bool name_part(unsigned char c)
{
    return name_start(c) || isdigit(c);
}

static char peek(const struct lexer *x, size_t ahead)
{
    return x->at + ahead < x->end ? x->text[x->at + ahead] : '\0';
}

static bool here(const struct lexer *x, const char *what)
{
    size_t n = strlen(what);

    return x->end - x->at >= n && memcmp(x->text + x->at, what, n) == 0;
}

/* Past `count` bytes, counting lines. */
static void skip(struct lexer *x, size_t count)
{
    for (; count && x->at < x->end; count--, x->at++) {
        if (x->text[x->at] == '\n') {
            x->line++;
            x->line_start = x->at + 1;
        }
    }
}

static struct token *push(struct lexer *x, enum token_kind kind)
{
    vec_push(&x->out->list, (struct token){.kind = kind,
                                           .start = x->at,
                                           .end = x->at,
                                           .line = x->line,
                                           .column = (int)(x->at - x->line_start)});
    return &x->out->list.items[x->out->list.len - 1];
}

static void skip_line(struct lexer *x)
{
    while (x->at < x->end && x->text[x->at] != '\n')
        x->at++;
}

static void skip_block_comment(struct lexer *x)
{
    int depth = 0;

    while (x->at < x->end) {
        if (here(x, "/*") && (depth == 0 || x->l->nested_comments)) {
            depth++;
            skip(x, 2);
        } else if (here(x, "*/")) {
            skip(x, 2);
            if (--depth == 0)
                return;
        } else {
            skip(x, 1);
        }
    }
}

/* Blanks, comments and lines for the preprocessor. True when it moved. */
static bool skip_nothing(struct lexer *x)
{
    char c = peek(x, 0);

    if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
        x->at++;
        return true;
    }
    if (c == '\\' && (peek(x, 1) == '\n' || (peek(x, 1) == '\r' && peek(x, 2) == '\n')) &&
        x->l->id == LANG_PYTHON) {
        skip(x, peek(x, 1) == '\r' ? 3 : 2);
        return true;
    }
    bool line = x->l->hash_comments ? c == '#'
                                    : here(x, "//") || (c == '#' && (x->l->id == LANG_CSHARP || x->at == 0));
    if (line) {
        skip_line(x);
        return true;
    }
    if (!x->l->hash_comments && here(x, "/*")) {
        skip_block_comment(x);
        return true;
    }
    return false;
}

/* ---- strings ---- */

static size_t run_of(const struct lexer *x, size_t from, char c)
{
    size_t n = 0;

    while (from + n < x->end && x->text[from + n] == c)
        n++;
    return n;
}

/* To the end of a string with `quotes` quotes around it; x->at stands behind the opening ones. */
static void scan_body(struct lexer *x, struct token *t, size_t quotes)
{
    bool lines = quotes >= 3 || t->quote == '`' || t->prefix == '@';

    while (x->at < x->end) {
        char c = x->text[x->at];
        if (c == '\n' && !lines)
            break;
        if (c == '\\' && (!t->raw || x->l->id == LANG_PYTHON)) {
            skip(x, 2);
        } else if (c == t->quote && quotes == 1 && t->prefix == '@' && peek(x, 1) == c) {
            skip(x, 2);
        } else if (c == t->quote && run_of(x, x->at, c) >= quotes) {
            size_t run = run_of(x, x->at, c),
                   extra = quotes >= 3 && t->raw && x->l->id != LANG_CSHARP ? run - quotes : 0;
            t->body_end = x->at + extra;
            skip(x, extra + quotes);
            t->end = x->at;
            return;
        } else if (t->templates && c == '$' && peek(x, 1) == '{') {
            size_t close = lex_hole_end(x->l, x->text, x->at + 2, x->end);
            skip(x, close - x->at + 1);
        } else {
            skip(x, 1);
        }
    }
    t->broken = true;
    t->body_end = t->end = x->at;
}

static bool is_quote(const struct lexer *x, char c)
{
    return c == '"' || (c == '\'' && x->l->single_quotes) || (c == '`' && x->l->backtick);
}

/* A string with `prefix_len` bytes before its quotes. */
static void scan_string(struct lexer *x, size_t prefix_len)
{
    struct token t = {
        .kind = TOKEN_STRING, .start = x->at, .line = x->line, .column = (int)(x->at - x->line_start)};
    bool python = x->l->id == LANG_PYTHON;

    for (size_t i = 0; i < prefix_len; i++) {
        char c = (char)tolower((unsigned char)x->text[x->at + i]);
        t.raw = t.raw || c == 'r' || c == '@';
        t.templates = t.templates || c == '$' || c == 'f' || (x->l->id == LANG_SCALA && c == 's');
        t.dollars += c == '$';
        t.prefix = c == 'u' && python                                      ? t.prefix
                   : t.prefix == 'f' || t.prefix == 'b' || t.prefix == '@' ? t.prefix
                                                                           : c;
    }
    x->at += prefix_len;
    t.quote = peek(x, 0);
    size_t run = run_of(x, x->at, t.quote), quotes = 1;
    bool triple = t.quote == '"' ? x->l->triple_double : t.quote == '\'' && x->l->triple_single;
    if (triple && run >= 3 && t.prefix != '@') {
        quotes = x->l->id == LANG_CSHARP ? run : 3;
        t.triple = true;
        t.raw = t.raw || x->l->triple_raw;
    }
    if (x->l->templates && t.quote == '"')
        t.templates = true;
    if (t.quote == '`') {
        t.raw = x->l->id == LANG_GO;
        t.templates = x->l->nested_templates;
    }
    x->at += quotes;
    t.body = x->at;
    bool holes_are_ours = t.templates && !python && x->l->id != LANG_CSHARP; /* those may hold quotes */
    bool templates = t.templates;
    t.templates = holes_are_ours;
    scan_body(x, &t, quotes);
    t.templates = templates;
    vec_push(&x->out->list, t);
}

size_t lex_hole_end(const struct language *language, const char *text, size_t from, size_t to)
{
    static _Thread_local int nesting;
    struct tokens part = {.text = text, .language = language};
    struct lexer x = {.l = language, .text = text, .at = from, .end = to, .out = &part};
    int depth = 1;

    if (nesting >= MAX_NESTING)
        return to;
    nesting++;
    while (x.at < x.end && depth) {
        char c = x.text[x.at];
        depth += c == '{' ? 1 : c == '}' ? -1 : 0;
        if (!depth)
            break;
        if (is_quote(&x, c))
            scan_string(&x, 0);
        else if (!skip_nothing(&x))
            skip(&x, 1);
    }
    nesting--;
    tokens_release(&part);
    return x.at < to ? x.at : to;
}

/* How many bytes before a quote belong to the string that follows; 0 and *ret false when there is no string
 * here. */
static size_t string_prefix(const struct lexer *x, bool *ret)
{
    size_t n = 0;

    *ret = is_quote(x, peek(x, 0));
    if (*ret || !x->l->prefixes)
        return 0;
    if (x->l->id == LANG_CSHARP) {
        while (n < 8 && (peek(x, n) == '@' || peek(x, n) == '$'))
            n++;
    } else {
        while (n < 3 && isalpha((unsigned char)peek(x, n)))
            n++;
        for (size_t i = 0; i < n; i++)
            if (x->l->id == LANG_PYTHON && !strchr("rRbBuUfF", peek(x, i)))
                return 0;
    }
    *ret = n && is_quote(x, peek(x, n));
    return *ret ? n : 0;
}

/* How long the one character or escape behind a single quote is; 0: it is none. */
static size_t character_length(const struct lexer *x)
{
    unsigned char c = (unsigned char)peek(x, 1);

    if (c == '\\') {
        size_t n = 2;
        while (n < 12 && (isalnum((unsigned char)peek(x, 1 + n)) || peek(x, 1 + n) == 'u'))
            n++;
        return n;
    }
    if (!c || c == '\n' || c == '\'')
        return 0;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* 'x' or '\n' where that is a character. */
static bool scan_character(struct lexer *x)
{
    if (peek(x, 0) != '\'' || x->l->single_quotes)
        return false;
    size_t n = character_length(x);
    if (!n || peek(x, 1 + n) != '\'')
        return false;
    struct token *t = push(x, TOKEN_CHARACTER);
    t->quote = '\'';
    t->body = x->at + 1;
    t->body_end = x->at + 1 + n;
    t->end = x->at + n + 2;
    x->at = t->end;
    return true;
}

/* ---- the rest ---- */

/* In JavaScript: does a '/' here begin a regular expression? It does where no value stands before it. */
static bool regex_here(const struct lexer *x)
{
    static const char *const words[] = {"return", "typeof", "case",   "in",    "of",   "do",
                                        "else",   "void",   "delete", "await", "yield"};

    if (x->l->id != LANG_SCRIPT || peek(x, 0) != '/')
        return false;
    size_t i = x->out->list.len;
    while (i && x->out->list.items[i - 1].kind == TOKEN_NEWLINE)
        i--;
    if (!i)
        return true;
    const struct token *before = &x->out->list.items[i - 1];
    if (before->kind == TOKEN_SIGN)
        return !strchr(")]}", x->text[before->start]);
    for (size_t w = 0; w < ARRAY_LEN(words) && before->kind == TOKEN_NAME; w++)
        if (token_is(x->out, i - 1, words[w]))
            return true;
    return false;
}

static void skip_regex(struct lexer *x)
{
    bool class = false;

    for (x->at++; x->at < x->end && x->text[x->at] != '\n'; x->at++) {
        char c = x->text[x->at];
        if (c == '\\')
            x->at++;
        else if (c == '[')
            class = true;
        else if (c == ']')
            class = false;
        else if (c == '/' && !class) {
            x->at++;
            break;
        }
    }
    if (x->at > x->end)
        x->at = x->end;
}

static void scan_word(struct lexer *x, enum token_kind kind)
{
    struct token *t = push(x, kind);

    while (x->at < x->end &&
           (name_part((unsigned char)x->text[x->at]) ||
            (kind == TOKEN_NUMBER && x->text[x->at] == '.' && isdigit((unsigned char)peek(x, 1)))))
        x->at++;
    t->end = x->at;
}

static void scan_one(struct lexer *x)
{
    bool string;
    char c = peek(x, 0);
    size_t prefix = string_prefix(x, &string);

    if (string) {
        scan_string(x, prefix);
    } else if (c == '\n') {
        if (x->l->newlines)
            push(x, TOKEN_NEWLINE)->end = x->at + 1;
        skip(x, 1);
    } else if (scan_character(x)) {
        return;
    } else if (regex_here(x)) {
        push(x, TOKEN_NUMBER)->end = x->at + 1; /* a value of some kind */
        skip_regex(x);
    } else if (isdigit((unsigned char)c)) {
        scan_word(x, TOKEN_NUMBER);
    } else if (name_start((unsigned char)c)) {
        scan_word(x, TOKEN_NAME);
    } else {
        push(x, TOKEN_SIGN)->end = x->at + 1;
        skip(x, 1);
    }
}

void lex_part(const struct language *language, const char *text, size_t from, size_t to, struct tokens *ret)
{
    *ret = (struct tokens){.text = text, .len = to, .language = language};
    struct lexer x = {
        .l = language, .text = text, .at = from, .end = to, .line = 1, .line_start = from, .out = ret};

    while (x.at < x.end && ret->list.len < LEX_MAX_TOKENS)
        if (!skip_nothing(&x))
            scan_one(&x);
    x.at = to;
    for (int i = 0; i < LEX_ENDS; i++)
        push(&x, TOKEN_END);
}

void lex(const struct language *language, const char *text, size_t len, struct tokens *ret)
{
    size_t from = len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    lex_part(language, text, from, len, ret);
}

void tokens_release(struct tokens *t)
{
    vec_release(&t->list);
}
