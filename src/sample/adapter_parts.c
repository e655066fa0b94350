/* SPDX-License-Identifier: MIT */
/* Adapters made of several files: names → files, what they include, one list of metrics. */
#include "adapter.h"

#include "benchctl/base/fs.h"

#define ADAPTER_MAX_BYTES ((size_t)1 << 20)
#define PARTS_MAX 64

void metric_adapter_free(struct metric_adapter *a)
{
    if (!a)
        return;
    vec_release(&a->parts);
    arena_free(a->arena);
    free(a);
}

static struct metric_adapter *adapter_new(void)
{
    struct metric_adapter *a = xcalloc(1, sizeof(*a));

    a->arena = arena_new();
    return a;
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

/* NULL: there is none. */
static const char *file_of(const char *name, char *const *dirs, struct arena *a)
{
    for (size_t i = 0; dirs[i] && !strchr(name, '/'); i++) {
        const char *path = arena_printf(a, "%s/metrics/%s.yaml", dirs[i], name);
        if (fs_exists(path))
            return path;
    }
    return NULL;
}

static struct part *part_of(const struct metric_adapter *a, const char *name)
{
    vec_each (p, &a->parts)
        if (strcmp(p->shown.name, name) == 0)
            return p;
    return NULL;
}

static int add_named(struct metric_adapter *a, const char *name, bool included, char *const *dirs,
                     struct error *err);

static int add_included(struct metric_adapter *a, const struct part *by, const char *name, char *const *dirs,
                        struct error *err)
{
    const struct part *known = part_of(a, name);
    const struct node *at = node_get(by->root, "includes");

    if (known && known->open)
        return node_error(err, at, "the metric adapter '%s' includes itself", name);
    if (a->parts.len >= PARTS_MAX)
        return node_error(err, at, "more than %d adapters are included", PARTS_MAX);
    return add_named(a, name, true, dirs, err) < 0 ? error_wrap(err, "'includes' of '%s'", by->shown.file)
                                                   : 0;
}

/* `part` is copied. */
static int add_part(struct metric_adapter *a, const struct part *part, char *const *dirs, struct error *err)
{
    const struct part by = *part;
    size_t at = a->parts.len;

    vec_push(&a->parts, by);
    a->parts.items[at].open = true;
    for (size_t i = 0; i < by.form.includes.len; i++)
        if (add_included(a, &by, by.form.includes.items[i], dirs, err) < 0)
            return -1;
    a->parts.items[at].open = false;
    return 0;
}

/* One that is there already stays where it is. */
static int add_named(struct metric_adapter *a, const char *name, bool included, char *const *dirs,
                     struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct part part = {.shown = {.name = arena_strdup(a->arena, name), .included = included}};

    if (part_of(a, name))
        return 0;
    part.shown.file = file_of(name, dirs, a->arena);
    if (!part.shown.file)
        return no_adapter(name, dirs, err);
    if (fs_read(part.shown.file, ADAPTER_MAX_BYTES, &text, err) < 0 ||
        metric_part_parse(strbuf_text(&text), text.len, a->arena, &part, err) < 0)
        return -1;
    return add_part(a, &part, dirs, err);
}

static bool is_known(const struct metric *metrics, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(metrics[i].name, name) == 0)
            return true;
    return false;
}

/* One list of all parts' metrics, in order. */
static void merge(struct metric_adapter *a)
{
    size_t count = 0;

    vec_each (p, &a->parts)
        count += p->form.metrics.len;
    struct metric *all = arena_array(a->arena, struct metric, count);
    a->metrics.items = all;
    vec_each (p, &a->parts) {
        form_each(struct metric, m, &p->form.metrics)
        {
            all[a->metrics.len] = *m;
            all[a->metrics.len].again = is_known(all, a->metrics.len, m->name);
            a->name_count += !all[a->metrics.len].again;
            a->source_count += m->from.len;
            a->metrics.len++;
        }
    }
}

int metric_adapter_parse(const char *bytes, size_t len, const char *file, struct metric_adapter **ret,
                         struct error *err)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = adapter_new();
    static char *const nowhere[] = {NULL};
    const char *base = path_basename(file);
    size_t name_len = strlen(base);

    name_len -= text_ends(base, ".yaml") ? strlen(".yaml") : 0;
    struct part part = {
        .shown = {.name = arena_strndup(a->arena, base, name_len), .file = arena_strdup(a->arena, file)}};
    if (metric_part_parse(bytes, len, a->arena, &part, err) < 0 || add_part(a, &part, nowhere, err) < 0)
        return -1;
    merge(a);
    *ret = TAKE(a);
    return 0;
}

int metric_adapter_read_all(const struct text_list *names, char *const *dirs, struct metric_adapter **ret,
                            struct error *err)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = adapter_new();

    if (names->len > PARTS_MAX)
        return error_set(err, ERROR_INVALID, "more than %d metric adapters", PARTS_MAX);
    for (size_t i = 0; i < names->len; i++)
        if (add_named(a, names->items[i], false, dirs, err) < 0)
            return -1;
    merge(a);
    *ret = TAKE(a);
    return 0;
}

int metric_adapter_read(const char *name, char *const *dirs, struct metric_adapter **ret, struct error *err)
{
    const struct text_list one = {.items = &name, .len = 1};

    return metric_adapter_read_all(&one, dirs, ret, err);
}

size_t metric_adapter_parts(const struct metric_adapter *a)
{
    return a->parts.len;
}

const struct metric_part *metric_adapter_part(const struct metric_adapter *a, size_t i)
{
    return &a->parts.items[i].shown;
}

size_t metric_adapter_count(const struct metric_adapter *a)
{
    return a->name_count;
}
