/* SPDX-License-Identifier: MIT */
/* The inside of a tracker, for the two files that make it. */
#ifndef BENCHCTL_SAMPLE_TRACKER_STATE_H
#define BENCHCTL_SAMPLE_TRACKER_STATE_H

#include "counted.h"
#include "tracker.h"

/* One source of one metric: all sources are followed, and at the end the first of a metric that had values
 * wins. */
struct state {
    const struct metric *metric;
    const struct metric_source *source;
    double value, matched; /* of this scrape: what a gauge's series combine to, and how many there are */
    double sum, max, last; /* gauge; for a mean, max is the highest between two scrapes */
    struct counted series, per;
    size_t usable, gaps;
};

struct tracker {
    const struct metric_adapter *adapter;
    struct state *states;
    size_t good, failed, intervals, resets, incomplete, stale;
    bool born;        /* the next scrape is of a process that began in the window */
    bool began_again; /* in this scrape */
    size_t bad_lines, duplicates, unknown_escapes;
    int first_bad_line;
    char failure[256];   /* of the last scrape that failed */
    struct arena *names; /* the distinct series names of a scrape */
    const char **name;
    size_t name_count, names_of; /* names_of: how many samples that scrape had */
};

#endif
