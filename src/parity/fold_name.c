/* SPDX-License-Identifier: MIT */
/* Which constant a name in an expression means. */
#include "fold.h"

#include <string.h>

static int compare_name(const void *key, const void *index, void *set)
{
    const struct declarations *d = set;

    return strcmp(key, d->list.items[*(const size_t *)index].name);
}

/* The first of the declarations with this name in by_name, or NULL. */
static const size_t *first_named(const struct declarations *d, const char *name)
{
    size_t low = 0, high = d->named;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_name(name, &d->by_name[middle], (void *)(uintptr_t)d) > 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->named && strcmp(d->list.items[d->by_name[low]].name, name) == 0 ? &d->by_name[low] : NULL;
}

/* How near a declaration is to the place that names it; higher is nearer, 0: not meant. `owner` is the last
 * word before the name ("Tables" of "x.Tables.USERS"), or NULL. */
static int nearness(const struct folder *f, const struct declaration *d, const char *owner)
{
    const char *type = strrchr(d->type_path, '.');
    size_t n = strlen(d->type_path);

    type = type ? type + 1 : d->type_path;
    if (owner && *type)
        return strcmp(type, owner) == 0 ? 1000 + (d->source == f->context->source) : 0;
    if (d->source != f->context->source)
        return 1;
    bool encloses = strncmp(f->context->type_path, d->type_path, n) == 0 &&
                    (!n || f->context->type_path[n] == '.' || !f->context->type_path[n]);
    return encloses ? 3 + (int)(n < 900 ? n : 900) : 2;
}

struct declaration *fold_resolve(struct folder *f, const char *name, const char *owner)
{
    struct declarations *d = f->set;
    struct declaration *best = NULL;
    const size_t *from = first_named(d, name);
    int best_nearness = 0;
    bool twice = false;

    for (const size_t *i = from; i && i < d->by_name + d->named && strcmp(d->list.items[*i].name, name) == 0;
         i++) {
        struct declaration *one = &d->list.items[*i];
        int near = one == f->context ? 0 : nearness(f, one, owner);
        twice = near == best_nearness ? twice || near > 0 : near > best_nearness ? false : twice;
        if (near > best_nearness) {
            best = one;
            best_nearness = near;
        }
    }
    if (twice)
        fold_fail(f, "it refers to a name that several constants have");
    return twice ? NULL : best;
}

static bool one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

/* Does a value of the type it is declared with read as it was written? */
static bool type_fits(const struct declaration *d)
{
    static const char *const whole[] = {"int", "Int", "Integer", "short", "Short", "byte", "Byte"},
                             *const wide[] = {"long", "Long", "int64", "uint64", "number"},
                             *const characters[] = {"char", "Char", "Character"},
                             *const truths[] = {"boolean", "Boolean", "bool"};
    const char *type = d->declared_as;

    if (!type || d->value.kind == VALUE_TEXT)
        return true;
    if (d->value.kind == VALUE_CHARACTER)
        return one_of(type, characters, ARRAY_LEN(characters));
    if (d->value.kind == VALUE_WORD)
        return one_of(type, truths, ARRAY_LEN(truths));
    return one_of(type, wide, ARRAY_LEN(wide)) ||
           (one_of(type, whole, ARRAY_LEN(whole)) && d->value.number >= INT32_MIN &&
            d->value.number <= INT32_MAX);
}

void fold_name_value(struct folder *f, const char *name, const char *owner, struct value *ret)
{
    struct declaration *d = fold_resolve(f, name, owner);

    if (!d) {
        fold_fail(f, arena_printf(f->set->arena, "it refers to '%.80s', which is not a constant here", name));
        return;
    }
    fold_declaration(f->set, d);
    if (d->problem || d->value.kind == VALUE_NONE) {
        fold_fail(f, arena_printf(f->set->arena, "it refers to '%.80s', which is not constant", name));
        return;
    }
    if (!type_fits(d)) {
        fold_fail(f, arena_printf(f->set->arena, "it refers to '%.80s', whose type changes its value", name));
        return;
    }
    ret->kind = d->value.kind;
    ret->number = d->value.number;
    strbuf_clear(&ret->text);
    strbuf_add(&ret->text, strbuf_text(&d->value.text), d->value.text.len);
}
