/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <math.h>
#include "benchctl/base/clock.h"

/* A CPU peak is the busiest second, so that ten samples a second and one a second mean the same. */
#define PEAK_SPAN_NS (0.95 * (double)NS_PER_S)
#define PEAK_SPAN_LEAST_NS (0.2 * (double)NS_PER_S) /* what a life shorter than that may still show */

/* A process that is killed gives its memory back before it is gone: what it had is what it had shortly
 * before. */
#define RECENT_NS (NS_PER_S / 2)
#define RECENT_MAX 16 /* samples */

struct recent {
    int64_t at_ns;
    double usage_bytes;
};

/* A level: its average over time, and its highest sample. */
struct level {
    double area, span_ns;
    double sum, count; /* for when there is only one sample to an interval */
    double max;
};

struct resource_series {
    char *role;
    int64_t begin_ns;
    struct resource_sample last;
    bool has_last;    /* `last` is there */
    bool continues;   /* and the next sample belongs to the same process */
    bool counts_anew; /* the next sample's counters began at zero inside the window */
    struct level used, anon, file, shmem, swap, usage, pids;
    double limit_bytes, kernel_peak,
        peak_before; /* peak_before: a mark that may stem from before the window */
    double cores;
    double core_ns, core_span_ns, bucket_core_ns, bucket_ns, cores_peak, cores_peak_short;
    double cpu_ns, throttled_ns, periods, throttled_periods, rx_bytes, tx_bytes;
    double oom_kills_ended, oom_kills_now, restarts, samples;
    struct recent recent[RECENT_MAX]; /* a ring */
    size_t recent_count;
};

static void level_clear(struct level *l)
{
    *l = (struct level){.max = NAN};
}

static void level_add(struct level *l, double value)
{
    if (isnan(value))
        return;
    l->sum += value;
    l->count++;
    l->max = fmax(l->max, value);
}

static void level_add_interval(struct level *l, double before, double now, double span_ns)
{
    if (isnan(before) || isnan(now))
        return;
    l->area += (before + now) / 2 * span_ns;
    l->span_ns += span_ns;
}

static double level_average(const struct level *l)
{
    if (l->span_ns > 0)
        return l->area / l->span_ns;
    return l->count > 0 ? l->sum / l->count : (double)NAN;
}

static void series_clear(struct resource_series *s)
{
    level_clear(&s->used);
    level_clear(&s->anon);
    level_clear(&s->file);
    level_clear(&s->shmem);
    level_clear(&s->swap);
    level_clear(&s->usage);
    level_clear(&s->pids);
    s->kernel_peak = s->cores_peak = s->cores_peak_short = NAN;
    s->core_ns = s->core_span_ns = s->bucket_core_ns = s->bucket_ns = 0;
    s->cpu_ns = s->throttled_ns = s->periods = s->throttled_periods = s->rx_bytes = s->tx_bytes = NAN;
    s->samples = 0;
}

struct resource_series *series_new(const char *role)
{
    struct resource_series *s = xcalloc(1, sizeof(*s));

    s->role = xstrdup(role);
    s->begin_ns = INT64_MIN;
    s->cores = s->limit_bytes = s->peak_before = s->oom_kills_ended = s->oom_kills_now = NAN;
    series_clear(s);
    return s;
}

void series_free(struct resource_series *s)
{
    if (!s)
        return;
    free(s->role);
    free(s);
}

const char *series_role(const struct resource_series *s)
{
    return s->role;
}

double series_cpu_ns(const struct resource_series *s)
{
    return s->cpu_ns;
}

double series_cores(const struct resource_series *s)
{
    return s->cores;
}

const struct resource_sample *series_last(const struct resource_series *s)
{
    return s->has_last ? &s->last : NULL;
}

/* Not of what the kernel has just killed in, nor of what nobody runs in any more. */
static void keep_recent(struct resource_series *s, const struct resource_sample *now)
{
    if (!(now->pids == 0) && !(s->continues && now->oom_kills > s->last.oom_kills))
        s->recent[s->recent_count++ % RECENT_MAX] =
            (struct recent){.at_ns = now->at_ns, .usage_bytes = now->usage_bytes};
}

double series_recent_usage(const struct resource_series *s, int64_t since_ns)
{
    size_t n = s->recent_count < RECENT_MAX ? s->recent_count : RECENT_MAX;
    double usage = NAN;

    for (size_t i = 0; i < n; i++) {
        const struct recent *r = &s->recent[i];
        if (r->at_ns >= since_ns &&
            r->at_ns >= s->recent[(s->recent_count - 1) % RECENT_MAX].at_ns - RECENT_NS)
            usage = fmax(usage, r->usage_bytes);
    }
    return usage;
}

/* Sums in which NAN stands for nothing yet. */
static double plus(double total, double more)
{
    if (isnan(more))
        return total;
    return isnan(total) ? more : total + more;
}

double series_oom_kills(const struct resource_series *s)
{
    return plus(s->oom_kills_ended, s->oom_kills_now);
}

/* What a counter grew by; NAN when it went back or is not there. */
static double growth(double before, double now)
{
    return now >= before ? now - before : (double)NAN;
}

static double interval_cores(const struct resource_sample *before, const struct resource_sample *now)
{
    double cpu_ns = growth(before->cpu_ns, now->cpu_ns);
    double span_ns = (double)(now->at_ns - before->at_ns);

    /* The engine's own clock for this is the host's CPU time; where it stood still or went back there is no
     * value. */
    if (!isnan(now->system_cpu_ns) && !isnan(now->cpus)) {
        double system_ns = now->system_cpu_ns - before->system_cpu_ns;
        return system_ns > 0 ? cpu_ns / system_ns * now->cpus : (double)NAN;
    }
    return cpu_ns / span_ns;
}

static void close_bucket(struct resource_series *s)
{
    if (s->bucket_ns >= PEAK_SPAN_NS)
        s->cores_peak = fmax(s->cores_peak, s->bucket_core_ns / s->bucket_ns);
    else if (s->bucket_ns >= PEAK_SPAN_LEAST_NS)
        s->cores_peak_short = fmax(s->cores_peak_short, s->bucket_core_ns / s->bucket_ns);
    s->bucket_core_ns = s->bucket_ns = 0;
}

static void add_cores(struct resource_series *s, double cores, double span_ns)
{
    if (isnan(cores))
        return;
    s->core_ns += cores * span_ns;
    s->core_span_ns += span_ns;
    s->bucket_core_ns += cores * span_ns;
    s->bucket_ns += span_ns;
    if (s->bucket_ns >= PEAK_SPAN_NS)
        close_bucket(s);
}

/* The part of the interval since the last sample that lies in the window. */
static void add_interval(struct resource_series *s, const struct resource_sample *now)
{
    const struct resource_sample *before = &s->last;
    int64_t from_ns = before->at_ns > s->begin_ns ? before->at_ns : s->begin_ns;
    double span_ns = (double)(now->at_ns - from_ns);
    double share = span_ns / (double)(now->at_ns - before->at_ns);

    level_add_interval(&s->used, before->used_bytes, now->used_bytes, span_ns);
    level_add_interval(&s->anon, before->anon_bytes, now->anon_bytes, span_ns);
    level_add_interval(&s->file, before->file_bytes, now->file_bytes, span_ns);
    level_add_interval(&s->shmem, before->shmem_bytes, now->shmem_bytes, span_ns);
    add_cores(s, s->cores, span_ns);
    s->cpu_ns = plus(s->cpu_ns, growth(before->cpu_ns, now->cpu_ns) * share);
    s->throttled_ns = plus(s->throttled_ns, growth(before->throttled_ns, now->throttled_ns) * share);
    s->periods = plus(s->periods, growth(before->nr_periods, now->nr_periods) * share);
    s->throttled_periods =
        plus(s->throttled_periods, growth(before->nr_throttled, now->nr_throttled) * share);
    s->rx_bytes = plus(s->rx_bytes, growth(before->rx_bytes, now->rx_bytes) * share);
    s->tx_bytes = plus(s->tx_bytes, growth(before->tx_bytes, now->tx_bytes) * share);
}

/* A process that began inside the window: what it has counted so far belongs there too. */
static void add_beginning(struct resource_series *s, const struct resource_sample *now)
{
    s->cpu_ns = plus(s->cpu_ns, now->cpu_ns);
    s->throttled_ns = plus(s->throttled_ns, now->throttled_ns);
    s->periods = plus(s->periods, now->nr_periods);
    s->throttled_periods = plus(s->throttled_periods, now->nr_throttled);
    s->rx_bytes = plus(s->rx_bytes, now->rx_bytes);
    s->tx_bytes = plus(s->tx_bytes, now->tx_bytes);
}

/* The kernel's mark counts once it is known to stem from the window: it moved, or usage stands at it now. */
static void add_peak(struct resource_series *s, const struct resource_sample *now)
{
    if (isnan(now->peak_bytes))
        return;
    if (now->peak_bytes != s->peak_before || now->usage_bytes >= s->peak_before)
        s->peak_before = NAN;
    if (isnan(s->peak_before))
        s->kernel_peak = fmax(s->kernel_peak, now->peak_bytes);
}

void series_add(struct resource_series *s, const struct resource_sample *now)
{
    if (s->continues && now->at_ns <= s->last.at_ns)
        return;
    s->cores = s->continues ? interval_cores(&s->last, now) : (double)NAN;
    s->oom_kills_now = isnan(now->oom_kills) ? s->oom_kills_now : now->oom_kills;
    if (now->at_ns >= s->begin_ns) {
        if (s->continues && now->at_ns > s->begin_ns)
            add_interval(s, now);
        else if (s->counts_anew)
            add_beginning(s, now);
        level_add(&s->used, now->used_bytes);
        level_add(&s->anon, now->anon_bytes);
        level_add(&s->file, now->file_bytes);
        level_add(&s->shmem, now->shmem_bytes);
        level_add(&s->swap, now->swap_bytes);
        level_add(&s->usage, now->usage_bytes);
        level_add(&s->pids, now->pids);
        add_peak(s, now);
        if (!isnan(now->limit_bytes))
            s->limit_bytes = now->limit_bytes;
        s->samples++;
    }
    keep_recent(s, now);
    s->last = *now;
    s->has_last = s->continues = true;
    s->counts_anew = false;
}

void series_restarted(struct resource_series *s)
{
    close_bucket(s);
    s->continues = false;
    s->counts_anew = true;
    s->peak_before = NAN;
    s->cores = NAN;
    s->oom_kills_ended = plus(s->oom_kills_ended, s->oom_kills_now);
    s->oom_kills_now = NAN;
    s->restarts++;
}

void series_window(struct resource_series *s, int64_t begin_ns)
{
    series_clear(s);
    s->begin_ns = begin_ns;
    s->peak_before = s->continues ? s->last.peak_bytes : (double)NAN;
    if (s->has_last && !isnan(s->last.limit_bytes))
        s->limit_bytes = s->last.limit_bytes;
}

void series_summary(const struct resource_series *s, struct container_result *ret)
{
    double bucket = s->bucket_ns > 0 ? s->bucket_core_ns / s->bucket_ns : (double)NAN;
    bool kernel = s->kernel_peak >= s->usage.max; /* a life whose mark is not known may have used more */

    ret->memory_bytes.limit = s->limit_bytes;
    ret->memory_bytes.used_avg = level_average(&s->used);
    ret->memory_bytes.used_peak = s->used.max;
    ret->memory_bytes.anon_avg = level_average(&s->anon);
    ret->memory_bytes.anon_peak = s->anon.max;
    ret->memory_bytes.file_avg = level_average(&s->file);
    ret->memory_bytes.file_peak = s->file.max;
    ret->memory_bytes.shmem_avg = level_average(&s->shmem);
    ret->memory_bytes.shmem_peak = s->shmem.max;
    ret->memory_bytes.swap_peak = s->swap.max;
    ret->memory_bytes.headroom = isfinite(s->limit_bytes) ? s->limit_bytes - s->used.max : (double)NAN;
    ret->memory_bytes.peak = kernel ? s->kernel_peak : s->usage.max;
    ret->memory_bytes.peak_source = kernel ? "kernel" : isnan(s->usage.max) ? NULL : "sampled";
    ret->cpu_cores.avg = s->core_span_ns > 0 ? s->core_ns / s->core_span_ns : (double)NAN;
    ret->cpu_cores.peak = isnan(s->cores_peak) ? fmax(s->cores_peak_short, bucket) : s->cores_peak;
    ret->cpu_cores.total_ms = s->cpu_ns / (double)NS_PER_MS;
    ret->cpu_throttled_ms = s->throttled_ns / (double)NS_PER_MS;
    ret->cpu_periods = s->periods;
    ret->cpu_throttled_periods = s->throttled_periods;
    ret->pids_peak = s->pids.max;
    ret->rx_bytes = s->rx_bytes;
    ret->tx_bytes = s->tx_bytes;
    ret->restarts = s->restarts;
    ret->oom_kills = series_oom_kills(s);
    ret->samples = s->samples;
}
