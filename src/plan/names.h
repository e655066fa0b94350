/* SPDX-License-Identifier: MIT */
/*
 * A table of texts: each gets the next number when it is first added, and is found again in constant time.
 * Keeps the pointers, not copies: the texts must outlive the table.
 */
#ifndef BENCHCTL_PLAN_NAMES_H
#define BENCHCTL_PLAN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAMES_NONE SIZE_MAX

struct names {
    const char **texts;
    size_t len, cap;
    uint32_t *slots; /* number + 1; 0 is free */
    size_t slot_count;
};

void names_release(struct names *n);

/* The number of `text`; *ret_new says whether this call added it. */
size_t names_add(struct names *n, const char *text, bool *ret_new);

/* The number of the `len` bytes at `text`, or NAMES_NONE. */
size_t names_find(const struct names *n, const char *text, size_t len);

size_t names_bytes(const struct names *n);

#endif
