/* SPDX-License-Identifier: MIT */
#include "benchctl/base/csv.h"

#include <string.h>

int csv_error(const struct csv_reader *r, size_t line, size_t column, struct error *err, const char *text)
{
    if (r->columns)
        return error_set(err, ERROR_INVALID, "%s:%zu:%zu: %s", r->name, line, column, text);
    return error_set(err, ERROR_INVALID, "%s:%zu: %s", r->name, line, text);
}

static size_t column_of(const struct csv_reader *r)
{
    return (size_t)(r->p - r->line_begin) + 1;
}

/* A value in quotes, the first of them read. Appends it. */
static int read_quoted(struct csv_reader *r, struct strbuf *out, struct error *err)
{
    for (;;) {
        const char *quote = memchr(r->p, '"', (size_t)(r->end - r->p));
        if (!quote) {
            csv_error(r, r->value_line, r->value_column, err, "a quoted value does not end");
            return error_hint(err, "a quote inside of quotes is written twice");
        }
        for (const char *p = r->p; (p = memchr(p, '\n', (size_t)(quote - p))); p++) {
            r->line++;
            r->line_begin = p + 1;
        }
        bool twice = quote + 1 < r->end && quote[1] == '"';
        strbuf_add(out, r->p, (size_t)(quote - r->p) + twice);
        r->p = quote + 1 + twice;
        if (!twice)
            break;
    }
    if (r->p == r->end || *r->p == r->separator || *r->p == '\n' || *r->p == '\r')
        return 0;
    csv_error(r, r->line, column_of(r), err, "text behind a quoted value");
    return error_hint(err, "quotes belong around the whole value, and a quote inside of it is written twice");
}

static int read_plain(struct csv_reader *r, struct strbuf *out, struct error *err)
{
    const char *start = r->p;

    while (r->p < r->end && *r->p != r->separator && *r->p != '\n' && *r->p != '\r') {
        if (*r->p == '"') {
            csv_error(r, r->line, column_of(r), err, "a quote inside a value that has none around it");
            return error_hint(err, "\"say \"\"hello\"\"\"");
        }
        r->p++;
    }
    strbuf_add(out, start, (size_t)(r->p - start));
    return 0;
}

int csv_next(struct csv_reader *r, struct strbuf *out, bool *ret_last, struct error *err)
{
    bool quoted = r->p < r->end && *r->p == '"';

    r->value_line = r->line;
    r->value_column = column_of(r);
    r->p += quoted;
    if ((quoted ? read_quoted(r, out, err) : read_plain(r, out, err)) < 0)
        return -1;
    if (r->p < r->end && *r->p == r->separator) {
        r->p++;
        *ret_last = false;
        return 0;
    }
    if (r->p < r->end && *r->p == '\r') {
        if (r->p + 1 < r->end && r->p[1] != '\n')
            return csv_error(r, r->line, column_of(r), err, "a carriage return without a line feed");
        r->p++;
    }
    r->line += r->p < r->end;
    r->p += r->p < r->end;
    r->line_begin = r->p;
    *ret_last = true;
    return 0;
}

bool csv_more(struct csv_reader *r)
{
    for (;;) {
        size_t len = r->end - r->p >= 2 && r->p[0] == '\r' && r->p[1] == '\n' ? 2
                     : r->p < r->end && *r->p == '\n'                         ? 1
                                                                              : 0;
        if (!len)
            return r->p < r->end;
        r->p += len;
        r->line++;
        r->line_begin = r->p;
    }
}

char csv_separator(const char *bytes, size_t len)
{
    static const char separators[] = {',', ';', '\t'};
    size_t counts[sizeof(separators)] = {0}, best = 0;
    bool quoted = false;

    while (len && (*bytes == '\n' || *bytes == '\r')) {
        bytes++;
        len--;
    }
    for (size_t i = 0; i < len && (quoted || bytes[i] != '\n'); i++) {
        quoted ^= bytes[i] == '"';
        for (size_t k = 0; !quoted && k < sizeof(separators); k++)
            counts[k] += bytes[i] == separators[k];
    }
    for (size_t k = 1; k < sizeof(separators); k++)
        if (counts[k] > counts[best])
            best = k;
    return separators[best];
}

int csv_reader_init(struct csv_reader *r, const char *bytes, size_t len, const char *name, struct error *err)
{
    const char *nul = len ? memchr(bytes, '\0', len) : NULL;
    bool columns = r->columns;
    char separator = r->separator ? r->separator : ',';

    if (len >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return error_set(err, ERROR_INVALID, "%s: UTF-16 is not read: write it as UTF-8", name);
    if (nul)
        return error_set(err, ERROR_INVALID, "%s: byte %zu is NUL: this is no text", name,
                         (size_t)(nul - bytes) + 1);
    *r = (struct csv_reader){
        .p = bytes, .end = bytes + len, .name = name, .line = 1, .columns = columns, .separator = separator};
    if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
        r->p += 3;
    r->line_begin = r->p;
    return 0;
}
