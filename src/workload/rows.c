/* SPDX-License-Identifier: MIT */
/*
 * CSV files of RFC 4180. Values stand one behind the other in one buffer; `starts` says where each begins. An
 * empty line is no row (an empty value of a single column is written ""), and quotes belong around the whole
 * value.
 */
#include "workload_internal.h"

#include "benchctl/base/fs.h"

#define COLUMNS_MAX 10000

struct workload_rows {
    char *text;
    VEC(uint32_t) starts; /* of each value, row by row; then the end */
    VEC(char *) names;
    size_t count;
};

struct csv {
    const char *p, *end, *name;
    size_t line;     /* where we are */
    size_t row_line; /* where the row began */
    struct strbuf value;
};

static int csv_error(const struct csv *c, size_t line, struct error *err, const char *text)
{
    return error_set(err, ERROR_INVALID, "%s:%zu: %s", c->name, line, text);
}

void workload_rows_free(struct workload_rows *r)
{
    if (!r)
        return;
    vec_each (name, &r->names)
        free(*name);
    vec_release(&r->names);
    vec_release(&r->starts);
    free(r->text);
    free(r);
}

/* A value in quotes, the first of them read. Appends it. */
static int read_quoted(struct csv *c, struct error *err)
{
    size_t began = c->line;

    for (;;) {
        const char *quote = memchr(c->p, '"', (size_t)(c->end - c->p));
        if (!quote) {
            csv_error(c, began, err, "a quoted value does not end");
            return error_hint(err, "a quote inside of quotes is written twice");
        }
        for (const char *p = c->p; (p = memchr(p, '\n', (size_t)(quote - p))); p++)
            c->line++;
        bool twice = quote + 1 < c->end && quote[1] == '"';
        strbuf_add(&c->value, c->p, (size_t)(quote - c->p) + twice);
        c->p = quote + 1 + twice;
        if (!twice)
            break;
    }
    if (c->p == c->end || *c->p == ',' || *c->p == '\n' || *c->p == '\r')
        return 0;
    csv_error(c, c->line, err, "text behind a quoted value");
    return error_hint(err, "quotes belong around the whole value, and a quote inside of it is written twice");
}

static int read_plain(struct csv *c, struct error *err)
{
    const char *start = c->p;

    while (c->p < c->end && *c->p != ',' && *c->p != '\n' && *c->p != '\r') {
        if (*c->p == '"') {
            csv_error(c, c->line, err, "a quote inside a value that has none around it");
            return error_hint(err, "\"say \"\"hello\"\"\"");
        }
        c->p++;
    }
    strbuf_add(&c->value, start, (size_t)(c->p - start));
    return 0;
}

/* Appends one value; *ret_last: the row ends with it, and its line break is read. */
static int read_value(struct csv *c, bool *ret_last, struct error *err)
{
    bool quoted = c->p < c->end && *c->p == '"';

    c->p += quoted;
    if ((quoted ? read_quoted(c, err) : read_plain(c, err)) < 0)
        return -1;
    if (c->p < c->end && *c->p == ',') {
        c->p++;
        *ret_last = false;
        return 0;
    }
    if (c->p < c->end && *c->p == '\r') {
        if (c->p + 1 < c->end && c->p[1] != '\n')
            return csv_error(c, c->line, err, "a carriage return without a line feed");
        c->p++;
    }
    c->line += c->p < c->end;
    c->p += c->p < c->end;
    *ret_last = true;
    return 0;
}

static void skip_empty_lines(struct csv *c)
{
    for (;;) {
        size_t len = c->end - c->p >= 2 && c->p[0] == '\r' && c->p[1] == '\n' ? 2
                     : c->p < c->end && *c->p == '\n'                         ? 1
                                                                              : 0;
        if (!len)
            return;
        c->p += len;
        c->line++;
    }
}

static int read_names(struct csv *c, struct workload_rows *r, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool last = c->p == c->end;

    if (last) {
        csv_error(c, 1, err, "the file is empty");
        return error_hint(err, "its first line names the columns");
    }
    while (!last) {
        strbuf_clear(&c->value);
        if (read_value(c, &last, err) < 0)
            return -1;
        if (!c->value.len)
            return csv_error(c, 1, err, "a column has no name");
        if (workload_rows_column(r, c->value.data, c->value.len) != SIZE_MAX)
            return error_set(err, ERROR_INVALID, "%s:1: two columns are called '%s'", c->name,
                             text_shown(c->value.data, shown));
        if (r->names.len == COLUMNS_MAX)
            return csv_error(c, 1, err, "too many columns");
        vec_push(&r->names, xstrndup(c->value.data, c->value.len));
    }
    return 0;
}

static int read_row(struct csv *c, struct workload_rows *r, struct error *err)
{
    size_t fields = 0;
    bool last = false;

    c->row_line = c->line;
    for (; !last; fields++) {
        vec_push(&r->starts, (uint32_t)c->value.len);
        if (read_value(c, &last, err) < 0)
            return -1;
    }
    if (fields == r->names.len) {
        r->count++;
        return 0;
    }
    error_set(err, ERROR_INVALID, "%s:%zu: %zu values instead of %zu", c->name, c->row_line, fields,
              r->names.len);
    return error_hint(err, "each row has as many as the first line has names; a comma inside a value needs "
                           "quotes around it");
}

static int read_all(struct csv *c, struct workload_rows *r, struct error *err)
{
    if (read_names(c, r, err) < 0)
        return -1;
    strbuf_clear(&c->value);
    for (skip_empty_lines(c); c->p < c->end; skip_empty_lines(c)) {
        if (read_row(c, r, err) < 0)
            return -1;
    }
    vec_push(&r->starts, (uint32_t)c->value.len);
    r->text = strbuf_detach(&c->value);
    if (r->count)
        return 0;
    csv_error(c, c->line, err, "there are no rows");
    return error_hint(err, "the first line names the columns; each line below it is a row");
}

int workload_rows_parse(const char *bytes, size_t len, const char *name, struct workload_rows **ret,
                        struct error *err)
{
    struct csv c = {.p = bytes, .end = bytes + len, .name = name, .line = 1};
    const char *nul = len ? memchr(bytes, '\0', len) : NULL;

    if (len > ROWS_FILE_MAX)
        return error_set(err, ERROR_INVALID, "%s: more than 64 MiB of rows", name);
    if (len >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return error_set(err, ERROR_INVALID, "%s: UTF-16 is not read: write it as UTF-8", name);
    if (nul)
        return error_set(err, ERROR_INVALID, "%s: byte %zu is NUL: this is no text", name,
                         (size_t)(nul - bytes) + 1);
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        c.p += 3;
    CLEANUP(workload_rows_free) struct workload_rows *r = xcalloc(1, sizeof(*r));
    int result = read_all(&c, r, err);
    strbuf_release(&c.value);
    if (result == 0)
        *ret = TAKE(r);
    return result;
}

int workload_rows_read(const char *path, struct workload_rows **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = STRBUF_INIT;

    if (fs_read(path, ROWS_FILE_MAX, &bytes, err) < 0)
        return error_wrap(err, "rows of the load");
    return workload_rows_parse(strbuf_text(&bytes), bytes.len, path, ret, err);
}

size_t workload_rows_count(const struct workload_rows *r)
{
    return r->count;
}

size_t workload_rows_columns(const struct workload_rows *r)
{
    return r->names.len;
}

const char *workload_rows_column_name(const struct workload_rows *r, size_t column)
{
    return r->names.items[column];
}

size_t workload_rows_column(const struct workload_rows *r, const char *name, size_t len)
{
    for (size_t i = 0; i < r->names.len; i++) {
        if (strlen(r->names.items[i]) == len && memcmp(r->names.items[i], name, len) == 0)
            return i;
    }
    return SIZE_MAX;
}

const char *workload_rows_cell(const struct workload_rows *r, size_t row, size_t column, size_t *ret_len)
{
    const uint32_t *start = &r->starts.items[row * r->names.len + column];

    *ret_len = start[1] - start[0];
    return r->text + start[0];
}
