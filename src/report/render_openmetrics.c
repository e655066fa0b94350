/* SPDX-License-Identifier: MIT */
/*
 * Figures of every trial as OpenMetrics text, a gauge per figure, for a database of time series. Units are
 * base units (seconds, bytes, ratios), as the format asks for; HELP has the recorded name. What was not
 * measured has no sample: NaN would say that something was there.
 */
#include "openmetrics.h"

#include <math.h>
#include <string.h>
#include "text.h"

static void add_escaped(struct strbuf *out, const char *text)
{
    for (struct letter l = text_next(&text); l.len; l = text_next(&text)) {
        if (l.len == 1 && (l.bytes[0] == '\\' || l.bytes[0] == '"'))
            strbuf_addc(out, '\\');
        strbuf_add(out, l.bytes, l.len);
    }
}

static void add_label(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, "%s%s=\"", out->len ? "," : "", name);
    add_escaped(out, value);
    strbuf_addc(out, '"');
}

struct exposition {
    const struct report *r;
    struct strbuf *out;
    char **axes;            /* labels */
    char **trials;          /* per trial of the sweep: the labels that all its samples have */
    struct name_index seen; /* names of families */
};

static const char *matrix_of(const struct report *r)
{
    const char *name = json_get_text(r->sweep->info, "name");

    return name ? name : r->title;
}

static char *labels_of_trial(const struct exposition *x, const struct cell *c, const struct trial *t)
{
    CLEANUP_FREE char *number = xasprintf("%d", t->trial);
    struct strbuf out = STRBUF_INIT;

    add_label(&out, "matrix", matrix_of(x->r));
    add_label(&out, "scenario", c->scenario);
    for (size_t i = 0; i < x->r->axis_count; i++)
        add_label(&out, x->axes[i], cell_value(x->r, c, i));
    add_label(&out, "trial", number);
    return strbuf_detach(&out);
}

static void begin_family(struct exposition *x, const char *name, const char *type, const char *unit,
                         const char *help)
{
    strbuf_addf(x->out, "# TYPE %s %s\n", name, type);
    if (unit[0])
        strbuf_addf(x->out, "# UNIT %s %s\n", name, unit);
    strbuf_addf(x->out, "# HELP %s ", name);
    add_escaped(x->out, help);
    strbuf_addc(x->out, '\n');
}

/* --- figures --- */

static void add_figure_labels(struct strbuf *out, const struct figure *f)
{
    const char *label = openmetrics_label(f);

    if (label)
        add_label(out, label, f->of);
    if (f->source == SOURCE_BUILD && f->path)
        add_label(out, "count", f->path);
}

static bool measured(const struct report *r, size_t figure)
{
    for (size_t t = 0; t < r->sweep->trial_count; t++)
        if (!isnan(r->values[t * r->figures.len + figure]))
            return true;
    return false;
}

static void write_samples(struct exposition *x, const struct openmetrics_family *family, size_t figure)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf labels = STRBUF_INIT;

    add_figure_labels(&labels, &x->r->figures.items[figure]);
    for (size_t t = 0; t < x->r->sweep->trial_count; t++) {
        double value = x->r->values[t * x->r->figures.len + figure];
        if (isnan(value))
            continue;
        strbuf_addf(x->out, "%s{%s%s%s} ", family->name, x->trials[t], labels.len ? "," : "",
                    strbuf_text(&labels));
        machine_number(x->out, value / family->divisor);
        strbuf_addc(x->out, '\n');
    }
}

/* A name of this family's own: two recorded names may differ only in what a name here cannot have. */
static char *unused_name(struct exposition *x, struct openmetrics_family *family)
{
    char *name = xasprintf("%s%s%s", family->name, family->unit[0] ? "_" : "", family->unit);
    bool new = false;

    for (size_t n = 2; (void)name_index_put(&x->seen, arena_strdup(x->r->arena, name), n, &new), !new; n++) {
        free(name);
        name = xasprintf("%s_%zu%s%s", family->name, n, family->unit[0] ? "_" : "", family->unit);
    }
    return name;
}

static void write_figures(struct exposition *x)
{
    const struct report *r = x->r;
    CLEANUP_FREE bool *done = xcalloc(r->figures.len + 1, sizeof(*done));

    for (size_t f = 0; f < r->figures.len; f++)
        done[f] = !measured(r, f);
    for (size_t f = 0; f < r->figures.len; f++) {
        struct openmetrics_family family;
        if (done[f])
            continue;
        openmetrics_family_of(&r->figures.items[f], &family);
        char *name = unused_name(x, &family);
        free(family.name);
        family.name = name;
        begin_family(x, family.name, "gauge", family.unit, family.help);
        for (size_t other = f; other < r->figures.len; other++) {
            if (done[other] || !openmetrics_same_family(&r->figures.items[f], &r->figures.items[other]))
                continue;
            write_samples(x, &family, other);
            done[other] = true;
        }
        openmetrics_family_release(&family);
    }
}

/* --- trials --- */

static void write_outcomes(struct exposition *x)
{
    const struct sweep *s = x->r->sweep;

    if (!s->trial_count)
        return;
    begin_family(x, OPENMETRICS_OUTCOME, "stateset", "", "What became of the trial (outcome of trial.json)");
    for (size_t t = 0; t < s->trial_count; t++)
        for (int o = 0; o < OUTCOMES; o++)
            strbuf_addf(x->out, OPENMETRICS_OUTCOME "{%s," OPENMETRICS_OUTCOME "=\"%s\"} %d\n", x->trials[t],
                        outcome_name((enum outcome)o), (int)s->trials[t].outcome == o);
}

static void write_counted(struct exposition *x)
{
    const struct report *r = x->r;

    if (!r->sweep->trial_count)
        return;
    begin_family(x, OPENMETRICS_COUNTED, "gauge", "",
                 "1: the trial's numbers are in the figures that a report shows of its scenario");
    for (size_t i = 0; i < r->cells.len; i++)
        for (size_t k = 0; k < r->cells.items[i].trial_count; k++)
            strbuf_addf(x->out, OPENMETRICS_COUNTED "{%s} %d\n",
                        x->trials[r->cells.items[i].trials[k] - r->sweep->trials],
                        trial_counts(&r->cells.items[i], r->cells.items[i].trials[k], NULL));
}

static void write_complete(struct exposition *x)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf labels = STRBUF_INIT;

    add_label(&labels, "matrix", matrix_of(x->r));
    begin_family(x, OPENMETRICS_COMPLETE, "gauge", "", "1: every trial of the plan was run");
    strbuf_addf(x->out, OPENMETRICS_COMPLETE "{%s} %d\n", strbuf_text(&labels), x->r->sweep->complete);
}

static void own_name(struct exposition *x, const char *name)
{
    bool new;

    (void)name_index_put(&x->seen, name, 0, &new);
}

void render_openmetrics(const struct report *r, struct strbuf *out)
{
    struct exposition x = {.r = r, .out = out, .axes = xcalloc(r->axis_count + 1, sizeof(char *))};

    x.trials = xcalloc(r->sweep->trial_count + 1, sizeof(char *));
    for (size_t i = 0; i < r->axis_count; i++)
        x.axes[i] = openmetrics_axis_label(x.axes, i, r->axes[i].name);
    for (size_t i = 0; i < r->cells.len; i++)
        for (size_t k = 0; k < r->cells.items[i].trial_count; k++)
            x.trials[r->cells.items[i].trials[k] - r->sweep->trials] =
                labels_of_trial(&x, &r->cells.items[i], r->cells.items[i].trials[k]);
    own_name(&x, OPENMETRICS_OUTCOME);
    own_name(&x, OPENMETRICS_COUNTED);
    own_name(&x, OPENMETRICS_COMPLETE);
    write_complete(&x);
    write_outcomes(&x);
    write_counted(&x);
    write_figures(&x);
    strbuf_adds(out, "# EOF\n");
    for (size_t i = 0; i < r->axis_count; i++)
        free(x.axes[i]);
    for (size_t t = 0; t < r->sweep->trial_count; t++)
        free(x.trials[t]);
    free(x.axes);
    free(x.trials);
    name_index_release(&x.seen);
}
