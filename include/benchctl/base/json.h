/* SPDX-License-Identifier: MIT */
/*
 * JSON values (jansson, wrapped once). The rules that jansson leaves to the caller are made here:
 *
 * - json_parse() takes exactly one value and nothing but blanks after it, refuses duplicate keys, and caps
 * depth (jansson: 2048) and size (the caller's buffer). json_stream_* takes values that arrive in pieces.
 * - A NaN or infinite number is written as null; json_number() of a null or absent member is NaN.
 * - Writers keep insertion order, so that files are the same byte for byte for the same input.
 *
 * A `struct json *` has one owner; json_set() and json_append() take the child over; getters lend.
 */
#ifndef BENCHCTL_BASE_JSON_H
#define BENCHCTL_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

struct json; /* opaque: jansson's json_t */

enum json_type {
    JSON_TYPE_NULL,
    JSON_TYPE_BOOL,
    JSON_TYPE_NUMBER,
    JSON_TYPE_TEXT,
    JSON_TYPE_ARRAY,
    JSON_TYPE_OBJECT
};

void json_free(struct json *j);
DEFINE_CLEANUP(struct json *, json_free);

/* `name` is what the message calls the input ("inspect reply", a file name). */
int json_parse(const char *bytes, size_t len, const char *name, struct json **ret,
               struct error *err) MUST_CHECK;
int json_read_file(const char *path, size_t max, struct json **ret, struct error *err) MUST_CHECK;

/* One value from the front of a buffer that may hold several or only a part: 1 and *ret_used when one is
 * complete, 0 when more bytes are needed, -1 when it can never become one. */
int json_take(const char *bytes, size_t len, struct json **ret, size_t *ret_used,
              struct error *err) MUST_CHECK;

/* New values. Text that is not UTF-8 is written with U+FFFD for the bad bytes. */
struct json *json_new_object(void);
struct json *json_new_array(void);
struct json *json_new_text(const char *text); /* NULL gives null */
struct json *json_new_text_n(const char *text, size_t len);
struct json *json_new_int(int64_t value);
struct json *
json_new_number(double value); /* NaN and infinities give null; whole numbers print without a fraction */
struct json *json_new_bool(bool value);
struct json *json_new_null(void);
struct json *json_clone(const struct json *j); /* deep */

void json_set(struct json *object, const char *key, struct json *value);
void json_append(struct json *array, struct json *value);
void json_set_text(struct json *object, const char *key, const char *text);
void json_set_int(struct json *object, const char *key, int64_t value);
void json_set_number(struct json *object, const char *key, double value);
void json_set_bool(struct json *object, const char *key, bool value);
void json_remove(struct json *object, const char *key);

/* Calls `edit` for each text value in it (names of members are none), which may change bytes but not how many
 * there are; true when it did. Members that `skips` (NULL: none) is true for stay as they are. True when
 * anything was changed. */
bool json_edit_texts(struct json *j, bool (*edit)(char *text, size_t len), bool (*skips)(const char *key));

/* Getters: NULL, "", NaN, 0, false when absent or of another type; `object` may be NULL. Borrowed. */
enum json_type json_type_of(const struct json *j); /* NULL is JSON_TYPE_NULL */
const struct json *json_get(const struct json *object, const char *key);
const struct json *json_at(const struct json *array, size_t index);
size_t json_len(const struct json *array_or_object);
const char *json_text(const struct json *j); /* NULL unless it is text */
const char *json_get_text(const struct json *o, const char *key);
double json_number(const struct json *j); /* NaN unless it is a number */
double json_get_number(const struct json *o, const char *key);
int64_t json_get_int(const struct json *o, const char *key); /* 0 unless it is a number that fits */
bool json_get_bool(const struct json *o, const char *key);
bool json_bool(const struct json *j); /* false unless it is true */
bool json_is_int(const struct json *j);
bool json_same(const struct json *a, const struct json *b);

/* Members of an object in order: `for (void *it = json_iter(o); it; it = json_iter_next(o, it))`. */
void *json_iter(const struct json *object);
void *json_iter_next(const struct json *object, void *iter);
const char *json_iter_key(void *iter);
const struct json *json_iter_value(void *iter);

/* RFC 6901 pointer, "/latencies/99th" with ~0 and ~1; "" is the whole. NULL when nothing is there. */
const struct json *json_pointer(const struct json *root, const char *pointer);

enum json_style {
    JSON_STYLE_COMPACT,
    JSON_STYLE_INDENTED,
    JSON_STYLE_SORTED /* compact, keys sorted: for digests */
};
void json_write(const struct json *j, enum json_style style, struct strbuf *out);

#endif
