/* SPDX-License-Identifier: MIT */
#include "csv.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"

#define ROLE_MAX 200
#define ROW_MAX (ROLE_MAX + 400) /* 15 numbers, each with its comma */

static void add_text(struct csv *c, const char *text)
{
    for (; *text && c->len < sizeof(c->text); text++)
        c->text[c->len++] = *text;
}

void csv_flush(struct csv *c)
{
    struct error err = ERROR_INIT;

    if (c->fd >= 0 && c->len && !c->failed && fs_write_all(c->fd, c->text, c->len, "samples.csv", &err) < 0)
        c->failed = err.code ? err.code : EIO;
    c->len = 0;
}

void csv_init(struct csv *c, int fd, int64_t origin_ns)
{
    c->fd = fd;
    c->origin_ns = origin_ns;
    c->failed = 0;
    c->len = 0;
    add_text(c, CSV_HEADER);
}

/* A field with its comma in front: a whole number, and nothing when it was not measured. */
static void add_whole(struct csv *c, double value)
{
    char digits[24];
    size_t at = sizeof(digits);

    add_text(c, ",");
    if (isnan(value) || value < 0 || value >= 0x1p63)
        return;
    digits[--at] = '\0';
    uint64_t n = (uint64_t)(value + 0.5);
    do
        digits[--at] = (char)('0' + n % 10);
    while (n /= 10);
    add_text(c, digits + at);
}

static void add_decimal(struct csv *c, const char *comma, double value, int places)
{
    char text[32];

    add_text(c, comma);
    if (isnan(value) || fabs(value) > 1e15)
        return;
    (void)snprintf(text, sizeof(text), "%.*f", places, value);
    for (char *p = text; *p; p++) /* whatever the locale's decimal point is */
        if (*p == ',')
            *p = '.';
    add_text(c, text);
}

void csv_row(struct csv *c, const char *role, const struct resource_sample *s, double cores)
{
    if (c->fd < 0)
        return;
    if (c->len + ROW_MAX > sizeof(c->text))
        csv_flush(c);
    char name[ROLE_MAX + 1];
    (void)snprintf(name, sizeof(name), "%s", role);
    add_decimal(c, "", (double)(s->at_ns - c->origin_ns) / (double)NS_PER_MS, 1);
    add_text(c, ",");
    add_text(c, name);
    add_whole(c, s->usage_bytes);
    add_whole(c, s->used_bytes);
    add_whole(c, s->anon_bytes);
    add_whole(c, s->file_bytes);
    add_whole(c, s->peak_bytes);
    add_decimal(c, ",", cores, 4);
    add_decimal(c, ",", s->throttled_ns / (double)NS_PER_MS, 1);
    add_whole(c, s->pids);
    add_whole(c, s->rx_bytes);
    add_whole(c, s->tx_bytes);
    add_whole(c, s->shmem_bytes);
    add_whole(c, s->swap_bytes);
    add_whole(c, s->nr_throttled);
    add_whole(c, s->oom_kills);
    add_text(c, "\n");
}
