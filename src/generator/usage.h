/* SPDX-License-Identifier: MIT */
/* What this process costs. */
#ifndef BENCHCTL_GENERATOR_USAGE_H
#define BENCHCTL_GENERATOR_USAGE_H

#include <stdint.h>

struct usage {
    int64_t at_ns, cpu_ns;
};

void usage_begin(struct usage *u);
/* Since the last call: CPU time of this process, and its share of one core (NAN over less than half a second,
 * which says nothing). */
void usage_lap(struct usage *u, int64_t *ret_cpu_ns, double *ret_share);
int64_t usage_max_rss_bytes(void); /* of this program; 0: unknown */

#endif
