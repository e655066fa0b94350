/* SPDX-License-Identifier: MIT */
#include "benchctl/base/clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    (void)clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

int64_t clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_boottime_ns(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t clock_wall_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}

double clock_ms_since(int64_t start_ns)
{
    return (double)(clock_now_ns() - start_ns) / (double)NS_PER_MS;
}

static struct tm broken_down(int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    struct tm tm;

    (void)gmtime_r(&seconds, &tm);
    return tm;
}

const char *clock_rfc3339(int64_t wall_ns, char *buf)
{
    struct tm tm = broken_down(wall_ns);
    char day[24];

    (void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    (void)snprintf(buf, CLOCK_STAMP_SIZE, "%s.%03dZ", day, (int)(wall_ns % NS_PER_S / NS_PER_MS));
    return buf;
}

const char *clock_compact(int64_t wall_ns, char *buf)
{
    struct tm tm = broken_down(wall_ns);

    (void)strftime(buf, CLOCK_STAMP_SIZE, "%Y%m%dT%H%M%SZ", &tm);
    return buf;
}

/* "+02:00" or "Z" at *p: the offset in seconds. */
static bool parse_offset(const char *p, int64_t *ret_s)
{
    int h, m, used = 0;

    if (strcmp(p, "Z") == 0 || strcmp(p, "z") == 0) {
        *ret_s = 0;
        return true;
    }
    if ((*p != '+' && *p != '-') || sscanf(p + 1, "%2d:%2d%n", &h, &m, &used) != 2 || p[1 + used])
        return false;
    *ret_s = (*p == '-' ? -1 : 1) * ((int64_t)h * 3600 + (int64_t)m * 60);
    return true;
}

int64_t clock_parse_rfc3339(const char *text)
{
    struct tm tm = {0};
    int used = 0;
    int64_t fraction_ns = 0, offset_s;

    if (!text ||
        sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday, &tm.tm_hour,
               &tm.tm_min, &tm.tm_sec, &used) != 6 ||
        !used)
        return -1;
    if (tm.tm_year < 1970)
        return -1;
    const char *p = text + used;
    if (*p == '.') {
        int64_t unit = NS_PER_S / 10;
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10)
            fraction_ns += (*p - '0') * unit;
    }
    if (!parse_offset(p, &offset_s))
        return -1;
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    int64_t seconds = (int64_t)timegm(&tm) - offset_s;
    if (seconds < 0 || seconds >= INT64_MAX / NS_PER_S) /* the year 2262 is where nanoseconds end */
        return -1;
    return seconds * NS_PER_S + fraction_ns;
}
