/* SPDX-License-Identifier: MIT */
/* The figures that every sweep may have, where their values are, and how values are written. */
#include "report_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/units.h"

/* CPU time of the application for one request: tells systems apart whose throughput the load decides. */
static double cpu_per_request(const struct trial *t)
{
    return t->load.requests > 0 ? t->app.cpu_cores.total_ms / t->load.requests : (double)NAN;
}

/* A generator that ran as a process: one in a container is a role among the services. */
static double generator_cores(const struct trial *t)
{
    return t->load.window_ms > 0 ? t->load.cpu_ms / t->load.window_ms : (double)NAN;
}

#define AT(member) .offset = offsetof(struct trial, member)

const struct figure builtin_figures[] = {
    [FIGURE_GOODPUT] = {"load.goodput_rps", "ok/s", "", "Successful requests per second", UNIT_NUMBER,
                        TABLE_MAIN, AT(load.goodput_rps)},
    [FIGURE_OFFERED] = {"load.offered_rps", "offered/s", "",
                        "Requests per second that the schedule asked for", UNIT_NUMBER, TABLE_MAIN,
                        .source = SOURCE_OFFERED},
    [FIGURE_ERRORS] = {"load.error_rate", "errors", "", "Failed requests", UNIT_RATE, TABLE_MAIN,
                       AT(load.error_rate)},
    {"load.requests", "requests", "", "Requests", UNIT_COUNT, TABLE_LATENCY, AT(load.requests)},
    {"load.rps", "generator's", "req/s", "Requests per second, as the generator says", UNIT_NUMBER,
     TABLE_LATENCY, AT(load.rps)},
    {"load.dropped", "dropped", "", "Requests that could not be started", UNIT_COUNT, TABLE_LATENCY,
     SHOW_NONZERO, AT(load.dropped)},
    {"load.latency_ms.mean", "mean", "ms", "Mean latency", UNIT_NUMBER, TABLE_LATENCY,
     AT(load.latency_ms.mean)},
    [FIGURE_P50] = {"load.latency_ms.p50", "p50", "ms", "Median latency", UNIT_NUMBER,
                    TABLE_MAIN | TABLE_LATENCY, AT(load.latency_ms.p50)},
    {"load.latency_ms.p75", "p75", "ms", "75th percentile of latency", UNIT_NUMBER, 0,
     AT(load.latency_ms.p75)},
    {"load.latency_ms.p90", "p90", "ms", "90th percentile of latency", UNIT_NUMBER, TABLE_LATENCY,
     AT(load.latency_ms.p90)},
    {"load.latency_ms.p95", "p95", "ms", "95th percentile of latency", UNIT_NUMBER, TABLE_LATENCY,
     AT(load.latency_ms.p95)},
    [FIGURE_P99] = {"load.latency_ms.p99", "p99", "ms", "99th percentile of latency", UNIT_NUMBER,
                    TABLE_MAIN | TABLE_LATENCY, AT(load.latency_ms.p99)},
    {"load.latency_ms.p999", "p99.9", "ms", "99.9th percentile of latency", UNIT_NUMBER, TABLE_LATENCY,
     AT(load.latency_ms.p999)},
    {"load.latency_ms.max", "max", "ms", "Highest latency", UNIT_NUMBER, TABLE_LATENCY,
     AT(load.latency_ms.max)},
    [FIGURE_MEMORY] = {"app.memory_bytes.used_peak", "memory", "MiB", "Peak of used memory", UNIT_MIB,
                       TABLE_MAIN | TABLE_APP, AT(app.memory_bytes.used_peak)},
    {"app.memory_bytes.used_avg", "used avg", "MiB", "Used memory, average", UNIT_MIB, TABLE_APP,
     AT(app.memory_bytes.used_avg)},
    {"app.memory_bytes.anon_peak", "anon peak", "MiB", "Peak of anonymous memory", UNIT_MIB, TABLE_APP,
     AT(app.memory_bytes.anon_peak)},
    {"app.memory_bytes.anon_avg", "anon avg", "MiB", "Anonymous memory, average", UNIT_MIB, TABLE_APP,
     AT(app.memory_bytes.anon_avg)},
    {"app.memory_bytes.peak", "peak with cache", "MiB", "Peak of memory, page cache included", UNIT_MIB,
     TABLE_APP, AT(app.memory_bytes.peak)},
    {"app.memory_bytes.limit", "limit", "MiB", "Memory limit", UNIT_MIB, TABLE_APP,
     AT(app.memory_bytes.limit)},
    [FIGURE_CPU] = {"app.cpu_cores.avg", "CPU", "cores", "Average CPU", UNIT_NUMBER, TABLE_MAIN | TABLE_APP,
                    AT(app.cpu_cores.avg)},
    {"app.cpu_cores.peak", "CPU peak", "cores", "CPU of the busiest second", UNIT_NUMBER, TABLE_APP,
     AT(app.cpu_cores.peak)},
    {"cpu_ms_per_request", "CPU/request", "ms", "CPU time per request", UNIT_NUMBER, TABLE_APP,
     .source = SOURCE_DERIVED, .derive = cpu_per_request},
    {"app.cpu_throttled_ms", "throttled", "ms", "Time held back by the CPU limit", UNIT_NUMBER, TABLE_APP,
     SHOW_NONZERO, AT(app.cpu_throttled_ms)},
    {"app.pids_peak", "pids", "", "Most processes and threads", UNIT_COUNT, TABLE_APP, AT(app.pids_peak)},
    [FIGURE_RESTARTS] = {"app.restarts", "restarts", "", "Restarts", UNIT_COUNT, TABLE_MAIN | TABLE_FAILURES,
                         .finding = true, AT(app.restarts)},
    [FIGURE_OOM] = {"app.oom_kills", "OOM", "kills", "OOM kills", UNIT_COUNT, TABLE_MAIN | TABLE_FAILURES,
                    .finding = true, AT(app.oom_kills)},
    [FIGURE_UPTIME] = {"app.uptime_pct", "uptime", "", "Uptime during the load", UNIT_PERCENT,
                       TABLE_FAILURES | TABLE_APP, SHOW_BELOW_100, .finding = true, .low_is_bad = true,
                       AT(app.uptime_pct)},
    [FIGURE_TO_FAILURE] = {"app.time_to_failure_ms", "failed after", "s", "Time to the first failure",
                           UNIT_SECONDS, TABLE_FAILURES, .finding = true, .low_is_bad = true,
                           AT(app.time_to_failure_ms)},
    [FIGURE_SILENT] = {"app.unresponsive_ms", "silent", "s", "Time without an answer", UNIT_SECONDS,
                       TABLE_FAILURES, SHOW_NONZERO, .finding = true, AT(app.unresponsive_ms)},
    [FIGURE_DOWN] = {"app.down_ms", "down", "s", "Time down during the load", UNIT_SECONDS, TABLE_FAILURES,
                     SHOW_NONZERO, .finding = true, AT(app.down_ms)},
    {"ready_ms", "ready", "ms", "Time to readiness", UNIT_NUMBER, TABLE_MAIN, AT(ready_ms)},
    {"startup_ms", "startup", "ms", "Time to the startup line", UNIT_NUMBER, TABLE_MAIN, AT(startup_ms)},
    {"generator_cpu_cores", "generator CPU", "cores", "CPU of the load generator", UNIT_NUMBER,
     TABLE_SERVICES, .source = SOURCE_DERIVED, .derive = generator_cores},
    {"host.cpu_busy", "host CPU", "cores", "Busy cores of the host", UNIT_NUMBER, TABLE_SERVICES,
     AT(host.cpu_busy)},
    {"database.commits", "commits", "", "Commits", UNIT_COUNT, TABLE_DATABASE, AT(database.commits)},
    {"database.rollbacks", "rollbacks", "", "Rollbacks", UNIT_COUNT, TABLE_DATABASE, AT(database.rollbacks)},
    {"database.deadlocks", "deadlocks", "", "Deadlocks", UNIT_COUNT, TABLE_DATABASE, AT(database.deadlocks)},
    {"database.temp_bytes", "temporary files", "MiB", "Temporary files", UNIT_MIB, TABLE_DATABASE,
     SHOW_NONZERO, AT(database.temp_bytes)},
    {"database.size_bytes", "size", "MiB", "Size of the database", UNIT_MIB, TABLE_DATABASE,
     AT(database.size_bytes)},
    {"database.checkpoints", "checkpoints", "", "Checkpoints during the load", UNIT_COUNT, TABLE_DATABASE,
     SHOW_NONZERO, AT(database.checkpoints)},
    {"database.autovacuum_runs", "autovacuum", "runs", "Autovacuum during the load", UNIT_COUNT,
     TABLE_DATABASE, SHOW_NONZERO, AT(database.autovacuum_runs)},
    {"database.reset_ms", "reset", "ms", "Time to reset the database", UNIT_NUMBER, TABLE_DATABASE,
     AT(database.reset_ms)},
    {"load.offered", "offered", "", "Requests that the schedule asked for", UNIT_COUNT, TABLE_LATENCY,
     SHOW_NONZERO, AT(load.offered)},
    {"load.service_ms.p99", "service p99", "ms", "99th percentile of latency from the moment of sending",
     UNIT_NUMBER, TABLE_LATENCY, AT(load.service_ms.p99)},
    {"load.connections", "connections", "", "Connections opened by the generator", UNIT_COUNT, TABLE_LATENCY,
     AT(load.connections)},
};
const size_t builtin_figure_count = ARRAY_LEN(builtin_figures);

/* --- values --- */

static double number_at(const void *base, size_t offset)
{
    double value;

    memcpy(&value, (const char *)base + offset, sizeof(value));
    return value;
}

static double check_value(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->check_count; i++) {
        const char *text = t->checks[i].value;
        double value;
        if (!text_equal(t->checks[i].name, name) || !text)
            continue;
        return *text && number_scan(text, strlen(text), &value) == strlen(text) ? value : (double)NAN;
    }
    return NAN;
}

/* A step that failed took no time that could be compared; what it told was told. */
static double build_value(const struct build_result *b, const char *step, const char *count)
{
    for (size_t i = 0; i < b->step_count; i++) {
        const struct build_step *s = &b->steps[i];
        if (!text_equal(s->name, step) || isnan(s->exit_code))
            continue;
        if (!count)
            return s->exit_code == 0 ? s->duration_ms : (double)NAN;
        for (size_t k = 0; k < s->count_count; k++)
            if (text_equal(s->counts[k].name, count))
                return s->counts[k].value;
    }
    return NAN;
}

double figure_value(const struct figure *f, const struct trial *t)
{
    switch (f->source) {
    case SOURCE_TRIAL:
        return number_at(t, f->offset);
    case SOURCE_DERIVED:
        return f->derive(t);
    case SOURCE_SERVICE:
        for (size_t i = 0; i < t->service_count; i++)
            if (text_equal(t->services[i].role, f->of))
                return number_at(&t->services[i], f->offset);
        return NAN;
    case SOURCE_METRIC:
        for (size_t i = 0; i < t->metric_count; i++)
            if (text_equal(t->metrics[i].name, f->of))
                return number_at(&t->metrics[i], f->offset);
        return NAN;
    case SOURCE_CHECK:
        return check_value(t, f->of);
    case SOURCE_BUILD:
        return build_value(&t->build, f->of, f->path);
    case SOURCE_NAMED: /* report_summaries() reads these from JSON, one conversion for all */
    case SOURCE_PHASE:
    case SOURCE_REQUEST:
    case SOURCE_OFFERED: /* part_values() */
        break;
    }
    return NAN;
}

/* --- units --- */

/* "_ms" at the end of a part of the name, as in "load.latency_ms.p50". */
static bool has_unit(const char *key, const char *unit)
{
    size_t len = strlen(unit);

    for (const char *at = strstr(key, unit); at; at = strstr(at + 1, unit))
        if (!at[len] || at[len] == '.')
            return true;
    return false;
}

enum unit unit_of_name(const char *key, const char **ret_measure)
{
    *ret_measure = "";
    if (has_unit(key, "_bytes")) {
        *ret_measure = "MiB";
        return UNIT_MIB;
    }
    if (has_unit(key, "_ms"))
        *ret_measure = "ms";
    else if (has_unit(key, "_cores"))
        *ret_measure = "cores";
    else if (has_unit(key, "_seconds"))
        *ret_measure = "s";
    else if (text_ends(key, "error_rate"))
        return UNIT_RATE;
    else if (text_ends(key, "_pct"))
        return UNIT_PERCENT;
    return UNIT_NUMBER;
}

/* Three digits that mean something, without exponents. */
static void format_number(double v, char *buf)
{
    double size = fabs(v);

    if (size > 0 && size < 0.0005)
        (void)snprintf(buf, 32, v < 0 ? ">-0.001" : "<0.001");
    else
        (void)snprintf(buf, 32, "%.*f",
                       size >= 99.95 || size == 0 ? 0
                       : size >= 9.995            ? 1
                       : size >= 0.9995           ? 2
                                                  : 3,
                       v);
}

static void format_percent(double percent, char *buf)
{
    if (percent > 0 && percent < 0.005)
        (void)snprintf(buf, 32, "<0.01%%");
    else if (percent > 99.95 && percent < 100)
        (void)snprintf(buf, 32, ">99.9%%");
    else
        (void)snprintf(buf, 32, "%.*f%%",
                       percent == 0 || percent == 100 ? 0
                       : percent < 0.995              ? 2
                                                      : 1,
                       percent);
}

/* Numbers of hostile size: 30 characters hold what is worth reading. */
static bool format_extreme(double v, char *buf)
{
    if (isnan(v))
        memcpy(buf, NOT_MEASURED, sizeof(NOT_MEASURED));
    else if (isinf(v))
        memcpy(buf, "unlimited", sizeof("unlimited"));
    else if (fabs(v) >= 1e15)
        (void)snprintf(buf, 32, "%.3g", v);
    else
        return false;
    return true;
}

void figure_format(const struct figure *f, double value, char *buf)
{
    if (format_extreme(value, buf))
        return;
    switch (f->unit) {
    case UNIT_COUNT:
        if (value == floor(value))
            (void)snprintf(buf, 32, "%.0f", value + 0.0); /* no "-0" */
        else
            format_number(value, buf);
        break;
    case UNIT_RATE:
        format_percent(100 * value, buf);
        break;
    case UNIT_PERCENT:
        format_percent(value, buf);
        break;
    case UNIT_MIB:
        format_number(value / 1048576, buf);
        break;
    case UNIT_SECONDS:
        format_number(value / 1e3, buf);
        break;
    case UNIT_NUMBER:
        format_number(value, buf);
        break;
    }
}

/* --- figures of cells as text --- */

/* A percentage tells the spread of sizes that are much alike; rates, counts around zero and values that have
 * little to do with each other are told by the lowest and the highest. */
#define PERCENT_MAX 50

static bool spread_in_percent(const struct figure *f, const struct summary *s)
{
    return f->unit != UNIT_RATE && f->unit != UNIT_PERCENT && s->min > 0 && s->cv_pct < PERCENT_MAX;
}

static const char *with_spread(struct report *r, const struct figure *f, const struct summary *s)
{
    char text[32], low[32], high[32];

    figure_format(f, s->median, text);
    figure_format(f, s->min, low);
    figure_format(f, s->max, high);
    if (f->finding)
        return s->min == s->max ? arena_strdup(r->arena, text) : arena_printf(r->arena, "%s–%s", low, high);
    if (s->n < 2)
        return arena_strdup(r->arena, text);
    if (!spread_in_percent(f, s))
        return strcmp(low, high) == 0 ? arena_strdup(r->arena, text)
                                      : arena_printf(r->arena, "%s (%s–%s)", text, low, high);
    return arena_printf(r->arena, "%s ±%.*f%%", text, s->cv_pct >= 0.05 && s->cv_pct < 0.95 ? 1 : 0,
                        s->cv_pct);
}

const char *figure_text(struct report *r, const struct cell *c, size_t figure)
{
    const struct figure *f = &r->figures.items[figure];
    const struct summary *s = &c->figures[figure];

    if (!s->n)
        return NOT_MEASURED;
    const char *text = with_spread(r, f, s);
    if (f->finding || s->n >= c->counted)
        return text;
    return arena_printf(r->arena, "%s (n %zu)", text, s->n);
}

const char *figure_range(struct report *r, const struct cell *c, size_t figure)
{
    const struct figure *f = &r->figures.items[figure];
    const struct summary *s = &c->figures[figure];
    char low[32], high[32];

    if (s->n < 2 || f->finding || !spread_in_percent(f, s))
        return NULL; /* the text says it already */
    figure_format(f, s->min, low);
    figure_format(f, s->max, high);
    return strcmp(low, high) == 0 ? NULL : arena_printf(r->arena, "%s–%s", low, high);
}

enum tone figure_tone(const struct cell *c, size_t figure)
{
    const struct summary *s = &c->figures[figure];

    if (!s->n)
        return TONE_FAINT;
    if (figure >= FIGURE_RESTARTS && figure <= FIGURE_DOWN)
        return figure == FIGURE_UPTIME ? (s->min < 100 ? TONE_BAD : TONE_PLAIN)
               : s->max > 0            ? TONE_BAD
                                       : TONE_PLAIN;
    if (figure == FIGURE_ERRORS && s->max > 0.01)
        return TONE_WARN;
    return c->contaminated ? TONE_WARN : TONE_PLAIN;
}
