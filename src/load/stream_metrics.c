/* SPDX-License-Identifier: MIT */
/* Totals by name. */
#include "stream.h"

#include <math.h>

static size_t slot_of(const char *name, size_t len)
{
    uint64_t first = 0, last = 0, h;

    memcpy(&first, name, len < 8 ? len : 8);
    if (len > 8)
        memcpy(&last, name + len - 8, 8);
    h = (first * 3 + last * 5 + len) * UINT64_C(0x9e3779b97f4a7c15);
    return h >> 55 & (STREAM_METRICS_MAX * 2 - 1);
}

static struct stream_metric *probe(struct load_stream *s, const char *name, size_t len, size_t *ret_slot)
{
    size_t slot = slot_of(name, len);

    for (; s->metric_slots[slot]; slot = (slot + 1) & (STREAM_METRICS_MAX * 2 - 1)) {
        struct stream_metric *m = &s->metrics[s->metric_slots[slot] - 1];
        if (m->len == len && memcmp(m->name, name, len) == 0)
            return m;
    }
    *ret_slot = slot;
    return NULL;
}

static struct stream_metric *if_named(struct stream_metric *m, const char *name, struct stream_metric *old)
{
    return name && strlen(name) == m->len && memcmp(m->name, name, m->len) == 0 ? m : old;
}

struct stream_metric *stream_metric_add(struct load_stream *s, const char *name, size_t len)
{
    size_t slot;
    struct stream_metric *m = probe(s, name, len, &slot);

    if (m)
        return m;
    if (s->metric_count == STREAM_METRICS_MAX || len >= STREAM_NAME_MAX)
        return NULL;
    m = &s->metrics[s->metric_count++];
    memcpy(m->name, name, len);
    m->len = len;
    s->metric_slots[slot] = (uint16_t)s->metric_count;
    s->requests = if_named(m, s->spec->requests, s->requests);
    s->failed = if_named(m, s->spec->failed, s->failed);
    s->dropped = if_named(m, s->spec->dropped, s->dropped);
    s->vus = if_named(m, s->spec->vus, s->vus);
    s->latency = if_named(m, s->spec->latency, s->latency);
    return m;
}

void stream_total_add(struct load_stream_total *t, double value)
{
    if (!t->count++) {
        *t = (struct load_stream_total){1, value, value, value, value, value};
        return;
    }
    t->sum += value;
    t->min = value < t->min ? value : t->min;
    t->max = value > t->max ? value : t->max;
    t->last = value;
}

/* The last one takes what has no place of its own. */
void stream_group_add(struct load_stream *s, const char *name, size_t len, double value)
{
    struct stream_group *g = NULL;

    len = len < STREAM_NAME_MAX ? len : STREAM_NAME_MAX - 1;
    for (size_t i = 0; i < s->group_count && !g; i++)
        if (s->groups[i].len == len && memcmp(s->groups[i].name, name, len) == 0)
            g = &s->groups[i];
    if (!g && s->group_count == STREAM_GROUPS_MAX)
        g = &s->groups[STREAM_GROUPS_MAX - 1];
    if (!g) {
        g = &s->groups[s->group_count++];
        memcpy(g->name, name, len);
        g->len = len;
    }
    g->count++;
    g->sum += value;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

double stream_quantile_ms(const struct load_stream *s, double q)
{
    size_t n = s->exact.len;

    if (!n || n < histogram_count(s->all))
        return histogram_quantile_ms(s->all, q);
    CLEANUP_FREE double *sorted = xmalloc(n * sizeof(*sorted));
    memcpy(sorted, s->exact.items, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), ascending);
    if (!s->spec->interpolate) {
        double rank = ceil(q * (double)n - 1e-9);
        return sorted[rank < 1 ? 0 : rank > (double)n ? n - 1 : (size_t)rank - 1];
    }
    double at = q * (double)(n - 1), below = floor(at);
    size_t i = (size_t)below;
    return i + 1 >= n ? sorted[n - 1] : sorted[i] + (sorted[i + 1] - sorted[i]) * (at - below);
}

double load_stream_answered(const struct load_stream *s)
{
    if (!s->spec->requests)
        return NAN;
    return (s->requests ? s->requests->total.sum : 0) - (s->failed ? s->failed->total.sum : 0);
}
