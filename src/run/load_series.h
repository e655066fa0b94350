/* SPDX-License-Identifier: MIT */
/* Rows of load/series.csv, of our own generator and of streams: what was answered in each second. */
#ifndef BENCHCTL_RUN_LOAD_SERIES_H
#define BENCHCTL_RUN_LOAD_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which column holds what, by the first line; SIZE_MAX: there is none. */
struct load_series {
    size_t end_ms, time, ok, requests, failed, received, vus;
    double last_end_ms; /* of the row before */
    size_t started, aborted;
};

/* `ok`: answered as expected. Times are ms since the generator began, or of a stream since 1970. */
struct load_second {
    double begin_ms, end_ms, ok;
    bool wall;               /* the times are the wall clock's */
    bool answered;           /* anything came back at all */
    double users;            /* virtual users at its end; NAN: it does not tell */
    double failed;           /* 0 where it does not tell */
    double started, aborted; /* NAN where it does not tell: then nobody knows what was under way */
};

/* Lines without their newline. False: not such a file; a row that is not whole. */
bool load_series_head(struct load_series *s, const char *line, size_t len);
bool load_series_row(struct load_series *s, const char *line, size_t len, struct load_second *ret);

/* lives_served.c: every second of the measured load, in ms since it began, in order. False: there is no such
 * file. */
struct trial_run;
typedef void second_fn(const struct load_second *s, void *data);
bool load_each_second(const struct trial_run *t, second_fn *visit, void *data);

#endif
