/* SPDX-License-Identifier: MIT */
/* Figures that a generator's report lacks and that its histogram and its seconds tell. */
#include "generation.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "benchctl/base/fs.h"
#include "benchctl/histogram.h"
#include "benchctl/stats.h"
#include "load_series.h"

#define HISTOGRAM_FILE "histogram.hlog"
#define SERIES_FILE "series.csv"
#define SERIES_MAX ((size_t)256 << 20)
#define SERIES_LINE_MAX (64 << 10) /* a row has a dozen numbers */
#define SECOND_MIN_MS 500.0        /* a shorter row is the rest at an end */
#define CYCLE_MAX_MS 1e9           /* a pause of more than ten days is none */

/* --- the histogram --- */

static int merge_interval(const struct histogram_interval *i, const struct histogram *h, void *data,
                          struct error *err)
{
    (void)err;
    if (!i->tag || !text_ends(i->tag, "!service")) /* that is another quantity */
        histogram_merge(data, h);
    return 0;
}

/* Of a closed load whose clients send again as soon as they have an answer and have thought: p99 had they
 * not waited while the server stalled. */
static double corrected_p99_ms(const struct generation *g, const struct load_result *r)
{
    CLEANUP_FREE char *path = path_join(g->dir, HISTOGRAM_FILE);
    CLEANUP(histogram_free) struct histogram *measured = histogram_new(), *corrected = histogram_new();
    struct error ignored = ERROR_INIT;

    if (!text_equal(r->model, "closed") || !fs_exists(path) ||
        histogram_log_read(path, 1, merge_interval, measured, &ignored) < 0)
        return NAN;
    double cycle_ms = histogram_quantile_ms(measured, 0.5) + (r->think_ms > 0 ? r->think_ms : 0);
    if (!(cycle_ms > 0) || cycle_ms > CYCLE_MAX_MS)
        return NAN;
    histogram_add_corrected(corrected, measured, (int64_t)(cycle_ms * 1e3 + 0.5));
    return histogram_quantile_ms(corrected, 0.99);
}

/* --- the seconds --- */

struct seconds {
    VEC(double) rates; /* answered as expected, per second */
    double users_sum;
    size_t users_seconds;
    double users_least, users_most;
    bool wall;
    double begin_ms; /* of the first one */
};

static void release_seconds(struct seconds *s)
{
    vec_release(&s->rates);
}

static void add_second(struct seconds *s, const struct load_second *row)
{
    double length_ms = row->end_ms - row->begin_ms;

    if (length_ms < SECOND_MIN_MS)
        return;
    if (!s->rates.len)
        s->begin_ms = row->begin_ms;
    s->wall = row->wall;
    vec_push(&s->rates, row->ok / length_ms * 1e3);
    if (isnan(row->users))
        return;
    s->users_least = fmin(s->users_least, row->users);
    s->users_most = fmax(s->users_most, row->users);
    s->users_sum += row->users;
    s->users_seconds++;
}

/* The generator may have written it: no link, pipe or device. */
static FILE *open_series(const char *path)
{
    struct error ignored = ERROR_INIT;
    int fd;

    if (fs_open_regular(path, false, &fd, &ignored) < 0)
        return NULL;
    FILE *f = fdopen(fd, "r");
    if (!f)
        (void)close(fd);
    return f;
}

/* Its length with the line feed; 0: none, or one that is too long or without an end. */
static size_t whole_line(char *line, FILE *f)
{
    size_t len = fgets(line, SERIES_LINE_MAX, f) ? strlen(line) : 0;

    return len && line[len - 1] == '\n' ? len : 0;
}

static void read_seconds(const char *path, struct seconds *s)
{
    CLEANUP(fclose) FILE *f = open_series(path);
    CLEANUP_FREE char *line = xmalloc(SERIES_LINE_MAX);
    size_t total = 0, len = f ? whole_line(line, f) : 0;
    struct load_series series;
    struct load_second row;

    if (!len || !load_series_head(&series, line, len - 1))
        return;
    while ((len = whole_line(line, f)) > 0 && (total += len) < SERIES_MAX)
        if (load_series_row(&series, line, len - 1, &row))
            add_second(s, &row);
}

/* Rows of the wall clock begin with its seconds: of the first and the last one a part is missing. */
static const double *whole_seconds(const struct seconds *s, size_t *ret_len)
{
    size_t ends = s->wall && s->rates.len > 2 ? 1 : 0;

    *ret_len = s->rates.len - 2 * ends;
    return s->rates.items + ends;
}

/* One phase of one kind: else the level changes because it was asked to. */
static bool is_one_level(const struct generation *g, const struct seconds *s)
{
    const struct workload *part = g->part;
    const struct workload_phase *only = part ? part->phases.items : NULL;

    if (part)
        return part->phases.len == 1 && only->executor != EXECUTOR_RAMPING_VUS &&
               only->executor != EXECUTOR_RAMPING_ARRIVAL_RATE;
    return s->users_seconds == 0 || s->users_least == s->users_most;
}

static void tell_steady(const struct generation *g, const struct seconds *s, struct load_result *r)
{
    struct steady steady;
    size_t n;
    const double *rates = whole_seconds(s, &n);

    if (!is_one_level(g, s) || !stats_steady(rates, n, &steady))
        return;
    r->steady = steady_name(steady.is);
    r->steady_from_ms = (double)(steady.from + (size_t)(rates - s->rates.items)) * 1e3;
    if (steady.is == STEADY_FLAT)
        r->steady_from_ms = 0;
    if (steady.is == STEADY_NONE)
        r->steady_from_ms = NAN;
}

void load_figures(const struct generation *g, struct load_result *r)
{
    CLEANUP_FREE char *path = path_join(g->dir, SERIES_FILE);
    CLEANUP_VALUE(release_seconds)
    struct seconds s = {.users_least = INFINITY, .users_most = -INFINITY};

    if (isnan(r->corrected_p99_ms))
        r->corrected_p99_ms = corrected_p99_ms(g, r);
    if (text_equal(r->corrected, "yes") || !text_equal(r->model, "closed"))
        r->corrected_p99_ms = NAN;
    if (!fs_exists(path))
        return;
    read_seconds(path, &s);
    if (isnan(r->concurrency) && text_equal(r->model, "closed") && s.users_seconds)
        r->concurrency = s.users_sum / (double)s.users_seconds;
    tell_steady(g, &s, r);
}
