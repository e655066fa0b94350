/* SPDX-License-Identifier: MIT */
/* One HTML page that needs nothing else: no script, no font, no picture from elsewhere. Everything is
 * escaped. */
#include "report_internal.h"

#include <math.h>

static const char style[] =
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:96rem;padding:0 "
    "1rem;color:#1d2330;background:#fff}"
    "h1{font-size:1.6rem;margin:0 0 .5rem}h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid "
    "#d9dde5;padding-bottom:.2rem}"
    "ul{padding-left:1.1rem;color:#454d5e}.scroll{overflow-x:auto}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem;margin:.4rem 0 .8rem}"
    "th,td{padding:.3rem .6rem;border-bottom:1px solid #e6e9ef;text-align:left;white-space:nowrap}"
    "th{background:#f4f6f9;font-weight:600}tbody tr:hover{background:#f8fafc}.r{text-align:right}"
    ".good{color:#19753a}.warn{color:#8a5a00;background:#fff6e0}.bad{color:#a61b1b;background:#fdecec;font-"
    "weight:600}.faint{color:#8b93a3}"
    ".bar{display:block;height:.5rem;background:#3b6fb5;border-radius:2px}.bar.warn{background:#d99a1c}."
    "track{width:16rem;background:#eef1f5;border-radius:2px}"
    "@media(prefers-color-scheme:dark){body{background:#14171d;color:#dfe3ea}th{background:#1e232c}th,td{"
    "border-color:#2b313c}h2{border-color:#2b313c}"
    "ul{color:#a9b1c0}tbody "
    "tr:hover{background:#1a1f27}.good{color:#6bd08e}.warn{color:#f0c060;background:#33280f}.bad{color:#"
    "ff9b9b;background:#3a1a1a}.track{background:#232a34}}";

static const char *const classes[] = {[TONE_PLAIN] = "",
                                      [TONE_GOOD] = "good",
                                      [TONE_WARN] = "warn",
                                      [TONE_BAD] = "bad",
                                      [TONE_FAINT] = "faint"};

static void add_escaped(struct strbuf *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            strbuf_adds(out, "&amp;");
            break;
        case '<':
            strbuf_adds(out, "&lt;");
            break;
        case '>':
            strbuf_adds(out, "&gt;");
            break;
        case '"':
            strbuf_adds(out, "&quot;");
            break;
        default:
            if ((unsigned char)*text >= 0x20 || *text == '\n')
                strbuf_addc(out, *text);
        }
    }
}

static void html_table(const struct table *t, struct strbuf *out)
{
    strbuf_adds(out, "<div class=\"scroll\"><table><thead><tr>");
    for (size_t i = 0; i < t->column_count; i++) {
        strbuf_adds(out, t->right[i] ? "<th class=\"r\">" : "<th>");
        add_escaped(out, t->columns[i]);
        strbuf_adds(out, "</th>");
    }
    strbuf_adds(out, "</tr></thead><tbody>\n");
    for (size_t k = 0; k < t->rows.len; k++) {
        strbuf_adds(out, "<tr>");
        for (size_t i = 0; i < t->column_count; i++) {
            strbuf_addf(out, "<td class=\"%s%s%s\">", t->right[i] ? "r" : "",
                        t->right[i] && classes[t->rows.items[k][i].tone][0] ? " " : "",
                        classes[t->rows.items[k][i].tone]);
            add_escaped(out, t->rows.items[k][i].text);
            strbuf_adds(out, "</td>");
        }
        strbuf_adds(out, "</tr>\n");
    }
    strbuf_adds(out, "</tbody></table></div>\n");
}

/* One bar per scenario, from zero, with the value of each trial in its title. */
static void html_bars(const struct report *r, enum figure f, struct strbuf *out)
{
    double most = 0;

    for (size_t i = 0; i < r->cells.len; i++)
        if (r->cells.items[i].figures[f].median > most)
            most = r->cells.items[i].figures[f].median;
    if (!(most > 0))
        return;
    strbuf_addf(out, "<h2>%s</h2>\n<div class=\"scroll\"><table><tbody>\n", figure_kinds[f].pivot);
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        double value = c->figures[f].median;
        char text[32] = "–";
        if (!isnan(value))
            figure_kinds[f].format(value, text);
        strbuf_adds(out, "<tr><td>");
        add_escaped(out, c->scenario);
        strbuf_addf(out,
                    "</td><td class=\"r\">%s</td><td><div class=\"track\"><span class=\"bar%s\" "
                    "style=\"width:%.1f%%\"></span></div></td><td class=\"%s\">%s</td></tr>\n",
                    text, c->contaminated ? " warn" : "", isnan(value) ? 0 : 100 * value / most,
                    classes[outcome_tone(c->outcome)],
                    c->outcome == OUTCOME_OK ? "" : outcome_name(c->outcome));
    }
    strbuf_adds(out, "</tbody></table></div>\n");
}

void render_html(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta "
                     "name=\"viewport\" content=\"width=device-width\">"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                     "'unsafe-inline'\"><title>");
    add_escaped(out, r->title);
    strbuf_addf(out, "</title><style>%s</style></head><body>\n<h1>", style);
    add_escaped(out, r->title);
    strbuf_adds(out, "</h1>\n");
    for (size_t i = 0; i < r->sections.len; i++) {
        const struct section *s = &r->sections.items[i];
        if (s->heading)
            strbuf_addf(out, "<h2>%s</h2>\n", s->heading);
        if (s->table)
            html_table(s->table, out);
        if (s->lines.len)
            strbuf_adds(out, "<ul>\n");
        for (size_t k = 0; k < s->lines.len; k++) {
            strbuf_adds(out, "<li>");
            add_escaped(out, s->lines.items[k]);
            strbuf_adds(out, "</li>\n");
        }
        if (s->lines.len)
            strbuf_adds(out, "</ul>\n");
    }
    html_bars(r, FIGURE_GOODPUT, out);
    html_bars(r, FIGURE_P99, out);
    html_bars(r, FIGURE_MEMORY, out);
    strbuf_adds(out, "</body></html>\n");
}
