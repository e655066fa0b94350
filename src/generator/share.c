/* SPDX-License-Identifier: MIT */
#include "runner.h"

/* Of the numbers 0..whole-1: how many leave the remainder i when divided by n. */
uint64_t share_of(uint64_t whole, uint64_t i, uint64_t n)
{
    return i >= n ? 0 : whole / n + (i < whole % n ? 1 : 0);
}

uint64_t phase_processes(const struct workload_phase *p, uint64_t processes)
{
    int64_t vus = executor_is_open(p->executor) ? p->max_vus : p->vus;

    if (p->executor == EXECUTOR_RAMPING_VUS) /* each takes its share of whatever is active */
        return processes;
    if (vus < 1)
        vus = 1;
    return processes < (uint64_t)vus ? processes : (uint64_t)vus;
}

uint64_t phase_part_index(const struct workload *w, size_t phase, uint64_t process, uint64_t processes)
{
    const struct workload_phase *phases = w->phases.items;
    uint64_t first = 0;

    for (size_t i = 0; i < phase; i++)
        first = (first + phase_processes(&phases[i], processes)) % processes;
    return (process + processes - first) % processes;
}
