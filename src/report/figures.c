/* SPDX-License-Identifier: MIT */
#include "report_internal.h"

#include <math.h>
#include <stdio.h>
#include "benchctl/base/units.h"

static void format_count(double v, char *buf)
{
    (void)snprintf(buf, 32, "%.0f", v);
}

/* Three digits that mean something, without exponents. */
static void format_digits(double v, char *buf)
{
    int decimals = fabs(v) >= 100 ? 0 : fabs(v) >= 10 ? 1 : fabs(v) >= 1 ? 2 : 3;

    (void)snprintf(buf, 32, "%.*f", decimals, v);
}

static void format_percent(double v, char *buf)
{
    (void)snprintf(buf, 32,
                   v == 0       ? "0%%"
                   : v < 0.0001 ? "<0.01%%"
                   : v < 0.01   ? "%.2f%%"
                                : "%.1f%%",
                   100 * v);
}

static void format_bytes(double v, char *buf)
{
    (void)size_human(v, buf);
}

static void format_ms(double v, char *buf)
{
    (void)duration_human((int64_t)(v * 1e6), buf);
}

static void format_share(double v, char *buf)
{
    (void)snprintf(buf, 32, v >= 99.95 ? "100%%" : "%.1f%%", v);
}

const struct figure_kind figure_kinds[FIGURES] = {
    [FIGURE_GOODPUT] = {"load.goodput_rps", "ok/s", "Successful requests per second", true, true,
                        format_digits},
    [FIGURE_ERRORS] = {"load.error_rate", "errors", "Failed requests", true, false, format_percent},
    [FIGURE_P50] = {"load.latency_ms.p50", "p50 ms", "Median latency, ms", true, true, format_digits},
    [FIGURE_P90] = {"load.latency_ms.p90", "p90 ms", NULL, false, true, format_digits},
    [FIGURE_P95] = {"load.latency_ms.p95", "p95 ms", NULL, false, true, format_digits},
    [FIGURE_P99] = {"load.latency_ms.p99", "p99 ms", "99th percentile of latency, ms", true, true,
                    format_digits},
    [FIGURE_MEMORY] = {"app.memory_bytes.used_peak", "memory peak", "Peak of used memory", true, true,
                       format_bytes},
    [FIGURE_ANON] = {"app.memory_bytes.anon_peak", "anon peak", NULL, false, true, format_bytes},
    [FIGURE_CPU] = {"app.cpu_cores.avg", "CPU cores", "CPU, cores on average", true, true, format_digits},
    [FIGURE_READY] = {"ready_ms", "ready", "Time to readiness", true, true, format_ms},
    [FIGURE_STARTUP] = {"startup_ms", "startup", "Time to the startup line", true, true, format_ms},
    [FIGURE_RESTARTS] = {"app.restarts", "restarts", "Restarts", true, false, format_count},
    [FIGURE_OOM] = {"app.oom_kills", "OOM kills", "OOM kills", true, false, format_count},
    [FIGURE_UPTIME] = {"app.uptime_pct", "uptime", NULL, false, false, format_share},
    [FIGURE_RPS] = {"load.rps", "generator's req/s", NULL, false, true, format_digits},
};

double figure_of(enum figure f, const struct trial *t)
{
    const struct load_result *l = &t->load;

    switch (f) {
    case FIGURE_GOODPUT:
        return l->goodput_rps;
    case FIGURE_ERRORS:
        return l->error_rate;
    case FIGURE_P50:
        return l->latency_ms.p50;
    case FIGURE_P90:
        return l->latency_ms.p90;
    case FIGURE_P95:
        return l->latency_ms.p95;
    case FIGURE_P99:
        return l->latency_ms.p99;
    case FIGURE_MEMORY:
        return t->app.memory_bytes.used_peak;
    case FIGURE_ANON:
        return t->app.memory_bytes.anon_peak;
    case FIGURE_CPU:
        return t->app.cpu_cores.avg;
    case FIGURE_READY:
        return t->ready_ms;
    case FIGURE_STARTUP:
        return t->startup_ms;
    case FIGURE_RESTARTS:
        return t->app.restarts;
    case FIGURE_OOM:
        return t->app.oom_kills;
    case FIGURE_UPTIME:
        return t->app.uptime_pct;
    case FIGURE_RPS:
        return l->rps;
    case FIGURES:
        break;
    }
    return NAN;
}
