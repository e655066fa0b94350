/* SPDX-License-Identifier: MIT */
/* Bars from zero, one a scenario, grouped by all axes but the last, with a dot for each trial. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

#define BARS_MAX 200 /* more cannot be read */

/* The longest bar: the highest trial that counts anywhere. */
static double highest(const struct report *r, size_t figure)
{
    double most = 0;

    for (size_t i = 0; i < r->cells.len; i++)
        if (r->cells.items[i].figures[figure].n && isfinite(r->cells.items[i].figures[figure].max))
            most = fmax(most, r->cells.items[i].figures[figure].max);
    return most;
}

static bool same_group(const struct report *r, const struct cell *a, const struct cell *b)
{
    for (size_t i = 0; i + 1 < r->axis_count; i++)
        if (a->ranks[i] != b->ranks[i])
            return false;
    return true;
}

static void group_head(const struct report *r, const struct cell *c, struct strbuf *out)
{
    strbuf_adds(out, "<tr class=\"group\"><td colspan=\"3\">");
    for (size_t i = 0; i + 1 < r->axis_count; i++) {
        strbuf_adds(out, i ? " · " : "");
        html_text(out, cell_value(r, c, i));
    }
    strbuf_adds(out, "</td></tr>\n");
}

static void dots(const struct report *r, const struct cell *c, size_t figure, double most, struct strbuf *out)
{
    const struct figure *f = &r->figures.items[figure];

    for (size_t i = 0; i < c->trial_count && c->figures[figure].n > 1 && c->figures[figure].n <= 20; i++) {
        double value = cell_trial_value(r, c, i, figure);
        char text[32];
        if (!trial_counts(c, c->trials[i], f) || !isfinite(value))
            continue;
        figure_format(f, value, text);
        strbuf_addf(out, "<span class=\"dot\" style=\"left:%.1f%%\" title=\"trial %d: %s\"></span>",
                    100 * value / most, c->trials[i]->trial, text);
    }
}

static void bar(const struct report *r, const struct cell *c, size_t figure, double most, struct strbuf *out)
{
    const struct summary *s = &c->figures[figure];
    const struct figure *f = &r->figures.items[figure];
    char text[32] = "";

    strbuf_adds(out, "<tr><td>");
    html_text(out, r->axis_count ? cell_value(r, c, r->axis_count - 1) : c->scenario);
    strbuf_adds(out, "</td><td>");
    if (s->n && isfinite(s->median)) {
        strbuf_addf(out, "<div class=\"track\"><span class=\"bar%s\" style=\"width:%.1f%%\"></span>",
                    c->contaminated ? " warn" : "", fmax(0, 100 * s->median / most));
        dots(r, c, figure, most, out);
        strbuf_adds(out, "</div>");
        figure_format(f, s->median, text);
    }
    strbuf_adds(out, "</td><td class=\"r\">");
    html_text(out, text);
    if (!s->n || c->contaminated) /* of the others the bar is what steady trials gave */
        strbuf_addf(out, "%s<small class=\"%s\">%s</small>", text[0] ? " " : "", html_class(cell_tone(c)),
                    c->became);
    strbuf_adds(out, "</td></tr>\n");
}

static void chart(const struct report *r, size_t figure, struct strbuf *out)
{
    const struct figure *f = &r->figures.items[figure];
    double most = highest(r, figure);

    if (!(most > 0))
        return;
    strbuf_adds(out, "<div class=\"chart\"><h3>");
    html_text(out, f->heading);
    strbuf_addf(out, "%s%s</h3><table><tbody>\n", f->measure[0] ? " in " : "", f->measure);
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        if (r->axis_count > 1 && (!i || !same_group(r, c - 1, c)))
            group_head(r, c, out);
        bar(r, c, figure, most, out);
    }
    strbuf_adds(out, "</tbody></table></div>\n");
}

void html_charts(const struct report *r, struct strbuf *out)
{
    static const size_t charts[] = {FIGURE_GOODPUT, FIGURE_P99, FIGURE_MEMORY, FIGURE_CPU};

    if (r->cells.len < 2 || r->cells.len > BARS_MAX)
        return;
    strbuf_adds(out, "<div class=\"charts\">\n");
    for (size_t i = 0; i < ARRAY_LEN(charts); i++)
        chart(r, charts[i], out);
    strbuf_adds(out, "</div>\n");
}
