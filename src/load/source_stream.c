/* SPDX-License-Identifier: MIT */
/* Numbers of a recorded stream. */
#include "document.h"

#include <inttypes.h>
#include <math.h>
#include "judge.h"
#include "stream.h"

int document_read_stream(struct document *d, struct error *err)
{
    if (load_stream_of(d->output, NULL, &d->stream, err) < 0 ||
        load_stream_read_file(d->stream, d->path, err) < 0)
        return -1;
    for (size_t i = 0; load_stream_metric_name(d->stream, i); i++)
        vec_push(&d->columns, xstrdup(load_stream_metric_name(d->stream, i)));
    return 0;
}

/* Requests of the groups that match. */
static double of_groups(const struct source *s, const struct load_stream *stream)
{
    double number = 0;

    for (size_t i = 0; i < stream->group_count; i++) {
        const struct stream_group *g = &stream->groups[i];
        if (pattern_match(s->group, g->name, g->len, NULL, NULL))
            number += s->take == TAKE_COUNT ? g->count : g->sum;
    }
    return number;
}

static double of_total(const struct source *s, const struct load_stream_total *t)
{
    switch (s->take) {
    case TAKE_LAST:
        return t->last;
    case TAKE_SUM:
        return t->sum;
    case TAKE_MIN:
        return t->min;
    case TAKE_MAX:
        return t->max;
    case TAKE_MEAN:
        return t->sum / (double)t->count;
    default:
        return t->first;
    }
}

void source_stream_number(const struct source *s, const struct document *d, struct numbers *out)
{
    struct load_stream_total t;
    double number;

    out->taken = true;
    out->present = load_stream_get_total(d->stream, s->form->metric, &t);
    if (!out->present)
        return;
    if (s->group)
        number = of_groups(s, d->stream);
    else if (s->take == TAKE_COUNT)
        number = (double)t.count;
    else if (s->take == TAKE_QUANTILE)
        number = load_stream_quantile_ms(d->stream, s->quantile);
    else
        number = quantity_convert(of_total(s, &t), (enum unit)s->form->unit);
    if (!isnan(number))
        vec_push(&out->list, number);
}

void load_stream_doubts(const struct document *d, struct arena *arena, struct sentences *out)
{
    struct load_stream_counts c;

    load_stream_get_counts(d->stream, &c);
    if (c.invalid)
        vec_push(&out->list,
                 arena_printf(arena,
                              "%s: %" PRIu64 " of %" PRIu64 " lines are no JSON, line %" PRIu64 " first: %s",
                              d->path, c.invalid, c.lines, c.first_invalid, c.invalid_reason));
    if (c.cut)
        vec_push(&out->list, arena_printf(arena, "%s: the last line was cut short", d->path));
    if (c.unnamed)
        vec_push(&out->list, arena_printf(arena, "%s: %" PRIu64 " points of metrics beyond the first %zu",
                                          d->path, c.unnamed, STREAM_METRICS_MAX));
}
