/* SPDX-License-Identifier: MIT */
/* The state of looking for declarations, shared with declare_python.c. */
#ifndef BENCHCTL_PARITY_DECLARE_H
#define BENCHCTL_PARITY_DECLARE_H

#include "constants.h"

enum level_kind { LEVEL_CODE, LEVEL_CLASS, LEVEL_OBJECT, LEVEL_INTERFACE, LEVEL_SPACE };

/* What a brace opened; [0] is the file. */
struct level {
    enum level_kind kind;
    int parens;       /* how many were open outside */
    const char *path; /* "Outer.Inner" */
};

struct scanner {
    struct declarations *set;
    const struct tokens *t;
    size_t source;
    struct level *levels;
    size_t depth, too_deep;
    int parens;
    enum level_kind pending; /* what the next brace opens */
    const char *pending_name;
    size_t statement;  /* where it begins */
    size_t next_name;  /* declarations come in order: no name before this token any more */
    size_t field_type; /* token; 0: none, or a string */
    bool field_wanted, field_is_text, field_is_other;
};

bool declare_word(const struct scanner *s, size_t i, const char *const *words); /* NULL-terminated */
char *declare_text(const struct scanner *s, size_t i);
bool declare_is_name(const struct scanner *s, size_t i);
bool declare_at_base(const struct scanner *s);
void declare_add(struct scanner *s, size_t name, size_t expression, bool is_text, bool is_other);
void declare_type(struct scanner *s, size_t type); /* of the last one added; a token, 0: none */

void declare_python(struct scanner *s);

#endif
