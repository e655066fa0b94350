/* SPDX-License-Identifier: MIT */
/* Interval logs of anybody, a line at a time. */
#include "layout.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"

#define LINE_MAX_BYTES ((size_t)8 << 20)
#define FIELDS 4 /* without the tag */

struct input {
    FILE *file;
    size_t at, len;
    char block[64 << 10];
};

struct log_reader {
    const char *path;
    double values_per_us;
    struct histogram *h;
    int number;
    bool exact_max; /* its head says that Interval_Max is to the microsecond */
};

/* The next field without blanks around it; *p moves behind its comma, or becomes NULL behind the last. */
static char *next_field(char **p)
{
    char *field = *p, *comma = strchr(field, ','), *end = comma ? comma : field + strlen(field);

    *p = comma ? comma + 1 : NULL;
    while (*field == ' ' || *field == '\t')
        field++;
    while (end > field && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *end = '\0';
    return field;
}

static int read_time(const char *field, const char *what, double *ret, struct error *err)
{
    size_t len = strlen(field);

    if (!len || number_scan(field, len, ret) != len || !isfinite(*ret))
        return error_set(err, ERROR_INVALID, "'%.40s' is no %s", field, what);
    return 0;
}

/* A maximum finer than its bucket counts if it lies in that bucket. */
static void refine_max(struct histogram *h, double max_ms)
{
    double us = max_ms * 1000;

    if (h->total && us >= 0 && us <= (double)HISTOGRAM_MAX_US && index_of(llrint(us)) == h->end - 1)
        h->max_us = llrint(us);
}

static int read_interval(struct log_reader *r, char *line, struct histogram_interval *i, struct error *err)
{
    char *field, *rest = line;

    *i = (struct histogram_interval){0};
    if (strncmp(line, "Tag=", 4) == 0) {
        i->tag = next_field(&rest) + 4;
        if (!rest)
            return error_set(err, ERROR_INVALID, "nothing follows the tag");
    }
    double *const numbers[FIELDS - 1] = {&i->start_s, &i->length_s, &i->max};
    static const char *const names[FIELDS - 1] = {"start time", "interval length", "maximum"};
    for (size_t k = 0; k < FIELDS - 1; k++) {
        field = next_field(&rest);
        if (!rest)
            return error_set(err, ERROR_INVALID, "it has %zu of the 4 fields of an interval", k + 1);
        if (read_time(field, names[k], numbers[k], err) < 0)
            return -1;
    }
    field = next_field(&rest);
    if (rest)
        return error_set(err, ERROR_INVALID, "it has more fields than an interval has");
    histogram_clear(r->h);
    if (histogram_decode_into_empty(r->h, field, strlen(field), r->values_per_us, err) < 0)
        return -1;
    if (r->exact_max)
        refine_max(r->h, i->max);
    return 0;
}

/* Comments, the legend and empty lines hold no interval. */
static bool is_interval(const char *line)
{
    return *line && *line != '#' && *line != '"';
}

static int one_line(struct log_reader *r, struct strbuf *line, bool ended, histogram_interval_fn *fn,
                    void *data, struct error *err)
{
    struct histogram_interval i;
    char *text = line->data;

    if (r->number == 1 && strncmp(text, "\xef\xbb\xbf", 3) == 0)
        text += 3;
    if (strlen(line->data) != line->len)
        return error_set(err, ERROR_INVALID, "%s:%d: a NUL byte", r->path, r->number);
    if (!is_interval(text)) {
        r->exact_max = r->exact_max || strcmp(text, EXACT_MAX) == 0;
        return 0;
    }
    if (read_interval(r, text, &i, err) < 0) {
        if (!ended)
            error_wrap(err, "the last line is cut short");
        return error_wrap(err, "%s:%d", r->path, r->number);
    }
    return fn(&i, r->h, data, err);
}

/* Reads up to and without the line's end. 1: a line, 0: the end of the file, -1: longer than LINE_MAX. */
static int next_line(struct input *in, struct strbuf *line, bool *ret_ended)
{
    strbuf_clear(line);
    *ret_ended = false;
    while (!*ret_ended) {
        if (in->at == in->len) {
            in->at = 0;
            in->len = fread(in->block, 1, sizeof(in->block), in->file);
            if (!in->len)
                break;
        }
        const char *from = in->block + in->at, *newline = memchr(from, '\n', in->len - in->at);
        size_t n = newline ? (size_t)(newline - from) : in->len - in->at;
        strbuf_add(line, from, n);
        in->at += n + (newline != NULL);
        *ret_ended = newline != NULL;
        if (line->overflow)
            return -1;
    }
    if (line->len && line->data[line->len - 1] == '\r')
        line->data[--line->len] = '\0';
    return *ret_ended || line->len;
}

int histogram_log_read(const char *path, double values_per_us, histogram_interval_fn *fn, void *data,
                       struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = {.max = LINE_MAX_BYTES};
    CLEANUP(fclose) FILE *file = NULL;
    CLEANUP_CLOSE int fd = -1;
    CLEANUP(histogram_free) struct histogram *h = NULL;
    CLEANUP_FREE struct input *in = NULL;
    bool ended;
    int got;

    if (fs_open_regular(path, true, &fd, err) < 0)
        return -1;
    file = fdopen(fd, "r");
    if (!file)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open '%s'", path);
    fd = -1;
    h = histogram_new();
    in = xcalloc(1, sizeof(*in));
    in->file = file;
    struct log_reader r = {.path = path, .values_per_us = values_per_us, .h = h};
    while ((got = next_line(in, &line, &ended)) > 0) {
        r.number++;
        if (line.len && one_line(&r, &line, ended, fn, data, err) < 0)
            return -1;
    }
    if (got < 0)
        return error_set(err, ERROR_INVALID, "%s:%d: a line longer than 8 MiB", path, r.number + 1);
    if (ferror(file))
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
    return 0;
}
