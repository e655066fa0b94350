/* SPDX-License-Identifier: MIT */
#include "constants.h"

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

static void sort_names(struct declarations *d)
{
    d->by_name = xcalloc(d->list.len + 1, sizeof(*d->by_name));
    for (size_t i = 0; i < d->list.len; i++)
        d->by_name[i] = i;
    qsort_r(d->by_name, d->list.len, sizeof(*d->by_name), by_name, d);
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
    return d->tokens[one->source].language->id != LANG_PYTHON ||
           strspn(one->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(one->name);
}

/* Is it a string constant, or a string that ought to be one? */
static bool wanted(const struct declarations *d, const struct declaration *one, const char *name_glob)
{
    if (one->is_other || (name_glob ? !glob_match(name_glob, one->name) : !looks_constant(d, one)))
        return false;
    if (!one->problem)
        return one->value.kind == VALUE_TEXT;
    return name_glob || one->is_text;
}

static void collect(struct declarations *d, const char *name_glob, struct source_constant **ret,
                    size_t *ret_len)
{
    struct source_constant *out = arena_array(d->arena, struct source_constant, d->list.len + 1);
    size_t n = 0;

    for (size_t i = 0; i < d->list.len; i++) {
        struct declaration *one = &d->list.items[i];
        fold_declaration(d, one);
        if (!wanted(d, one, name_glob))
            continue;
        out[n] = (struct source_constant){.name = one->name,
                                          .file = arena_strdup(d->arena, d->sources[one->source].path),
                                          .line = one->line};
        if (one->problem) {
            out[n].problem = arena_strdup(d->arena, one->problem);
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
    }
    sort_names(&d);
    collect(&d, name_glob, ret, ret_len);
    return 0;
}
