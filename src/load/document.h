/* SPDX-License-Identifier: MIT */
/* The outputs of a run in memory, and the numbers that a source finds in one. */
#ifndef BENCHCTL_LOAD_DOCUMENT_H
#define BENCHCTL_LOAD_DOCUMENT_H

#include "adapter.h"
#include "benchctl/base/strbuf.h"

/* All intervals of one tag ("": without). */
struct tagged {
    char *tag;
    struct histogram *histogram;
};

struct document {
    const struct adapter_output *output;
    char *path;
    struct strbuf bytes;
    struct json *json;          /* json: parsed */
    struct load_stream *stream; /* ndjson: read */
    VEC(struct tagged) tagged;  /* hdrlog: merged by tag */
    VEC(char *) columns;        /* csv: names; hdrlog: tags; ndjson: metrics */
    size_t body;                /* csv: where the records begin, and how many lines are before */
    int header_lines;
};

/* Takes the bytes over (they may be empty). -1: not of the output's format; the message has a position. */
int document_init(struct document *d, const struct adapter_output *output, const char *path,
                  struct strbuf *bytes, struct error *err) MUST_CHECK;
/* For formats that are read without being held: hdrlog, ndjson. */
bool document_is_streamed(const struct adapter_output *output);
int document_read(struct document *d, const struct adapter_output *output, const char *path,
                  struct error *err) MUST_CHECK;
void document_release(struct document *d);

/* A line at a time, without its end: false when there is none left. Lines longer than LINE_MAX_BYTES are
 * passed over. */
#define LINE_MAX_BYTES ((size_t)64 << 10)
struct line {
    const char *text;
    size_t len;
    int number; /* from 1 */
    const char *next;
};
bool line_next(const struct document *d, struct line *l); /* begin with an all-zero struct line */

struct numbers {
    VEC(double) list;
    bool present;     /* what holds them is there, even if it holds none: a sum or count of none is then 0 */
    bool taken;       /* the one number is already what `take` says */
    bool non_number;  /* something stood there that is no number (null, nan) */
    bool interpolate; /* quantiles between two numbers, not one of them */
};
void numbers_release(struct numbers *n);
double numbers_take(struct numbers *n, enum take take, double quantile); /* NAN when there is none; sorts */

/* -1 when a number has no unit, or a record is cut. */
int source_numbers(const struct source *s, const struct document *d, struct numbers *out,
                   struct error *err) MUST_CHECK;

/* source_json.c, source_csv.c */
int source_json_numbers(const struct source *s, const struct document *d, struct numbers *out,
                        struct error *err) MUST_CHECK;
int source_csv_numbers(const struct source *s, const struct document *d, struct numbers *out,
                       struct error *err) MUST_CHECK;
const struct json *load_json_find(const struct json *root, const char *pointer);
/* source_histogram.c, source_stream.c */
int document_read_log(struct document *d, struct error *err) MUST_CHECK;
void source_log_number(const struct source *s, const struct document *d, struct numbers *out);
int document_read_stream(struct document *d, struct error *err) MUST_CHECK;
void source_stream_number(const struct source *s, const struct document *d, struct numbers *out);
int document_read_header(struct document *d, struct error *err) MUST_CHECK;

#endif
