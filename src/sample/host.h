/* SPDX-License-Identifier: MIT */
/* The host and this program itself: what else used the machine, and what measuring cost. */
#ifndef BENCHCTL_SAMPLE_HOST_H
#define BENCHCTL_SAMPLE_HOST_H

#include "benchctl/sample.h"

/* Counters at one moment; NAN where the host does not say. */
struct host_mark {
    int64_t at_ns;
    double busy_ticks, steal_ticks, all_ticks; /* USER_HZ, all CPUs together */
    double stalled_us;                         /* PSI: some task waited for a CPU */
    double throttle_events, oom_kills;
    double own_cpu_ns, own_rss_bytes;
    double load1;
    double process_ticks; /* of busy_ticks: in processes, not in interrupts */
    double swapped_pages; /* in and out */
};

struct host_probe;
struct host_probe *host_probe_new(const struct cgroup_roots *roots);
void host_probe_free(struct host_probe *p);
DEFINE_CLEANUP(struct host_probe *, host_probe_free);

/* The cheap part, for every host sample; the rest of `ret` becomes NAN. */
void host_probe_sample(struct host_probe *p, struct host_mark *ret);
/* Everything, for the ends of the window. */
void host_probe_mark(struct host_probe *p, struct host_mark *ret);

double host_busy_cores(const struct host_mark *from, const struct host_mark *to);
double host_own_cores(const struct host_mark *from, const struct host_mark *to);

#endif
