/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_SAMPLE_SERIES_H
#define BENCHCTL_SAMPLE_SERIES_H

#include "benchctl/sample.h"

const char *series_role(const struct resource_series *s);
double series_cpu_ns(const struct resource_series *s); /* used in the window; NAN: not measured */
double series_cores(const struct resource_series *s);  /* over the last interval; NAN for a first sample */
double
series_oom_kills(const struct resource_series *s); /* over all restarts, window or not; NAN: no counter */

#endif
