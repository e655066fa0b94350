/* SPDX-License-Identifier: MIT */
/*
 * Sizes, durations and plain numbers as text: one parser each for the whole program, one printer each.
 * Every parser takes the whole text or fails; blanks, exponents, signs where they make no sense, and leading
 * zeros are errors, and the message says what other readers would make of it.
 */
#ifndef BENCHCTL_BASE_UNITS_H
#define BENCHCTL_BASE_UNITS_H

#include <stdint.h>
#include <stddef.h>
#include "benchctl/base/error.h"

#define SIZE_UNLIMITED INT64_C(-1)

/*
 * "64m", "0.5g", "256MiB", "1024b": digits with an optional decimal part and a suffix b, k, m, g, t with or
 * without "b" or "ib", base 1024, any case. "unlimited" gives SIZE_UNLIMITED. A bare number is an error.
 */
int size_parse(const char *text, int64_t *ret_bytes, struct error *err) MUST_CHECK;

/* "500ms", "30s", "8m30s", "2h", "1.5s"; units ns us ms s m h d, largest first, each once. "0" alone is
 * allowed. */
int duration_parse(const char *text, int64_t *ret_ns, struct error *err) MUST_CHECK;

/* An optional minus and decimal digits without a leading zero. */
int integer_parse(const char *text, int64_t *ret_value, struct error *err) MUST_CHECK;

/* A decimal number without exponent, for instance 0.5; C locale whatever the process' locale is. */
int number_parse(const char *text, double *ret_value, struct error *err) MUST_CHECK;

/* strtod under the C locale for formats that allow exponents (JSON, Prometheus). Returns chars used, 0 if
 * none. */
size_t number_scan(const char *text, size_t len, double *ret_value);

/* Shortest exact form that size_parse() reads back: "256m", "1536k", "unlimited". buf >= 32 bytes; returns
 * buf. */
const char *size_format(int64_t bytes, char *buf);
/* For people: "61.3 MiB". */
const char *size_human(double bytes, char *buf);
/* Shortest exact form that duration_parse() reads back: "8m30s", "500ms". */
const char *duration_format(int64_t ns, char *buf);
/* For people: "1.06 s", "12 ms", "3 min 10 s". */
const char *duration_human(int64_t ns, char *buf);

const char *plural(uint64_t n); /* "" or "s": the end of a word behind a number */

#endif
