/* SPDX-License-Identifier: MIT */
/* What people call the columns of their tables, and in which units they write them. */
#include "audit_internal.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

/* In the order of enum audit_field. Names without their unit, words joined by '_'. */
const struct audit_name audit_names[] = {
    {"users", "vus users virtual_users concurrency connections clients", ""},
    {"think", "think think_time pause sleep delay wait", "time"},
    {"rps",
     "rps req_s reqs_s requests_s req_per_s requests_per_s req_sec requests_sec requests_per_second "
     "req_per_sec throughput goodput ok_s tps qps",
     ""},
    {"requests", "requests total_requests calls total_calls http_reqs iterations", ""},
    {"duration", "duration test_duration wall_time measured_for", "time"},
    {"offered", "offered offered_rate offered_rps offered_s target target_rps target_rate arrival_rate", ""},
    {"floor", "floor latency_floor idle_latency upstream upstream_latency", "time"},
    {"mean", "mean avg average latency mean_latency avg_latency average_latency latency_mean latency_avg",
     "time"},
    {"min", "min minimum latency_min min_latency", "time"},
    {"p50", "p50 median med latency_p50 p50_latency median_latency latency_median", "time"},
    {"p75", "p75 latency_p75 p75_latency", "time"},
    {"p90", "p90 latency_p90 p90_latency", "time"},
    {"p95", "p95 latency_p95 p95_latency", "time"},
    {"p99", "p99 latency_p99 p99_latency", "time"},
    {"p99.9", "p99_9 p999 latency_p99_9 latency_p999", "time"},
    {"max", "max maximum latency_max max_latency", "time"},
    {"ok", "ok success successes success_rate successful succeeded", "count or %"},
    {"failed", "failed failures failure_rate errors error_rate fail failing", "count or %"},
    {"n", "n trials starts runs repeats repetitions", ""},
    {"cv", "cv variation coefficient_of_variation", "%"},
    {"values", "values rps_values req_s_values", "numbers"},
    {"cpu", "cpu cpu_usage cpu_peak cpu_max", "cores or %"},
    {"memory", "rss rss_avg rss_peak memory_usage memory_used memory_peak used_memory", "any"},
    {"gc pauses", "gc_pauses gc_count gc_pause_count collections", ""},
    {"gc pause", "gc_pause gc_pause_mean gc_pause_avg gc_avg gc_mean", "time"},
    {"restarts", "restarts restart_count crashes", "count or yes"},
    {"oom kills", "oom_kills oom ooms", "count or yes"},
};
const size_t audit_name_count = ARRAY_LEN(audit_names);
_Static_assert(ARRAY_LEN(audit_names) == FIELDS, "a name for each field");

static const struct audit_unit units[] = {
    {"ns", 1e-6, NAN, false},   {"us", 1e-3, NAN, false},      {"µs", 1e-3, NAN, false},
    {"ms", 1, NAN, false},      {"s", 1e3, NAN, false},        {"sec", 1e3, NAN, false},
    {"secs", 1e3, NAN, false},  {"second", 1e3, NAN, false},   {"seconds", 1e3, NAN, false},
    {"min", 60e3, NAN, false},  {"minutes", 60e3, NAN, false}, {"h", 3600e3, NAN, false},
    {"%", NAN, NAN, true},      {"pct", NAN, NAN, true},       {"percent", NAN, NAN, true},
    {"cores", NAN, NAN, false}, {"core", NAN, NAN, false},     {"bytes", NAN, 1, false},
    {"kb", NAN, 1e3, false},    {"kib", NAN, 0x1p10, false},   {"mb", NAN, 1e6, false},
    {"mo", NAN, 1e6, false},    {"mib", NAN, 0x1p20, false},   {"gb", NAN, 1e9, false},
    {"go", NAN, 1e9, false},    {"gib", NAN, 0x1p30, false},
};

const struct audit_unit *audit_unit_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcasecmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

bool audit_is_time(enum audit_field f)
{
    return f < FIELDS && strcmp(audit_names[f].unit, "time") == 0;
}

/* --- names --- */

enum { NAME_MAX_BYTES = 128 };

/* "Requests / s" as "requests_s", "CPU (%)" as "cpu_pct". */
static void plain_name(const char *name, char *ret)
{
    size_t len = 0;
    bool gap = false;

    for (const char *p = name; *p && len + 8 < NAME_MAX_BYTES; p++) {
        if (*p == '%') {
            len += (size_t)snprintf(ret + len, 8, "%spct", len ? "_" : "");
            gap = true;
        } else if (isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80) {
            if (gap && len)
                ret[len++] = '_';
            ret[len++] = (char)tolower((unsigned char)*p);
            gap = false;
        } else {
            gap = true;
        }
    }
    ret[len] = '\0';
}

static bool listed(const char *aliases, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = aliases; (p = strstr(p, name)); p += len)
        if ((p == aliases || p[-1] == ' ') && (p[len] == ' ' || !p[len]))
            return true;
    return false;
}

static enum audit_field field_of(const char *name)
{
    if (!*name)
        return FIELD_METRIC;
    for (size_t i = 0; i < FIELDS; i++)
        if (listed(audit_names[i].aliases, name))
            return (enum audit_field)i;
    return FIELD_METRIC;
}

double audit_scale(enum audit_field f, const struct audit_unit *u)
{
    if (audit_is_time(f))
        return u ? u->ms / (f == FIELD_DURATION ? 1e3 : 1) : NAN;
    return f == FIELD_MEMORY && u && u->bytes > 0 ? u->bytes : 1;
}

bool audit_unit_fits(enum audit_field f, const struct audit_unit *u)
{
    if (audit_is_time(f))
        return !isnan(u->ms);
    if (u->percent)
        return f == FIELD_OK || f == FIELD_FAILED || f == FIELD_CPU || f == FIELD_CV;
    return isnan(u->ms) && (f == FIELD_MEMORY || (f == FIELD_CPU && isnan(u->bytes)));
}

struct audit_meaning audit_meaning_of(const char *name)
{
    char plain[NAME_MAX_BYTES];
    struct audit_meaning m = {.field = FIELD_METRIC, .scale = 1};

    plain_name(name, plain);
    m.field = field_of(plain);
    m.share = m.field == FIELD_CV;
    if (m.field != FIELD_METRIC) {
        m.scale = audit_scale(m.field, NULL);
        return m;
    }
    char *last = strrchr(plain, '_');
    const struct audit_unit *u = last ? audit_unit_find(last + 1) : NULL;
    if (!u)
        return m;
    *last = '\0';
    enum audit_field f = field_of(plain);
    if (f != FIELD_METRIC && audit_unit_fits(f, u))
        m = (struct audit_meaning){f, audit_scale(f, u), u->percent || f == FIELD_CV};
    return m;
}
