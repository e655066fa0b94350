/* SPDX-License-Identifier: MIT */
/*
 * The trial's record as tables: each recorded name, its type and where the struct keeps it. Initialising,
 * writing, reading and looking up by name all work from these, so that a name exists in one place.
 */
#ifndef BENCHCTL_TRIAL_FIELDS_H
#define BENCHCTL_TRIAL_FIELDS_H

#include <stddef.h>
#include "benchctl/trial.h"

enum field_kind {
    FIELD_NUMBER,   /* double; NAN is null */
    FIELD_LIMIT,    /* double; INFINITY is "unlimited" */
    FIELD_INT,      /* int */
    FIELD_BOOL,     /* bool */
    FIELD_TEXT,     /* const char *; NULL is null */
    FIELD_JSON,     /* const char *: a JSON value as text; NULL is null */
    FIELD_OUTCOME,  /* enum outcome */
    FIELD_OBJECT,   /* a record inside */
    FIELD_OPTIONAL, /* a record inside that exists when the bool at `aux` says so; else null */
    FIELD_LIST,     /* an array of records: pointer at `offset`, size_t count at `aux` */
    FIELD_TEXTS,    /* an array of const char *: the same */
    FIELD_MAP,      /* an array of records as an object; the key is the text at `key` of each */
    FIELD_PAIRS, /* an array of records as an object of plain values: `key` as before, `of` has one field */
};

struct record;
struct field {
    const char *name;
    enum field_kind kind;
    size_t offset, aux, key;
    const struct record *of;
};
struct record {
    size_t size;
    const struct field *fields;
    size_t count;
};

extern const struct record trial_record, load_record, container_record;

/* Every number of the record NAN, everything else zero. */
void record_init(const struct record *r, void *base);
struct json *record_to_json(const struct record *r, const void *base);
/* Texts and arrays go into `a`; `base` has been initialised. The error names the member's path. */
int record_from_json(const struct record *r, const struct json *j, struct arena *a, void *base,
                     struct error *err) MUST_CHECK;

static inline void *field_at(void *base, size_t offset)
{
    return (char *)base + offset;
}

static inline const void *field_in(const void *base, size_t offset)
{
    return (const char *)base + offset;
}

#endif
