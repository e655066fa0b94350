/* SPDX-License-Identifier: MIT */
/*
 * Regular expressions that people write in matrices and adapters, for single lines: POSIX extended syntax,
 * bytes whatever the process' locale, and nothing that could take for ever. Refused are back references (the
 * C library tries all ways to match one), texts that become huge when their repetitions are written out, and
 * repetitions of what can repeat in more than one way: (a+)+, (a|ab)*. Not for our own searches: write code.
 */
#ifndef BENCHCTL_BASE_LINE_REGEX_H
#define BENCHCTL_BASE_LINE_REGEX_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"

#define REGEX_TEXT_MAX ((size_t)1000) /* bytes of an expression */
#define REGEX_LINE_MAX ((size_t)4096) /* bytes of a line that are looked at */

/* ERROR_INVALID, with a hint, for what is refused; then there is nothing to free with regfree(). */
int regex_compile(const char *text, regex_t *ret, struct error *err) MUST_CHECK;

/* Looks at the line's first REGEX_LINE_MAX bytes; `$` is the end of the line only, not where it is cut. */
bool regex_match(const regex_t *regex, const char *line, size_t len);

/* The same; also tells where the first group matched (the whole when there is none), as offsets. A group that
 * took no part matches nothing, at 0. */
bool regex_find(const regex_t *regex, const char *line, size_t len, size_t *ret_start, size_t *ret_end);

/* Past the bracket expression that begins at `p`. */
const char *regex_skip_bracket(const char *p);

#endif
