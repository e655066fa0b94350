/* SPDX-License-Identifier: MIT */
/* One HTML page that needs nothing else: no script, no font, no picture from elsewhere. All text is escaped.
 */
#include "report_internal.h"

#include <string.h>
#include "text.h"
#include "timeline.h"

static const char style[] =
    ":root{--back:#fff;--ink:#1d2330;--mute:#5d6676;--line:#e1e5ec;--soft:#f4f6f9;--bar:#3b6fb5;--upback:#"
    "c9daf1;--dot:#"
    "12294a;"
    "--good:#19753a;--warn:#7d5200;--warnback:#fff4d6;--warnbar:#d99a1c;--bad:#a61b1b;--badback:#fdeaea}\n"
    "@media(prefers-color-scheme:dark){:root{--back:#14171d;--ink:#dfe3ea;--mute:#9aa3b3;--line:#2d3440;"
    "--soft:#1c2129;--bar:#5b8fd6;--upback:#27405f;--dot:#e3ecf8;--good:#6bd08e;--warn:#f0c060;--warnback:#"
    "33280f;"
    "--warnbar:#c98a14;--bad:#ff9b9b;--badback:#3a1a1a}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:1.5rem auto;max-width:92rem;padding:0 "
    "1rem;color:var(--ink);"
    "background:var(--back)}\n"
    "h1{font-size:1.6rem;margin:0 0 .4rem}h2{font-size:1.15rem;margin:1.8rem 0 .4rem}"
    "h3{font-size:1rem;margin:0 0 .4rem}h4{font-size:.95rem;margin:.9rem 0 .2rem}\n"
    "ul{padding-left:1.1rem;margin:.4rem 0;color:var(--mute);font-size:.92rem}li{margin:.1rem 0}"
    "ul.head{list-style:none;padding:0}a{color:inherit}\n"
    ".alarm{border-left:.3rem solid var(--bad);background:var(--soft);padding:.6rem 1rem;margin:1.2rem 0}"
    ".alarm h2{margin:0 0 .3rem}.alarm ul{color:var(--ink);font-size:1rem;margin:0}.alarm "
    ".bad{font-weight:400}\n"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:."
    "92rem;"
    "margin:.3rem 0 .6rem}th,td{padding:.3rem .5rem;border-bottom:1px solid var(--line);text-align:left;"
    "white-space:nowrap;vertical-align:top}thead th{background:var(--soft);vertical-align:bottom}"
    "th small,td small{display:block;color:var(--mute);font-weight:400;font-size:.8rem;line-height:1.2}"
    "tbody th{font-weight:400;background:var(--back)}tbody th:first-child{position:sticky;left:0}"
    "tbody tr:hover>*{background:var(--soft)}.same{color:var(--line)}.r{text-align:right}\n"
    ".good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad);font-weight:600}.faint{color:var(-"
    "-"
    "mute)}td.warn{background:var(--warnback)}td.bad{background:var(--badback)}\n"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1.2rem "
    "2rem;margin-top:1.2rem}"
    ".chart{min-width:0}.chart small{display:inline}.chart table{width:100%}.chart td{border:0;padding:.1rem "
    ".4rem;vertical-align:middle}"
    ".chart td:nth-child(2){width:99%;min-width:6rem}"
    ".chart .group td{padding-top:.5rem;color:var(--mute);font-size:.85rem}\n"
    ".track{position:relative;height:.85rem;background:var(--soft);border-radius:2px}"
    ".bar{position:absolute;top:0;bottom:0;left:0;background:var(--bar);border-radius:2px}"
    ".bar.warn{background:var(--warnbar)}"
    ".dot{position:absolute;top:.2rem;width:.45rem;height:.45rem;margin-left:-.225rem;border-radius:50%;"
    "background:var(--dot);opacity:.75}\n"
    "details{margin:.3rem 0}summary{cursor:pointer}details h2,details h3{display:inline}"
    ".trial{border-left:2px solid var(--line);padding-left:.9rem;margin:.5rem 0 .9rem}.trial p{margin:.15rem "
    "0;"
    "color:var(--mute);font-size:.92rem}\n"
    "svg{display:block;max-width:100%;font-size:11px}svg "
    "text{fill:var(--mute)}svg.defs{position:absolute}"
    ".strip{margin:.1rem 0 .7rem;max-width:none}.strips p{margin:.5rem 0 0;font-size:.92rem}"
    ".legend{font-size:.85rem;color:var(--mute)}.legend svg{display:inline-block;vertical-align:middle;"
    "margin:0 .2rem 0 .8rem}\n"
    ".s-up{fill:var(--upback);stroke:var(--bar);stroke-width:.5}.s-starting{fill:url(#p-starting)}"
    ".s-silent{fill:url(#p-silent)}.s-down{fill:url(#p-down)}.s-none{fill:var(--line)}"
    ".pb{fill:var(--soft)}.pl-warn{fill:var(--warnbar)}.pl-silent{fill:var(--warn)}.pl-bad{fill:var(--bad)}"
    ".found{stroke:var(--warn);stroke-width:1.5;stroke-dasharray:2 "
    "2}.again{fill:var(--good)}.edge{stroke:var(--ink);stroke-width:1}.ours{stroke:var(--mute);stroke-width:"
    "1}"
    "svg "
    "text.in{fill:var(--ink);paint-order:stroke;stroke:var(--back);stroke-width:3px;font-variant-numeric:"
    "tabular-nums}svg text.cause{fill:var(--bad)}"
    ".curve .line{stroke-width:1.4}.base{stroke:var(--line)}.ok{fill:var(--bar)}"
    ".not{stroke:var(--bad);stroke-width:2;fill:none}.cliff{stroke:var(--ink);stroke-dasharray:4 3}"
    "svg text.limit{fill:var(--ink)}td.wrap{white-space:normal;min-width:24rem}\n"
    ".exit{stroke:var(--bad);stroke-width:2}.thin{stroke-width:1.2}.dashed{stroke-dasharray:3 "
    "2}.series{margin:.15rem 0;border-bottom:1px solid var(--line)}"
    ".line{fill:none;stroke:var(--bar);stroke-width:1.2}"
    ".border{stroke:var(--mute);stroke-width:1;stroke-dasharray:3 3}.tick{stroke:var(--mute)}"
    ".warmup{fill:var(--line);opacity:.6}\n";

const char *html_class(enum tone tone)
{
    static const char *const classes[] = {[TONE_PLAIN] = "",
                                          [TONE_GOOD] = "good",
                                          [TONE_WARN] = "warn",
                                          [TONE_BAD] = "bad",
                                          [TONE_FAINT] = "faint"};
    return classes[tone];
}

void html_text(struct strbuf *out, const char *text)
{
    for (struct letter l = text_next(&text); l.len; l = text_next(&text)) {
        const char *entity = NULL;
        switch (l.len == 1 ? l.bytes[0] : 0) {
        case '&':
            entity = "&amp;";
            break;
        case '<':
            entity = "&lt;";
            break;
        case '>':
            entity = "&gt;";
            break;
        case '"':
            entity = "&quot;";
            break;
        case '\'':
            entity = "&#39;";
            break;
        }
        if (entity)
            strbuf_adds(out, entity);
        else
            strbuf_add(out, l.bytes, l.len);
    }
}

/* --- tables --- */

static void table_head(const struct table *t, struct strbuf *out)
{
    strbuf_adds(out, "<thead><tr>");
    for (size_t i = 0; i < t->column_count; i++) {
        strbuf_adds(out, t->columns[i].right ? "<th class=\"r\">" : "<th>");
        html_text(out, t->columns[i].name);
        if (t->columns[i].measure[0]) {
            strbuf_adds(out, "<small>");
            html_text(out, t->columns[i].measure);
            strbuf_adds(out, "</small>");
        }
        strbuf_adds(out, "</th>");
    }
    strbuf_adds(out, "</tr></thead>");
}

/* A row's name; what the row above says already stays, but steps back. */
static void row_head(const struct table *t, size_t row, size_t column, struct strbuf *out)
{
    bool same = row > 0 && column + 1 < t->heads;

    for (size_t i = 0; i <= column && same; i++)
        same = strcmp(t->rows.items[row].fields[i].text, t->rows.items[row - 1].fields[i].text) == 0;
    strbuf_adds(out, same ? "<th scope=\"row\" class=\"faint\">" : "<th scope=\"row\">");
    html_text(out, t->rows.items[row].fields[column].text);
    strbuf_adds(out, "</th>");
}

static void html_field(const struct field *f, const char *kind, struct strbuf *out)
{
    const char *tone = html_class(f->tone);

    strbuf_adds(out, "<td");
    if (kind[0] || tone[0])
        strbuf_addf(out, " class=\"%s%s%s\"", kind, kind[0] && tone[0] ? " " : "", tone);
    strbuf_addc(out, '>');
    html_text(out, f->text);
    if (f->more) {
        strbuf_adds(out, "<small>");
        html_text(out, f->more);
        strbuf_adds(out, "</small>");
    }
    strbuf_adds(out, "</td>");
}

static void html_table(const struct table *t, struct strbuf *out)
{
    strbuf_adds(out, "<div class=\"scroll\"><table>");
    table_head(t, out);
    strbuf_adds(out, "<tbody>\n");
    for (size_t k = 0; k < t->rows.len; k++) {
        strbuf_adds(out, "<tr>");
        for (size_t i = 0; i < t->heads; i++)
            row_head(t, k, i, out);
        for (size_t i = t->heads; i < t->column_count; i++)
            html_field(&t->rows.items[k].fields[i],
                       t->columns[i].right                   ? "r"
                       : t->wide && i + 1 == t->column_count ? "wrap"
                                                             : "",
                       out);
        strbuf_adds(out, "</tr>\n");
    }
    strbuf_adds(out, "</tbody></table></div>\n");
}

/* --- sections --- */

static void html_line(const struct report *r, const struct line *l, struct strbuf *out)
{
    bool link = l->about && html_has_details(r, l->about);

    strbuf_adds(out, "<li");
    if (l->tone == TONE_WARN || l->tone == TONE_BAD)
        strbuf_addf(out, " class=\"%s\"", html_class(l->tone));
    strbuf_addc(out, '>');
    html_text(out, l->text);
    if (link)
        strbuf_addf(out, " <a href=\"#s%zu\">trials</a>", (size_t)(l->about - r->cells.items));
    strbuf_adds(out, "</li>\n");
}

static void html_section(const struct report *r, const struct section *s, struct strbuf *out)
{
    const char *tag = s->detail ? "details" : "section";

    strbuf_addf(out, "<%s%s>", tag, s->alarm ? " class=\"alarm\"" : "");
    if (s->heading) {
        strbuf_adds(out, s->detail ? "<summary><h2>" : "<h2>");
        html_text(out, s->heading);
        strbuf_adds(out, s->detail ? "</h2></summary>\n" : "</h2>\n");
    }
    if (s->table)
        html_table(s->table, out);
    if (s->lines.len)
        strbuf_adds(out, s->heading ? "<ul>\n" : "<ul class=\"head\">\n");
    for (size_t k = 0; k < s->lines.len; k++)
        html_line(r, &s->lines.items[k], out);
    if (s->lines.len)
        strbuf_adds(out, "</ul>\n");
    if (s->draw)
        s->draw(r, out);
    strbuf_addf(out, "</%s>\n", tag);
}

/* The charts stand behind the tables that they draw. */
static bool is_results(const struct report *r, size_t section)
{
    return section >= r->results && section < r->results_end;
}

void render_html(const struct report *r, struct strbuf *out)
{
    strbuf_adds(out,
                "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                "content=\"width=device-width,initial-scale=1\">\n"
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                "'unsafe-inline'\">\n<title>");
    html_text(out, r->title);
    strbuf_adds(out, "</title>\n<style>\n");
    strbuf_adds(out, style);
    strbuf_adds(out, "</style></head><body>\n");
    html_timeline_defs(out);
    strbuf_adds(out, "<h1>");
    html_text(out, r->title);
    strbuf_adds(out, "</h1>\n");
    for (size_t i = 0; i < r->sections.len; i++) {
        html_section(r, &r->sections.items[i], out);
        if (is_results(r, i) && !is_results(r, i + 1))
            html_charts(r, out);
    }
    html_trials(r, out);
    strbuf_adds(out, "</body></html>\n");
}
