/* SPDX-License-Identifier: MIT */
/* Names of the values that a report may give, and finding one. */
#ifndef BENCHCTL_LOAD_REPORT_H
#define BENCHCTL_LOAD_REPORT_H

#include "adapter.h"

extern const char *const load_count_names[], *const load_latency_names[]; /* NULL-terminated */

const struct value *load_report_value(const struct report *r, const char *name); /* NULL: not read */

#endif
