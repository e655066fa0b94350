/* SPDX-License-Identifier: MIT */
/*
 * CSV files of RFC 4180. Values stand one behind the other in one buffer; `starts` says where each begins. An
 * empty line is no row (an empty value of a single column is written ""), and quotes belong around the whole
 * value.
 */
#include "workload_internal.h"

#include "benchctl/base/csv.h"
#include "benchctl/base/fs.h"

#define COLUMNS_MAX 10000

struct workload_rows {
    char *text;
    VEC(uint32_t) starts; /* of each value, row by row; then the end */
    VEC(char *) names;
    size_t count;
};

struct csv {
    struct csv_reader reader;
    size_t row_line; /* where the row began */
    struct strbuf value;
};

static int complain(const struct csv *c, size_t line, struct error *err, const char *text)
{
    return csv_error(&c->reader, line, 1, err, text);
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

static int read_names(struct csv *c, struct workload_rows *r, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool last = c->reader.p == c->reader.end;

    if (last) {
        complain(c, 1, err, "the file is empty");
        return error_hint(err, "its first line names the columns");
    }
    while (!last) {
        strbuf_clear(&c->value);
        if (csv_next(&c->reader, &c->value, &last, err) < 0)
            return -1;
        if (!c->value.len)
            return complain(c, 1, err, "a column has no name");
        if (workload_rows_column(r, c->value.data, c->value.len) != SIZE_MAX)
            return error_set(err, ERROR_INVALID, "%s:1: two columns are called '%s'", c->reader.name,
                             text_shown(c->value.data, shown));
        if (r->names.len == COLUMNS_MAX)
            return complain(c, 1, err, "too many columns");
        vec_push(&r->names, xstrndup(c->value.data, c->value.len));
    }
    return 0;
}

static int read_row(struct csv *c, struct workload_rows *r, struct error *err)
{
    size_t fields = 0;
    bool last = false;

    c->row_line = c->reader.line;
    for (; !last; fields++) {
        vec_push(&r->starts, (uint32_t)c->value.len);
        if (csv_next(&c->reader, &c->value, &last, err) < 0)
            return -1;
    }
    if (fields == r->names.len) {
        r->count++;
        return 0;
    }
    error_set(err, ERROR_INVALID, "%s:%zu: %zu values instead of %zu", c->reader.name, c->row_line, fields,
              r->names.len);
    return error_hint(err, "each row has as many as the first line has names; a comma inside a value needs "
                           "quotes around it");
}

static int read_all(struct csv *c, struct workload_rows *r, struct error *err)
{
    if (read_names(c, r, err) < 0)
        return -1;
    strbuf_clear(&c->value);
    while (csv_more(&c->reader)) {
        if (read_row(c, r, err) < 0)
            return -1;
    }
    vec_push(&r->starts, (uint32_t)c->value.len);
    r->text = strbuf_detach(&c->value);
    if (r->count)
        return 0;
    complain(c, c->reader.line, err, "there are no rows");
    return error_hint(err, "the first line names the columns; each line below it is a row");
}

int workload_rows_parse(const char *bytes, size_t len, const char *name, struct workload_rows **ret,
                        struct error *err)
{
    struct csv c = {0};

    if (len > ROWS_FILE_MAX)
        return error_set(err, ERROR_INVALID, "%s: more than 64 MiB of rows", name);
    if (csv_reader_init(&c.reader, bytes, len, name, err) < 0)
        return -1;
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
