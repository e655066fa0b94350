/* SPDX-License-Identifier: MIT */
/* Counters of many series as one: each series' growth is taken by itself, so that one that begins again or
 * comes later does no harm. */
#ifndef BENCHCTL_SAMPLE_COUNTED_H
#define BENCHCTL_SAMPLE_COUNTED_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/mem.h"

#define COUNTED_MAX_SERIES 8192

struct counted_series {
    uint64_t id;
    double value;
};

struct counted {
    VEC(struct counted_series) series;
    size_t next;                 /* where this scrape's next series is expected */
    double total;                /* of this scrape */
    double growth;               /* since the scrape before */
    size_t seen;                 /* series in this scrape */
    double last_total, increase; /* over the window */
    size_t dropped;              /* series past the maximum */
};

void counted_release(struct counted *c);
void counted_clear(struct counted *c);  /* forgets series and sums */
void counted_forget(struct counted *c); /* forgets the series only: whatever comes counts from zero */

/* One scrape: begin, a series at a time, end. `baseline`: the first scrape, where a new series is only
 * remembered; later it counts from zero. counted_add() tells whether the series began again. */
void counted_begin(struct counted *c);
bool counted_add(struct counted *c, uint64_t id, double value, bool baseline);
void counted_end(struct counted *c);

#endif
