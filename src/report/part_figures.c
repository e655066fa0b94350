/* SPDX-License-Identifier: MIT */
/* Figures of phases and kinds of request: those of the tables, and any other that is asked for by name. */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "part_figures.h"

const struct part_figure part_figures[PART_FIGURES] = {
    {"goodput_rps", "ok/s", "", "successful requests per second", UNIT_NUMBER},
    {"rates.offered", "offered/s", "", "requests per second that the schedule asked for", UNIT_NUMBER},
    {"error_rate", "errors", "", "failed requests", UNIT_RATE},
    {"latency_ms.p50", "p50", "ms", "median latency", UNIT_NUMBER},
    {"latency_ms.p99", "p99", "ms", "99th percentile of latency", UNIT_NUMBER},
    {"service_ms.p99", "service p99", "ms", "99th percentile of latency from the moment of sending",
     UNIT_NUMBER},
};

static const char *const prefixes[PART_KINDS] = {[PART_PHASE] = "phases", [PART_REQUEST] = "requests"};

static const char *text_of(const struct trial *t, enum part_kind kind)
{
    return !t->has_load ? NULL : kind == PART_PHASE ? t->load.phases : t->load.by_request;
}

static enum source source_of(enum part_kind kind)
{
    return kind == PART_PHASE ? SOURCE_PHASE : SOURCE_REQUEST;
}

static void add_figures_of(struct report *r, enum part_kind kind, struct part_name *n)
{
    n->first = r->figures.len;
    for (size_t i = 0; i < PART_FIGURES; i++)
        vec_push(&r->figures,
                 (struct figure){
                     .key = arena_printf(r->arena, "%s.%s.%s", prefixes[kind], n->name, part_figures[i].path),
                     .name = arena_printf(r->arena, "%s %s", n->name, part_figures[i].name),
                     .measure = part_figures[i].measure,
                     .heading = arena_printf(r->arena, "%s: %s", n->name, part_figures[i].heading),
                     .unit = part_figures[i].unit,
                     .source = source_of(kind),
                     .of = n->name,
                     .path = part_figures[i].path,
                 });
}

/* Where a trial has more than one; a single one is the load itself. */
void add_part_figures(struct report *r)
{
    for (size_t t = 0; t < r->sweep->trial_count; t++) {
        for (int kind = 0; kind < PART_KINDS; kind++) {
            const struct trial_parts *p = &r->parts[t];
            for (size_t i = 0; i < p->count[kind] && p->count[kind] > 1; i++) {
                const size_t *at = name_index_get(&r->part_names[kind].index, p->items[kind][i].name);
                if (at && r->part_names[kind].items.items[*at].first == SIZE_MAX)
                    add_figures_of(r, (enum part_kind)kind, &r->part_names[kind].items.items[*at]);
            }
        }
    }
}

/* --- values --- */

static double number_at_path(const struct json *j, const char *path)
{
    while (j && *path) {
        size_t n = strcspn(path, ".");
        CLEANUP_FREE char *name = xstrndup(path, n);
        j = json_get(j, name);
        path += n + (path[n] == '.');
    }
    return json_number(j);
}

static double value_in(const struct json *list, const char *name, const char *path)
{
    for (size_t i = 0; i < json_len(list) && i < 64; i++)
        if (text_equal(json_get_text(json_at(list, i), "name"), name))
            return number_at_path(json_at(list, i), path);
    return NAN;
}

static struct json *parse_parts(const struct trial *t, enum part_kind kind)
{
    const char *text = text_of(t, kind);
    struct error ignored = ERROR_INIT;
    struct json *list = NULL;

    return text && json_parse(text, strlen(text), "parts", &list, &ignored) == 0 ? list : NULL;
}

void part_values(const struct report *r, const struct trial *t, double *values)
{
    CLEANUP(json_free) struct json *phases = NULL;
    CLEANUP(json_free) struct json *requests = NULL;
    bool any = false;

    for (size_t f = 0; f < r->figures.len; f++) {
        enum source source = r->figures.items[f].source;
        if (source == SOURCE_OFFERED)
            values[f] = r->parts[t - r->sweep->trials].offered_rps;
        any |= source == SOURCE_PHASE || source == SOURCE_REQUEST;
    }
    if (!any)
        return;
    phases = parse_parts(t, PART_PHASE);
    requests = parse_parts(t, PART_REQUEST);
    for (size_t f = 0; f < r->figures.len; f++) {
        const struct figure *figure = &r->figures.items[f];
        if (figure->source == SOURCE_PHASE)
            values[f] = value_in(phases, figure->of, figure->path);
        else if (figure->source == SOURCE_REQUEST)
            values[f] = value_in(requests, figure->of, figure->path);
    }
}

/* --- those asked for --- */

/* The part that "phases.steady.p99" is about: the longest name that fits, for names may hold dots. */
static const char *part_of_name(const struct report *r, const char *name, enum part_kind *ret_kind,
                                const char **ret_rest)
{
    const char *found = NULL;

    for (int kind = 0; kind < PART_KINDS; kind++) {
        size_t len = strlen(prefixes[kind]);
        if (strncmp(name, prefixes[kind], len) != 0 || name[len] != '.')
            continue;
        *ret_kind = (enum part_kind)kind;
        *ret_rest = name + len + 1;
        vec_each (n, &r->part_names[kind].items) {
            size_t n_len = strlen(n->name);
            const char *at = name + len + 1;
            if (strncmp(at, n->name, n_len) == 0 && at[n_len] == '.' && (!found || n_len > strlen(found))) {
                found = n->name;
                *ret_rest = at + n_len + 1;
            }
        }
    }
    return found;
}

static bool any_trial_has(const struct report *r, enum part_kind kind, const char *part, const char *path)
{
    for (size_t t = 0; t < r->sweep->trial_count; t++) {
        CLEANUP(json_free) struct json *list = parse_parts(&r->sweep->trials[t], kind);
        if (!isnan(value_in(list, part, path)))
            return true;
    }
    return false;
}

static size_t figure_with_key(const struct report *r, const char *key)
{
    size_t i = 0;

    while (i < r->figures.len && strcmp(r->figures.items[i].key, key) != 0)
        i++;
    return i;
}

size_t find_part_figure(struct report *r, const char *name)
{
    static const char *const within[] = {"", "latency_ms.", "rates."};
    enum part_kind kind = PART_PHASE;
    const char *rest = NULL, *part = part_of_name(r, name, &kind, &rest);

    for (size_t i = 0; i < ARRAY_LEN(within) && part && *rest; i++) {
        const char *path = arena_printf(r->arena, "%s%s", within[i], rest);
        if (!any_trial_has(r, kind, part, path))
            continue;
        const char *key = arena_printf(r->arena, "%s.%s.%s", prefixes[kind], part, path);
        size_t at = figure_with_key(r, key);
        if (at < r->figures.len)
            return at;
        struct figure f = {.key = key,
                           .name = arena_printf(r->arena, "%s %s", part, rest),
                           .heading = arena_printf(r->arena, "%s: %s", part, rest),
                           .source = source_of(kind),
                           .of = part,
                           .path = path};
        f.unit = unit_of_name(path, &f.measure);
        vec_push(&r->figures, f);
        return at;
    }
    return r->figures.len;
}

int unknown_part_figure(const struct report *r, const char *name, struct error *err)
{
    enum part_kind kind = PART_KINDS;
    const char *rest = NULL, *part = part_of_name(r, name, &kind, &rest);
    CLEANUP_VALUE(strbuf_release) struct strbuf all = {.max = 512};

    if (kind == PART_KINDS)
        return 0;
    (void)error_set(err, ERROR_USAGE, "there is no figure '%s'", name);
    if (part)
        return error_hint(err,
                          "figures of '%s' are named as in trial.json, for instance %s.%s.latency_ms.p90",
                          part, prefixes[kind], part);
    vec_each (n, &r->part_names[kind].items)
        strbuf_addf(&all, "%s%s", all.len ? ", " : "", n->name);
    if (!all.len)
        return error_hint(err, "no trial has %s of its load", prefixes[kind]);
    return error_hint(err, "%s are: %s", prefixes[kind], strbuf_text(&all));
}
