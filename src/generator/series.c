/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <inttypes.h>
#include <math.h>
#include "benchctl/base/clock.h"
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
    strbuf_addf(out, ",%" PRIu64 ",%.4f\n", all->received_bytes, (double)s->cpu_ns / 1e9);
}

void series_tag(const char *name, const char *suffix, struct strbuf *out)
{
    for (const char *p = name; *p; p++)
        strbuf_addc(out, *p == ',' || (unsigned char)*p <= ' ' || *p == 0x7f ? '_' : *p);
    strbuf_adds(out, suffix);
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

void series_log(const struct workload *w, const struct second *s, struct strbuf *out)
{
    const struct workload_request *requests = w->requests.items;
    CLEANUP(tally_free) struct tally *t = NULL;

    for (size_t k = 0; k < s->kinds; k++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf tag = STRBUF_INIT, service = STRBUF_INIT;
        if (!t)
            t = tally_new();
        tally_clear(t);
        total_of_kind(w, s, k, false, t);
        if (histogram_count(t->response) == 0)
            continue;
        series_tag(requests[k].name, "", &tag);
        series_tag(requests[k].name, "!service", &service);
        log_one(s, strbuf_text(&tag), t->response, out);
        log_one(s, strbuf_text(&service), t->service, out);
    }
}
