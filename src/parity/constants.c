/* SPDX-License-Identifier: MIT */
#include "sweep.h"

#include "benchctl/base/fs.h"

#define MAX_SOURCE_BYTES ((size_t)16 << 20)

bool parity_source_known(const char *path)
{
    return language_of(path) != NULL;
}

static int by_name(const void *a, const void *b, void *set)
{
    const struct declarations *d = set;
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    int order = strcmp(d->list.items[x].name, d->list.items[y].name);

    return order ? order : (x > y) - (x < y);
}

static int by_place(const void *a, const void *b)
{
    const struct declaration *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->name_token > y->name_token) - (x->name_token < y->name_token);
}

/* By name, then source, then type; what is loose first. */
static int by_owner(const void *a, const void *b, void *set)
{
    const struct declarations *d = set;
    const struct declaration *x = &d->list.items[*(const size_t *)a], *y = &d->list.items[*(const size_t *)b];
    int order = strcmp(x->name, y->name);

    if (order)
        return order;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->is_loose != y->is_loose)
        return x->is_loose ? -1 : 1;
    return strcmp(x->type_path, y->type_path);
}

/* A constant that is given a value twice has none: where a language allows it. */
static void mark_changed(struct declarations *d)
{
    CLEANUP_FREE size_t *order = xcalloc(d->list.len + 1, sizeof(*order));
    const struct declaration *change = NULL;
    struct declaration *last = NULL;

    for (size_t i = 0; i < d->list.len; i++)
        order[i] = i;
    qsort_r(order, d->list.len, sizeof(*order), by_owner, d);
    for (size_t i = 0; i < d->list.len; i++) {
        struct declaration *one = &d->list.items[order[i]];
        if (one->is_loose && one->changes)
            change = one;
        if (one->is_loose)
            continue;
        if (change && change->source == one->source && strcmp(change->name, one->name) == 0)
            one->problem = "it is given another value, too";
        if (d->tokens[one->source].language->id == LANG_PYTHON && last && last->source == one->source &&
            strcmp(last->name, one->name) == 0 && strcmp(last->type_path, one->type_path) == 0)
            one->problem = last->problem = "it is given another value, too";
        last = one;
    }
}

static void sort_names(struct declarations *d)
{
    if (d->list.len)
        qsort(d->list.items, d->list.len, sizeof(*d->list.items), by_place);
    d->by_name = xcalloc(d->list.len + 1, sizeof(*d->by_name));
    for (size_t i = 0; i < d->list.len; i++)
        if (!d->list.items[i].is_loose)
            d->by_name[d->named++] = i;
    qsort_r(d->by_name, d->named, sizeof(*d->by_name), by_name, d);
}

static void declarations_release(struct declarations *d)
{
    vec_each (one, &d->list) {
        value_release(&one->value);
    }
    vec_release(&d->list);
    for (size_t i = 0; i < d->source_count; i++)
        tokens_release(&d->tokens[i]);
    free(d->tokens);
    free(d->by_name);
}

/* Python has no keyword for constants: without a pattern, those in capitals are meant. */
static bool looks_constant(const struct declarations *d, const struct declaration *one)
{
    return d->tokens[one->source].language->id != LANG_PYTHON || sweep_capitals(one->name);
}

/* Is it a string constant, or what ought to be one (then with a problem)? What a pattern asks for is never
 * dropped. */
static bool wanted(const struct declarations *d, const struct declaration *one, const char *name_glob,
                   const char **ret_problem)
{
    *ret_problem = one->problem;
    if (one->is_loose)
        return !one->is_hidden;
    if (name_glob ? !glob_match(name_glob, one->name) : !looks_constant(d, one))
        return false;
    if (!one->problem && !one->is_other && one->value.kind == VALUE_TEXT)
        return true;
    if (!one->problem)
        *ret_problem = "it is not declared as a string";
    if (name_glob || one->is_text)
        return true;
    return sweep_capitals(one->name) && sweep_has_string(&d->tokens[one->source], one->first_token);
}

static void collect(struct declarations *d, const char *name_glob, struct source_constant **ret,
                    size_t *ret_len)
{
    struct source_constant *out = arena_array(d->arena, struct source_constant, d->list.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < d->list.len; i++) {
        struct declaration *one = &d->list.items[i];
        const char *problem;
        fold_declaration(d, one);
        if (!wanted(d, one, name_glob, &problem))
            continue;
        out[n] = (struct source_constant){.name = arena_strdup(d->arena, one->name),
                                          .file = arena_strdup(d->arena, d->sources[one->source].path),
                                          .line = one->line};
        if (problem) {
            out[n].problem = arena_strdup(d->arena, problem);
        } else {
            char *copy = arena_alloc(d->arena, one->value.text.len + 1);
            memcpy(copy, strbuf_text(&one->value.text), one->value.text.len);
            out[n].value = copy;
            out[n].value_len = one->value.text.len;
        }
        n++;
    }
    *ret = out;
    *ret_len = n;
}

int parity_scan_constants(const struct parity_source *sources, size_t count, const char *name_glob,
                          struct arena *a, struct source_constant **ret, size_t *ret_len, struct error *err)
{
    CLEANUP_VALUE(declarations_release) struct declarations d = {.sources = sources, .arena = a};
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += sources[i].len;
        if (total > MAX_SOURCE_BYTES)
            return error_set(err, ERROR_INVALID, "the sources are larger than %zu bytes altogether",
                             MAX_SOURCE_BYTES);
    }
    d.tokens = xcalloc(count + 1, sizeof(*d.tokens));
    d.source_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct language *l = language_of(sources[i].path);
        if (!l)
            return error_set(err, ERROR_INVALID, "'%s' is in no language whose constants can be read",
                             sources[i].path);
        lex(l, sources[i].text, sources[i].len, &d.tokens[i]);
        if (d.tokens[i].list.len >= LEX_MAX_TOKENS)
            return error_set(err, ERROR_INVALID, "'%s' is too long", sources[i].path);
        declare(&d, i);
        sweep(&d, i, name_glob);
    }
    mark_changed(&d);
    sort_names(&d);
    collect(&d, name_glob, ret, ret_len);
    return 0;
}
