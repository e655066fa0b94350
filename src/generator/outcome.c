/* SPDX-License-Identifier: MIT */
#include "outcome.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/version.h"
#include "collector.h"
#include "runner.h"
#include "verdict.h"

/* Of the measured phases, or of the open ones among them. */
struct sums {
    uint64_t planned, started, dropped, sends, bunched, close, backoffs, backoff_ns;
    int64_t begin_ns, end_ns; /* begin -1: none of them began */
    int64_t drain_ns;         /* of the one that ended last */
    size_t phases;
};

enum which { MEASURED, MEASURED_OPEN, MEASURED_CLOSED };

static struct sums sum(const struct outcome_facts *f, enum which which)
{
    const struct workload_phase *phases = f->workload->phases.items;
    struct sums s = {.begin_ns = -1, .end_ns = -1};

    for (size_t i = 0; i < f->total->phases; i++) {
        const struct phase_part *p = &f->total->parts[i];
        bool open = executor_is_open(phases[i].executor);
        if (phases[i].warmup || (which == MEASURED_OPEN && !open) || (which == MEASURED_CLOSED && open))
            continue;
        s.phases++;
        s.planned += p->planned;
        s.started += p->started;
        s.dropped += p->dropped;
        s.sends += p->sends;
        s.bunched += p->bunched;
        s.close += p->close;
        s.backoffs += p->backoffs;
        s.backoff_ns += p->backoff_ns;
        if (p->begin_ns >= 0 && (s.begin_ns < 0 || p->begin_ns < s.begin_ns))
            s.begin_ns = p->begin_ns;
        if (p->end_ns > s.end_ns)
            s.drain_ns = outcome_drain_ns(&phases[i], p);
        if (p->begin_ns >= 0) /* a lost process never said when it ended */
            s.end_ns =
                (int64_t)fmax((double)s.end_ns, (double)(p->end_ns >= 0 ? p->end_ns : f->total->end_ns));
    }
    return s;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : NAN;
}

/* What a loop that does not turn did to the measured phases: the worst of them. */
struct trouble {
    double stall_share, vus_late_ms, vus_late_share;
};

static struct trouble trouble_of(const struct outcome_facts *f)
{
    const struct workload_phase *phases = f->workload->phases.items;
    struct trouble t = {NAN, NAN, NAN};

    for (size_t i = 0; i < f->total->phases; i++) {
        const struct phase_part *p = &f->total->parts[i];
        int64_t end_ns = p->end_ns >= 0 ? p->end_ns : f->total->end_ns;
        double took_ns = (double)(end_ns - p->begin_ns), late = (double)p->vus_late_ns;
        uint64_t sharers = phase_processes(&phases[i], f->processes);
        if (phases[i].warmup || p->begin_ns < 0 || !(took_ns > 0))
            continue;
        if (took_ns >= (double)NS_PER_S) /* less is too short to say */
            t.stall_share = fmax(t.stall_share, (double)p->stalled_ns / (double)sharers / took_ns);
        if (executor_is_open(phases[i].executor))
            continue;
        t.vus_late_ms = fmax(t.vus_late_ms, late / 1e6);
        t.vus_late_share = fmax(t.vus_late_share, late / took_ns);
    }
    return t;
}

static struct json *pacing(const struct outcome_facts *f)
{
    struct sums s = sum(f, MEASURED_OPEN);
    const struct histogram *lag = f->total->lag;
    struct json *j = json_new_object(), *l = json_new_object(), *stall = json_new_object();

    json_set_number(stall, "max", outcome_ms(f->total->late_ns));
    json_set_number(stall, "share", trouble_of(f).stall_share);
    json_set(j, "stall_ms", stall);
    if (!s.phases) {
        json_free(l);
        json_set(j, "lag_ms", json_new_null());
        return j;
    }
    json_set_number(l, "p50", histogram_quantile_ms(lag, 0.5));
    json_set_number(l, "p90", histogram_quantile_ms(lag, 0.9));
    json_set_number(l, "p99", histogram_quantile_ms(lag, 0.99));
    json_set_number(l, "max", histogram_max_ms(lag));
    json_set_number(l, "mean", histogram_mean_ms(lag));
    json_set_int(l, "count", (int64_t)histogram_count(lag));
    json_set(j, "lag_ms", l);
    json_set_number(j, "bunched_share", share(s.bunched, s.sends));
    json_set_number(j, "close_share", share(s.close, s.sends));
    json_set_text(j, "timer", "timerfd, absolute, CLOCK_MONOTONIC");
    return j;
}

static struct json *corrected(const struct outcome_facts *f)
{
    const struct workload_phase *phases = f->workload->phases.items;
    CLEANUP(histogram_free) struct histogram *all = histogram_new();

    for (size_t i = 0; i < f->total->phases; i++) {
        CLEANUP(tally_free) struct tally *t = tally_new();
        total_of_phase(f->total, i, t);
        if (!phases[i].warmup && !executor_is_open(phases[i].executor))
            json_free(outcome_corrected(t, &f->total->parts[i], all));
    }
    return outcome_quantiles(all);
}

static struct json *examples(const struct outcome_facts *f)
{
    const struct workload_request *requests = f->workload->requests.items;
    struct json *all = json_new_array();

    for (int i = 0; i < REQUEST_ERRORS; i++) {
        const struct error_example *e = &f->total->examples[i];
        if (e->at_ns < 0)
            continue;
        struct json *j = json_new_object();
        json_set_text(j, "error", request_error_names[i]);
        json_set_text(j, "request", requests[e->kind].name);
        json_set_number(j, "at_ms", outcome_ms(e->at_ns));
        json_set(j, "status", e->status ? json_new_int(e->status) : json_new_null());
        json_set(j, "grpc_status", e->grpc_status >= 0 ? json_new_int(e->grpc_status) : json_new_null());
        json_set_text(j, "detail", e->detail[0] ? e->detail : NULL);
        json_append(all, j);
    }
    return all;
}

static struct json *warmup(const struct outcome_facts *f)
{
    CLEANUP(tally_free) struct tally *t = tally_new();
    struct json *j = json_new_object();

    total_of_kind(f->workload, f->total, ALL_KINDS, true, t);
    outcome_counts(j, t);
    return j;
}

/* What the busiest process used of a core, on average; NAN for a load that was over at once. */
static double cpu_share(const struct outcome_facts *f)
{
    int64_t wall_ns = f->total->end_ns;

    return wall_ns < NS_PER_S / 2 ? NAN : (double)f->total->cpu_most_ns / (double)wall_ns;
}

static void add_verdict(const struct outcome_facts *f, const struct tally *all, struct json *j)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf why = STRBUF_INIT;
    struct sums open = sum(f, MEASURED_OPEN);
    struct trouble trouble = trouble_of(f);
    const struct verdict_facts v = {.planned = open.planned,
                                    .dropped = open.dropped,
                                    .lag_p90_ms = histogram_quantile_ms(f->total->lag, 0.9),
                                    .response_p50_ms = histogram_quantile_ms(all->response, 0.5),
                                    .cpu_share = cpu_share(f),
                                    .stall_ms = (double)f->total->late_ns / 1e6,
                                    .stall_share = trouble.stall_share,
                                    .vus_late_ms = trouble.vus_late_ms,
                                    .vus_late_share = trouble.vus_late_share,
                                    .sends = histogram_count(f->total->lag),
                                    .generator_errors = all->count[REQUEST_GENERATOR],
                                    .generator_detail = f->total->examples[REQUEST_GENERATOR].detail,
                                    .lost = f->lost};
    bool kept_up = verdict(&v, &why);

    json_set_bool(j, "kept_up", kept_up);
    json_set_text(j, "kept_up_reason", kept_up ? NULL : strbuf_text(&why));
    json_set_bool(j, "interrupted", f->interrupted);
    json_set_bool(j, "complete", !f->interrupted && !f->lost);
}

static void add_head(const struct outcome_facts *f, struct json *j)
{
    struct sums open = sum(f, MEASURED_OPEN), closed = sum(f, MEASURED_CLOSED);
    char stamp[CLOCK_STAMP_SIZE];

    json_set_text(j, "generator", "benchctl load");
    json_set_text(j, "version", BENCHCTL_VERSION);
    json_set_text(j, "transport", f->transport);
    json_set_text(j, "target", f->workload->target);
    json_set_int(j, "processes", (int64_t)f->processes);
    json_set_int(j, "processes_asked", f->workload->processes);
    json_set_int(j, "seed", f->workload->seed);
    json_set_text(j, "model", open.phases && closed.phases ? "mixed" : open.phases ? "open" : "closed");
    json_set_bool(j, "corrected", open.phases > 0 && closed.phases == 0);
    json_set_text(j, "started_at", clock_rfc3339(f->begin_wall_ns, stamp));
    json_set_int(j, "begin_wall_ns", f->begin_wall_ns);
    json_set_number(j, "duration_ms", outcome_ms(f->total->end_ns));
}

static void add_costs(const struct outcome_facts *f, struct json *j)
{
    json_set_number(j, "cpu_seconds", outcome_ms(f->total->cpu_ns) / 1e3);
    json_set_number(j, "cpu_share_max", f->total->cpu_share);
    json_set_int(j, "max_rss_bytes", f->total->max_rss_bytes);
}

struct json *outcome_report(const struct outcome_facts *f)
{
    CLEANUP(tally_free) struct tally *all = tally_new();
    struct sums s = sum(f, MEASURED);
    int64_t window_ns = s.begin_ns >= 0 ? s.end_ns - s.begin_ns : 0;
    struct json *j = json_new_object();

    total_of_kind(f->workload, f->total, ALL_KINDS, false, all);
    add_head(f, j);
    add_verdict(f, all, j);
    json_set_number(j, "measured_ms", outcome_ms(window_ns));
    json_set_number(j, "drain_ms", outcome_ms(s.drain_ns));
    outcome_counts(j, all);
    outcome_rates(j, all, window_ns);
    outcome_users(j, f, window_ns);
    outcome_fallbacks(j, f->workload, ALL_KINDS, all);
    json_set_int(j, "planned", (int64_t)s.planned);
    json_set_int(j, "started", (int64_t)s.started);
    json_set_int(j, "dropped", (int64_t)s.dropped);
    json_set_int(j, "censored", (int64_t)all->count[REQUEST_TIMEOUT]);
    json_set_int(j, "saturated", (int64_t)histogram_saturated(all->response));
    outcome_latencies(j, all);
    json_set(j, "latency_ms_corrected", sum(f, MEASURED_CLOSED).phases ? corrected(f) : json_new_null());
    json_set(j, "pacing", pacing(f));
    json_set_int(j, "backoffs", (int64_t)s.backoffs);
    json_set_number(j, "backoff_ms", outcome_ms((int64_t)s.backoff_ns));
    add_costs(f, j);
    json_set(j, "warmup", warmup(f));
    json_set(j, "by_request", outcome_requests(f->workload, f->total, window_ns));
    struct json *phases = json_new_array();
    for (size_t i = 0; i < f->total->phases; i++)
        json_append(phases, outcome_phase(f->workload, f->total, i));
    json_set(j, "phases", phases);
    json_set(j, "examples", examples(f));
    return j;
}
