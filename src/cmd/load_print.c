/* SPDX-License-Identifier: MIT */
#include "load_print.h"

#include <inttypes.h>
#include <math.h>
#include "benchctl/base/plain_text.h"
#include "benchctl/base/units.h"

void load_line_open(struct load_line *l, bool quiet)
{
    const char *term = getenv("TERM");

    *l = (struct load_line){.live = !quiet && isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0};
}

void load_line_draw(const struct generator_second *s, void *data)
{
    struct load_line *l = data;
    char quantiles[64] = "";

    if (!l->live)
        return;
    if (!isnan(s->p50_ms))
        (void)snprintf(quantiles, sizeof(quantiles), "  p50 %.3g ms  p99 %.3g ms", s->p50_ms, s->p99_ms);
    (void)fprintf(stderr,
                  "\r\033[K%.0f of %.0f s  %" PRId64 " VUs  %.0f ok/s  %.0f failed/s  %.0f dropped/s%s",
                  s->at_s, s->planned_s, s->vus, s->ok, s->failed, s->dropped, quantiles);
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

    if (json_type_of(l) != JSON_TYPE_OBJECT || !(number(l, "count") > 0))
        return;
    label(out, name);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        strbuf_addf(out, "%s%s ", i ? "  " : "", keys[i]);
        add_number(out, number(l, keys[i]), "");
    }
    strbuf_addc(out, '\n');
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
        add_number(out, number(p, "duration_ms") / 1e3, " s, ");
        strbuf_addf(out, "%.0f requests, %.0f failed, %.0f dropped, %.0f aborted", number(p, "requests"),
                    number(p, "failed"), number(p, "dropped"), number(p, "aborted"));
        if (rates)
            strbuf_addf(out, "; per second offered %.1f, started %.1f, completed %.1f, good %.1f",
                        number(rates, "offered"), number(rates, "started"), number(rates, "completed"),
                        number(rates, "delivered"));
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
    strbuf_addf(out, "%s transport, %.0f process%s, %.2f s of CPU, %s\n", json_get_text(report, "transport"),
                number(report, "processes"), number(report, "processes") > 1 ? "es" : "",
                number(report, "cpu_seconds"), size_human(number(report, "max_rss_bytes"), rss));
    label(out, "kept up");
    strbuf_adds(out, json_get_bool(report, "kept_up") ? "yes" : "NO: ");
    plain_add(out, json_get_bool(report, "kept_up") ? "" : json_get_text(report, "kept_up_reason"), "");
    strbuf_addc(out, '\n');
    if (json_get_bool(report, "interrupted"))
        strbuf_adds(out, "interrupted before its end\n");
}

void load_print(const struct json *report, struct strbuf *out)
{
    char received[32];

    label(out, "target");
    plain_add(out, json_get_text(report, "target"), "");
    strbuf_addc(out, '\n');
    add_phases(out, report);
    label(out, "requests");
    strbuf_addf(out, "%.0f in ", number(report, "requests"));
    add_number(out, number(report, "measured_ms") / 1e3, " s: ");
    add_number(out, number(report, "rps"), " per second, ");
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
    add_latencies(out, "corrected ms", json_get(report, "latency_ms_corrected"));
    add_requests(out, report);
    add_generator(out, report);
}
