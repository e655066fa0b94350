/* SPDX-License-Identifier: MIT */
/*
 * Sections as Markdown (CommonMark with tables), to be pasted into an article or a pull request: what is long
 * is folded. Text from a bundle can neither end a cell nor become markup, nor call an issue or a person.
 */
#include "report_internal.h"

#include <string.h>
#include "text.h"

enum { ROWS_OPEN = 20, LINES_OPEN = 20 }; /* of a section; what has more is folded */

/* "#2" would be a link to an issue, and "@name" a call, even behind a backslash: sites look for them in the
 * text that is shown. A comment in between is seen by nobody. */
static bool is_reference(char sign, char next)
{
    bool digit = next >= '0' && next <= '9',
         letter = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');

    return (sign == '#' && digit) || (sign == '@' && (digit || letter));
}

static void add_markdown(struct strbuf *out, const char *text)
{
    for (struct letter l = text_next(&text); l.len; l = text_next(&text)) {
        if (l.len == 1 && strchr("\\`*_~[]<>|#&$", l.bytes[0]))
            strbuf_addc(out, '\\');
        strbuf_add(out, l.bytes, l.len);
        if (l.len == 1 && is_reference(l.bytes[0], *text))
            strbuf_adds(out, "<!-- -->");
    }
}

/* A line of a list, in which "- a" and "1. a" would begin another list. */
static void add_line(struct strbuf *out, const char *text)
{
    size_t digits = strspn(text, "0123456789");
    bool list = text[digits] && strchr(digits ? ".)" : "-+", text[digits]);

    strbuf_addf(out, "- %.*s%s", (int)digits, text, list ? "\\" : "");
    add_markdown(out, text + digits);
    strbuf_addc(out, '\n');
}

static void markdown_table(const struct table *t, struct strbuf *out)
{
    for (size_t i = 0; i < t->column_count; i++) {
        strbuf_adds(out, "| ");
        add_markdown(out, t->columns[i].name);
        strbuf_adds(out, t->columns[i].measure[0] ? " " : "");
        add_markdown(out, t->columns[i].measure);
        strbuf_addc(out, ' ');
    }
    strbuf_adds(out, "|\n");
    for (size_t i = 0; i < t->column_count; i++)
        strbuf_adds(out, t->columns[i].right ? "|---:" : "|---");
    strbuf_adds(out, "|\n");
    for (size_t k = 0; k < t->rows.len; k++) {
        for (size_t i = 0; i < t->column_count; i++) {
            const struct field *f = &t->rows.items[k].fields[i];
            bool strong = f->tone == TONE_BAD && f->text[0];
            strbuf_adds(out, strong ? "| **" : "| ");
            add_markdown(out, f->text);
            strbuf_adds(out, strong ? "** " : f->text[0] ? " " : "");
        }
        strbuf_adds(out, "|\n");
    }
}

/* Results and what went wrong are what a report is for. */
static bool is_long(const struct report *r, size_t section)
{
    const struct section *s = &r->sections.items[section];

    if (!s->heading || s->alarm || (section >= r->results && section < r->results_end))
        return false;
    return (s->table && s->table->rows.len > ROWS_OPEN) || s->lines.len > LINES_OPEN;
}

static void begin_fold(const struct section *s, struct strbuf *out)
{
    size_t rows = s->table ? s->table->rows.len : 0;

    strbuf_addf(out, "<details>\n<summary>%zu %s</summary>\n\n", rows ? rows : s->lines.len,
                rows ? "rows" : "lines");
}

void render_markdown(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out, "# ");
    add_markdown(out, r->title);
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < r->sections.len; i++) {
        const struct section *s = &r->sections.items[i];
        strbuf_addc(out, '\n');
        if (s->heading) {
            strbuf_adds(out, "## ");
            add_markdown(out, s->heading);
            strbuf_adds(out, "\n\n");
        }
        if (is_long(r, i))
            begin_fold(s, out);
        if (s->table)
            markdown_table(s->table, out);
        if (s->table && s->lines.len)
            strbuf_addc(out, '\n');
        for (size_t k = 0; k < s->lines.len; k++)
            add_line(out, s->lines.items[k].text);
        if (is_long(r, i))
            strbuf_adds(out, "\n</details>\n");
    }
}
