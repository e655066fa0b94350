/* SPDX-License-Identifier: MIT */
/*
 * Sections as terminal text. A table that is wider than the terminal is cut into parts, each with the columns
 * that name its rows; where even those leave no room, a row becomes a block of lines.
 */
#include "report_internal.h"

#include <string.h>
#include "text.h"

#define GAP 2

static const char *const colors[] = {[TONE_PLAIN] = "",
                                     [TONE_GOOD] = "\033[32m",
                                     [TONE_WARN] = "\033[33m",
                                     [TONE_BAD] = "\033[31m",
                                     [TONE_FAINT] = "\033[2m"};

struct painter {
    struct strbuf *out;
    bool color;
    size_t width; /* SIZE_MAX: unlimited */
};

static void add_safe(struct strbuf *out, const char *text)
{
    for (struct letter l = text_next(&text); l.len; l = text_next(&text))
        strbuf_add(out, l.bytes, l.len);
}

static void add_blanks(struct strbuf *out, size_t n)
{
    while (n-- > 0)
        strbuf_addc(out, ' ');
}

static void add_painted(struct painter *p, const char *text, const char *color)
{
    const char *used = p->color ? color : "";

    strbuf_adds(p->out, used);
    add_safe(p->out, text);
    strbuf_adds(p->out, used[0] ? "\033[0m" : "");
}

/* No blanks at the end of a line. */
static void end_line(struct painter *p)
{
    while (p->out->len && p->out->data[p->out->len - 1] == ' ')
        p->out->data[--p->out->len] = '\0';
    strbuf_addc(p->out, '\n');
}

static void add_aligned(struct painter *p, const char *text, size_t width, bool right, const char *color)
{
    size_t used = text_columns(text), gap = width > used ? width - used : 0;

    if (right)
        add_blanks(p->out, gap);
    add_painted(p, text, color);
    if (!right)
        add_blanks(p->out, gap);
}

/* --- lines --- */

/* A word, cut where it alone is wider than the terminal. */
static size_t add_word(struct painter *p, const char *word, size_t used)
{
    for (struct letter l = text_next(&word); l.len; l = text_next(&word)) {
        if (used + l.columns > p->width && used > 2) {
            strbuf_adds(p->out, "\n  ");
            used = 2;
        }
        strbuf_add(p->out, l.bytes, l.len);
        used += l.columns;
    }
    return used;
}

/* Words wrapped at the terminal's width behind what is in the line already, further lines indented. */
static void wrapped_behind(struct painter *p, size_t used, const char *text, const char *color)
{
    bool first = true;

    strbuf_adds(p->out, p->color ? color : "");
    while (*text) {
        size_t n = strcspn(text, " \n");
        CLEANUP_FREE char *word = xstrndup(text, n);
        if (!first && used + 1 + text_columns(word) > p->width) {
            strbuf_adds(p->out, "\n  ");
            used = 2;
        } else if (!first) {
            strbuf_addc(p->out, ' ');
            used++;
        }
        used = add_word(p, word, used);
        first = false;
        text += n;
        text += strspn(text, " \n");
    }
    strbuf_adds(p->out, p->color && color[0] ? "\033[0m\n" : "\n");
}

static void wrapped(struct painter *p, const char *text, const char *color)
{
    wrapped_behind(p, 0, text, color);
}

/* --- tables --- */

/* Sentences stand below their rows. */
static size_t narrow_columns(const struct table *t)
{
    return t->column_count - t->wide;
}

/* "" also for what the row above of the same name says already. */
static const char *sentence_of(const struct table *t, size_t row)
{
    const struct field *fields = t->rows.items[row].fields,
                       *above = row ? t->rows.items[row - 1].fields : NULL;
    const char *text = t->wide ? fields[t->column_count - 1].text : "";

    if (above && strcmp(text, above[t->column_count - 1].text) == 0 &&
        strcmp(fields[0].text, above[0].text) == 0)
        return "";
    return text;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t *column_widths(const struct table *t)
{
    size_t *widths = xcalloc(t->column_count + 1, sizeof(*widths));

    for (size_t i = 0; i < t->column_count; i++) {
        widths[i] = larger(text_columns(t->columns[i].name), text_columns(t->columns[i].measure));
        for (size_t k = 0; k < t->rows.len; k++)
            widths[i] = larger(widths[i], text_columns(t->rows.items[k].fields[i].text));
    }
    return widths;
}

/* Columns [from, to) of a part, behind the heads. */
struct part {
    const struct table *t;
    const size_t *widths;
    size_t from, to;
};

static size_t next_column(const struct part *part, size_t i)
{
    return i + 1 == part->t->heads && part->from > i + 1 ? part->from : i + 1;
}

static bool has_measures(const struct part *part)
{
    for (size_t i = part->from; i < part->to; i++)
        if (part->t->columns[i].measure[0])
            return true;
    return false;
}

static void part_titles(struct painter *p, const struct part *part, bool measures)
{
    for (size_t i = part->t->heads ? 0 : part->from; i < part->to; i = next_column(part, i)) {
        const struct column *c = &part->t->columns[i];
        add_aligned(p, measures ? c->measure : c->name, part->widths[i], c->right,
                    measures ? "\033[2m" : "\033[1m");
        add_blanks(p->out, GAP);
    }
    end_line(p);
}

static void part_rows(struct painter *p, const struct part *part)
{
    part_titles(p, part, false);
    if (has_measures(part))
        part_titles(p, part, true);
    for (size_t k = 0; k < part->t->rows.len; k++) {
        for (size_t i = part->t->heads ? 0 : part->from; i < part->to; i = next_column(part, i)) {
            const struct field *f = &part->t->rows.items[k].fields[i];
            add_aligned(p, f->text, part->widths[i], part->t->columns[i].right, colors[f->tone]);
            add_blanks(p->out, GAP);
        }
        end_line(p);
        if (part->to == narrow_columns(part->t) && sentence_of(part->t, k)[0]) {
            strbuf_adds(p->out, "  ");
            wrapped_behind(p, 2, sentence_of(part->t, k), colors[TONE_FAINT]);
        }
    }
}

/* "framework flask, memory 80m" and a line per column: for rows whose names alone fill the terminal. */
static void as_blocks(struct painter *p, const struct table *t)
{
    size_t widest = 0;

    for (size_t i = t->heads; i < narrow_columns(t); i++)
        widest = larger(widest, text_columns(t->columns[i].name) + 1 + text_columns(t->columns[i].measure));
    for (size_t k = 0; k < t->rows.len; k++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf head = STRBUF_INIT;
        for (size_t i = 0; i < t->heads; i++)
            strbuf_addf(&head, "%s%s %s", i ? ", " : "", t->columns[i].name, t->rows.items[k].fields[i].text);
        wrapped(p, strbuf_text(&head), "\033[1m");
        for (size_t i = t->heads; i < narrow_columns(t); i++) {
            const struct column *c = &t->columns[i];
            CLEANUP_FREE char *title = xasprintf("%s%s%s", c->name, c->measure[0] ? " " : "", c->measure);
            strbuf_adds(p->out, "  ");
            add_aligned(p, title, widest + 1, false, "");
            if (t->rows.items[k].fields[i].text[0])
                wrapped_behind(p, widest + 3, t->rows.items[k].fields[i].text,
                               colors[t->rows.items[k].fields[i].tone]);
            else
                end_line(p);
        }
        if (sentence_of(t, k)[0]) {
            strbuf_adds(p->out, "  ");
            wrapped_behind(p, 2, sentence_of(t, k), colors[TONE_FAINT]);
        }
    }
}

static void terminal_table(struct painter *p, const struct table *t)
{
    CLEANUP_FREE size_t *widths = column_widths(t);
    size_t heads = 0, widest = 0;

    for (size_t i = 0; i < narrow_columns(t); i++) {
        if (i < t->heads)
            heads += widths[i] + GAP;
        else
            widest = larger(widest, widths[i]);
    }
    if (heads + widest > p->width) {
        as_blocks(p, t);
        return;
    }
    struct part part = {.t = t, .widths = widths, .to = t->heads};
    do {
        size_t used = heads;
        part.from = part.to;
        while (part.to < narrow_columns(t) && used + widths[part.to] <= p->width)
            used += widths[part.to++] + GAP;
        strbuf_adds(p->out, part.from > t->heads ? "\n" : "");
        part_rows(p, &part);
    } while (part.to < narrow_columns(t));
}

/* What a terminal leaves out. */
static void name_details(struct painter *p, const struct report *r)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < r->sections.len; i++)
        if (r->sections.items[i].detail)
            strbuf_addf(&text, "%s%s",
                        text.len ? ", " : "With --format md or html also: ", r->sections.items[i].heading);
    if (!text.len)
        return;
    strbuf_addc(p->out, '\n');
    wrapped(p, strbuf_text(&text), colors[TONE_FAINT]);
}

void render_terminal(const struct report *r, struct strbuf *out)
{
    struct painter p = {.out = out, .color = r->color, .width = r->width > 0 ? (size_t)r->width : SIZE_MAX};

    add_painted(&p, r->title, "\033[1m");
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < r->sections.len; i++) {
        const struct section *s = &r->sections.items[i];
        if (s->detail)
            continue;
        if (s->heading) {
            strbuf_addc(out, '\n');
            add_painted(&p, s->heading, "\033[1m");
            strbuf_addc(out, '\n');
        }
        if (s->table)
            terminal_table(&p, s->table);
        for (size_t k = 0; k < s->lines.len; k++)
            wrapped(&p, s->lines.items[k].text, colors[s->lines.items[k].tone]);
    }
    name_details(&p, r);
}
