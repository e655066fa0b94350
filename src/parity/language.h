/* SPDX-License-Identifier: MIT */
/* The languages whose string constants are compared: what differs between them, as a table. */
#ifndef BENCHCTL_PARITY_LANGUAGE_H
#define BENCHCTL_PARITY_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>

enum language_id {
    LANG_JAVA,
    LANG_KOTLIN,
    LANG_SCALA,
    LANG_GROOVY,
    LANG_CSHARP,
    LANG_GO,
    LANG_SCRIPT,
    LANG_PYTHON
};

struct language {
    enum language_id id;
    const char *name;
    const char *extensions; /* ".java", separated by blanks */
    bool hash_comments;     /* # to the end of the line, instead of // and slash-star */
    bool nested_comments;
    bool newlines;                               /* a line's end may end a statement */
    bool leading_plus;                           /* ... but not before a '+' on the next line */
    bool leading_dot;                            /* ... and not before a '.' on the next line */
    bool single_quotes;                          /* 'x' is a string, not a character */
    bool triple_double, triple_single, backtick; /* further kinds of string */
    bool triple_raw;                             /* no escapes in """ */
    bool templates;                              /* $name and ${expr} in "..." and triple strings */
    bool nested_templates;                       /* templates in backtick strings: ${expr} */
    bool prefixes; /* letters or signs before a quote change its meaning: r"", @"", $"", s"" */
};

/* By the file's extension; NULL: not a language of ours. */
const struct language *language_of(const char *path);

#endif
