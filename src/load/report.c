/* SPDX-License-Identifier: MIT */
/* Makes the `reports` of an adapter ready: sources resolved, expressions compiled, every name known. */
#include "report.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

#define MAX_VALUES ((size_t)256)

static const struct node *at_node(struct load_adapter *a, struct position at)
{
    return node_new(a->arena, NODE_NULL, at);
}

static int wrap_at(struct position at, struct error *err)
{
    return error_wrap(err, "%s:%d:%d", at.file, at.line, at.column);
}

static int parse_take(struct load_adapter *a, struct source *s, struct error *err)
{
    static const char *const names[] = {"first", "last", "count", "sum", "min", "max", "mean", "stdev"};
    const char *text = s->form->histogram ? s->form->histogram : s->form->take;
    double percent;

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            s->take = (enum take)i;
            return 0;
        }
    }
    size_t n = strlen(text);
    if (text[0] == 'p' && strspn(text + 1, "0123456789.") == n - 1 &&
        number_scan(text + 1, n - 1, &percent) == n - 1 && percent >= 0 && percent <= 100) {
        s->take = TAKE_QUANTILE;
        s->quantile = percent / 100;
        return 0;
    }
    const char *near = nearest_name(text, names, ARRAY_LEN(names));
    (void)node_error(err, at_node(a, s->form->at), "unknown take '%s'", text);
    return near ? error_hint(err, "did you mean '%s'?", near)
                : error_hint(err, "first, last, count, sum, min, max, mean, stdev, or a quantile as p99.9");
}

static int optional_pattern(struct load_adapter *a, const char *text, struct position at,
                            struct pattern **ret, struct error *err)
{
    return text ? pattern_new(a, text, at, ret, err) : 0;
}

/* Exactly one kind of source, of the kind that its output has. */
static int check_kind(struct load_adapter *a, const struct source *s, struct error *err)
{
    const struct value_source *f = s->form;
    /* in the order of enum output_format */
    static const char *const formats[] = {"json", "text", "csv", "hdrlog", "ndjson"};
    static const char *const keys[] = {"json", "text", "column", "histogram", "metric"};
    const bool given[] = {f->json.len > 0, f->text, f->column, f->histogram, f->metric};
    int kinds = f->expr != NULL;

    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        kinds += given[i];
    if (kinds != 1)
        return node_error(err, at_node(a, f->at),
                          "a value needs exactly one of json, text, column, histogram, metric and expr");
    if (!f->expr && !given[s->output->format])
        return node_error(err, at_node(a, f->at), "output '%s' is %s: read it by %s", s->output->name,
                          formats[s->output->format], keys[s->output->format]);
    return 0;
}

/* What a histogram or a metric of a stream cannot give. */
static int check_take(struct load_adapter *a, const struct source *s, struct error *err)
{
    const struct value_source *f = s->form;

    if (f->histogram && (s->take == TAKE_FIRST || s->take == TAKE_LAST || s->take == TAKE_SUM))
        return node_error(err, at_node(a, f->at), "a histogram has no %s", f->histogram);
    if (!f->metric)
        return 0;
    const struct adapter_stream *stream = s->output->stream;
    if (s->take == TAKE_STDEV || (s->take == TAKE_QUANTILE && !text_equal(f->metric, stream->latency)))
        return node_error(err, at_node(a, f->at), "no %s is kept of '%s'", f->take, f->metric);
    if (f->group && (!stream->group || !text_equal(f->metric, stream->requests) ||
                     (s->take != TAKE_SUM && s->take != TAKE_COUNT)))
        return node_error(err, at_node(a, f->at), "by group there are only the sum and count of requests");
    return 0;
}

static int prepare_patterns(struct load_adapter *a, struct source *s, struct error *err)
{
    const struct value_source *f = s->form;

    if (optional_pattern(a, f->text, f->at, &s->text, err) < 0 ||
        optional_pattern(a, f->keys, f->at, &s->keys, err) < 0 ||
        optional_pattern(a, f->except, f->at, &s->except, err) < 0 ||
        optional_pattern(a, f->after, f->at, &s->after, err) < 0 ||
        optional_pattern(a, f->until, f->at, &s->until, err) < 0 ||
        optional_pattern(a, f->tag, f->at, &s->tag, err) < 0 ||
        optional_pattern(a, f->group, f->at, &s->group, err) < 0)
        return -1;
    s->where = arena_array(a->arena, struct pattern *, f->where.len + 1);
    for (size_t i = 0; i < f->where.len; i++)
        if (pattern_new(a, f->where.items[i].value, f->where.items[i].at, &s->where[i], err) < 0)
            return -1;
    return 0;
}

static int prepare_source(struct load_adapter *a, const struct report *r, const struct node *n,
                          struct source *s, struct error *err)
{
    struct value_source *form = arena_new_of(a->arena, struct value_source);

    if (schema_read(&value_schema, n, a->arena, form, err) < 0)
        return -1;
    s->form = form;
    s->output = r->output;
    if (form->output && !(s->output = load_output_find(a, form->output)))
        return node_error(err, at_node(a, form->at), "unknown output '%s'", form->output);
    for (size_t i = 0; i < form->json.len; i++)
        if (form->json.items[i][0] && form->json.items[i][0] != '/')
            return node_error(err, at_node(a, form->at), "'%s' is not a JSON pointer: it begins with '/'",
                              form->json.items[i]);
    if (form->is && (!form->json.len || !strstr(form->json.items[0], "[*]")))
        return node_error(err, at_node(a, form->at), "'is' is for json with a step [*]");
    if (check_kind(a, s, err) < 0 || parse_take(a, s, err) < 0 || check_take(a, s, err) < 0 ||
        prepare_patterns(a, s, err) < 0)
        return -1;
    if (form->expr && expr_compile(form->expr, a->arena, &s->expr, err) < 0)
        return wrap_at(form->at, err);
    return 0;
}

struct value_list {
    struct value *items;
    size_t len;
};

static int add_value(struct load_adapter *a, const struct report *r, const char *name, const struct node *n,
                     struct value_list *list, struct error *err)
{
    size_t count = n->kind == NODE_LIST ? n->len : 1;
    struct source *sources = arena_array(a->arena, struct source, count + 1);

    if (list->len == MAX_VALUES)
        return node_error(err, n, "more than %zu values", MAX_VALUES);
    for (size_t i = 0; i < list->len; i++)
        if (strcmp(list->items[i].name, name) == 0)
            return node_error(err, n, "'%s' is there twice", name);
    for (size_t i = 0; i < count; i++)
        if (prepare_source(a, r, n->kind == NODE_LIST ? n->items[i] : n, &sources[i], err) < 0)
            return -1;
    list->items[list->len++] = (struct value){name, sources, count, n->at};
    return 0;
}

static int add_map(struct load_adapter *a, const struct report *r, const char *prefix, const struct node *map,
                   struct value_list *list, struct error *err)
{
    if (!map || map->kind == NODE_NULL)
        return 0;
    if (map->kind != NODE_MAP)
        return node_error(err, map, "expected a map of values");
    for (size_t i = 0; i < map->len; i++) {
        const char *name = map->keys[i]->text;
        if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != strlen(name) ||
            !name[0])
            return node_error(err, map->keys[i], "'%s' is not a name: letters, digits and '_'", name);
        if (add_value(a, r, *prefix ? arena_printf(a->arena, "%s%s", prefix, name) : name, map->items[i],
                      list, err) < 0)
            return -1;
    }
    return 0;
}

const char *const load_count_names[] = {
    "requests", "ok",        "failed",      "rps",         "duration", "received_bytes",
    "dropped",  "offered",   "connections", "concurrency", "think",    "corrected_p99",
    "lag_p99",  "fallbacks", NULL};
const char *const load_latency_names[] = {"min", "mean", "stdev", "p50", "p75", "p90",
                                          "p95", "p99",  "p999",  "max", NULL};

static int add_latencies(struct load_adapter *a, const struct report *r, const char *prefix,
                         const struct latency_nodes *l, struct value_list *list, struct error *err)
{
    const struct node *const latencies[] = {l->min, l->mean, l->stdev, l->p50,  l->p75,
                                            l->p90, l->p95,  l->p99,   l->p999, l->max};

    for (size_t i = 0; i < ARRAY_LEN(latencies); i++)
        if (latencies[i] && add_value(a, r, arena_printf(a->arena, "%s%s", prefix, load_latency_names[i]),
                                      latencies[i], list, err) < 0)
            return -1;
    return 0;
}

static int add_values(struct load_adapter *a, struct report *r, struct value_list *list, struct error *err)
{
    const struct count_nodes *c = &r->form->counts;
    const struct node *const counts[] = {
        c->requests, c->ok,       c->failed,      c->rps,         c->duration, c->received_bytes,
        c->dropped,  c->offered,  c->connections, c->concurrency, c->think,    c->corrected_p99,
        c->lag_p99,  c->fallbacks};

    if (add_map(a, r, "", r->form->let, list, err) < 0 ||
        add_map(a, r, "errors.", r->form->errors, list, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (counts[i] && add_value(a, r, load_count_names[i], counts[i], list, err) < 0)
            return -1;
    if (add_latencies(a, r, "latency.", &r->form->latency, list, err) < 0)
        return -1;
    return add_latencies(a, r, "service.", &r->form->service, list, err);
}

/* ---- names in expressions ---- */

struct names {
    const struct load_adapter *adapter;
    const struct report *report;
};

const struct value *load_report_value(const struct report *r, const char *name)
{
    for (size_t i = 0; i < r->value_count; i++)
        if (strcmp(r->values[i].name, name) == 0)
            return &r->values[i];
    return NULL;
}

static int name_known(const char *name, void *data, struct error *err)
{
    const struct names *n = data;
    const char *known[MAX_VALUES];

    if (load_report_value(n->report, name) || strcmp(name, "asked.duration") == 0)
        return 0;
    if (text_starts(name, "option.") && load_option_find(n->adapter, name + strlen("option.")))
        return 0;
    if (strcmp(name, "requests") == 0 || strcmp(name, "ok") == 0 || strcmp(name, "failed") == 0)
        return 0; /* derived when the report has none */
    for (size_t i = 0; i < n->report->value_count; i++)
        known[i] = n->report->values[i].name;
    const char *near = nearest_name(name, known, n->report->value_count);
    (void)error_set(err, ERROR_INVALID, "unknown name '%s' in an expression", name);
    return near ? error_hint(err, "did you mean '%s'?", near) : -1;
}

static int check_names(struct load_adapter *a, const struct report *r, struct error *err)
{
    struct names names = {a, r};

    for (const struct value *v = r->values; v < r->values + r->value_count; v++)
        for (const struct source *s = v->sources; s < v->sources + v->source_count; s++)
            if (s->expr && expr_each_name(s->expr, name_known, &names, err) < 0)
                return wrap_at(s->form->at, err);
    for (const struct check *c = r->checks; c < r->checks + r->check_count; c++)
        if (expr_each_name(c->that, name_known, &names, err) < 0)
            return wrap_at(c->form->at, err);
    if (expr_each_name(r->measured_if, name_known, &names, err) < 0 ||
        (r->latency_if && expr_each_name(r->latency_if, name_known, &names, err) < 0))
        return wrap_at(r->form->at, err);
    for (size_t i = 0; i < r->form->required.len; i++)
        if (!load_report_value(r, r->form->required.items[i]))
            return node_error(err, at_node(a, r->form->at), "required value '%s' is not read",
                              r->form->required.items[i]);
    return 0;
}

static int prepare_checks(struct load_adapter *a, struct report *r, struct error *err)
{
    struct check *checks = arena_array(a->arena, struct check, r->form->checks.len + 1);

    form_each(struct adapter_check, form, &r->form->checks)
    {
        struct check *c = &checks[r->check_count++];
        c->form = form;
        if (expr_compile(form->that, a->arena, &c->that, err) < 0)
            return wrap_at(form->at, err);
    }
    r->checks = checks;
    if (expr_compile(r->form->measured_if, a->arena, &r->measured_if, err) < 0 ||
        (r->form->latency_if && expr_compile(r->form->latency_if, a->arena, &r->latency_if, err) < 0))
        return wrap_at(r->form->at, err);
    return 0;
}

static int prepare_report(struct load_adapter *a, struct report *r, struct error *err)
{
    struct value_list list = {arena_array(a->arena, struct value, MAX_VALUES), 0};
    const struct adapter_report *f = r->form;

    r->output = load_output_find(a, f->output);
    if (!r->output)
        return node_error(err, at_node(a, f->at), "unknown output '%s'", f->output);
    if (r->output->format == FORMAT_TEXT || (r->output->format == FORMAT_CSV && !r->output->header)) {
        r->accept_lines = arena_array(a->arena, struct pattern *, f->accept.len + 1);
        for (size_t i = 0; i < f->accept.len; i++)
            if (pattern_new(a, f->accept.items[i], f->at, &r->accept_lines[i], err) < 0)
                return -1;
    }
    if (optional_pattern(a, f->complete, f->at, &r->complete, err) < 0 || add_values(a, r, &list, err) < 0)
        return -1;
    r->values = list.items;
    r->value_count = list.len;
    return prepare_checks(a, r, err) < 0 || check_names(a, r, err) < 0 ? -1 : 0;
}

int load_reports_prepare(struct load_adapter *a, struct error *err)
{
    a->reports = arena_array(a->arena, struct report, a->form.reports.len + 1);
    form_each(struct adapter_report, form, &a->form.reports)
    {
        struct report *r = &a->reports[a->report_count++];
        r->form = form;
        if (prepare_report(a, r, err) < 0)
            return -1;
    }
    return 0;
}
