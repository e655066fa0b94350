/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <inttypes.h>
#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/name_index.h"
#include "collector.h"

void series_head(struct strbuf *out)
{
    strbuf_adds(out,
                "at_ms,vus,planned,started,requests,ok,failed,dropped,aborted,p50_ms,p99_ms,max_ms,mean_ms,"
                "received_bytes,cpu\n");
}

static void add_ms(struct strbuf *out, double ms)
{
    if (isnan(ms))
        strbuf_addc(out, ',');
    else
        strbuf_addf(out, ",%.3f", ms);
}

void series_row(const struct second *s, const struct tally *all, struct strbuf *out)
{
    struct phase_part sum = {0};

    for (size_t i = 0; i < s->phases; i++) {
        sum.vus += s->parts[i].vus;
        sum.planned += s->parts[i].planned;
        sum.started += s->parts[i].started;
        sum.dropped += s->parts[i].dropped;
    }
    strbuf_addf(out, "%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                s->end_ns / NS_PER_MS, sum.vus, sum.planned, sum.started, tally_requests(all),
                all->count[REQUEST_OK]);
    strbuf_addf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, tally_failed(all), sum.dropped,
                all->count[REQUEST_ABORTED]);
    add_ms(out, histogram_quantile_ms(all->response, 0.5));
    add_ms(out, histogram_quantile_ms(all->response, 0.99));
    add_ms(out, histogram_max_ms(all->response));
    add_ms(out, histogram_mean_ms(all->response));
    int64_t begin_ns = s->begin_ns >= 0 ? s->begin_ns : (int64_t)s->index * NS_PER_S,
            took_ns = s->end_ns - begin_ns;
    strbuf_addf(out, ",%" PRIu64 ",%.4f\n", all->received_bytes,
                took_ns > 0 ? (double)s->cpu_ns / (double)took_ns : 0);
}

/* '!' and '~' are kept for what is put behind it. */
static char *tag_of(const char *name, struct arena *a)
{
    char *tag = arena_strdup(a, name);

    for (char *p = tag; *p; p++)
        if ((unsigned char)*p <= ' ' || strchr(",!~\x7f", *p))
            *p = '_';
    return tag;
}

const char **series_tags(const struct workload *w, struct arena *a)
{
    const struct workload_request *requests = w->requests.items;
    const char **tags = arena_array(a, const char *, w->requests.len);
    CLEANUP_VALUE(name_index_release) struct name_index seen = {0};
    bool is_new;

    for (size_t k = 0; k < w->requests.len; k++) {
        char *tag = tag_of(requests[k].name, a);
        size_t *times = name_index_put(&seen, tag, 1, &is_new);
        tags[k] = is_new ? tag : arena_printf(a, "%s~%zu", tag, ++*times);
    }
    return tags;
}

static void log_one(const struct second *s, const char *tag, const struct histogram *h, struct strbuf *out)
{
    double start = (double)s->index;
    const struct histogram_interval i = {.tag = tag,
                                         .start_s = start,
                                         .length_s = (double)s->end_ns / 1e9 - start,
                                         .max = histogram_max_ms(h)};

    histogram_log_line(out, &i, h);
}

void series_log(const struct workload *w, const char *const *tags, const struct second *s, struct strbuf *out)
{
    CLEANUP(tally_free) struct tally *t = NULL;

    for (size_t k = 0; k < s->kinds; k++) {
        if (!t)
            t = tally_new();
        tally_clear(t);
        total_of_kind(w, s, k, false, t);
        if (histogram_count(t->response) == 0)
            continue;
        CLEANUP_FREE char *service = xasprintf("%s!service", tags[k]);
        log_one(s, tags[k], t->response, out);
        log_one(s, service, t->service, out);
    }
}
