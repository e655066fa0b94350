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
    double unset; /* a value that says there is none; NAN: no such value */
    struct position at;
};

struct metric {
    const char *name, *help;
    int kind;                /* enum metric_kind */
    struct schema_list from; /* struct metric_source; the first one that has a value wins */
    struct position at;
    bool again; /* one before it has the same name: what it says counts when that has no value */
};

/* A file as a whole. */
struct metric_form {
    int64_t format;
    const char *help;
    struct text_list includes;
    struct schema_list metrics; /* struct metric */
};

struct part {
    struct metric_part shown;
    struct metric_form form;
    const struct node *root;
    bool open; /* its includes are being read */
};

struct metric_adapter {
    struct arena *arena;
    VEC(struct part) parts;
    struct schema_list metrics; /* struct metric: of all parts, in order */
    size_t source_count;        /* of all metrics together */
    size_t name_count;
};

/* Reads one file into a part: names what is wrong in it, includes nothing. */
int metric_part_parse(const char *bytes, size_t len, struct arena *a, struct part *part,
                      struct error *err) MUST_CHECK;

#define form_each(T, var, list)                                                                              \
    for (const T *var = (list)->items; var && var < (const T *)(list)->items + (list)->len; var++)

/* Is this sample one of `series` (the source's own or its `per`), and do all its labels fit? */
bool metric_source_matches(const struct metric_source *s, const char *series,
                           const struct prom_sample *sample);

#endif
