/* SPDX-License-Identifier: MIT */
/* A trial's load as time passed: what the generator and the samplers wrote, in as many bins as a picture has.
 */
#ifndef BENCHCTL_REPORT_SERIES_H
#define BENCHCTL_REPORT_SERIES_H

#include "benchctl/bundle.h"

#define SERIES_BINS 240

enum series_line { SERIES_OK, SERIES_P99, SERIES_MEMORY, SERIES_CPU, SERIES_LINES };

/* A phase of the load. */
struct series_phase {
    const char *name;
    double begin_s, end_s;
    bool warmup;
};

/* What happened to the application: at a moment, or (to_s beyond from_s) for a while. */
struct series_mark {
    double from_s, to_s;
    const char *text;
    bool kill; /* by the kernel's OOM killer */
};

struct series {
    double span_s; /* from the load's begin to its end */
    const struct series_phase *phases;
    size_t phase_count;
    const struct series_mark *marks;
    size_t mark_count;
    struct series_bin {
        double sum, most;
        unsigned n;
    } bins[SERIES_LINES][SERIES_BINS];
    bool there[SERIES_LINES];
};

/* From load/series.csv: columns by their names, those of the generator of our own or of a stream. */
void series_add_load(struct series *s, const char *bytes, size_t len);
/* From samples.csv, whose times begin `load_begin_s` before the load. */
void series_add_samples(struct series *s, const char *bytes, size_t len, double load_begin_s);

struct strbuf;
void html_series(const struct series *s, struct strbuf *out);

#endif
