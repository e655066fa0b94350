/* SPDX-License-Identifier: MIT */
/*
 * One table describes a language; reading, checking, "did you mean", reference pages and JSON Schema come
 * from it. Used for the matrix file and for adapter files.
 *
 * A `struct schema` names a C struct by its size and its fields by offset. schema_read() fills that struct
 * from a node; what is absent gets the field's default, or stays zero (NAN for numbers and -2 (SCHEMA_ABSENT)
 * for sizes, durations and integers without a default, so that absent and zero differ).
 */
#ifndef BENCHCTL_BASE_SCHEMA_H
#define BENCHCTL_BASE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/tree.h"

#define SCHEMA_ABSENT INT64_C(-2)

enum schema_type {
    SCHEMA_TEXT,     /* const char *; any scalar as written */
    SCHEMA_INT,      /* int64_t; min..max */
    SCHEMA_NUMBER,   /* double */
    SCHEMA_BOOL,     /* bool; exactly true or false */
    SCHEMA_SIZE,     /* int64_t bytes, SIZE_UNLIMITED allowed when the field says so by min = -1 */
    SCHEMA_DURATION, /* int64_t ns */
    SCHEMA_CHOICE,   /* int: index into choices */
    SCHEMA_STRUCT, /* struct in place, `of`; a pointer-sized presence flag is not kept, see SCHEMA_OPTIONAL */
    SCHEMA_OPTIONAL, /* const T *: NULL when absent, `of` */
    SCHEMA_LIST,     /* struct schema_list of T, `of` */
    SCHEMA_NAMED, /* struct schema_list of T, `of`: a map NAME: T; T's first member is `const char *name` */
    SCHEMA_TEXTS, /* struct text_list; a single scalar is a list of one */
    SCHEMA_TEXT_MAP, /* struct text_map: NAME: scalar, in order */
    SCHEMA_NODE,     /* const struct node *: left as it is, read by its owner */
    SCHEMA_REST,     /* const struct node *: a NODE_MAP of the keys that no field names, or NULL; `key` is for
                        docs */
};

struct text_list {
    const char **items;
    size_t len;
};

struct text_pair {
    const char *key, *value;
    struct position at;
};

struct text_map {
    struct text_pair *items;
    size_t len;
};

/* Items of SCHEMA_LIST and SCHEMA_NAMED: cast `items` to the struct of the field's schema. */
struct schema_list {
    void *items;
    size_t len;
};

struct schema;

struct schema_field {
    const char *key;
    size_t offset;
    const struct schema *of;    /* STRUCT, OPTIONAL, LIST, NAMED */
    const char *const *choices; /* CHOICE: NULL-terminated */
    int64_t min, max;           /* INT, SIZE, DURATION; both 0: no bound beyond the type's */
    const char *fallback;       /* the default as text, or NULL */
    const char *help;           /* one sentence, for the reference page and editors */
    const char *shape; /* NODE, REST: what its owner accepts, a JSON Schema as text; NULL: anything */
    enum schema_type type;
    bool required;
    bool descriptive; /* does not affect a measurement: left out of digests */
    bool secret;      /* never written out */
    bool path;        /* TEXT, TEXTS: made absolute while reading (schema_options.dir) */
    bool one_is_text; /* TEXTS: written as a text when there is one: it was a TEXT once, and digests stay */
};

/* A row of a table: FIELD("cpus", NUMBER, container_settings, cpus, .help = "..."). */
#define FIELD(KEY, TYPE, STRUCT, MEMBER, ...)                                                                \
    {                                                                                                        \
        .key = KEY, .type = SCHEMA_##TYPE, .offset = offsetof(struct STRUCT, MEMBER), __VA_ARGS__            \
    }

/* A key as other programs call it, for "did you mean": too far from ours to be near it as a text. */
struct schema_alias {
    const char *word, *key;
};

struct schema {
    const char *name; /* for messages: "the matrix", "app" */
    const char *help;
    size_t size;
    const struct schema_field *fields;
    size_t field_count;
    bool free_keys; /* keys starting with "x-" are allowed and skipped */
    /* Optional: a whole node that is a scalar may stand for the struct (for instance `network: bridge`). */
    int (*from_scalar)(const struct node *n, struct arena *a, void *ret, struct error *err);
    /* Optional: rules between fields, run after reading. */
    int (*check)(const struct node *n, const void *value, struct error *err);
    size_t
        position_offset; /* where the struct keeps `struct position at`; 0 or SCHEMA_NO_POSITION: nowhere */
    /* Optional: fills members that follow from others; before `check`, and with n NULL when the struct is
     * absent. */
    int (*complete)(const struct node *n, struct arena *a, void *value, struct error *err);
    const struct schema *also; /* its keys are allowed here too: skipped by the reader, described with ours */
    const char *scalar_help;   /* what from_scalar takes, for the reference page */
    const struct schema_alias *aliases; /* NULL, or they end with a {0} */
};

#define SCHEMA_NO_POSITION ((size_t)-1)

/* At the first problem -1. Quotes make no difference except for booleans: `"true"` is text. */
int schema_read(const struct schema *s, const struct node *n, struct arena *a, void *ret,
                struct error *err) MUST_CHECK;

struct schema_options {
    const char *dir; /* fields that are paths become absolute below it; NULL: as written */
    /* Gets each problem instead of stopping at the first; the return value is still -1 and `err` the first.
     */
    void (*report)(const struct error *err, void *data);
    void *data;
    /* For what can be told of a tree before it is whole; what was read is of no use then. */
    bool unfilled; /* it has references: texts with any are taken as right, and rules of sections with any are
                      left away */
    bool part;     /* more may be merged in: nothing is missing, and no rules between fields */
};
int schema_read_with(const struct schema *s, const struct node *n, const struct schema_options *o,
                     struct arena *a, void *ret, struct error *err) MUST_CHECK;

/* The struct as canonical JSON: typed values (sizes in bytes, durations as text), defaults included, absent
 * left out. Values under a key that looks secret (see text_is_secret_key) or a secret field become "***",
 * and so does a password inside a URL or connection string. With `for_digest`, descriptive fields are left
 * out. The caller frees. */
struct json *schema_to_json(const struct schema *s, const void *value, bool for_digest);

struct strbuf;
void schema_to_markdown(const struct schema *s, struct strbuf *out); /* the reference page */
struct json *schema_to_json_schema(const struct schema *s,
                                   const char *id); /* draft 2020-12; the caller frees */

/* A tree as JSON: scalars as text, the same masking. The caller frees. */
struct json *node_to_json(const struct node *n);

/* Contains password, secret or token, in any case. */
bool text_is_secret_key(const char *key);

/* The next password of a URL or connection string in `text`, and its length; NULL when there is none. A
 * reference is a name, not a password. */
const char *text_next_password(const char *text, size_t *ret_len);

/* Appends `text` with the passwords of URLs (scheme://user:PASSWORD@host) and connection strings as "***". */
void text_add_masked(struct strbuf *out, const char *text);

/* The texts with `between` between them; "" when there is none. The caller frees. */
char *text_list_join(const struct text_list *l, const char *between);

/* Value of `key` in a text map, or NULL. */
const char *text_map_get(const struct text_map *m, const char *key);

#endif
