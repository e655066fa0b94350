/* SPDX-License-Identifier: MIT */
/*
 * A growing string. `data` is always NUL-terminated and never NULL after the first write; before that `data`
 * is NULL and strbuf_text() gives "". May hold NUL bytes; `len` counts.
 *
 * `max` (0 = STRBUF_MAX_DEFAULT) is the declared limit: an append that would pass it appends nothing and sets
 * `overflow`, which the caller checks once at the end. Nothing grows without a bound.
 */
#ifndef BENCHCTL_BASE_STRBUF_H
#define BENCHCTL_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRBUF_MAX_DEFAULT ((size_t)256 << 20)

struct strbuf {
    char *data;
    size_t len, cap, max;
    bool overflow;
};

#define STRBUF_INIT                                                                                          \
    {                                                                                                        \
        0                                                                                                    \
    }

void strbuf_release(struct strbuf *b); /* frees and zeroes, keeps max; accepts an unused one */
void strbuf_clear(struct strbuf *b);   /* length 0, storage kept */
void strbuf_add(struct strbuf *b, const void *bytes, size_t len);
void strbuf_adds(struct strbuf *b, const char *text);
void strbuf_addc(struct strbuf *b, char c);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void strbuf_vaddf(struct strbuf *b, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
void strbuf_trim_end(struct strbuf *b); /* drops trailing blanks and newlines */
const char *strbuf_text(const struct strbuf *b);
char *strbuf_detach(struct strbuf *b); /* the caller frees; never NULL */

/* Drops `count` bytes from the front (a stream's consumed part). */
void strbuf_consume(struct strbuf *b, size_t count);

bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);
bool text_equal(const char *a, const char *b); /* NULL-safe; NULL equals NULL */

#endif
