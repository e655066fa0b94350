/* SPDX-License-Identifier: MIT */
#include "second.h"

#include <math.h>

struct tally *tally_new(void)
{
    struct tally *t = xcalloc(1, sizeof(*t));

    t->response = histogram_new();
    t->service = histogram_new();
    return t;
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    histogram_free(t->response);
    histogram_free(t->service);
    free(t);
}

uint64_t tally_failed(const struct tally *t)
{
    uint64_t n = 0;

    for (int i = REQUEST_OK + 1; i < REQUEST_ERRORS; i++)
        n += i == REQUEST_ABORTED ? 0 : t->count[i];
    return n;
}

uint64_t tally_requests(const struct tally *t)
{
    return t->count[REQUEST_OK] + tally_failed(t);
}

bool tally_empty(const struct tally *t)
{
    return tally_requests(t) == 0 && t->count[REQUEST_ABORTED] == 0;
}

void tally_clear(struct tally *t)
{
    struct histogram *response = t->response, *service = t->service;

    if (histogram_count(response))
        histogram_clear(response);
    if (histogram_count(service))
        histogram_clear(service);
    *t = (struct tally){.response = response, .service = service};
}

void tally_add(struct tally *into, const struct tally *from)
{
    for (int i = 0; i < REQUEST_ERRORS; i++)
        into->count[i] += from->count[i];
    for (int i = 0; i < STATUS_CODES; i++)
        into->status[i] += from->status[i];
    into->received_bytes += from->received_bytes;
    into->connections += from->connections;
    into->fallbacks += from->fallbacks;
    if (histogram_count(from->response))
        histogram_merge(into->response, from->response);
    if (histogram_count(from->service))
        histogram_merge(into->service, from->service);
}

struct second *second_new(size_t phases, size_t kinds)
{
    struct second *s = xcalloc(1, sizeof(*s));

    s->phases = phases;
    s->kinds = kinds;
    s->cells = xcalloc(phases * kinds, sizeof(struct tally *));
    s->parts = xcalloc(phases, sizeof(*s->parts));
    s->lag = histogram_new();
    second_reset(s);
    return s;
}

void second_free(struct second *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->phases * s->kinds; i++)
        tally_free(s->cells[i]);
    histogram_free(s->lag);
    free(s->cells);
    free(s->parts);
    free(s);
}

void second_clear(struct second *s)
{
    for (size_t i = 0; i < s->phases * s->kinds; i++)
        if (s->cells[i] && (!tally_empty(s->cells[i]) || s->cells[i]->received_bytes))
            tally_clear(s->cells[i]);
    for (size_t i = 0; i < s->phases; i++) {
        const struct phase_part *p = &s->parts[i];
        s->parts[i] = (struct phase_part){.vus = p->vus, .begin_ns = p->begin_ns, .end_ns = p->end_ns};
    }
    if (histogram_count(s->lag))
        histogram_clear(s->lag);
    s->cpu_ns = s->cpu_most_ns = s->late_ns = 0;
    s->cpu_share = NAN;
    for (int i = 0; i < REQUEST_ERRORS; i++)
        s->examples[i].at_ns = -1;
}

void second_reset(struct second *s)
{
    second_clear(s);
    for (size_t i = 0; i < s->phases; i++)
        s->parts[i] = (struct phase_part){.begin_ns = -1, .end_ns = -1};
    s->max_rss_bytes = s->end_ns = 0;
    s->begin_ns = -1;
}

struct tally *second_cell(struct second *s, size_t phase, size_t kind)
{
    struct tally **t = &s->cells[phase * s->kinds + kind];

    if (!*t)
        *t = tally_new();
    return *t;
}

static void part_add(struct phase_part *into, const struct phase_part *from)
{
    into->planned += from->planned;
    into->started += from->started;
    into->dropped += from->dropped;
    into->sends += from->sends;
    into->bunched += from->bunched;
    into->close += from->close;
    into->backoffs += from->backoffs;
    into->backoff_ns += from->backoff_ns;
    into->think_ns += from->think_ns;
    into->stalled_ns += from->stalled_ns;
    into->vus_late_ns = from->vus_late_ns > into->vus_late_ns ? from->vus_late_ns : into->vus_late_ns;
    into->vus += from->vus;
    if (from->begin_ns >= 0 && (into->begin_ns < 0 || from->begin_ns < into->begin_ns))
        into->begin_ns = from->begin_ns;
    if (from->end_ns > into->end_ns)
        into->end_ns = from->end_ns;
}

static void add_gauges(struct second *into, const struct second *from)
{
    for (size_t i = 0; i < into->phases; i++)
        part_add(&into->parts[i], &from->parts[i]);
    if (from->begin_ns >= 0 && (into->begin_ns < 0 || from->begin_ns < into->begin_ns))
        into->begin_ns = from->begin_ns;
    if (from->end_ns > into->end_ns)
        into->end_ns = from->end_ns;
    into->cpu_ns += from->cpu_ns;
    into->cpu_most_ns = from->cpu_most_ns > into->cpu_most_ns ? from->cpu_most_ns : into->cpu_most_ns;
    into->cpu_share = fmax(into->cpu_share, from->cpu_share);
    into->max_rss_bytes += from->max_rss_bytes;
    into->late_ns = from->late_ns > into->late_ns ? from->late_ns : into->late_ns;
    for (int i = 0; i < REQUEST_ERRORS; i++)
        if (from->examples[i].at_ns >= 0 &&
            (into->examples[i].at_ns < 0 || from->examples[i].at_ns < into->examples[i].at_ns))
            into->examples[i] = from->examples[i];
}

void second_add(struct second *into, const struct second *from)
{
    for (size_t i = 0; i < into->phases * into->kinds; i++)
        if (from->cells[i] && !tally_empty(from->cells[i]))
            tally_add(second_cell(into, i / into->kinds, i % into->kinds), from->cells[i]);
    if (histogram_count(from->lag))
        histogram_merge(into->lag, from->lag);
    add_gauges(into, from);
}

/* ---- as bytes: both ends are the same program on the same machine ---- */

static void put_histogram(const struct histogram *h, struct strbuf *out)
{
    size_t at = out->len;
    uint32_t len = 0;

    strbuf_add(out, &len, sizeof(len));
    if (!histogram_count(h))
        return;
    histogram_encode(h, false, out);
    len = (uint32_t)(out->len - at - sizeof(len));
    memcpy(out->data + at, &len, sizeof(len));
}

void second_encode(const struct second *s, struct strbuf *out)
{
    strbuf_add(out, s, sizeof(*s));
    strbuf_add(out, s->parts, s->phases * sizeof(*s->parts));
    put_histogram(s->lag, out);
    for (size_t i = 0; i < s->phases * s->kinds; i++) {
        if (!s->cells[i] || tally_empty(s->cells[i]))
            continue;
        strbuf_add(out, &i, sizeof(i));
        strbuf_add(out, s->cells[i], sizeof(struct tally));
        put_histogram(s->cells[i]->response, out);
        put_histogram(s->cells[i]->service, out);
    }
}

struct reader {
    const char *at, *end;
};

static int take(struct reader *r, void *to, size_t len, struct error *err)
{
    if ((size_t)(r->end - r->at) < len)
        return error_set(err, ERROR_INVALID, "a worker's report was cut short");
    memcpy(to, r->at, len);
    r->at += len;
    return 0;
}

static int take_histogram(struct reader *r, struct histogram *into, struct error *err)
{
    uint32_t len = 0;

    if (take(r, &len, sizeof(len), err) < 0)
        return -1;
    if (len == 0)
        return 0;
    if ((size_t)(r->end - r->at) < len)
        return error_set(err, ERROR_INVALID, "a worker's histogram was cut short");
    if (histogram_decode(into, r->at, len, 1, err) < 0)
        return -1;
    r->at += len;
    return 0;
}

static int take_cell(struct reader *r, struct second *into, struct error *err)
{
    struct histogram *none = NULL;
    struct tally t;
    size_t i = 0;

    if (take(r, &i, sizeof(i), err) < 0 || take(r, &t, sizeof(t), err) < 0)
        return -1;
    if (i >= into->phases * into->kinds)
        return error_set(err, ERROR_INVALID, "a worker's report names an unknown cell");
    struct tally *cell = second_cell(into, i / into->kinds, i % into->kinds);
    for (int k = 0; k < REQUEST_ERRORS; k++)
        cell->count[k] += t.count[k];
    for (int k = 0; k < STATUS_CODES; k++)
        cell->status[k] += t.status[k];
    cell->received_bytes += t.received_bytes;
    cell->connections += t.connections;
    cell->fallbacks += t.fallbacks;
    t.response = t.service = none; /* pointers of the other process */
    return take_histogram(r, cell->response, err) < 0 || take_histogram(r, cell->service, err) < 0 ? -1 : 0;
}

uint64_t second_index(const char *bytes)
{
    struct second s;

    memcpy(&s, bytes, sizeof(s));
    return s.index;
}

int second_decode(const char *bytes, size_t len, struct second *into, struct error *err)
{
    struct reader r = {bytes, bytes + len};
    struct second s;

    if (take(&r, &s, sizeof(s), err) < 0)
        return -1;
    if (s.phases != into->phases || s.kinds != into->kinds)
        return error_set(err, ERROR_INVALID, "a worker reports of another workload");
    CLEANUP_FREE struct phase_part *parts = xcalloc(s.phases, sizeof(*parts));
    s.parts = parts;
    if (take(&r, parts, s.phases * sizeof(*parts), err) < 0 || take_histogram(&r, into->lag, err) < 0)
        return -1;
    add_gauges(into, &s);
    while (r.at < r.end)
        if (take_cell(&r, into, err) < 0)
            return -1;
    return 0;
}
