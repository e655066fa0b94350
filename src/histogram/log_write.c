/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include "benchctl/base/clock.h"

void histogram_log_begin(struct strbuf *out, int64_t base_wall_ns)
{
    char stamp[CLOCK_STAMP_SIZE];
    int64_t whole_ms = base_wall_ns / NS_PER_MS;
    double seconds = (double)whole_ms / 1e3;

    clock_rfc3339(base_wall_ns, stamp);
    strbuf_adds(out, "#[Histogram log format version 1.3]\n" EXACT_MAX "\n");
    strbuf_addf(out, "#[BaseTime: %.3f (seconds since epoch)]\n", seconds);
    strbuf_addf(out, "#[StartTime: %.3f (seconds since epoch), %s]\n", seconds, stamp);
    strbuf_adds(
        out, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n");
}

/* Commas end a tag; what would end it, or the line, is written as '_'. */
static void add_tag(struct strbuf *out, const char *tag)
{
    strbuf_adds(out, "Tag=");
    for (const char *p = tag; *p; p++)
        strbuf_addc(out, *p == ',' || (unsigned char)*p <= ' ' || *p == 0x7f ? '_' : *p);
    strbuf_addc(out, ',');
}

void histogram_log_line(struct strbuf *out, const struct histogram_interval *i, const struct histogram *h)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf encoded = STRBUF_INIT;

    if (i->tag && *i->tag)
        add_tag(out, i->tag);
    strbuf_addf(out, "%.3f,%.3f,%.3f,", i->start_s, i->length_s, i->max);
    histogram_encode(h, true, &encoded);
    text64_encode(encoded.data, encoded.len, out);
    strbuf_addc(out, '\n');
}
