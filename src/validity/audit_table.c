/* SPDX-License-Identifier: MIT */
/* CSV as rows of numbers. Columns that no rule knows are kept: words as the rows' names, numbers as metrics.
 */
#include "audit_internal.h"

#include <math.h>
#include "benchctl/base/csv.h"
#include "benchctl/base/tree.h"
#include "benchctl/base/units.h"

enum { COLUMNS_MAX = 1000, ROWS_MAX = 100000, VALUES_MAX = 1000, LABELS_NAMED = 4 };

struct reading {
    struct csv_reader csv;
    struct audit_table *t;
    struct strbuf value;
    VEC(struct audit_column) columns;
    VEC(struct audit_meaning) found;
    VEC(struct audit_row) rows;
    bool *words; /* per column: something in it is no number */
    VEC(const char *) cells;
    struct audit_commas commas;
};

static int complain(struct reading *r, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int complain(struct reading *r, struct error *err, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return csv_error(&r->csv, r->csv.value_line, r->csv.value_column, err, text);
}

/* The value without blanks around it. */
static const char *next_value(struct reading *r, bool *ret_last, struct error *err)
{
    strbuf_clear(&r->value);
    if (csv_next(&r->csv, &r->value, ret_last, err) < 0)
        return NULL;
    strbuf_trim_end(&r->value);
    const char *text = strbuf_text(&r->value);
    return text + strspn(text, " \t");
}

static const char *meaning_text(struct arena *a, const struct audit_meaning *m)
{
    if (m->field >= FIELDS)
        return m->field == FIELD_LABEL ? "label" : "metric";
    if (m->share)
        return arena_printf(a, "%s in %%", audit_names[m->field].field);
    if (m->field == FIELD_DURATION)
        return "duration, kept in s";
    return audit_is_time(m->field) ? arena_printf(a, "%s, kept in ms", audit_names[m->field].field)
                                   : audit_names[m->field].field;
}

static int read_header(struct reading *r, struct error *err)
{
    char shown[SHOWN_SIZE];
    size_t of[FIELDS];
    bool last = false;

    if (!csv_more(&r->csv)) {
        csv_error(&r->csv, 1, 1, err, "the file is empty");
        return error_hint(err, "its first line names the columns");
    }
    for (size_t i = 0; i < FIELDS; i++)
        of[i] = SIZE_MAX;
    while (!last) {
        const char *name = next_value(r, &last, err);
        if (!name)
            return -1;
        if (!r->columns.len && *name == '|') {
            complain(r, err, "this is a table of Markdown");
            return error_hint(err, "write it as CSV: a comma between values, no line below the names");
        }
        if (!*name)
            return complain(r, err, "a column has no name");
        if (r->columns.len == COLUMNS_MAX)
            return complain(r, err, "more than %d columns", COLUMNS_MAX);
        struct audit_meaning m = audit_meaning_of(name);
        if (m.field < FIELDS && of[m.field] != SIZE_MAX) {
            complain(r, err, "'%s' and '%s' are both '%s'", r->columns.items[of[m.field]].name,
                     text_shown(name, shown), audit_names[m.field].field);
            return error_hint(err, "call one of them something else: other names are kept as they are");
        }
        if (m.field < FIELDS)
            of[m.field] = r->columns.len;
        vec_push(&r->columns,
                 (struct audit_column){.name = arena_strdup(r->t->arena, text_shown(name, shown))});
        vec_push(&r->found, m);
    }
    return 0;
}

/* "115; 114.5 116": numbers, one a start. */
static int read_values(struct reading *r, const char *text, struct audit_row *row, struct error *err)
{
    VEC(double) values = {0};
    char shown[SHOWN_SIZE];

    while (*(text += strspn(text, " ;|"))) {
        double value;
        size_t used = number_scan(text, strlen(text), &value);
        if (!used || !isfinite(value) || value < 0 || values.len == VALUES_MAX) {
            vec_release(&values);
            complain(r, err, "'%s' is no list of numbers", text_shown(text, shown));
            return error_hint(err, "\"115 114.5 116\"");
        }
        vec_push(&values, value);
        text += used;
    }
    row->values = arena_copy(r->t->arena, values.items, values.len * sizeof(double));
    row->value_count = values.len;
    row->value[FIELD_VALUES] = values.len ? (double)values.len : NAN;
    vec_release(&values);
    return 0;
}

static void keep(struct audit_row *row, enum audit_field f, const struct audit_cell *cell)
{
    if (cell->share && (f == FIELD_OK || f == FIELD_FAILED))
        *(f == FIELD_OK ? &row->ok_pct : &row->failed_pct) = cell->value;
    else if (!cell->below) /* a bound tells nobody apart */
        row->value[f] = cell->value;
    if (cell->share && f == FIELD_CPU)
        row->cpu_pct = cell->value;
}

static int read_cell(struct reading *r, size_t column, const char *text, struct audit_row *row,
                     struct error *err)
{
    const struct audit_meaning *m = &r->found.items[column];
    const char *name = r->columns.items[column].name;
    char shown[SHOWN_SIZE];
    struct audit_cell cell;

    vec_push(&r->cells, arena_strdup(r->t->arena, text));
    if (m->field == FIELD_VALUES)
        return read_values(r, text, row, err);
    struct audit_commas before = r->commas;
    int result = audit_number(text, m, &r->commas, &cell);
    if (m->field >= FIELDS) {
        r->commas = before; /* what names or versions have between their digits */
        r->words[column] |= result < 0;
        return 0;
    }
    if (result < 0) {
        complain(r, err, "'%s' of column '%s' is no %s", text_shown(text, shown), name,
                 audit_is_time(m->field) ? "time" : "number");
        return error_hint(
            err, "digits with a decimal point, and a unit if need be; what is missing is empty, - or X");
    }
    if (r->commas.unclear) {
        complain(r, err, "the comma in '%s' of column '%s' may be a decimal one, or not",
                 text_shown(text, shown), name);
        return error_hint(err, "write 1234 or 1.234");
    }
    if (cell.no_unit) {
        complain(r, err, "'%s' of column '%s' has no unit", text_shown(text, shown), name);
        return error_hint(err, "call the column '%s ms', or write 12ms", name);
    }
    if (cell.share && cell.value > 100.5 && m->field != FIELD_CPU && m->field != FIELD_CV)
        return complain(r, err, "'%s' of column '%s' is more than 100 %%", text_shown(text, shown), name);
    keep(row, m->field, &cell);
    return 0;
}

static int read_row(struct reading *r, struct error *err)
{
    struct audit_row row = {.line = r->csv.line, .ok_pct = NAN, .failed_pct = NAN, .cpu_pct = NAN};
    bool last = false;
    size_t column = 0;

    for (size_t i = 0; i < FIELDS; i++)
        row.value[i] = NAN;
    for (; !last; column++) {
        const char *text = next_value(r, &last, err);
        if (!text)
            return -1;
        if (column < r->columns.len && read_cell(r, column, text, &row, err) < 0)
            return -1;
    }
    if (column != r->columns.len) {
        csv_error(&r->csv, row.line, 1, err,
                  arena_printf(r->t->arena, "%zu values instead of %zu", column, r->columns.len));
        return error_hint(err,
                          "each row has as many as the first line has names; a comma inside a value needs "
                          "quotes around it");
    }
    if (r->rows.len == ROWS_MAX)
        return complain(r, err, "more than %d rows", ROWS_MAX);
    vec_push(&r->rows, row);
    return 0;
}

/* --- once all is read --- */

static bool is_label(const struct reading *r, size_t column)
{
    return r->found.items[column].field >= FIELDS && r->words[column];
}

static const char *row_name(struct reading *r, size_t row)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf name = STRBUF_INIT;
    size_t named = 0;

    for (size_t c = 0; c < r->columns.len && named < LABELS_NAMED; c++) {
        const char *text = r->cells.items[row * r->columns.len + c];
        if (!is_label(r, c) || !*text)
            continue;
        char shown[SHOWN_SIZE];
        strbuf_addf(&name, "%s%s", named++ ? "/" : "", text_shown(text, shown));
    }
    return named ? arena_strdup(r->t->arena, strbuf_text(&name))
                 : arena_printf(r->t->arena, "line %zu", r->rows.items[row].line);
}

static void fill_in(struct audit_row *row, const struct audit_options *o)
{
    if (isnan(row->value[FIELD_USERS]))
        row->value[FIELD_USERS] = o->users;
    if (isnan(row->value[FIELD_THINK]))
        row->value[FIELD_THINK] = o->think_ms;
    if (isnan(row->value[FIELD_DURATION]))
        row->value[FIELD_DURATION] = o->duration_s;
}

static void finish(struct reading *r, const struct audit_options *o)
{
    struct audit_table *t = r->t;

    for (size_t c = 0; c < r->columns.len; c++) {
        if (is_label(r, c))
            r->found.items[c].field = FIELD_LABEL;
        r->columns.items[c].meaning = meaning_text(t->arena, &r->found.items[c]);
    }
    for (size_t i = 0; i < r->rows.len; i++) {
        struct audit_row *row = &r->rows.items[i];
        row->name = row_name(r, i);
        fill_in(row, o);
        for (size_t f = 0; f < FIELDS; f++)
            t->has[f] |= !isnan(row->value[f]);
    }
    t->columns = arena_copy(t->arena, r->columns.items, r->columns.len * sizeof(struct audit_column));
    t->column_count = r->columns.len;
    t->rows = arena_copy(t->arena, r->rows.items, r->rows.len * sizeof(struct audit_row));
    t->len = r->rows.len;
}

static int read_all(struct reading *r, const struct audit_options *o, struct error *err)
{
    if (read_header(r, err) < 0)
        return -1;
    r->words = arena_array(r->t->arena, bool, r->columns.len + 1);
    while (csv_more(&r->csv))
        if (read_row(r, err) < 0)
            return -1;
    if (!r->rows.len) {
        csv_error(&r->csv, r->csv.line, 1, err, "there are no rows");
        return error_hint(err, "the first line names the columns; each line below it is a row");
    }
    finish(r, o);
    return 0;
}

int audit_read(const char *bytes, size_t len, const struct audit_options *o, struct audit_table *t,
               struct error *err)
{
    struct reading r = {.csv = {.columns = true, .separator = csv_separator(bytes, len)}, .t = t};

    r.commas.semicolons = r.csv.separator == ';';
    if (len > AUDIT_FILE_MAX)
        return error_set(err, ERROR_INVALID, "%s: more than %zu MiB", t->name, AUDIT_FILE_MAX >> 20);
    if (csv_reader_init(&r.csv, bytes, len, t->name, err) < 0)
        return -1;
    int result = read_all(&r, o, err);
    strbuf_release(&r.value);
    vec_release(&r.columns);
    vec_release(&r.found);
    vec_release(&r.rows);
    vec_release(&r.cells);
    return result;
}
