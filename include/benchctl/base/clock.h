/* SPDX-License-Identifier: MIT */
/*
 * Time. Inside the program there is one unit: int64_t nanoseconds of CLOCK_MONOTONIC; every duration and
 * deadline uses it. The wall clock is read once per record, as a label, and never subtracted.
 */
#ifndef BENCHCTL_BASE_CLOCK_H
#define BENCHCTL_BASE_CLOCK_H

#include <stdint.h>
#include <stddef.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)

int64_t clock_now_ns(void);      /* CLOCK_MONOTONIC */
int64_t clock_boottime_ns(void); /* CLOCK_BOOTTIME: differs from the above by the time suspended */
int64_t clock_wall_ns(void);     /* CLOCK_REALTIME since 1970, a label */
double clock_ms_since(int64_t start_ns);

/* RFC 3339 in UTC with milliseconds, "2026-01-31T08:00:00.123Z". `buf` holds at least CLOCK_STAMP_SIZE bytes.
 */
#define CLOCK_STAMP_SIZE 32
const char *clock_rfc3339(int64_t wall_ns, char *buf);

/* The compact stamp of run directories, "20260131T080000Z". */
const char *clock_compact(int64_t wall_ns, char *buf);

/* Reads RFC 3339 as the engine writes it (0-9 fractional digits, Z or an offset); -1 when it is not one or is
 * year 1. */
int64_t clock_parse_rfc3339(const char *text);

#endif
