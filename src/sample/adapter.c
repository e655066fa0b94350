/* SPDX-License-Identifier: MIT */
#include "adapter.h"

#include "benchctl/base/fs.h"

#define PATTERN_MAX 256

static const char *const kind_names[] = {"gauge", "counter", "mean", NULL};
static const char *const combine_names[] = {"sum", "max", "min", "avg", "count", NULL};

#define AT(T, member) .offset = offsetof(struct T, member)

static const struct schema_field source_fields[] = {
    {.key = "series",
     .type = SCHEMA_TEXT,
     AT(metric_source, series),
     .required = true,
     .help = "Name of the series, as the application writes it; `*` and `?` match any letters."},
    {.key = "per",
     .type = SCHEMA_TEXT,
     AT(metric_source, per),
     .help = "For a mean: the series that counts what `series` adds up, with the same labels."},
    {.key = "labels",
     .type = SCHEMA_TEXT_MAP,
     AT(metric_source, labels),
     .help =
         "Label: pattern. Only series whose labels all fit count, an absent label as an empty text. `|` "
         "stands "
         "between several patterns, `!` in front means all but these; `*` stops at a slash, `**` does not."},
    {.key = "combine",
     .type = SCHEMA_CHOICE,
     AT(metric_source, combine),
     .choices = combine_names,
     .fallback = "sum",
     .help = "What several matching series of a gauge make together; `count` is how many there are."},
    {.key = "scale",
     .type = SCHEMA_NUMBER,
     AT(metric_source, scale),
     .fallback = "1",
     .help = "Factor that turns the series' unit into the metric's: 1000 from seconds to milliseconds."},
    {.key = "unset",
     .type = SCHEMA_NUMBER,
     AT(metric_source, unset),
     .help = "A value that stands for none: series that have it do not count."},
};

static int check_source(const struct node *n, const void *value, struct error *err)
{
    const struct metric_source *s = value;

    if (n && !(s->scale > 0))
        return node_error(err, n, "'scale' must be more than 0");
    for (size_t i = 0; n && i < s->labels.len; i++)
        if (strlen(s->labels.items[i].value) >= PATTERN_MAX)
            return node_error(err, n, "the pattern of label '%.64s' is too long", s->labels.items[i].key);
    return 0;
}

static const struct schema source_schema = {
    .name = "from",
    .help = "One way to find the metric. The first item that has a value wins.",
    .size = sizeof(struct metric_source),
    .fields = source_fields,
    .field_count = ARRAY_LEN(source_fields),
    .check = check_source,
    .position_offset = offsetof(struct metric_source, at),
};

static const struct schema_field metric_fields[] = {
    {.key = "help", .type = SCHEMA_TEXT, AT(metric, help), .help = "One sentence."},
    {.key = "kind",
     .type = SCHEMA_CHOICE,
     AT(metric, kind),
     .choices = kind_names,
     .fallback = "gauge",
     .help =
         "gauge: average, highest and last of the scrapes; counter: the increase over the window, restarts "
         "allowed for; mean: increase of `series` divided by increase of `per`."},
    {.key = "from",
     .type = SCHEMA_LIST,
     AT(metric, from),
     .of = &source_schema,
     .required = true,
     .help = "Where it may be found: the names that various libraries and versions use."},
};

static int check_metric(const struct node *n, const void *value, struct error *err)
{
    const struct metric *m = value;

    if (!n)
        return 0;
    if (!m->name[0] || strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_") != strlen(m->name))
        return node_error(err, n, "a metric's name is lower case letters, digits and '_', not '%.64s'",
                          m->name);
    if (!m->from.len)
        return node_error(err, n, "'from' of metric '%.64s' is empty", m->name);
    form_each(struct metric_source, s, &m->from)
    {
        if ((m->kind == METRIC_MEAN) != (s->per != NULL))
            return node_error(err, n, "'per' and 'kind: mean' belong together: metric '%.64s'", m->name);
        if (m->kind != METRIC_GAUGE && s->combine != COMBINE_SUM)
            return node_error(err, n, "only a gauge has 'combine': counters are summed: metric '%.64s'",
                              m->name);
    }
    return 0;
}

static const struct schema metric_schema = {
    .name = "metric",
    .help = "A number of the application under a name of ours, which carries its unit.",
    .size = sizeof(struct metric),
    .fields = metric_fields,
    .field_count = ARRAY_LEN(metric_fields),
    .check = check_metric,
    .position_offset = offsetof(struct metric, at),
};

static const struct schema_field form_fields[] = {
    {.key = "benchctl-adapter",
     .type = SCHEMA_INT,
     AT(metric_form, format),
     .min = 1,
     .max = 1,
     .required = true,
     .help = "Version of this language: 1."},
    {.key = "help", .type = SCHEMA_TEXT, AT(metric_form, help), .help = "One sentence: which applications."},
    {.key = "includes",
     .type = SCHEMA_TEXTS,
     AT(metric_form, includes),
     .help = "Adapters whose metrics this one has too. Where several give the same metric, the file's own "
             "comes first, then the included ones in this order."},
    {.key = "metrics",
     .type = SCHEMA_NAMED,
     AT(metric_form, metrics),
     .of = &metric_schema,
     .help = "The metrics by name."},
};

const struct schema metric_adapter_schema = {
    .name = "the metric adapter",
    .help = "Names for what an application tells about itself in Prometheus text.",
    .size = sizeof(struct metric_form),
    .fields = form_fields,
    .field_count = ARRAY_LEN(form_fields),
    .free_keys = true,
    .position_offset = SCHEMA_NO_POSITION,
};

int metric_part_parse(const char *bytes, size_t len, struct arena *a, struct part *part, struct error *err)
{
    if (tree_parse(bytes, len, part->shown.file, a, &part->root, err) < 0 ||
        schema_read(&metric_adapter_schema, part->root, a, &part->form, err) < 0)
        return -1;
    if (!part->form.metrics.len && !part->form.includes.len)
        return node_error(err, part->root, "the adapter has no metrics");
    part->shown.help = part->form.help ? part->form.help : "";
    part->shown.includes = part->form.includes;
    return 0;
}

static const char *label_value(const struct prom_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (strcmp(sample->labels[i].name, name) == 0)
            return sample->labels[i].value;
    return "";
}

/* Most patterns are plain texts: those need no glob. */
static bool text_fits(const char *pattern, const char *text)
{
    if (strcmp(pattern, text) == 0)
        return true;
    return strpbrk(pattern, "*?[") && glob_match(pattern, text);
}

/* One or more patterns with '|' between. */
static bool any_fits(const char *patterns, const char *text)
{
    char one[PATTERN_MAX];

    for (const char *p = patterns;; p++) {
        size_t len = strcspn(p, "|");
        (void)snprintf(one, sizeof(one), "%.*s", (int)len, p);
        if (text_fits(one, text))
            return true;
        p += len;
        if (!*p)
            return false;
    }
}

bool metric_source_matches(const struct metric_source *s, const char *series,
                           const struct prom_sample *sample)
{
    if (!text_fits(series, sample->name))
        return false;
    for (size_t i = 0; i < s->labels.len; i++) {
        const char *pattern = s->labels.items[i].value;
        bool negated = *pattern == '!';
        if (any_fits(pattern + negated, label_value(sample, s->labels.items[i].key)) == negated)
            return false;
    }
    return true;
}
