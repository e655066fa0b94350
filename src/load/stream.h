/* SPDX-License-Identifier: MIT */
/* A stream that is being read: what an adapter says of its lines, and what is kept of them. */
#ifndef BENCHCTL_LOAD_STREAM_H
#define BENCHCTL_LOAD_STREAM_H

#include <regex.h>
#include <stdio.h>
#include "adapter.h"
#include "benchctl/histogram.h"
#include "stream_scan.h"

#define STREAM_METRICS_MAX ((size_t)256)
#define STREAM_GROUPS_MAX ((size_t)64)
#define STREAM_NAME_MAX ((size_t)128)
#define STREAM_LINE_MAX ((size_t)1 << 20)
#define STREAM_EXACT_MAX ((size_t)1 << 16) /* values kept one by one, so that few have exact quantiles */
#define STREAM_WINDOW_S 8                  /* lines that come this late are still placed */

/* What came under one name. */
struct stream_metric {
    char name[STREAM_NAME_MAX];
    size_t len;
    struct load_stream_total total;
};

struct stream_group {
    char name[STREAM_NAME_MAX];
    size_t len;
    double count, sum;
};

/* One second that may still change. */
struct stream_second {
    int64_t at_s;
    double requests, failed, dropped, vus;
    struct histogram *latency;
};

/* The seconds as they pass. */
struct stream_seconds {
    const struct load_stream_options *options;
    const struct adapter_stream *spec;
    bool begun;
    int64_t first_s, newest_s;
    uint64_t ahead; /* lines far ahead of all others, in a row */
    struct stream_second window[STREAM_WINDOW_S];
    FILE *series, *log;
};

struct load_stream {
    const struct adapter_stream *spec;
    struct scan_paths paths;
    struct scanner *scanner;
    struct load_stream_options options;
    struct load_stream_counts counts;
    struct strbuf partial; /* a line that has not ended */
    bool skipping;         /* the rest of a line that is too long */

    struct stream_metric metrics[STREAM_METRICS_MAX];
    size_t metric_count;
    uint16_t metric_slots[STREAM_METRICS_MAX * 2];                     /* index + 1 by hash */
    struct stream_metric *requests, *failed, *dropped, *vus, *latency; /* NULL: not there yet */
    struct stream_group groups[STREAM_GROUPS_MAX];
    size_t group_count;

    struct histogram *all;
    VEC(double) exact;
    struct stream_seconds seconds;
    struct {
        char text[40]; /* as it was; several lines in a row have the same */
        size_t len;
        int64_t ns;
        char minute[16];
        char zone[8];
        int64_t base_ns;
        bool known;
    } clock; /* of the last time read */
};

/* stream.c: of that output; `output` must outlive it. */
int load_stream_of(const struct adapter_output *output, const struct load_stream_options *o,
                   struct load_stream **ret, struct error *err) MUST_CHECK;
int stream_paths_of(const struct adapter_stream *spec, struct scan_paths *ret, struct error *err) MUST_CHECK;

/* stream_metrics.c */
/* The one of that name, made if need be; NULL: there are too many, or the name is too long. */
struct stream_metric *stream_metric_add(struct load_stream *s, const char *name, size_t len);
void stream_total_add(struct load_stream_total *t, double value);
void stream_group_add(struct load_stream *s, const char *name, size_t len, double value);
double stream_quantile_ms(const struct load_stream *s, double q);

/* stream_time.c: -1 when it is no time. */
int64_t stream_time_ns(struct load_stream *s, const struct member *m);

/* stream_seconds.c */
int stream_seconds_init(struct stream_seconds *s, const struct load_stream *stream,
                        struct error *err) MUST_CHECK;
void stream_seconds_release(struct stream_seconds *s);
/* The second of that time, or NULL when it has passed or is far ahead (the reason is counted). */
int stream_seconds_at(struct stream_seconds *s, int64_t ns, struct load_stream_counts *counts,
                      struct stream_second **ret, struct error *err) MUST_CHECK;
int stream_seconds_end(struct stream_seconds *s, struct error *err) MUST_CHECK;

#endif
