/* SPDX-License-Identifier: MIT */
/* Numbers in a column of comma or tab separated records, one a line; fields may be quoted as RFC 4180 says.
 */
#include "document.h"

#include <string.h>

#define MAX_COLUMNS 512

static char delimiter_of(const struct adapter_output *o)
{
    return strcmp(o->delimiter, "tab") == 0 ? '\t' : o->delimiter[0];
}

struct field {
    const char *text;
    size_t len;
};

/* Splits a line into at most `max` fields; quotes around a field go, doubled ones inside stay as they are.
 * Returns how many. */
static size_t split(const struct line *l, char delimiter, struct field *fields, size_t max)
{
    const char *p = l->text, *end = l->text + l->len;
    size_t n = 0;

    while (n < max) {
        struct field *f = &fields[n++];
        if (p < end && *p == '"') {
            const char *q = ++p;
            while (q < end && (*q != '"' || (q + 1 < end && q[1] == '"')))
                q += *q == '"' ? 2 : 1;
            q = q < end ? q : end;
            *f = (struct field){p, (size_t)(q - p)};
            p = q < end ? q + 1 : end;
            const char *next = memchr(p, delimiter, (size_t)(end - p));
            p = next ? next : end;
        } else {
            const char *next = memchr(p, delimiter, (size_t)(end - p));
            *f = (struct field){p, (size_t)((next ? next : end) - p)};
            p = next ? next : end;
        }
        if (p >= end)
            break;
        p++;
    }
    return n;
}

int document_read_header(struct document *d, struct error *err)
{
    struct field fields[MAX_COLUMNS];
    struct line l = {0};

    if (!d->output->header) {
        for (size_t i = 0; i < d->output->columns.len; i++)
            vec_push(&d->columns, xstrdup(d->output->columns.items[i]));
        return 0;
    }
    do
        if (!line_next(d, &l))
            return error_set(err, ERROR_INVALID, "'%s' is empty", d->path);
    while (!l.len);
    size_t n = split(&l, delimiter_of(d->output), fields, MAX_COLUMNS);
    for (size_t i = 0; i < n; i++)
        vec_push(&d->columns, xstrndup(fields[i].text, fields[i].len));
    d->header_lines = l.number;
    d->body = (size_t)(l.next - strbuf_text(&d->bytes));
    return 0;
}

/* The column's index, or -1. */
static int column_index(const struct document *d, const char *name)
{
    for (size_t i = 0; i < d->columns.len && i < MAX_COLUMNS; i++)
        if (strcmp(d->columns.items[i], name) == 0)
            return (int)i;
    return -1;
}

static bool record_wanted(const struct source *s, const struct document *d, const struct field *fields)
{
    for (size_t i = 0; i < s->form->where.len; i++) {
        int column = column_index(d, s->form->where.items[i].key);
        if (column < 0 || !pattern_match(s->where[i], fields[column].text, fields[column].len, NULL, NULL))
            return false;
    }
    return true;
}

static int add_field(const struct source *s, const struct field *f, struct numbers *out, struct error *err)
{
    double number = 1;
    int got =
        s->take == TAKE_COUNT ? 1 : quantity_parse(f->text, f->len, (enum unit)s->form->unit, &number, err);

    if (got > 0)
        vec_push(&out->list, number);
    else if (got == 0)
        out->non_number = true;
    return got < 0 ? -1 : 0;
}

int source_csv_numbers(const struct source *s, const struct document *d, struct numbers *out,
                       struct error *err)
{
    struct field fields[MAX_COLUMNS];
    int column = column_index(d, s->form->column);
    struct line l = {.number = d->header_lines};

    if (column < 0)
        return 0;
    out->present = true;
    while (line_next(d, &l)) {
        if (!l.len)
            continue;
        size_t n = split(&l, delimiter_of(d->output), fields, MAX_COLUMNS);
        if (n < d->columns.len && n < MAX_COLUMNS)
            return error_set(err, ERROR_INVALID, "%s:%d: %zu columns instead of %zu: the output is cut short",
                             d->path, l.number, n, d->columns.len);
        if (record_wanted(s, d, fields) && add_field(s, &fields[column], out, err) < 0)
            return error_wrap(err, "%s:%d", d->path, l.number);
    }
    return 0;
}
