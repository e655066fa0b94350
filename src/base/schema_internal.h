/* SPDX-License-Identifier: MIT */
/* Words about a table that the reader, the reference page and the JSON Schema share. */
#ifndef BENCHCTL_SCHEMA_INTERNAL_H
#define BENCHCTL_SCHEMA_INTERNAL_H

#include "benchctl/base/schema.h"

/* "a size", "true or false": for messages. */
const char *schema_type_text(enum schema_type type);

/* A bound of the field as a person writes it. buf >= 32 bytes. */
const char *schema_bound_text(const struct schema_field *f, int64_t bound, char *buf);

/* "a, b or c"; cut with "..." where it does not fit. */
const char *schema_choices_text(const char *const *choices, char *buf, size_t size);

/* "the load section" → "load-section": the name of a definition and of a section. */
const char *schema_slug(const struct schema *s, char buf[64]);

/* What the table calls that which other programs call `key`; NULL: nothing is known of it. */
const char *schema_other_name(const struct schema *s, const char *key);

/* The hint for a text or list where the table wants a map: how it would be written. Returns -1. */
int schema_want_map(const struct schema *s, const struct node *n, struct error *err);

/* Is the field described by a table of its own? */
bool schema_has_table(const struct schema_field *f);

/* The table and those that it refers to, each once, in the order of first mention. */
struct schema_set {
    VEC(const struct schema *) all;
};

void schema_collect(struct schema_set *set, const struct schema *s);

#endif
