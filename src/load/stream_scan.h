/* SPDX-License-Identifier: MIT */
/*
 * A line of JSON, of which only a few members are wanted. scan_line() is strict and fast for the usual shape
 * and says when it is not sure; full_line() is the JSON parser, and right by definition. What scan_line()
 * accepts it reads exactly as full_line() would.
 */
#ifndef BENCHCTL_LOAD_STREAM_SCAN_H
#define BENCHCTL_LOAD_STREAM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/json.h"

#define SCAN_WHERE_MAX 4
#define SCAN_STEPS_MAX 4

enum scan_slot {
    SLOT_METRIC,
    SLOT_TIME,
    SLOT_VALUE,
    SLOT_GROUP,
    SLOT_WHERE,
    SCAN_SLOTS = SLOT_WHERE + SCAN_WHERE_MAX
};

/* The wanted members as a tree of keys; node 0 is the whole line. */
struct scan_node {
    const char *key;
    uint32_t len;
    int slot, child, next; /* -1: none */
};
struct scan_paths {
    struct scan_node nodes[1 + SCAN_SLOTS * SCAN_STEPS_MAX];
    int count;
    const char *pointers[SCAN_SLOTS]; /* NULL: not wanted */
};

/* Pointers of at most SCAN_STEPS_MAX plain names; they must outlive `p`. */
int scan_paths_init(struct scan_paths *p, const char *const pointers[SCAN_SLOTS],
                    struct error *err) MUST_CHECK;

enum member_kind { MEMBER_ABSENT, MEMBER_TEXT, MEMBER_NUMBER, MEMBER_OTHER };
struct member {
    enum member_kind kind;
    const char *text; /* into the line, or what was remembered of it: until the next line */
    size_t len;
    double number;
};
struct point {
    struct member m[SCAN_SLOTS];
};

struct scanner;
struct scanner *scanner_new(const struct scan_paths *paths); /* keeps `paths` */
void scanner_free(struct scanner *s);
DEFINE_CLEANUP(struct scanner *, scanner_free);

/* `line[len]` must be readable and a newline; bytes up to `limit` may be read. False: ask the parser. */
bool scan_line(struct scanner *s, const char *line, size_t len, const char *limit, struct point *ret);

/* -1: no JSON. *ret_json is what texts point into; the caller frees. */
int full_line(const struct scan_paths *paths, const char *line, size_t len, struct json **ret_json,
              struct point *ret, struct error *err) MUST_CHECK;

/* ---- stream_token.c ---- */

/* From behind the opening quote to behind the closing one; NULL when that is not sure. *ret_plain: no escape
 * in it. */
const char *token_string(const char *p, const char *limit, bool *ret_plain);
/* Behind the number at p; NULL when that is not sure. `ret` may be NULL. */
const char *token_number(const char *p, double *ret);

#endif
