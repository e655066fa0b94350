/* SPDX-License-Identifier: MIT */
/*
 * Text from a bundle, one letter at a time, made harmless for whatever shows it. Control characters (C0, C1,
 * DEL) would move a terminal's cursor or end a cell, bidirectional controls would show something else than is
 * there, and invisible ones hide it: all of them, and bytes that are not UTF-8, come as '?'.
 */
#ifndef BENCHCTL_REPORT_TEXT_H
#define BENCHCTL_REPORT_TEXT_H

#include <stddef.h>

struct letter {
    const char *bytes;
    size_t len;     /* of bytes */
    size_t columns; /* on a terminal: 0 (combining), 1 or 2 (wide) */
};

/* The letter at *text, which moves behind it; `len` 0 at the end. Line breaks and tabs come as a blank. */
struct letter text_next(const char **text);

size_t text_columns(const char *text);

#endif
