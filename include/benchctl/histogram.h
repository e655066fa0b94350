/* SPDX-License-Identifier: MIT */
/*
 * Latency histograms that merge exactly: log-linear buckets, 1 us to 1 h, 3 significant digits (the layout of
 * HdrHistogram with lowest discernible value 1, highest trackable value 3,600,000,000 and 3 digits: 2048
 * sub-buckets, relative error at most 0.1 %). Values are whole microseconds; what is longer than an hour
 * counts in the last bucket and in `saturated`. Reads and writes HdrHistogram's V2 encoding and its interval
 * logs, so that logs of other tools can be read and ours opened elsewhere. Percentiles are never averaged:
 * merge, then ask.
 */
#ifndef BENCHCTL_HISTOGRAM_H
#define BENCHCTL_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

#define HISTOGRAM_MAX_US INT64_C(3600000000)

struct histogram;

struct histogram *histogram_new(void); /* at most 184 KiB of counters, made only where something counts */
void histogram_free(struct histogram *h);
DEFINE_CLEANUP(struct histogram *, histogram_free);
void histogram_clear(struct histogram *h);

/* Negative values count as 0. The hot path: a few nanoseconds. */
void histogram_record(struct histogram *h, int64_t value_us, uint64_t count);
void histogram_record_ns(struct histogram *h, int64_t value_ns); /* rounded to the nearest microsecond */
void histogram_merge(struct histogram *into, const struct histogram *from); /* exact */

uint64_t histogram_count(const struct histogram *h);
uint64_t histogram_saturated(const struct histogram *h); /* longer than an hour; no encoding keeps it */

/* The value below or at which the share q (0..1) of all values lies: rank ceil(q * n), at least 1; the
 * highest value that counts as equal in that bucket, but never above the greatest value recorded
 * (HdrHistogram's rule). In ms; NAN when there is none. */
double histogram_quantile_ms(const struct histogram *h, double q);
double histogram_min_ms(const struct histogram *h);  /* lowest value that counts as equal; NAN when empty */
double histogram_max_ms(const struct histogram *h);  /* as recorded; of a decoded one the end of its bucket */
double histogram_mean_ms(const struct histogram *h); /* from bucket middles, as HdrHistogram does; NAN */
double histogram_stdev_ms(const struct histogram *h);
/* How many values are above the bucket of `value_us`. */
uint64_t histogram_count_above(const struct histogram *h, int64_t value_us);

/* What was recorded by a generator that waits while a server stalls, corrected afterwards: for each value
 * longer than the expected interval, the values of the requests that were not sent (value - interval, value -
 * 2 * interval, ...). Source: HdrHistogram's hdr_record_corrected_value(). */
void histogram_add_corrected(struct histogram *into, const struct histogram *from, int64_t interval_us);

/* V2 encoding (cookie 0x1c849303 | 0x10, zig-zag LEB128 counts with runs of zeros). Appends raw bytes, or,
 * with `compressed`, the deflated form (cookie 0x1c849304 | 0x10). `histogram_decode()` takes either, and the
 * base64 text of either, of any significant digits and unit ratio: `values_per_us` is how many of the encoded
 * unit are one microsecond (1000 for nanoseconds). ERROR_INVALID for what is damaged, too large or not V2.
 * Adds to `into`. */
void histogram_encode(const struct histogram *h, bool compressed, struct strbuf *out);
int histogram_decode(struct histogram *into, const char *bytes, size_t len, double values_per_us,
                     struct error *err) MUST_CHECK;

/*
 * HdrHistogram interval log (format 1.3): comment lines, "[StartTime: seconds ...]", "[BaseTime: ...]", the
 * legend, then lines [Tag=NAME,]START,LENGTH,MAX,BASE64. Times are seconds; MAX is in ms (of our files:
 * values are written in microseconds and MAX is value / 1000, as the log's legend says with its unit).
 */
struct histogram_interval {
    const char *tag;               /* NULL: none */
    double start_s, length_s, max; /* when read: as the line has them */
};
/* Appends the head of a log whose clock begins at `base_wall_ns`. */
void histogram_log_begin(struct strbuf *out, int64_t base_wall_ns);
void histogram_log_line(struct strbuf *out, const struct histogram_interval *i, const struct histogram *h);

/* Called for each interval of a log; `h` is valid during the call. Returns 0 to go on. */
typedef int histogram_interval_fn(const struct histogram_interval *i, const struct histogram *h, void *data,
                                  struct error *err);
/* Reads a log from a file, a line at a time (memory does not grow with the log). Errors have FILE:LINE. A
 * last line that was cut short is an error too, after all whole lines have been given. */
int histogram_log_read(const char *path, double values_per_us, histogram_interval_fn *fn, void *data,
                       struct error *err) MUST_CHECK;

#endif
