/* SPDX-License-Identifier: MIT */
/* Seconds in a window: the last few may still change, older ones are given away in order. */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include "benchctl/base/clock.h"

#define GAP_MAX_S 3600 /* a longer one is not filled with empty seconds */
#define AHEAD_MAX 100  /* that many lines in a row are no outlier */

static int write_text(FILE *f, const struct strbuf *text, const char *path, struct error *err)
{
    if (fwrite(text->data, 1, text->len, f) != text->len || fflush(f) != 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", path);
    return 0;
}

static int open_series(struct stream_seconds *s, const char *path, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf head = STRBUF_INIT;

    if (!path)
        return 0;
    s->series = fopen(path, "we");
    if (!s->series)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    strbuf_adds(&head, "time,at_s,vus,requests,failed,dropped,p50_ms,p99_ms,max_ms,mean_ms\n");
    return write_text(s->series, &head, path, err);
}

int stream_seconds_init(struct stream_seconds *s, const struct load_stream *stream, struct error *err)
{
    const struct load_stream_options *o = &stream->options;

    s->options = o;
    s->spec = stream->spec;
    for (size_t i = 0; i < STREAM_WINDOW_S; i++)
        s->window[i].latency = histogram_new();
    if (open_series(s, o->series_path, err) < 0)
        return -1;
    if (o->log_path && !(s->log = fopen(o->log_path, "we")))
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", o->log_path);
    return 0;
}

void stream_seconds_release(struct stream_seconds *s)
{
    for (size_t i = 0; i < STREAM_WINDOW_S; i++)
        histogram_free(s->window[i].latency);
    if (s->series)
        (void)fclose(s->series);
    if (s->log)
        (void)fclose(s->log);
    s->series = s->log = NULL;
}

static void add_number(struct strbuf *out, double v, int decimals)
{
    if (isnan(v))
        strbuf_addc(out, ',');
    else
        strbuf_addf(out, ",%.*f", decimals, v);
}

static int write_row(struct stream_seconds *s, const struct load_stream_second *x, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf row = STRBUF_INIT;
    char stamp[CLOCK_STAMP_SIZE];

    strbuf_addf(&row, "%s,%.0f", clock_rfc3339(x->start_wall_ns, stamp), x->at_s);
    add_number(&row, x->vus, 0);
    add_number(&row, x->requests, 0);
    add_number(&row, x->failed, 0);
    add_number(&row, x->dropped, 0);
    add_number(&row, histogram_quantile_ms(x->latency, 0.5), 3);
    add_number(&row, histogram_quantile_ms(x->latency, 0.99), 3);
    add_number(&row, histogram_max_ms(x->latency), 3);
    add_number(&row, histogram_mean_ms(x->latency), 3);
    strbuf_addc(&row, '\n');
    return write_text(s->series, &row, s->options->series_path, err);
}

static int write_interval(struct stream_seconds *s, const struct load_stream_second *x, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    const struct histogram_interval i = {
        .start_s = x->at_s, .length_s = 1, .max = histogram_max_ms(x->latency)};

    if (x->at_s == 0)
        histogram_log_begin(&line, x->start_wall_ns);
    if (histogram_count(x->latency))
        histogram_log_line(&line, &i, x->latency);
    return line.len ? write_text(s->log, &line, s->options->log_path, err) : 0;
}

static struct stream_second *slot(struct stream_seconds *s, int64_t at_s)
{
    return &s->window[at_s % STREAM_WINDOW_S];
}

/* Gives a second away and empties its place for another. */
static int pass(struct stream_seconds *s, struct stream_second *second, int64_t next_s, struct error *err)
{
    const struct load_stream_second x = {
        .start_wall_ns = second->at_s * NS_PER_S,
        .at_s = (double)(second->at_s - s->first_s),
        .requests = s->spec->requests ? second->requests : NAN,
        .failed = s->spec->failed ? second->failed : NAN,
        .dropped = s->spec->dropped ? second->dropped : NAN,
        .vus = second->vus,
        .latency = second->latency,
    };
    if ((s->options->on_second && s->options->on_second(&x, s->options->data, err) < 0) ||
        (s->series && write_row(s, &x, err) < 0) || (s->log && write_interval(s, &x, err) < 0))
        return -1;
    histogram_clear(second->latency);
    *second = (struct stream_second){.at_s = next_s, .vus = NAN, .latency = second->latency};
    return 0;
}

/* Up to eight seconds before the first line may still come; those without lines are not given. */
static void begin(struct stream_seconds *s, int64_t at_s)
{
    s->begun = true;
    s->first_s = s->newest_s = at_s;
    for (int64_t t = at_s; t > at_s - STREAM_WINDOW_S && t >= 0; t--) {
        struct stream_second *second = slot(s, t);
        *second = (struct stream_second){.at_s = t, .vus = NAN, .latency = second->latency};
    }
}

/* Moves the window on until `at_s` is its newest second. */
static int advance(struct stream_seconds *s, int64_t at_s, struct error *err)
{
    if (at_s - s->newest_s > GAP_MAX_S) {
        for (int64_t t = s->newest_s - STREAM_WINDOW_S + 1; t <= s->newest_s; t++)
            if (t >= s->first_s && pass(s, slot(s, t), 0, err) < 0)
                return -1;
        int64_t first_s = s->first_s;
        begin(s, at_s);
        s->first_s = first_s;
        for (int64_t t = at_s - STREAM_WINDOW_S + 1; t < at_s; t++)
            slot(s, t)->at_s = t;
        return 0;
    }
    while (s->newest_s < at_s) {
        int64_t next_s = s->newest_s + 1;
        struct stream_second *oldest = slot(s, next_s);
        if (next_s - STREAM_WINDOW_S >= s->first_s) {
            if (pass(s, oldest, next_s, err) < 0)
                return -1;
        } else {
            *oldest = (struct stream_second){.at_s = next_s, .vus = NAN, .latency = oldest->latency};
        }
        s->newest_s = next_s;
    }
    return 0;
}

int stream_seconds_at(struct stream_seconds *s, int64_t ns, struct load_stream_counts *counts,
                      struct stream_second **ret, struct error *err)
{
    int64_t at_s = ns / NS_PER_S;

    *ret = NULL;
    if (!s->begun)
        begin(s, at_s);
    if (at_s > s->newest_s + GAP_MAX_S && ++s->ahead < AHEAD_MAX) {
        counts->ahead++;
        return 0;
    }
    s->ahead = 0;
    if (at_s <= s->newest_s - STREAM_WINDOW_S) {
        counts->late++;
        return 0;
    }
    if (at_s > s->newest_s && advance(s, at_s, err) < 0)
        return -1;
    /* The first lines may be out of order: the first second is only fixed once it is given away. */
    if (at_s < s->first_s)
        s->first_s = at_s;
    *ret = slot(s, at_s);
    return 0;
}

int stream_seconds_end(struct stream_seconds *s, struct error *err)
{
    if (!s->begun)
        return 0;
    for (int64_t t = s->newest_s - STREAM_WINDOW_S + 1; t <= s->newest_s; t++)
        if (t >= s->first_s && pass(s, slot(s, t), 0, err) < 0)
            return -1;
    return 0;
}
