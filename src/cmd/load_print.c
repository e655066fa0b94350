/* SPDX-License-Identifier: MIT */
#include "load_print.h"

#include <inttypes.h>
#include <math.h>
#include "benchctl/base/plain_text.h"
#include "benchctl/base/units.h"

#define DRAIN_TOLD_MS 100.0 /* beyond the last planned request */
#define STALL_TOLD_MS 50.0
#define CORRECTED_RATIO 1.5 /* of the p99: more, and neither can be trusted */
#define CORRECTED_MIN 100.0 /* requests: fewer say nothing about the slowest in a hundred */

void load_line_open(struct load_line *l, bool quiet)
{
    const char *term = getenv("TERM");

    *l = (struct load_line){.live = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
}

/* Three digits that count. */
static int decimals(double value)
{
    return value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
}

void load_line_draw(const struct generator_second *s, void *data)
{
    struct load_line *l = data;
    char quantiles[64] = "";
    double took_s = s->at_s - l->at_s;
    int digits = s->planned_s == floor(s->planned_s) ? 0 : 1;

    if (!l->live || took_s < 0.5) /* what is left at the end says nothing per second */
        return;
    l->at_s = s->at_s;
    if (!isnan(s->p50_ms))
        (void)snprintf(quantiles, sizeof(quantiles), "  p50 %.*f ms  p99 %.*f ms", decimals(s->p50_ms),
                       s->p50_ms, decimals(s->p99_ms), s->p99_ms);
    (void)fprintf(stderr,
                  "\r\033[K%.*f of %.*f s  %" PRId64 " VUs  %.0f ok/s  %.0f failed/s  %.0f dropped/s%s",
                  digits, s->at_s, digits, s->planned_s, s->vus, s->ok / took_s, s->failed / took_s,
                  s->dropped / took_s, quantiles);
    (void)fflush(stderr);
    l->drawn = true;
}

void load_line_close(struct load_line *l)
{
    if (l->drawn)
        (void)fputs("\r\033[K", stderr);
    l->drawn = false;
}

/* ---- results ---- */

static void label(struct strbuf *out, const char *text)
{
    strbuf_addf(out, "%-14s", text);
}

static double number(const struct json *o, const char *key)
{
    return json_get_number(o, key);
}

static void add_number(struct strbuf *out, double value, const char *unit)
{
    if (isnan(value))
        strbuf_addf(out, "n/a%s", unit);
    else if (fabs(value) >= 1000)
        strbuf_addf(out, "%.0f%s", value, unit);
    else
        strbuf_addf(out, "%.3g%s", value, unit);
}

/* "connect 12, timeout 3": members that are not zero. */
static void add_counts(struct strbuf *out, const struct json *o)
{
    const char *between = "";

    for (void *it = json_iter(o); it; it = json_iter_next(o, it)) {
        double n = json_number(json_iter_value(it));
        if (!(n > 0))
            continue;
        strbuf_addf(out, "%s%s %.0f", between, json_iter_key(it), n);
        between = ", ";
    }
    strbuf_adds(out, *between ? "\n" : "none\n");
}

static void add_latencies(struct strbuf *out, const char *name, const struct json *l)
{
    static const char *const keys[] = {"min", "mean", "p50", "p75", "p90", "p95", "p99", "p999", "max"};
    static const char *const shown[] = {"min", "mean", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"};

    if (json_type_of(l) != JSON_TYPE_OBJECT || !(number(l, "count") > 0))
        return;
    label(out, name);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        strbuf_addf(out, "%s%s ", i ? "  " : "", shown[i]);
        add_number(out, number(l, keys[i]), "");
    }
    strbuf_addc(out, '\n');
}

static void add_time(struct strbuf *out, double ms)
{
    char buf[64];

    strbuf_adds(out, isnan(ms) ? "n/a" : duration_human((int64_t)(ms * 1e6), buf));
}

static void add_phases(struct strbuf *out, const struct json *report)
{
    const struct json *phases = json_get(report, "phases");

    for (size_t i = 0; i < json_len(phases); i++) {
        const struct json *p = json_at(phases, i), *rates = json_get(p, "rates");
        label(out, i ? "" : "phases");
        const char *name = json_get_text(p, "name"), *executor = json_get_text(p, "executor");
        plain_add(out, name, "");
        if (!text_equal(name, executor))
            strbuf_addf(out, " (%s)", executor);
        strbuf_adds(out, json_get_bool(p, "warmup") ? ", warm-up: " : ": ");
        if (json_type_of(json_get(p, "begin_ms")) != JSON_TYPE_NUMBER) {
            strbuf_adds(out, "never begun\n");
            continue;
        }
        add_time(out, number(p, "duration_ms"));
        if (number(p, "drain_ms") >= DRAIN_TOLD_MS) {
            strbuf_adds(out, " (");
            add_time(out, number(p, "drain_ms"));
            strbuf_adds(out, " of it until the last answer)");
        }
        strbuf_adds(out, ", ");
        strbuf_addf(out, "%.0f requests, %.0f failed, %.0f dropped, %.0f aborted", number(p, "requests"),
                    number(p, "failed"), number(p, "dropped"), number(p, "aborted"));
        if (rates)
            strbuf_addf(out, "; per second offered %.1f, started %.1f, completed %.1f",
                        number(rates, "offered"), number(rates, "started"), number(rates, "completed"));
        if (number(p, "goodput_rps") >= 0)
            strbuf_addf(out, "%s %.1f", rates ? ", goodput" : "; goodput per second",
                        number(p, "goodput_rps"));
        strbuf_addc(out, '\n');
    }
}

static void add_examples(struct strbuf *out, const struct json *report)
{
    const struct json *all = json_get(report, "examples");

    for (size_t i = 0; i < json_len(all); i++) {
        const struct json *e = json_at(all, i);
        const char *detail = json_get_text(e, "detail");
        label(out, "");
        strbuf_addf(out, "first %s after %.3f s: ", json_get_text(e, "error"), number(e, "at_ms") / 1e3);
        plain_add(out, json_get_text(e, "request"), "");
        if (json_type_of(json_get(e, "status")) == JSON_TYPE_NUMBER)
            strbuf_addf(out, ", status %.0f", number(e, "status"));
        if (detail) {
            strbuf_adds(out, ", ");
            plain_add(out, detail, "");
        }
        strbuf_addc(out, '\n');
    }
}

static void add_requests(struct strbuf *out, const struct json *report)
{
    const struct json *all = json_get(report, "by_request");

    for (size_t i = 0; json_len(all) > 1 && i < json_len(all); i++) {
        const struct json *k = json_at(all, i), *l = json_get(k, "latency_ms");
        label(out, i ? "" : "by request");
        plain_add(out, json_get_text(k, "name"), "");
        strbuf_addf(out, ": %.0f requests, %.0f failed, p50 ", number(k, "requests"), number(k, "failed"));
        add_number(out, number(l, "p50"), " ms, p99 ");
        add_number(out, number(l, "p99"), " ms\n");
    }
}

static void add_generator(struct strbuf *out, const struct json *report)
{
    const struct json *pacing = json_get(report, "pacing"), *lag = json_get(pacing, "lag_ms");
    char rss[32];

    if (lag && number(lag, "count") > 0) {
        label(out, "lag ms");
        strbuf_adds(out, "p50 ");
        add_number(out, number(lag, "p50"), "  p99 ");
        add_number(out, number(lag, "p99"), "  max ");
        add_number(out, number(lag, "max"), "");
        strbuf_addf(out, "; %.1f %% of the sends within 20 us of the one before\n",
                    number(pacing, "bunched_share") * 100);
    }
    label(out, "generator");
    double processes = number(report, "processes"), asked = number(report, "processes_asked");
    strbuf_addf(out, "%s transport, %.0f process%s", json_get_text(report, "transport"), processes,
                processes > 1 ? "es" : "");
    if (asked > processes)
        strbuf_addf(out, " (%.0f were asked for; there are only so many virtual users)", asked);
    strbuf_addf(out, ", %.2f s of CPU, %s\n", number(report, "cpu_seconds"),
                size_human(number(report, "max_rss_bytes"), rss));
    const struct json *stall = json_get(pacing, "stall_ms");
    if (number(stall, "max") >= STALL_TOLD_MS) {
        label(out, "stood still");
        strbuf_adds(out, "at most ");
        add_time(out, number(stall, "max"));
        strbuf_addf(out, ", %.3g %% of a phase\n", number(stall, "share") * 100);
    }
    if (number(report, "backoffs") > 0) {
        label(out, "back-offs");
        strbuf_addf(out, "%.0f waits of virtual users that got no connection, ", number(report, "backoffs"));
        add_time(out, number(report, "backoff_ms"));
        strbuf_adds(out, " in all\n");
    }
    label(out, "kept up");
    strbuf_adds(out, json_get_bool(report, "kept_up") ? "yes" : "NO: ");
    plain_add(out, json_get_bool(report, "kept_up") ? "" : json_get_text(report, "kept_up_reason"), "");
    strbuf_addc(out, '\n');
    if (json_get_bool(report, "interrupted"))
        strbuf_adds(out, "interrupted before its end\n");
}

/* How the load was made, and from when latencies count. */
static void add_model(struct strbuf *out, const struct json *report)
{
    static const char *const all[][2] = {
        {"open", "open: latency counts from the planned moment, waits for the generator included"},
        {"closed", "closed: a slow server is asked less often; latency is not corrected for that"},
        {"mixed", "open and closed phases: their latencies mean different things"},
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (!text_equal(json_get_text(report, "model"), all[i][0]))
            continue;
        label(out, "model");
        strbuf_addf(out, "%s\n", all[i][1]);
    }
}

/* What arrivals at a steady pace would have seen of the closed phases. */
static void add_corrected(struct strbuf *out, const struct json *report)
{
    const struct json *corrected = json_get(report, "latency_ms_corrected");
    double raw = number(json_get(report, "latency_ms"), "p99"), p99 = number(corrected, "p99");

    if (!(number(json_get(report, "latency_ms"), "count") >= CORRECTED_MIN))
        return;
    add_latencies(out, "corrected ms", corrected);
    if (text_equal(json_get_text(report, "model"), "closed") && p99 > CORRECTED_RATIO * raw) {
        label(out, "");
        strbuf_addf(out, "p99 corrected is %.1f times the raw one: trust neither, measure with --rate\n",
                    p99 / raw);
    }
}

void load_print(const struct json *report, struct strbuf *out)
{
    char received[32];

    label(out, "target");
    plain_add(out, json_get_text(report, "target"), "");
    strbuf_addc(out, '\n');
    add_model(out, report);
    add_phases(out, report);
    label(out, "requests");
    strbuf_addf(out, "%.0f in ", number(report, "requests"));
    add_time(out, number(report, "measured_ms"));
    if (number(report, "drain_ms") >= DRAIN_TOLD_MS) {
        strbuf_adds(out, ", ");
        add_time(out, number(report, "drain_ms"));
        strbuf_adds(out, " of it after the last planned request, until the last answer");
    }
    strbuf_adds(out, ": ");
    add_number(out, number(report, "rps"), " per second, goodput ");
    add_number(out, number(report, "goodput_rps"), ", ");
    strbuf_addf(out, "%.0f failed (%.3g %%), %s received\n", number(report, "failed"),
                number(report, "requests") > 0 ? number(report, "error_rate") * 100 : 0,
                size_human(number(report, "received_bytes"), received));
    label(out, "errors");
    add_counts(out, json_get(report, "errors"));
    add_examples(out, report);
    label(out, "status");
    add_counts(out, json_get(report, "status"));
    add_latencies(out, "latency ms", json_get(report, "latency_ms"));
    add_latencies(out, "service ms", json_get(report, "service_ms"));
    add_corrected(out, report);
    add_requests(out, report);
    add_generator(out, report);
}
