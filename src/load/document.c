/* SPDX-License-Identifier: MIT */
#include "document.h"

#include <string.h>
#include "benchctl/histogram.h"

void document_release(struct document *d)
{
    free(d->path);
    strbuf_release(&d->bytes);
    json_free(d->json);
    load_stream_free(d->stream);
    for (size_t i = 0; i < d->tagged.len; i++) {
        free(d->tagged.items[i].tag);
        histogram_free(d->tagged.items[i].histogram);
    }
    vec_release(&d->tagged);
    for (size_t i = 0; i < d->columns.len; i++)
        free(d->columns.items[i]);
    vec_release(&d->columns);
    *d = (struct document){0};
}

int document_init(struct document *d, const struct adapter_output *output, const char *path,
                  struct strbuf *bytes, struct error *err)
{
    *d = (struct document){.output = output, .path = xstrdup(path), .bytes = *bytes};
    *bytes = (struct strbuf)STRBUF_INIT;
    int rc = 0;
    if (output->format == FORMAT_JSON)
        rc = json_parse(strbuf_text(&d->bytes), d->bytes.len, path, &d->json, err);
    else if (output->format == FORMAT_CSV)
        rc = document_read_header(d, err);
    if (rc < 0)
        document_release(d);
    return rc;
}

bool document_is_streamed(const struct adapter_output *output)
{
    return output->format == FORMAT_HDRLOG || output->format == FORMAT_NDJSON;
}

int document_read(struct document *d, const struct adapter_output *output, const char *path,
                  struct error *err)
{
    *d = (struct document){.output = output, .path = xstrdup(path)};
    int rc = output->format == FORMAT_HDRLOG ? document_read_log(d, err) : document_read_stream(d, err);
    if (rc < 0)
        document_release(d);
    return rc;
}

bool line_next(const struct document *d, struct line *l)
{
    const char *end = strbuf_text(&d->bytes) + d->bytes.len;

    if (!l->next)
        l->next = strbuf_text(&d->bytes) + d->body;
    while (l->next < end) {
        const char *stop = memchr(l->next, '\n', (size_t)(end - l->next));
        l->text = l->next;
        l->len = (size_t)((stop ? stop : end) - l->text);
        l->next = stop ? stop + 1 : end;
        l->number++;
        if (l->len && l->text[l->len - 1] == '\r')
            l->len--;
        if (l->len <= LINE_MAX_BYTES)
            return true;
    }
    return false;
}

/* Is the line one that the source looks at? `section` is 0 before `after`, 1 inside, 2 past `until`. */
static bool in_section(const struct source *s, const struct line *l, int *section)
{
    if (*section == 0) {
        *section = pattern_match(s->after, l->text, l->len, NULL, NULL);
        return false;
    }
    if (*section == 1 && s->until && pattern_match(s->until, l->text, l->len, NULL, NULL))
        *section = 2;
    return *section == 1;
}

/* The first match in a line, or all of them one after the other. Returns how many, or -1. */
static int line_numbers(const struct source *s, const struct line *l, struct numbers *out, struct error *err)
{
    size_t at = 0, start, end;
    int matches = 0;

    while (at < l->len && pattern_match(s->text, l->text + at, l->len - at, &start, &end)) {
        double number = 1;
        int got = s->take == TAKE_COUNT ? 1
                                        : quantity_parse(l->text + at + start, end - start,
                                                         (enum unit)s->form->unit, &number, err);
        if (got < 0)
            return -1;
        if (got)
            vec_push(&out->list, number);
        else
            out->non_number = true;
        matches++;
        at += end > 0 ? end : 1;
        if (!s->form->all)
            break;
    }
    return matches;
}

static int text_numbers(const struct source *s, const struct document *d, struct numbers *out,
                        struct error *err)
{
    struct line l = {0};
    int section = s->after ? 0 : 1;

    while (section < 2 && line_next(d, &l)) {
        if (!in_section(s, &l, &section))
            continue;
        if (s->keys && !pattern_match(s->keys, l.text, l.len, NULL, NULL))
            continue;
        if (s->except && pattern_match(s->except, l.text, l.len, NULL, NULL))
            continue;
        int matches = line_numbers(s, &l, out, err);
        if (matches < 0)
            return error_wrap(err, "%s:%d", d->path, l.number);
        if (matches && s->take == TAKE_FIRST)
            break;
    }
    out->present = s->after ? section > 0 : s->take == TAKE_COUNT;
    return 0;
}

int source_numbers(const struct source *s, const struct document *d, struct numbers *out, struct error *err)
{
    switch (d->output->format) {
    case FORMAT_JSON:
        return source_json_numbers(s, d, out, err);
    case FORMAT_CSV:
        return source_csv_numbers(s, d, out, err);
    case FORMAT_HDRLOG:
        source_log_number(s, d, out);
        return 0;
    case FORMAT_NDJSON:
        source_stream_number(s, d, out);
        return 0;
    default:
        return text_numbers(s, d, out, err);
    }
}
