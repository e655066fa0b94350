/* SPDX-License-Identifier: MIT */
/* Sections as terminal text and as Markdown. Whatever came from a bundle is made harmless for a terminal. */
#include "report_internal.h"

#include <string.h>
#include <wchar.h>

static const char *const colors[] = {[TONE_PLAIN] = "",
                                     [TONE_GOOD] = "\033[32m",
                                     [TONE_WARN] = "\033[33m",
                                     [TONE_BAD] = "\033[31m",
                                     [TONE_FAINT] = "\033[2m"};

/* Columns that a UTF-8 text takes: code points, which is right for what we print. */
static size_t columns_of(const char *text)
{
    size_t n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Control characters would move the cursor or hide text: they are shown as '?'. */
static void add_safe(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            strbuf_addc(out, c == '\n' || c == '\t' ? ' ' : '?');
        else
            strbuf_addc(out, *text);
    }
}

static void pad(struct strbuf *out, size_t n)
{
    while (n-- > 0)
        strbuf_addc(out, ' ');
}

static void add_aligned(struct strbuf *out, const char *text, size_t width, bool right, const char *color)
{
    size_t used = columns_of(text);
    size_t gap = width > used ? width - used : 0;

    if (right)
        pad(out, gap);
    strbuf_adds(out, color);
    add_safe(out, text);
    if (color[0])
        strbuf_adds(out, "\033[0m");
    if (!right)
        pad(out, gap);
}

static void terminal_table(const struct report *r, const struct table *t, struct strbuf *out)
{
    CLEANUP_FREE size_t *widths = xcalloc(t->column_count, sizeof(*widths));

    for (size_t i = 0; i < t->column_count; i++) {
        widths[i] = columns_of(t->columns[i]);
        for (size_t k = 0; k < t->rows.len; k++)
            if (columns_of(t->rows.items[k][i].text) > widths[i])
                widths[i] = columns_of(t->rows.items[k][i].text);
    }
    for (size_t i = 0; i < t->column_count; i++) {
        strbuf_adds(out, i ? "  " : "");
        add_aligned(out, t->columns[i], widths[i], t->right[i], r->color ? "\033[1m" : "");
    }
    strbuf_addc(out, '\n');
    for (size_t k = 0; k < t->rows.len; k++) {
        for (size_t i = 0; i < t->column_count; i++) {
            strbuf_adds(out, i ? "  " : "");
            add_aligned(out, t->rows.items[k][i].text, widths[i], t->right[i],
                        r->color ? colors[t->rows.items[k][i].tone] : "");
        }
        strbuf_addc(out, '\n');
    }
}

/* Words wrapped at the terminal's width, further lines indented. */
static void wrapped(const struct report *r, const char *text, struct strbuf *out)
{
    size_t width = r->width > 40 ? (size_t)r->width : SIZE_MAX, used = 0;

    while (*text) {
        size_t n = strcspn(text, " \n");
        CLEANUP_FREE char *word = xstrndup(text, n);
        size_t columns = columns_of(word);
        if (used && used + 1 + columns > width) {
            strbuf_adds(out, "\n  ");
            used = 2;
        } else if (used) {
            strbuf_addc(out, ' ');
            used++;
        }
        add_safe(out, word);
        used += columns;
        text += n;
        text += strspn(text, " \n");
    }
    strbuf_addc(out, '\n');
}

void render_terminal(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out, r->color ? "\033[1m" : "");
    add_safe(out, r->title);
    strbuf_adds(out, r->color ? "\033[0m\n" : "\n");
    for (size_t i = 0; i < r->sections.len; i++) {
        const struct section *s = &r->sections.items[i];
        if (s->heading) {
            strbuf_addf(out, "\n%s", r->color ? "\033[1m" : "");
            add_safe(out, s->heading);
            strbuf_adds(out, r->color ? "\033[0m\n" : "\n");
        }
        if (s->table)
            terminal_table(r, s->table, out);
        for (size_t k = 0; k < s->lines.len; k++)
            wrapped(r, s->lines.items[k], out);
    }
}

/* --- Markdown
 * -----------------------------------------------------------------------------------------------------------
 */

static void add_markdown(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n' || *text == '\r')
            strbuf_addc(out, ' ');
        else if (strchr("\\`*_[]<>|#", *text))
            strbuf_addf(out, "\\%c", *text);
        else if ((unsigned char)*text >= 0x20)
            strbuf_addc(out, *text);
    }
}

static void markdown_table(const struct table *t, struct strbuf *out)
{
    for (size_t i = 0; i < t->column_count; i++) {
        strbuf_adds(out, "| ");
        add_markdown(out, t->columns[i]);
        strbuf_addc(out, ' ');
    }
    strbuf_adds(out, "|\n");
    for (size_t i = 0; i < t->column_count; i++)
        strbuf_adds(out, t->right[i] ? "|---:" : "|---");
    strbuf_adds(out, "|\n");
    for (size_t k = 0; k < t->rows.len; k++) {
        for (size_t i = 0; i < t->column_count; i++) {
            const struct field *f = &t->rows.items[k][i];
            bool strong = f->tone == TONE_BAD;
            strbuf_adds(out, strong ? "| **" : "| ");
            add_markdown(out, f->text);
            strbuf_adds(out, strong ? "** " : " ");
        }
        strbuf_adds(out, "|\n");
    }
    strbuf_addc(out, '\n');
}

void render_markdown(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out, "# ");
    add_markdown(out, r->title);
    strbuf_adds(out, "\n\n");
    for (size_t i = 0; i < r->sections.len; i++) {
        const struct section *s = &r->sections.items[i];
        if (s->heading)
            strbuf_addf(out, "## %s\n\n", s->heading);
        if (s->table)
            markdown_table(s->table, out);
        for (size_t k = 0; k < s->lines.len; k++) {
            strbuf_adds(out, "- ");
            add_markdown(out, s->lines.items[k]);
            strbuf_addc(out, '\n');
        }
        if (s->lines.len)
            strbuf_addc(out, '\n');
    }
}
