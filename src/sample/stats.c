/* SPDX-License-Identifier: MIT */
/*
 * The engine's stats reply, for engines whose cgroups are out of reach. Which keys there are depends on the
 * cgroup version and on the engine; what is absent, and the zeros that an engine without a controller sends,
 * is "not measured".
 */
#include "benchctl/sample.h"

#include <math.h>
#include "benchctl/base/clock.h"
#include "figures.h"

/* A running container never has nothing: zero means that the engine could not look. */
static double nonzero(double value)
{
    return value > 0 ? value : (double)NAN;
}

static const char *parse_memory(const struct json *memory, struct resource_sample *s)
{
    const struct json *stats = json_get(memory, "stats");
    bool v1 = json_get(stats, "total_inactive_file") != NULL;
    double inactive = json_get_number(stats, v1 ? "total_inactive_file" : "inactive_file");

    s->usage_bytes = nonzero(json_get_number(memory, "usage"));
    s->limit_bytes = no_limit_above(nonzero(json_get_number(memory, "limit")));
    s->peak_bytes = nonzero(json_get_number(memory, "max_usage"));
    s->anon_bytes = json_get_number(stats, v1 ? "total_rss" : "anon");
    s->file_bytes = json_get_number(stats, v1 ? "total_cache" : "file");
    s->shmem_bytes = json_get_number(stats, v1 ? "total_shmem" : "shmem");
    s->swap_bytes = v1 ? json_get_number(stats, "total_swap") : NAN;
    s->used_bytes = used_bytes(s->usage_bytes, inactive);
    if (isnan(s->usage_bytes))
        return "not measured";
    if (isnan(inactive))
        return "usage, cache not separable";
    if (inactive > s->usage_bytes)
        return "usage (difference negative)";
    return v1 ? "usage - total_inactive_file" : "usage - inactive_file";
}

static void parse_cpu(const struct json *cpu, struct resource_sample *s)
{
    const struct json *usage = json_get(cpu, "cpu_usage");
    const struct json *throttling = json_get(cpu, "throttling_data");
    size_t listed = json_len(json_get(usage, "percpu_usage"));

    s->cpu_ns = nonzero(json_get_number(usage, "total_usage"));
    s->system_cpu_ns = nonzero(json_get_number(cpu, "system_cpu_usage"));
    s->cpus = nonzero(json_get_number(cpu, "online_cpus"));
    if (isnan(s->cpus) && listed)
        s->cpus = (double)listed;
    s->nr_periods = json_get_number(throttling, "periods");
    s->nr_throttled = json_get_number(throttling, "throttled_periods");
    s->throttled_ns = json_get_number(throttling, "throttled_time");
}

static void parse_networks(const struct json *networks, struct resource_sample *s)
{
    for (void *it = json_iter(networks); it; it = json_iter_next(networks, it)) {
        double rx = json_get_number(json_iter_value(it), "rx_bytes");
        double tx = json_get_number(json_iter_value(it), "tx_bytes");
        double packets = json_get_number(json_iter_value(it), "tx_packets");

        s->rx_bytes = isnan(s->rx_bytes) ? rx : s->rx_bytes + rx;
        s->tx_bytes = isnan(s->tx_bytes) ? tx : s->tx_bytes + tx;
        s->tx_packets = isnan(s->tx_packets) ? packets : s->tx_packets + packets;
    }
}

bool stats_parse(const struct json *stats, struct resource_sample *ret, const char **ret_rule)
{
    struct resource_sample s = resource_sample_none();
    const char *read = json_get_text(stats, "read");

    s.at_ns = read ? clock_parse_rfc3339(read) : -1;
    const char *rule = parse_memory(json_get(stats, "memory_stats"), &s);
    parse_cpu(json_get(stats, "cpu_stats"), &s);
    /* A stopped container is year 1, or the right time with nothing in it. */
    if ((read && s.at_ns < 0) || (isnan(s.usage_bytes) && isnan(s.cpu_ns)))
        return false;
    s.pids = nonzero(json_get_number(json_get(stats, "pids_stats"), "current"));
    parse_networks(json_get(stats, "networks"), &s);
    *ret = s;
    *ret_rule = rule;
    return true;
}
