/* SPDX-License-Identifier: MIT */
/* A compiled template. */
#ifndef BENCHCTL_WORKLOAD_TEMPLATE_H
#define BENCHCTL_WORKLOAD_TEMPLATE_H

#include "workload_internal.h"

enum piece_kind {
    PIECE_TEXT,
    PIECE_COUNTER, /* from here to PIECE_TIME_MS in the order of the names in template.c */
    PIECE_VU,
    PIECE_ITERATION,
    PIECE_UUID,
    PIECE_ID,
    PIECE_TIME,
    PIECE_TIME_MS,
    PIECE_RANDOM,
    PIECE_CHOICE,
    PIECE_ROW,
};

struct word {
    const char *text;
    size_t len;
};

struct piece {
    enum piece_kind kind;
    const char *text; /* TEXT */
    size_t len;
    int64_t low; /* RANDOM: low + [0, span); a span of 0 is all of 64 bits */
    uint64_t span;
    struct word *words; /* CHOICE */
    size_t count;
    const struct workload_rows *rows; /* ROW */
    size_t column;
};

struct workload_template {
    struct piece *pieces;
    size_t count;
    bool constant;
};

#endif
