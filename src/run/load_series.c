/* SPDX-License-Identifier: MIT */
#include "load_series.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"

#define LONGEST_MS 1e12 /* no load lasts for thirty years: that is no time */

/* The n-th field (from 0) of a line; false: it has fewer. */
static bool field(const char *line, size_t len, size_t n, const char **ret, size_t *ret_len)
{
    const char *end = line + len;

    for (const char *p = line; n != SIZE_MAX; n--) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        if (!n) {
            *ret = p;
            *ret_len = (size_t)(stop - p);
            return true;
        }
        if (!comma)
            return false;
        p = comma + 1;
    }
    return false;
}

static size_t column(const char *line, size_t len, const char *name)
{
    const char *text;
    size_t text_len;

    for (size_t i = 0; field(line, len, i, &text, &text_len); i++)
        if (text_len == strlen(name) && memcmp(text, name, text_len) == 0)
            return i;
    return SIZE_MAX;
}

static double number(const char *line, size_t len, size_t column_at)
{
    const char *text;
    size_t text_len;
    double value;

    if (!field(line, len, column_at, &text, &text_len) || !text_len ||
        number_scan(text, text_len, &value) != text_len)
        return NAN;
    return value;
}

bool load_series_head(struct load_series *s, const char *line, size_t len)
{
    *s = (struct load_series){
        .end_ms = column(line, len, "at_ms"),
        .time = column(line, len, "time"),
        .ok = column(line, len, "ok"),
        .requests = column(line, len, "requests"),
        .failed = column(line, len, "failed"),
        .received = column(line, len, "received_bytes"),
        .vus = column(line, len, "vus"),
        .started = column(line, len, "started"),
        .aborted = column(line, len, "aborted"),
    };
    return (s->end_ms != SIZE_MAX || s->time != SIZE_MAX) && (s->ok != SIZE_MAX || s->requests != SIZE_MAX);
}

/* Ours names the end of each second, a stream the moment at which it began. */
static bool place(struct load_series *s, const char *line, size_t len, struct load_second *ret)
{
    const char *text;
    size_t text_len;
    char stamp[64];

    ret->wall = s->end_ms == SIZE_MAX;
    if (!ret->wall) {
        ret->begin_ms = s->last_end_ms;
        ret->end_ms = number(line, len, s->end_ms);
        if (!(ret->end_ms > ret->begin_ms) || ret->end_ms > LONGEST_MS)
            return false;
        s->last_end_ms = ret->end_ms;
        return true;
    }
    if (!field(line, len, s->time, &text, &text_len) || text_len >= sizeof(stamp))
        return false;
    memcpy(stamp, text, text_len);
    stamp[text_len] = '\0';
    int64_t wall_ns = clock_parse_rfc3339(stamp);
    ret->begin_ms = (double)wall_ns / (double)NS_PER_MS;
    ret->end_ms = ret->begin_ms + 1000;
    return wall_ns >= 0;
}

bool load_series_row(struct load_series *s, const char *line, size_t len, struct load_second *ret)
{
    double failed = number(line, len, s->failed), ok = number(line, len, s->ok);

    if (s->ok == SIZE_MAX)
        ok = number(line, len, s->requests) - (isnan(failed) ? 0 : failed);
    if (!place(s, line, len, ret) || isnan(ok))
        return false;
    ret->ok = ok > 0 ? ok : 0;
    ret->users = number(line, len, s->vus);
    ret->failed = failed > 0 ? failed : 0;
    ret->started = number(line, len, s->started);
    ret->aborted = number(line, len, s->aborted);
    ret->answered = ok > 0 || number(line, len, s->received) > 0;
    return true;
}
