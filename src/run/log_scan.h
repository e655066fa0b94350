/* SPDX-License-Identifier: MIT */
/* What the lines of a container's log tell beside the figures. */
#ifndef BENCHCTL_RUN_LOG_SCAN_H
#define BENCHCTL_RUN_LOG_SCAN_H

#include "run_internal.h"

struct log_scan; /* of the trial's arena */

struct log_scan *log_scan_begin(struct trial_run *t, struct unit *u);
/* An on_line of engine_log_options; `data` is the scan. */
void log_scan_line(const char *line, size_t len, bool is_stderr, void *data);
int64_t *log_scan_clock(struct log_scan *s); /* the line_wall_ns of engine_log_options */
void log_scan_tell(struct log_scan *s);      /* the findings */

#endif
