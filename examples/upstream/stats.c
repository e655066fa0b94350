/* SPDX-License-Identifier: MIT */
/* /__stats: the mock's own ledger. */
#include <inttypes.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "server_internal.h"

static void add_counters(struct strbuf *out, const struct counters *c)
{
    strbuf_addf(out,
                "\"requests\": %" PRIu64 ", \"served\": %" PRIu64 ", \"aborted\": %" PRIu64
                ", \"in_flight\": %" PRIu64 ", \"peak_in_flight\": %" PRIu64,
                c->requests, c->served, c->aborted, c->in_flight, c->peak);
}

static void add_quoted(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            strbuf_addc(out, '\\');
        if ((unsigned char)*text < ' ')
            strbuf_addf(out, "\\u%04x", (unsigned)(unsigned char)*text);
        else
            strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void add_station(struct strbuf *out, const struct station *st)
{
    const struct failures *f = &st->endpoint->failures;

    strbuf_adds(out, "    ");
    add_quoted(out, st->endpoint->path);
    strbuf_adds(out, ": {");
    add_counters(out, &st->counters);
    strbuf_adds(out, ", \"failures\": {");
    for (size_t i = 0; i < f->len; i++) {
        strbuf_adds(out, i ? ", " : "");
        add_quoted(out, f->items[i].name);
        strbuf_addf(out, ": %" PRIu64, st->counters.failures[i]);
    }
    strbuf_adds(out, "}}");
}

void stats_write(const struct server *s, struct strbuf *out)
{
    size_t count = s->config->endpoints.len;

    strbuf_addf(out,
                "{\"seed\": %" PRId64 ", \"up_ms\": %" PRId64 ", \"connections\": %" PRIu64
                ", \"peak_connections\": %" PRIu64 ", \"accepted\": %" PRIu64 ", \"refused\": %" PRIu64
                ", \"not_found\": %" PRIu64 ", \"malformed\": %" PRIu64 ", \"stalls\": %" PRIu64 ",\n  ",
                s->config->seed, (s->now_ns - s->started_ns) / NS_PER_MS, s->connections, s->connections_peak,
                s->accepted, s->refused, s->not_found, s->malformed, s->stalls);
    add_counters(out, &s->all);
    strbuf_adds(out, ",\n  \"endpoints\": {\n");
    for (size_t i = 0; i < count; i++) {
        add_station(out, &s->stations[i]);
        strbuf_adds(out, i + 1 < count ? ",\n" : "\n");
    }
    strbuf_adds(out, "}}\n");
}

/* Sequences begin anew; what is under way stays in flight. */
void stats_reset(struct server *s)
{
    for (size_t i = 0; i < s->config->endpoints.len; i++) {
        struct station *st = &s->stations[i];
        uint64_t in_flight = st->counters.in_flight;
        st->counters = (struct counters){.in_flight = in_flight, .peak = in_flight};
        st->counted = 0;
    }
    s->all = (struct counters){.in_flight = s->all.in_flight, .peak = s->all.in_flight};
    s->accepted = s->refused = s->not_found = s->malformed = s->stalls = 0;
    s->connections_peak = s->connections;
}
