/* SPDX-License-Identifier: MIT */
/* Times of lines. Most differ from the one before only in seconds and their fraction. */
#include "stream.h"

#include <math.h>
#include "benchctl/base/clock.h"

#define MINUTE_LEN ((size_t)16) /* 2026-01-31T08:00 */

static bool digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return true;
}

/* "SS.FFF" at p, up to `end`; where the zone begins, or NULL when it does not look like that. */
static const char *seconds_end(const char *p, const char *end, int64_t *ret_ns)
{
    if (end - p < 3 || p[0] > '5' || !digits(p, 2))
        return NULL;
    int64_t ns = ((p[0] - '0') * 10 + (p[1] - '0')) * NS_PER_S, unit = NS_PER_S / 10;
    p += 2;
    if (*p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++, unit /= 10)
            ns += (*p - '0') * unit;
    *ret_ns = ns;
    return p;
}

/* The whole minute in that zone by the one parser of times. */
static int64_t base_of(const char *minute, const char *zone, size_t zone_len)
{
    char text[MINUTE_LEN + 12];

    memcpy(text, minute, MINUTE_LEN);
    memcpy(text + MINUTE_LEN, ":00", 3);
    memcpy(text + MINUTE_LEN + 3, zone, zone_len);
    text[MINUTE_LEN + 3 + zone_len] = '\0';
    return clock_parse_rfc3339(text);
}

static int64_t text_ns(struct load_stream *s, const char *text, size_t len)
{
    int64_t ns;

    if (len < MINUTE_LEN + 4 || len > sizeof(s->clock.text) || text[MINUTE_LEN] != ':' ||
        memchr(text, '\0', len))
        return -1;
    const char *zone = seconds_end(text + MINUTE_LEN + 1, text + len, &ns);
    size_t zone_len = zone ? (size_t)(text + len - zone) : 0;
    if (!zone || !zone_len || zone_len >= sizeof(s->clock.zone))
        return -1;
    if (!s->clock.known || memcmp(s->clock.minute, text, MINUTE_LEN) != 0 ||
        memcmp(s->clock.zone, zone, zone_len) != 0 || s->clock.zone[zone_len]) {
        int64_t base = base_of(text, zone, zone_len);
        if (base < 0)
            return -1;
        memcpy(s->clock.minute, text, MINUTE_LEN);
        memset(s->clock.zone, 0, sizeof(s->clock.zone));
        memcpy(s->clock.zone, zone, zone_len);
        s->clock.base_ns = base;
        s->clock.known = true;
    }
    return s->clock.base_ns > INT64_MAX - ns ? -1 : s->clock.base_ns + ns;
}

int64_t stream_time_ns(struct load_stream *s, const struct member *m)
{
    if (m->kind == MEMBER_TEXT) {
        if (m->len == s->clock.len && memcmp(m->text, s->clock.text, m->len) == 0 && m->len)
            return s->clock.ns;
        int64_t ns = text_ns(s, m->text, m->len);
        s->clock.len = ns < 0 ? 0 : m->len;
        memcpy(s->clock.text, m->text, s->clock.len);
        s->clock.ns = ns;
        return ns;
    }
    if (m->kind != MEMBER_NUMBER)
        return -1;
    double ns = quantity_convert(m->number, (enum unit)s->spec->time_unit) * 1e6;
    return ns >= 0 && ns < 9e18 ? (int64_t)ns : -1;
}
