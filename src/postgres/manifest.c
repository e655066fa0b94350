/* SPDX-License-Identifier: MIT */
#include "manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "benchctl/base/mem.h"

#define QUICK_ROWS 250000 /* counting them takes about 15 ms */
#define QUICK_BYTES (INT64_C(16) << 20)

static int by_name(const void *a, const void *b)
{
    const struct manifest_item *x = a, *y = b;

    return strcmp(x->name, y->name);
}

void manifest_sort(struct manifest *m)
{
    if (m->len > 1)
        qsort(m->items, m->len, sizeof(*m->items), by_name);
}

const struct manifest_item *manifest_find(const struct manifest *m, const char *name)
{
    struct manifest_item key = {.name = name};

    return m->len ? bsearch(&key, m->items, m->len, sizeof(*m->items), by_name) : NULL;
}

static int by_bytes(const void *a, const void *b)
{
    const struct manifest_item *x = *(const struct manifest_item *const *)a,
                               *y = *(const struct manifest_item *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool holds_rows(const struct manifest_item *i)
{
    return i->kind == ITEM_TABLE || i->kind == ITEM_VIEW;
}

void manifest_choose_quick(struct manifest *m)
{
    struct manifest_item **tables = xcalloc(m->len + 1, sizeof(struct manifest_item *));
    int64_t rows = 0, bytes = 0;
    size_t n = 0;

    for (size_t i = 0; i < m->len; i++)
        if (holds_rows(&m->items[i]))
            tables[n++] = &m->items[i];
    qsort(tables, n, sizeof(struct manifest_item *), by_bytes);
    for (size_t i = 0; i < n; i++) {
        rows += tables[i]->rows;
        bytes += tables[i]->bytes;
        tables[i]->quick = rows <= QUICK_ROWS && bytes <= QUICK_BYTES;
    }
    free(tables);
}

struct difference_list {
    struct strbuf *out;
    size_t count;
};

__attribute__((format(printf, 2, 3))) static void differ(struct difference_list *d, const char *fmt, ...)
{
    va_list args;

    if (d->count++ >= DIFFERENCES_MAX)
        return;
    if (d->count > 1)
        strbuf_adds(d->out, "; ");
    va_start(args, fmt);
    strbuf_vaddf(d->out, fmt, args);
    va_end(args);
}

static const char *kind_name(enum item_kind k)
{
    return k == ITEM_SEQUENCE ? "sequence" : k == ITEM_VIEW ? "materialized view" : "table";
}

static void compare_sequence(const struct manifest_item *want, const struct manifest_item *have,
                             struct difference_list *d)
{
    if (want->position != have->position || want->called != have->called)
        differ(d, "sequence %s stands at %" PRId64 "%s instead of %" PRId64 "%s", want->name, have->position,
               have->called ? "" : " (unused)", want->position, want->called ? "" : " (unused)");
}

static void compare_table(const struct manifest_item *want, const struct manifest_item *have,
                          const struct manifest_tolerance *t, struct difference_list *d)
{
    if (want->rows != ROWS_UNCOUNTED && have->rows != ROWS_UNCOUNTED) {
        if (want->rows != have->rows)
            differ(d, "%s %s has %" PRId64 " rows instead of %" PRId64, kind_name(want->kind), want->name,
                   have->rows, want->rows);
    } else if (t->clone && want->estimate != have->estimate)
        differ(d, "table %s has about %" PRId64 " rows instead of %" PRId64, want->name, have->estimate,
               want->estimate);
    else if (t->clone && want->bytes != have->bytes)
        differ(d, "table %s has %" PRId64 " bytes instead of %" PRId64, want->name, have->bytes, want->bytes);
    if (want->columns != have->columns || want->checks != have->checks || want->indexes != have->indexes)
        differ(d, "table %s was altered: %d columns, %d checks, %d indexes instead of %d, %d, %d", want->name,
               have->columns, have->checks, have->indexes, want->columns, want->checks, want->indexes);
}

static void compare_item(const struct manifest_item *want, const struct manifest_item *have,
                         const struct manifest_tolerance *t, struct difference_list *d)
{
    if (want->kind != have->kind)
        differ(d, "%s is a %s instead of a %s", want->name, kind_name(have->kind), kind_name(want->kind));
    else if (want->kind == ITEM_SEQUENCE)
        compare_sequence(want, have, d);
    else
        compare_table(want, have, t, d);
}

static void compare_sizes(const struct manifest *want, const struct manifest *have,
                          const struct manifest_tolerance *t, struct difference_list *d)
{
    double allowed = t->size_share * (double)want->size_bytes;
    int64_t off = have->size_bytes > want->size_bytes ? have->size_bytes - want->size_bytes
                                                      : want->size_bytes - have->size_bytes;

    if (allowed < (double)t->size_bytes)
        allowed = (double)t->size_bytes;
    if ((double)off > allowed)
        differ(d, "the database has %" PRId64 " bytes instead of %" PRId64, have->size_bytes,
               want->size_bytes);
    if (want->large_objects != have->large_objects)
        differ(d, "there are %" PRId64 " large objects instead of %" PRId64, have->large_objects,
               want->large_objects);
}

size_t manifest_compare(const struct manifest *want, const struct manifest *have,
                        const struct manifest_tolerance *t, struct strbuf *out)
{
    struct difference_list d = {.out = out};
    size_t w = 0, h = 0;

    while (w < want->len || h < have->len) {
        int order = w == want->len   ? 1
                    : h == have->len ? -1
                                     : strcmp(want->items[w].name, have->items[h].name);
        if (order < 0) {
            differ(&d, "%s %s is missing", kind_name(want->items[w].kind), want->items[w].name);
            w++;
        } else if (order > 0) {
            differ(&d, "%s %s is not in the seed", kind_name(have->items[h].kind), have->items[h].name);
            h++;
        } else
            compare_item(&want->items[w++], &have->items[h++], t, &d);
    }
    compare_sizes(want, have, t, &d);
    if (d.count > DIFFERENCES_MAX)
        strbuf_addf(out, "; and %zu more", d.count - DIFFERENCES_MAX);
    return d.count;
}
