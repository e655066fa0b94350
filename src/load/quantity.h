/* SPDX-License-Identifier: MIT */
/*
 * Numbers as tools print them, converted at the edge: times become ms, sizes bytes, counts stay what they
 * are. One table of units for the whole module. A unit that should stand with the number and does not is an
 * error, never a guess.
 */
#ifndef BENCHCTL_LOAD_QUANTITY_H
#define BENCHCTL_LOAD_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"

/* What an adapter's `unit` may say. The order is that of unit_names[]. */
enum unit {
    UNIT_COUNT,   /* a bare number */
    UNIT_SI,      /* a bare number, or one with k, M, G (1000) behind it */
    UNIT_PERCENT, /* 12.5 or 12.5% gives 0.125 */
    UNIT_NS,      /* bare numbers in the unit named */
    UNIT_US,
    UNIT_MS,
    UNIT_S,
    UNIT_MIN,
    UNIT_H,
    UNIT_DURATION, /* the unit stands with the number: 12.5ms, 3.1 secs, 1m2.5s */
    UNIT_BYTES,    /* bare numbers in the unit named */
    UNIT_KB,       /* 1000 bytes */
    UNIT_MB,
    UNIT_GB,
    UNIT_KIB, /* 1024 bytes */
    UNIT_MIB,
    UNIT_GIB,
    UNIT_SIZE,     /* the unit stands with the number and K means 1024: 265.74MB */
    UNIT_SIZE_1000 /* the same, K means 1000; KiB is 1024 in both */
};
extern const char *const unit_names[]; /* NULL-terminated */

/* A number that has no text: from JSON. */
double quantity_convert(double number, enum unit unit);

/*
 * The number in `text`. 1 with *ret written; 0 when the text is a tool's way to say "none" (nan, -nan, inf,
 * null, -, empty); -1 when it is neither, or lacks its unit.
 */
int quantity_parse(const char *text, size_t len, enum unit unit, double *ret, struct error *err) MUST_CHECK;

#endif
