/* SPDX-License-Identifier: MIT */
/*
 * CSV as RFC 4180 has it, value by value: quotes belong around the whole value, a line break is LF or CR LF.
 * An empty line is no row. Not for writing: csv_add() (plain_text.h) does that.
 */
#ifndef BENCHCTL_BASE_CSV_H
#define BENCHCTL_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"
#include "benchctl/base/strbuf.h"

struct csv_reader {
    const char *p, *end, *name;
    size_t line;                     /* where it is, from 1 */
    size_t value_line, value_column; /* where the value read last began; columns count bytes, from 1 */
    const char *line_begin;
    bool columns;   /* errors give NAME:LINE:COLUMN instead of NAME:LINE */
    char separator; /* between values; 0: a comma */
};

/* What separates the names of the first line: ',', ';' or a tab, whichever it has most of outside of quotes.
 */
char csv_separator(const char *bytes, size_t len);
/* `columns` and `separator` may be set before. The bytes must stay; a byte order mark is skipped.
 * ERROR_INVALID for UTF-16 and for NUL bytes. */
int csv_reader_init(struct csv_reader *r, const char *bytes, size_t len, const char *name,
                    struct error *err) MUST_CHECK;
/* Appends one value to `out`; *ret_last: the row ends with it, and its line break is read. */
int csv_next(struct csv_reader *r, struct strbuf *out, bool *ret_last, struct error *err) MUST_CHECK;
/* Skips empty lines; false: there is nothing behind them. */
bool csv_more(struct csv_reader *r);
/* "NAME:LINE: TEXT" about a place; returns -1. */
int csv_error(const struct csv_reader *r, size_t line, size_t column, struct error *err, const char *text);

#endif
