/* SPDX-License-Identifier: MIT */
/*
 * Source text to tokens, as far as finding string constants needs it: comments go, strings are found with
 * their ends but not decoded (text.h does that), everything else is names, numbers and single characters.
 * Never fails: what is not understood is a character by itself. Every position is a byte offset.
 */
#ifndef BENCHCTL_PARITY_LEX_H
#define BENCHCTL_PARITY_LEX_H

#include "benchctl/base/mem.h"
#include "language.h"

enum token_kind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING,
    TOKEN_CHARACTER,
    TOKEN_SIGN,
    TOKEN_NEWLINE,
    TOKEN_END
};

struct token {
    enum token_kind kind;
    size_t start, end; /* of a string: with prefix and quotes */
    int line;          /* from 1 */
    int column;        /* from 0: the indentation of a first token */
    /* of a string: */
    size_t body, body_end; /* without prefix and quotes */
    char quote;
    bool triple, raw, templates, broken; /* broken: it has no end */
    char prefix;                         /* lower case: r, b, f, s, @, $; 0: none */
    size_t dollars;                      /* of a C# raw string: how many braces make a hole */
};

struct tokens {
    VEC(struct token) list; /* ends with LEX_ENDS times TOKEN_END: looking ahead is safe */
    const char *text;
    size_t len;
    const struct language *language;
};

#define LEX_ENDS 4
#define LEX_MAX_TOKENS ((size_t)4000000)

/* The text must outlive the tokens. */
void lex(const struct language *language, const char *text, size_t len, struct tokens *ret);
void tokens_release(struct tokens *t);

/* A part of a text, for the holes of templates. */
void lex_part(const struct language *language, const char *text, size_t from, size_t to, struct tokens *ret);

static inline bool token_is(const struct tokens *t, size_t i, const char *word)
{
    const struct token *k = &t->list.items[i];
    size_t n = strlen(word);

    return (k->kind == TOKEN_NAME || k->kind == TOKEN_SIGN) && k->end - k->start == n &&
           memcmp(t->text + k->start, word, n) == 0;
}

/* Where the hole of a template that begins behind `from` ends, on its closing brace; `to` when it has no end.
 */
size_t lex_hole_end(const struct language *language, const char *text, size_t from, size_t to);

#endif
