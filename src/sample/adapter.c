/* SPDX-License-Identifier: MIT */
#include "adapter.h"

#include "benchctl/base/fs.h"

#define ADAPTER_MAX_BYTES ((size_t)1 << 20)
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
    {.key = "metrics",
     .type = SCHEMA_NAMED,
     AT(metric_form, metrics),
     .of = &metric_schema,
     .required = true,
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

void metric_adapter_free(struct metric_adapter *a)
{
    if (!a)
        return;
    free(a->name);
    free(a->file);
    arena_free(a->arena);
    free(a);
}

static char *name_of(const char *file)
{
    const char *base = path_basename(file);
    size_t len = strlen(base);

    return xstrndup(base, text_ends(base, ".yaml") ? len - strlen(".yaml") : len);
}

int metric_adapter_parse(const char *bytes, size_t len, const char *file, struct metric_adapter **ret,
                         struct error *err)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = xcalloc(1, sizeof(*a));
    const struct node *root;

    a->arena = arena_new();
    a->file = xstrdup(file);
    a->name = name_of(file);
    if (tree_parse(bytes, len, a->file, a->arena, &root, err) < 0 ||
        schema_read(&metric_adapter_schema, root, a->arena, &a->form, err) < 0)
        return -1;
    if (!a->form.metrics.len)
        return node_error(err, root, "the adapter has no metrics");
    form_each(struct metric, m, &a->form.metrics)
    {
        a->source_count += m->from.len;
    }
    *ret = TAKE(a);
    return 0;
}

/* The hint: what there is. */
static int no_adapter(const char *name, char *const *dirs, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf places = STRBUF_INIT;

    for (size_t i = 0; dirs[i]; i++)
        strbuf_addf(&places, "%s%s/metrics", i ? ", " : "", dirs[i]);
    (void)error_set(err, ERROR_INVALID, "no metric adapter '%s'", name);
    return error_hint(err, "looked for %s.yaml in %s", name,
                      *strbuf_text(&places) ? strbuf_text(&places) : "nothing");
}

int metric_adapter_read(const char *name, char *const *dirs, struct metric_adapter **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; dirs[i] && !strchr(name, '/'); i++) {
        CLEANUP_FREE char *path = xasprintf("%s/metrics/%s.yaml", dirs[i], name);
        if (!fs_exists(path))
            continue;
        if (fs_read(path, ADAPTER_MAX_BYTES, &text, err) < 0)
            return -1;
        return metric_adapter_parse(strbuf_text(&text), text.len, path, ret, err);
    }
    return no_adapter(name, dirs, err);
}

const char *metric_adapter_name(const struct metric_adapter *a)
{
    return a->name;
}

const char *metric_adapter_help(const struct metric_adapter *a)
{
    return a->form.help ? a->form.help : "";
}

const char *metric_adapter_file(const struct metric_adapter *a)
{
    return a->file;
}

size_t metric_adapter_count(const struct metric_adapter *a)
{
    return a->form.metrics.len;
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
