/* SPDX-License-Identifier: MIT */
/* The declarations of several sources, and folding them to values (inside the module; parity.h has the
 * outside). */
#ifndef BENCHCTL_PARITY_CONSTANTS_H
#define BENCHCTL_PARITY_CONSTANTS_H

#include "benchctl/parity.h"
#include "literal.h"

enum value_kind {
    VALUE_NONE,
    VALUE_TEXT,
    VALUE_INTEGER,
    VALUE_CHARACTER,
    VALUE_WORD /* true, 1.5: joins as written */
};

struct value {
    enum value_kind kind;
    struct strbuf text; /* TEXT, WORD */
    int64_t number;     /* INTEGER, CHARACTER */
};
void value_release(struct value *v);

enum declaration_state { DECLARATION_NEW, DECLARATION_FOLDING, DECLARATION_DONE };

/* NAME = EXPRESSION somewhere at a level where constants live. */
struct declaration {
    const char *name, *type_path; /* enclosing types, "Outer.Inner"; "" at the top */
    const char *declared_as;      /* last word of the type, or NULL */
    size_t source, first_token;   /* of the expression */
    size_t name_token;
    int line;
    bool is_text;   /* declared as a string */
    bool is_other;  /* declared as something else: only a helper in other constants */
    bool is_loose;  /* found by the sweep only: never has a value, and nothing may refer to it */
    bool is_hidden; /* loose, and not asked for */
    bool changes;   /* loose, and gives a constant of the same name in the same source another value */
    enum declaration_state state;
    struct value value;
    const char *problem; /* NULL, or why it has no value; static or in the arena */
};

struct declarations {
    VEC(struct declaration) list;
    struct tokens *tokens; /* per source */
    const struct parity_source *sources;
    size_t source_count;
    size_t *by_name; /* indexes sorted by name, of those that are not loose */
    size_t named;    /* how many */
    size_t bytes;    /* of all values, for the limit */
    int depth;       /* of folding one inside the other */
    struct arena *arena;
};

/* declare.c: finds the declarations of source `index` in its tokens. */
void declare(struct declarations *d, size_t index);

/* fold.c: the value of one declaration, folding what it refers to. */
void fold_declaration(struct declarations *d, struct declaration *one);

/* Where the expression that begins at token `from` ends: on its ',', ';', line end or closing bracket. */
size_t expression_end(const struct tokens *t, size_t from);

#endif
