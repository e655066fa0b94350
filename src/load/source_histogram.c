/* SPDX-License-Identifier: MIT */
/* Numbers of an HdrHistogram log: its intervals merged by tag while they are read, then by what is asked. */
#include "document.h"

#include <math.h>
#include "benchctl/histogram.h"

#define TAGS_MAX ((size_t)256)

static double values_per_us(enum unit unit)
{
    return 1 / (quantity_convert(1, unit) * 1e3);
}

/* The histogram of a tag, made if need be; NULL: there are too many. */
static struct histogram *of_tag(struct document *d, const char *tag)
{
    for (size_t i = 0; i < d->tagged.len; i++)
        if (strcmp(d->tagged.items[i].tag, tag) == 0)
            return d->tagged.items[i].histogram;
    if (d->tagged.len == TAGS_MAX)
        return NULL;
    vec_push(&d->tagged, (struct tagged){xstrdup(tag), histogram_new()});
    vec_push(&d->columns, xstrdup(tag));
    return d->tagged.items[d->tagged.len - 1].histogram;
}

static int merge_interval(const struct histogram_interval *i, const struct histogram *h, void *data,
                          struct error *err)
{
    struct document *d = data;
    struct histogram *into = of_tag(d, i->tag ? i->tag : "");

    if (!into)
        return error_set(err, ERROR_INVALID, "%s: more than %zu tags", d->path, TAGS_MAX);
    histogram_merge(into, h);
    return 0;
}

int document_read_log(struct document *d, struct error *err)
{
    return histogram_log_read(d->path, values_per_us((enum unit)d->output->unit), merge_interval, d, err);
}

static double asked(const struct histogram *h, const struct source *s)
{
    switch (s->take) {
    case TAKE_COUNT:
        return (double)histogram_count(h);
    case TAKE_MIN:
        return histogram_min_ms(h);
    case TAKE_MEAN:
        return histogram_mean_ms(h);
    case TAKE_STDEV:
        return histogram_stdev_ms(h);
    case TAKE_MAX:
        return histogram_max_ms(h);
    default:
        return histogram_quantile_ms(h, s->quantile);
    }
}

void source_log_number(const struct source *s, const struct document *d, struct numbers *out)
{
    CLEANUP(histogram_free) struct histogram *all = histogram_new();

    for (size_t i = 0; i < d->tagged.len; i++) {
        const struct tagged *t = &d->tagged.items[i];
        if (!s->tag || pattern_match(s->tag, t->tag, strlen(t->tag), NULL, NULL)) {
            histogram_merge(all, t->histogram);
            out->present = true;
        }
    }
    out->taken = true;
    double number = out->present ? asked(all, s) : NAN;
    if (!isnan(number))
        vec_push(&out->list, number);
}
