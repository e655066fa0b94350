/* SPDX-License-Identifier: MIT */
/* A metric adapter once it is read: the structs that the schema table fills. Immutable. */
#ifndef BENCHCTL_SAMPLE_ADAPTER_H
#define BENCHCTL_SAMPLE_ADAPTER_H

#include "benchctl/sample.h"

enum metric_kind {
    METRIC_GAUGE,   /* a level: average, highest and last of the scrapes */
    METRIC_COUNTER, /* only grows while the process lives: its increase over the window */
    METRIC_MEAN     /* a total divided by a count, both counters: the mean over the window */
};

enum metric_combine { COMBINE_SUM, COMBINE_MAX, COMBINE_MIN, COMBINE_AVG, COMBINE_COUNT };

/* One way to find a metric. */
struct metric_source {
    const char *series; /* a name or a glob */
    const char *per;    /* METRIC_MEAN: the counter that counts what `series` adds up */
    struct text_map labels;
    int combine; /* enum metric_combine: what several matching series make */
    double scale;
    struct position at;
};

struct metric {
    const char *name, *help;
    int kind;                /* enum metric_kind */
    struct schema_list from; /* struct metric_source; the first one that has a value wins */
    struct position at;
};

/* The file as a whole. */
struct metric_form {
    int64_t format;
    const char *help;
    struct schema_list metrics; /* struct metric */
};

struct metric_adapter {
    char *name, *file;
    struct arena *arena;
    struct metric_form form;
    size_t source_count; /* of all metrics together */
};

#define form_each(T, var, list)                                                                              \
    for (const T *var = (list)->items; var && var < (const T *)(list)->items + (list)->len; var++)

/* Is this sample one of `series` (the source's own or its `per`), and do all its labels fit? */
bool metric_source_matches(const struct metric_source *s, const char *series,
                           const struct prom_sample *sample);

#endif
