/* SPDX-License-Identifier: MIT */
/* The state of folding one expression, shared by fold.c, fold_name.c and fold_method.c. */
#ifndef BENCHCTL_PARITY_FOLD_H
#define BENCHCTL_PARITY_FOLD_H

#include "constants.h"

struct folder {
    struct declarations *set;
    const struct declaration *context; /* the constant that is folded */
    const struct tokens *t;
    size_t at;
    int parens, depth;
    const char *problem; /* the first; folding goes on only as far as it must */
};

void fold_fail(struct folder *f, const char *problem);
const struct token *fold_current(const struct folder *f);
bool fold_is(const struct folder *f, const char *word);
size_t fold_past_newlines(const struct folder *f, size_t at);
void fold_settle(struct folder *f); /* steps over line ends where the expression goes on behind them */

void fold_expression(struct folder *f, struct value *ret);
void value_text(const struct value *v, struct strbuf *out);

/* NULL when no constant has the name, or several (then with a problem). */
struct declaration *fold_resolve(struct folder *f, const char *name, const char *owner);
void fold_name_value(struct folder *f, const char *name, const char *owner, struct value *ret);
char *fold_word(const struct folder *f, size_t at);

/* The calls behind a value: .trimIndent(), .replace(a, b). */
void fold_methods(struct folder *f, struct value *ret);

#endif
