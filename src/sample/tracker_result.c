/* SPDX-License-Identifier: MIT */
/* What a tracker has found: values, and sentences about what is missing or doubtful. */
#include "tracker_state.h"

#include <math.h>

/* The source that a metric is read from: the first that had a value, of all parts that give one of that name.
 * NULL: none. */
static const struct state *chosen(const struct tracker *t, const struct metric *m)
{
    for (size_t i = 0; i < t->adapter->source_count; i++)
        if (t->states[i].usable && strcmp(t->states[i].metric->name, m->name) == 0)
            return &t->states[i];
    return NULL;
}

static double quotient(double value, double count)
{
    return count > 0 ? value / count : (double)NAN;
}

/* False when there is nothing to say, for instance the mean of no events. */
static bool value_of(const struct tracker *t, const struct state *s, struct metric_value *ret)
{
    double scale = s->source->scale;

    *ret = (struct metric_value){.name = s->metric->name,
                                 .avg = NAN,
                                 .max = s->max,
                                 .last = s->last,
                                 .increase = NAN,
                                 .gaps = (double)s->gaps};
    switch ((enum metric_kind)s->metric->kind) {
    case METRIC_GAUGE:
        ret->avg = quotient(s->sum, (double)s->usable);
        return true;
    case METRIC_COUNTER:
        ret->last = s->series.last_total * scale;
        ret->increase = t->intervals ? s->series.increase * scale : (double)NAN;
        return true;
    case METRIC_MEAN:
        ret->avg = quotient(s->series.increase, s->per.increase) * scale;
        ret->last = quotient(s->series.last_total, s->per.last_total) * scale;
        return !isnan(ret->last);
    }
    return false;
}

void tracker_values(const struct tracker *t, struct arena *a, struct metric_value **ret, size_t *ret_len)
{
    struct metric_value *values = arena_array(a, struct metric_value, t->adapter->metrics.len);
    size_t len = 0;

    form_each(struct metric, m, &t->adapter->metrics)
    {
        const struct state *s = m->again ? NULL : chosen(t, m);
        if (!s || !value_of(t, s, &values[len]))
            continue;
        values[len].name = arena_strdup(a, m->name);
        len++;
    }
    *ret = values;
    *ret_len = len;
}

struct note_list {
    struct arena *a;
    VEC(const char *) items;
};

#define add_note(n, ...)                                                                                     \
    do {                                                                                                     \
        const char *note_ = arena_printf((n)->a, __VA_ARGS__);                                               \
        vec_push(&(n)->items, note_);                                                                        \
    } while (0)

/* Metrics without a value: those that resemble a series one by one, the rest in one sentence. */
static void note_absent(const struct tracker *t, struct note_list *n)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf plain = STRBUF_INIT;

    form_each(struct metric, m, &t->adapter->metrics)
    {
        if (!t->good || m->again || chosen(t, m))
            continue;
        const struct metric_source *first = m->from.items;
        const char *near = nearest_name(first->series, t->name, t->name_count);
        if (near && strcmp(near, first->series) != 0)
            add_note(n, "metric %s is absent: no series '%s'; '%s' looks closest", m->name, first->series,
                     near);
        else
            strbuf_addf(&plain, "%s%s", plain.len ? ", " : "", m->name);
    }
    if (plain.len)
        add_note(n, "metrics that are absent: %s", plain.data);
}

static void note_idle_counters(const struct tracker *t, struct note_list *n)
{
    form_each(struct metric, m, &t->adapter->metrics)
    {
        const struct state *s = m->again ? NULL : chosen(t, m);
        if (s && s->metric->kind == METRIC_COUNTER && t->intervals && s->series.last_total <= 0 &&
            s->series.increase <= 0)
            add_note(n, "metric %s is there and stayed 0: nothing happened, or '%s' is not counting", m->name,
                     s->source->series);
        if (s && s->series.dropped)
            add_note(n, "metric %s has more than %d series; the rest is left out", m->name,
                     COUNTED_MAX_SERIES);
    }
}

void tracker_notes(const struct tracker *t, struct arena *a, struct text_list *ret)
{
    struct note_list n = {.a = a};

    if (t->failed)
        add_note(&n, "%zu of %zu scrapes failed, the last because: %s", t->failed, t->failed + t->good,
                 t->failure);
    if (t->incomplete)
        add_note(&n, "%zu scrapes were cut short: their last number may be too", t->incomplete);
    if (t->resets)
        add_note(&n, "the application's counters began again %zu times: it was restarted in the window",
                 t->resets);
    if (t->bad_lines)
        add_note(&n, "%zu lines of the scrapes could not be read, the first was line %d", t->bad_lines,
                 t->first_bad_line);
    if (t->duplicates)
        add_note(&n, "%zu times the same series stood twice in one scrape: the first was taken",
                 t->duplicates);
    if (t->unknown_escapes)
        add_note(&n, "%zu unknown escapes in label values were kept as written", t->unknown_escapes);
    if (t->stale)
        add_note(&n, "%zu samples were left out: by their own timestamps they were over a minute old",
                 t->stale);
    note_absent(t, &n);
    note_idle_counters(t, &n);
    ret->items = arena_copy(a, n.items.items, n.items.len * sizeof(*n.items.items));
    ret->len = n.items.len;
    vec_release(&n.items);
}
