/* SPDX-License-Identifier: MIT */
/* samples.csv: rows go into a fixed buffer and to the file about once a second. */
#ifndef BENCHCTL_SAMPLE_CSV_H
#define BENCHCTL_SAMPLE_CSV_H

#include "benchctl/sample.h"

#define CSV_HEADER                                                                                           \
    "at_ms,role,usage_bytes,used_bytes,anon_bytes,file_bytes,peak_bytes,cpu_cores,throttled_ms,pids,rx_"     \
    "bytes,"                                                                                                 \
    "tx_bytes,shmem_bytes,swap_bytes,throttled_periods,oom_kills\n"

/* Rows of the host and of this program stand among the containers'; no role can have these names. */
#define CSV_ROLE_HOST "(host)"
#define CSV_ROLE_SELF "(benchctl)"

struct csv {
    int fd; /* -1: nothing is written */
    int64_t origin_ns;
    int failed; /* errno of the first write that failed; nothing is written after it */
    size_t len;
    char text[32768];
};

void csv_init(struct csv *c, int fd, int64_t origin_ns); /* writes the header */
void csv_row(struct csv *c, const char *role, const struct resource_sample *s, double cores);
void csv_flush(struct csv *c);

#endif
