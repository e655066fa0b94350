/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "collector.h"
#include "series.h"

double outcome_ms(int64_t ns)
{
    int64_t us = ns / NS_PER_US;

    return (double)us / 1e3;
}

struct json *outcome_quantiles(const struct histogram *h)
{
    static const struct {
        const char *name;
        double q;
    } quantiles[] = {{"p50", 0.5},  {"p75", 0.75}, {"p90", 0.9},
                     {"p95", 0.95}, {"p99", 0.99}, {"p999", 0.999}};
    struct json *j = json_new_object();

    json_set_number(j, "min", histogram_min_ms(h));
    json_set_number(j, "mean", histogram_mean_ms(h));
    json_set_number(j, "stdev", histogram_stdev_ms(h));
    for (size_t i = 0; i < ARRAY_LEN(quantiles); i++)
        json_set_number(j, quantiles[i].name, histogram_quantile_ms(h, quantiles[i].q));
    json_set_number(j, "max", histogram_max_ms(h));
    json_set_int(j, "count", (int64_t)histogram_count(h));
    return j;
}

void outcome_latencies(struct json *into, const struct tally *t)
{
    json_set(into, "latency_ms", outcome_quantiles(t->response));
    json_set(into, "service_ms", outcome_quantiles(t->service));
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

void outcome_counts(struct json *into, const struct tally *t)
{
    struct json *errors = json_new_object(), *statuses = json_new_object();
    uint64_t requests = tally_requests(t);

    json_set_int(into, "requests", (int64_t)requests);
    json_set_int(into, "ok", (int64_t)t->count[REQUEST_OK]);
    json_set_int(into, "failed", (int64_t)tally_failed(t));
    json_set_number(into, "error_rate", ratio((double)tally_failed(t), (double)requests));
    json_set_int(into, "aborted", (int64_t)t->count[REQUEST_ABORTED]);
    for (int i = REQUEST_OK + 1; i < REQUEST_ERRORS; i++)
        if (i != REQUEST_ABORTED)
            json_set_int(errors, request_error_names[i], (int64_t)t->count[i]);
    json_set(into, "errors", errors);
    for (int i = 0; i < STATUS_CODES; i++) {
        char name[8];
        (void)snprintf(name, sizeof(name), "%d", i);
        if (t->status[i])
            json_set_int(statuses, name, (int64_t)t->status[i]);
    }
    json_set(into, "status", statuses);
    json_set_int(into, "received_bytes", (int64_t)t->received_bytes);
    json_set_int(into, "connections", (int64_t)t->connections);
}

void outcome_rates(struct json *into, const struct tally *t, int64_t window_ns)
{
    json_set_number(into, "rps", ratio((double)tally_requests(t), (double)window_ns / 1e9));
    json_set_number(into, "goodput_rps", ratio((double)t->count[REQUEST_OK], (double)window_ns / 1e9));
}

/*
 * A closed loop waits while its server stalls and so does not send the requests that would have seen the
 * stall. What they would have seen is added for an expected interval between two requests of a VU: median
 * service time (which a stall does not move) and the mean think time.
 */
struct json *outcome_corrected(const struct tally *t, const struct phase_part *p, struct histogram *into)
{
    double requests = (double)tally_requests(t),
           think_ms = requests > 0 ? (double)p->think_ns / requests / 1e6 : 0;
    double interval_us = (histogram_quantile_ms(t->service, 0.5) + think_ms) * 1e3;
    CLEANUP(histogram_free) struct histogram *h = histogram_new();

    if (!(interval_us >= 1))
        interval_us = 1;
    if (histogram_count(t->response) == 0)
        return json_new_null();
    histogram_add_corrected(h, t->response, (int64_t)interval_us);
    if (into)
        histogram_merge(into, h);
    struct json *j = outcome_quantiles(h);
    json_set_number(j, "interval_ms", interval_us / 1e3);
    return j;
}

static void add_pace(struct json *j, const struct workload_phase *f, const struct phase_part *p,
                     const struct tally *t)
{
    double planned_s = (double)workload_phase_duration_ns(f) / 1e9,
           took_s = (double)(p->end_ns - p->begin_ns) / 1e9;
    struct json *rates = json_new_object();

    if (p->end_ns >= 0 && took_s < planned_s) /* interrupted */
        planned_s = took_s;
    json_set_number(rates, "offered", ratio((double)p->planned, planned_s));
    json_set_number(rates, "started", ratio((double)p->started, planned_s));
    json_set_number(rates, "completed", ratio((double)tally_requests(t), took_s));
    json_set_number(rates, "delivered", ratio((double)t->count[REQUEST_OK], took_s));
    json_set(j, "rates", rates);
}

int64_t outcome_drain_ns(const struct workload_phase *f, const struct phase_part *p)
{
    bool counted = f->executor == EXECUTOR_SHARED_ITERATIONS || f->executor == EXECUTOR_PER_VU_ITERATIONS;
    int64_t planned_ns = workload_phase_duration_ns(f), took_ns = p->end_ns - p->begin_ns;

    return p->begin_ns < 0 || p->end_ns < 0 || counted || took_ns < planned_ns ? 0 : took_ns - planned_ns;
}

struct json *outcome_phase(const struct workload *w, const struct second *total, size_t phase)
{
    const struct workload_phase *f = (const struct workload_phase *)w->phases.items + phase;
    const struct phase_part *p = &total->parts[phase];
    CLEANUP(tally_free) struct tally *t = tally_new();
    struct json *j = json_new_object();
    bool open = executor_is_open(f->executor), begun = p->begin_ns >= 0, over = begun && p->end_ns >= 0;

    total_of_phase(total, phase, t);
    json_set_text(j, "name", f->name);
    json_set_text(j, "executor", executor_names[f->executor]);
    json_set_text(j, "model", open ? "open" : "closed");
    json_set_bool(j, "warmup", f->warmup);
    json_set_number(j, "begin_ms", begun ? outcome_ms(p->begin_ns) : NAN);
    json_set_number(j, "duration_ms", over ? outcome_ms(p->end_ns - p->begin_ns) : NAN);
    json_set_number(j, "drain_ms", over ? outcome_ms(outcome_drain_ns(f, p)) : NAN);
    json_set_int(j, "planned", (int64_t)p->planned);
    json_set_int(j, "started", (int64_t)p->started);
    json_set_int(j, "dropped", (int64_t)p->dropped);
    outcome_counts(j, t);
    outcome_rates(j, t, over ? p->end_ns - p->begin_ns : 0);
    if (open && over)
        add_pace(j, f, p, t);
    outcome_latencies(j, t);
    if (!open)
        json_set(j, "latency_ms_corrected", outcome_corrected(t, p, NULL));
    json_set_number(j, "vus_late_ms", open || !begun ? NAN : outcome_ms(p->vus_late_ns));
    return j;
}

struct json *outcome_requests(const struct workload *w, const struct second *total, int64_t window_ns)
{
    const struct workload_request *requests = w->requests.items;
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *const *tags = series_tags(w, a);
    struct json *all = json_new_array();

    for (size_t k = 0; k < w->requests.len; k++) {
        CLEANUP(tally_free) struct tally *t = tally_new();
        struct json *j = json_new_object();
        total_of_kind(w, total, k, false, t);
        json_set_text(j, "name", requests[k].name);
        json_set_text(j, "tag", tags[k]);
        outcome_counts(j, t);
        outcome_fallbacks(j, w, k, t);
        outcome_rates(j, t, window_ns);
        outcome_latencies(j, t);
        json_append(all, j);
    }
    return all;
}
