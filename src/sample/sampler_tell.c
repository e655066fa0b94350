/* SPDX-License-Identifier: MIT */
/* What the sampler has seen. */
#include <math.h>
#include <unistd.h>
#include "benchctl/base/clock.h"
#include "sampler_state.h"
#include "series.h"

struct watched *sampler_find(const struct sampler *s, const char *role)
{
    for (size_t i = 0; i < s->watched.len; i++)
        if (strcmp(series_role(s->watched.items[i].series), role) == 0)
            return &s->watched.items[i];
    return NULL;
}

int sampler_result(const struct sampler *s, const char *role, struct container_result *ret)
{
    const struct watched *w = sampler_find(s, role);

    if (!w)
        return -1;
    series_summary(w->series, ret);
    ret->sample_source = w->source;
    return 0;
}

bool sampler_limits(const struct sampler *s, const char *role, struct effective *ret)
{
    const struct watched *w = sampler_find(s, role);

    if (!w || w->fed)
        return false;
    ret->memory_bytes = w->limits.memory_bytes;
    ret->swap_bytes = w->limits.swap_bytes;
    ret->cpus = w->limits.cpus;
    ret->pids = w->limits.pids;
    ret->cpuset = w->limits.cpuset;
    return true;
}

void sampler_host(const struct sampler *s, struct host_result *ret)
{
    struct host_mark to = s->end;

    if (!s->ended)
        host_probe_mark(s->probe, &to);
    double span_us = (double)(to.at_ns - s->begin.at_ns) / (double)NS_PER_US;
    double ticks = to.all_ticks - s->begin.all_ticks;

    ret->cpu_busy = host_busy_cores(&s->begin, &to);
    ret->load1 = s->load_count > 0 ? s->load_sum / s->load_count : (double)NAN;
    ret->psi_cpu_some = span_us > 0 ? 100 * (to.stalled_us - s->begin.stalled_us) / span_us : (double)NAN;
    ret->throttled = to.throttle_events - s->begin.throttle_events;
    ret->benchctl_cpu_cores = host_own_cores(&s->begin, &to);
    ret->benchctl_rss_bytes = s->rss_bytes;
    ret->steal_pct = ticks > 0 ? 100 * (to.steal_ticks - s->begin.steal_ticks) / ticks : (double)NAN;
    ret->oom_kills = to.oom_kills - s->first.oom_kills;
    ret->swapped_pages = to.swapped_pages - s->begin.swapped_pages;
    ret->kernel_messages = s->kernel_messages;
}

double sampler_foreign_cores(const struct sampler *s, bool containers_here, double more_cpu_ms)
{
    double span_ns = (double)(s->end.at_ns - s->begin.at_ns);
    double ours_ns = s->end.own_cpu_ns - s->begin.own_cpu_ns + more_cpu_ms * (double)NS_PER_MS;

    if (!s->ended || span_ns <= 0)
        return NAN;
    for (size_t i = 0; containers_here && i < s->watched.len; i++) {
        double cpu_ns = series_cpu_ns(s->watched.items[i].series);
        ours_ns += isnan(cpu_ns) ? 0 : cpu_ns; /* one that ended before the window */
    }
    double all_ns = (s->end.process_ticks - s->begin.process_ticks) / (double)sysconf(_SC_CLK_TCK) * 1e9;
    double foreign = (all_ns - ours_ns) / span_ns;
    return foreign < 0 ? 0 : foreign; /* ticks are coarse; NAN stays NAN */
}

double sampler_oom_kills(const struct sampler *s, const char *role)
{
    const struct watched *w = sampler_find(s, role);

    return w ? series_oom_kills(w->series) : (double)NAN;
}

const struct resource_sample *sampler_last(const struct sampler *s, const char *role)
{
    const struct watched *w = sampler_find(s, role);

    return w ? series_last(w->series) : NULL;
}

double sampler_recent_usage(const struct sampler *s, const char *role, int64_t since_ns)
{
    const struct watched *w = sampler_find(s, role);

    return w ? series_recent_usage(w->series, since_ns) : (double)NAN;
}
