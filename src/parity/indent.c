/* SPDX-License-Identifier: MIT */
#include "literal.h"

#include <ctype.h>

struct lines {
    VEC(struct strbuf) list;
};

static void split(const struct strbuf *text, struct lines *ret)
{
    const char *p = strbuf_text(text), *end = p + text->len;

    for (;;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        struct strbuf line = STRBUF_INIT;
        strbuf_add(&line, p, (size_t)((stop ? stop : end) - p));
        vec_push(&ret->list, line);
        if (!stop)
            return;
        p = stop + 1;
    }
}

/* Lines whose max is 1 are left out. */
static void join(struct lines *lines, struct strbuf *text)
{
    bool first = true;

    strbuf_clear(text);
    vec_each (line, &lines->list) {
        if (line->max != 1) {
            if (!first)
                strbuf_addc(text, '\n');
            strbuf_add(text, strbuf_text(line), line->len);
            first = false;
        }
        strbuf_release(line);
    }
    vec_release(&lines->list);
}

static size_t indentation(const struct strbuf *line)
{
    size_t n = 0;

    while (n < line->len && isspace((unsigned char)line->data[n]))
        n++;
    return n;
}

static bool blank(const struct strbuf *line)
{
    return indentation(line) == line->len;
}

/* The least indentation of the lines that are not blank; of the last one always when `last_counts`. */
static size_t least_indentation(struct lines *lines, bool last_counts)
{
    size_t least = SIZE_MAX;

    vec_each (line, &lines->list) {
        bool last = line == lines->list.items + lines->list.len - 1;
        if ((!blank(line) || (last && last_counts)) && indentation(line) < least)
            least = indentation(line);
    }
    return least == SIZE_MAX ? 0 : least;
}

static void drop_front(struct strbuf *line, size_t count)
{
    strbuf_consume(line, count < line->len ? count : line->len);
}

void indent_strip(struct strbuf *text)
{
    struct lines lines = {0};

    split(text, &lines);
    size_t least = least_indentation(&lines, true);
    vec_each (line, &lines.list) {
        if (blank(line))
            strbuf_clear(line);
        drop_front(line, least);
        while (line->len && isspace((unsigned char)line->data[line->len - 1]))
            line->data[--line->len] = '\0';
    }
    join(&lines, text);
}

/* Marks a blank first or last line as left out. */
static void drop_blank_ends(struct lines *lines)
{
    struct strbuf *first = &lines->list.items[0], *last = &lines->list.items[lines->list.len - 1];
    bool first_goes = blank(first), last_goes = blank(last);

    if (first_goes)
        first->max = 1;
    if (last_goes)
        last->max = 1;
}

void indent_trim(struct strbuf *text)
{
    struct lines lines = {0};

    split(text, &lines);
    size_t least = least_indentation(&lines, false);
    drop_blank_ends(&lines);
    vec_each (line, &lines.list) {
        drop_front(line, least);
    }
    join(&lines, text);
}

void indent_margin(struct strbuf *text, const char *margin, bool drop_ends)
{
    struct lines lines = {0};
    size_t n = strlen(margin);

    split(text, &lines);
    if (drop_ends)
        drop_blank_ends(&lines);
    vec_each (line, &lines.list) {
        size_t lead = indentation(line);
        if (n && line->len - lead >= n && memcmp(strbuf_text(line) + lead, margin, n) == 0)
            drop_front(line, lead + n);
    }
    join(&lines, text);
}

bool indent_is_mixed(const struct strbuf *text)
{
    const char *p = strbuf_text(text), *end = p + text->len;
    bool line = true, blanks = false, tabs = false;

    for (; p < end; p++) {
        if (line && *p == ' ')
            blanks = true;
        else if (line && *p != '\n' && isspace((unsigned char)*p))
            tabs = true;
        else
            line = *p == '\n';
    }
    return blanks && tabs;
}

void indent_dedent(struct strbuf *text)
{
    struct lines lines = {0};

    split(text, &lines);
    size_t least = least_indentation(&lines, false);
    vec_each (line, &lines.list) {
        if (blank(line))
            strbuf_clear(line);
        else
            drop_front(line, least);
    }
    join(&lines, text);
}

void text_trim(struct strbuf *text)
{
    size_t lead = indentation(text);

    strbuf_consume(text, lead);
    while (text->len && isspace((unsigned char)text->data[text->len - 1]))
        text->data[--text->len] = '\0';
}
