/* SPDX-License-Identifier: MIT */
/* Sections as Markdown (CommonMark with tables). Text from a bundle can neither end a cell nor become markup.
 */
#include "report_internal.h"

#include <string.h>
#include "text.h"

static void add_markdown(struct strbuf *out, const char *text)
{
    for (struct letter l = text_next(&text); l.len; l = text_next(&text)) {
        if (l.len == 1 && strchr("\\`*_~[]<>|#&$", l.bytes[0]))
            strbuf_addc(out, '\\');
        strbuf_add(out, l.bytes, l.len);
    }
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
        if (s->table)
            markdown_table(s->table, out);
        if (s->table && s->lines.len)
            strbuf_addc(out, '\n');
        for (size_t k = 0; k < s->lines.len; k++) {
            strbuf_adds(out, "- ");
            add_markdown(out, s->lines.items[k].text);
            strbuf_addc(out, '\n');
        }
    }
}
