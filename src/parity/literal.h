/* SPDX-License-Identifier: MIT */
/* From the spelling of a string to its value: escapes, indentation of text blocks, holes of templates. */
#ifndef BENCHCTL_PARITY_LITERAL_H
#define BENCHCTL_PARITY_LITERAL_H

#include "benchctl/base/strbuf.h"
#include "lex.h"

#define LITERAL_MAX_BYTES ((size_t)1 << 20) /* of one value */

/* Asked for what a hole stands for: appends the value of the source text [from, to), or says false. */
struct hole_filler {
    bool (*fill)(const char *text, size_t from, size_t to, struct strbuf *out, void *data);
    void *data;
};

/* The value of a string token, appended. NULL, or static text that says why it has none. */
const char *literal_value(const struct tokens *t, const struct token *k, const struct hole_filler *holes,
                          struct strbuf *out);

/* The code point of a character token; -1 when it is not one. */
long literal_character(const struct tokens *t, const struct token *k);

/* ---- what methods do to a value; each replaces the text ---- */
void indent_strip(struct strbuf *text); /* Java text blocks: common indentation and trailing blanks go */
void indent_trim(struct strbuf *text);  /* Kotlin trimIndent() */
void indent_margin(struct strbuf *text, const char *margin,
                   bool drop_ends);              /* Kotlin trimMargin(), Scala and Groovy stripMargin() */
void indent_dedent(struct strbuf *text);         /* Python textwrap.dedent() */
bool indent_is_mixed(const struct strbuf *text); /* not all lines begin with the same kind of blank */
void text_trim(struct strbuf *text);

#endif
