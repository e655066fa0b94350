/* SPDX-License-Identifier: MIT */
/* What the sampler holds, for the file that takes samples and the one that tells of them. */
#ifndef BENCHCTL_SAMPLE_SAMPLER_STATE_H
#define BENCHCTL_SAMPLE_SAMPLER_STATE_H

#include "csv.h"
#include "host.h"
#include "kernel_log.h"

struct watched {
    struct resource_series *series;
    struct cgroup_reader *reader; /* NULL: gone for now, or fed with stats replies */
    const char *source;
    bool fed;
    int64_t fed_offset_ns; /* our clock minus the engine's */
    struct effective limits;
    char *cpuset;
    bool look; /* once more, soon */
};

struct sampler {
    struct loop *loop;
    struct loop_timer *timer, *host_timer;
    struct loop_timer *look_timer; /* NULL: nothing to look at */
    struct cgroup_roots roots;
    VEC(struct watched) watched;
    struct host_probe *probe;
    struct host_mark first, begin, end, last;
    double load_sum, load_count, rss_bytes;
    bool ended;
    int64_t flushed_ns;
    struct csv csv;
    struct kernel_log *kernel_log; /* NULL: unreadable */
    double kernel_messages;
};

/* NULL: unknown role. */
struct watched *sampler_find(const struct sampler *s, const char *role);

#endif
