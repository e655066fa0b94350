/* SPDX-License-Identifier: MIT */
#include "tracker_state.h"

#include <math.h>
#include "benchctl/base/hash.h"

static void state_clear(struct state *s)
{
    s->sum = 0;
    s->max = s->last = NAN;
    s->usable = s->gaps = 0;
    counted_clear(&s->series);
    counted_clear(&s->per);
}

struct tracker *tracker_new(const struct metric_adapter *ad)
{
    struct tracker *t = xcalloc(1, sizeof(*t));
    struct state *next;

    t->adapter = ad;
    t->names = arena_new();
    next = t->states = xcalloc(ad->source_count, sizeof(*t->states));
    form_each(struct metric, m, &ad->metrics)
    {
        form_each(struct metric_source, s, &m->from)
        {
            next->metric = m;
            next->source = s;
            state_clear(next++);
        }
    }
    return t;
}

void tracker_free(struct tracker *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->adapter->source_count; i++) {
        counted_release(&t->states[i].series);
        counted_release(&t->states[i].per);
    }
    arena_free(t->names);
    free(t->states);
    free(t);
}

void tracker_window(struct tracker *t)
{
    for (size_t i = 0; i < t->adapter->source_count; i++)
        state_clear(&t->states[i]);
    t->good = t->failed = t->intervals = t->resets = t->incomplete = t->stale = 0;
    t->bad_lines = t->duplicates = t->unknown_escapes = 0;
    t->first_bad_line = 0;
    t->born = false;
}

void tracker_restarted(struct tracker *t)
{
    for (size_t i = 0; i < t->adapter->source_count; i++) {
        counted_forget(&t->states[i].series);
        counted_forget(&t->states[i].per);
    }
    t->born = true;
    t->resets++;
}

void tracker_failed(struct tracker *t, const char *reason)
{
    t->failed++;
    (void)snprintf(t->failure, sizeof(t->failure), "%s", reason);
    for (size_t i = 0; i < t->adapter->source_count; i++)
        t->states[i].gaps++;
}

size_t tracker_resets(const struct tracker *t)
{
    return t->resets;
}

size_t tracker_incomplete(const struct tracker *t)
{
    return t->incomplete;
}

static uint64_t series_id(const struct prom_sample *s)
{
    uint64_t id = hash64(s->name, strlen(s->name), 0);

    for (size_t i = 0; i < s->label_count; i++) {
        id = hash64(s->labels[i].name, strlen(s->labels[i].name) + 1, id);
        id = hash64(s->labels[i].value, strlen(s->labels[i].value) + 1, id);
    }
    return id;
}

static void combine(struct state *s, double value)
{
    bool first = s->matched++ == 0;

    switch ((enum metric_combine)s->source->combine) {
    case COMBINE_MAX:
        s->value = first ? value : fmax(s->value, value);
        break;
    case COMBINE_MIN:
        s->value = first ? value : fmin(s->value, value);
        break;
    case COMBINE_COUNT:
        s->value = s->matched;
        break;
    case COMBINE_SUM:
    case COMBINE_AVG:
        s->value = first ? value : s->value + value;
        break;
    }
}

static void take_sample(struct tracker *t, struct state *s, const struct prom_sample *sample, bool baseline)
{
    if (sample->value == s->source->unset)
        return;
    if (metric_source_matches(s->source, s->source->series, sample)) {
        if (s->metric->kind == METRIC_GAUGE)
            combine(s, sample->value);
        else
            t->began_again |= counted_add(&s->series, series_id(sample), sample->value, baseline);
    }
    if (s->source->per && metric_source_matches(s->source, s->source->per, sample))
        t->began_again |= counted_add(&s->per, series_id(sample), sample->value, baseline);
}

/* NaN and infinities are "no value"; so is what the application itself says is old. */
static bool is_usable(struct tracker *t, const struct prom_sample *sample, double wall_ms)
{
    if (!isfinite(sample->value))
        return false;
    bool stale = sample->timestamp_ms < wall_ms - STALE_MS; /* false with a NAN */
    t->stale += stale;
    return !stale;
}

static void end_gauge(struct state *s)
{
    if (!s->matched) {
        s->gaps++;
        return;
    }
    double value = s->value * s->source->scale;
    if (s->source->combine == COMBINE_AVG)
        value /= s->matched;
    s->sum += value;
    s->max = fmax(s->max, value);
    s->last = value;
    s->usable++;
}

/* A counter that is not there before its first event is no gap; one that is gone later is. */
static void end_counter(struct state *s)
{
    bool mean = s->metric->kind == METRIC_MEAN;

    counted_end(&s->series);
    counted_end(&s->per);
    if (s->series.seen && (!mean || s->per.seen)) {
        s->usable++;
        if (mean && s->per.growth > 0)
            s->max = fmax(s->max, s->series.growth / s->per.growth * s->source->scale);
    } else if (s->usable) {
        s->gaps++;
    }
}

/* The names that this scrape has, for "looks closest". */
static void keep_names(struct tracker *t, const struct prom_scrape *scrape)
{
    const char *before = "";

    if (scrape->sample_count == t->names_of)
        return;
    arena_reset(t->names);
    t->name = arena_array(t->names, const char *, scrape->sample_count);
    t->name_count = 0;
    t->names_of = scrape->sample_count;
    for (size_t i = 0; i < scrape->sample_count; i++) { /* a family's series stand together */
        if (strcmp(scrape->samples[i].name, before) == 0)
            continue;
        before = arena_strdup(t->names, scrape->samples[i].name);
        t->name[t->name_count++] = before;
    }
}

static void count_flaws(struct tracker *t, const struct prom_scrape *scrape)
{
    t->incomplete += !scrape->complete;
    if (scrape->bad_lines && !t->first_bad_line)
        t->first_bad_line = scrape->first_bad_line;
    t->bad_lines += scrape->bad_lines;
    t->duplicates += scrape->duplicate_series;
    t->unknown_escapes += scrape->unknown_escapes;
}

void tracker_add(struct tracker *t, const struct prom_scrape *scrape, double wall_ms)
{
    bool baseline = !t->good && !t->born;
    struct state *end = t->states + t->adapter->source_count;

    for (struct state *s = t->states; s < end; s++) {
        s->matched = 0;
        counted_begin(&s->series);
        counted_begin(&s->per);
    }
    t->began_again = false;
    for (size_t i = 0; i < scrape->sample_count; i++) {
        if (!is_usable(t, &scrape->samples[i], wall_ms))
            continue;
        for (struct state *s = t->states; s < end; s++)
            take_sample(t, s, &scrape->samples[i], baseline);
    }
    for (struct state *s = t->states; s < end; s++) {
        if (s->metric->kind == METRIC_GAUGE)
            end_gauge(s);
        else
            end_counter(s);
    }
    t->resets += t->began_again;
    t->intervals += !baseline;
    t->good++;
    t->born = false;
    count_flaws(t, scrape);
    keep_names(t, scrape);
}
