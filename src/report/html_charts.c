/* SPDX-License-Identifier: MIT */
/*
 * Bars from zero, one a scenario, grouped by all axes but the last, with a dot for each trial. Scenarios that
 * were loaded by different models never stand on one scale; of loads of several models each phase has its
 * own.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "part_figures.h"

#define BARS_MAX 200 /* more cannot be read */
#define PHASES_DRAWN 4

/* The cells that are drawn together: those of one model, or all where it does not differ. */
struct group {
    const char *model;
    size_t len;
};

static bool belongs(const struct report *r, const struct group *g, const struct cell *c)
{
    return !r->models_differ || strcmp(c->model, g->model) == 0;
}

/* The longest bar: the highest trial that counts anywhere. */
static double highest(const struct report *r, const struct group *g, size_t figure)
{
    double most = 0;

    for (size_t i = 0; i < r->cells.len; i++)
        if (belongs(r, g, &r->cells.items[i]) && r->cells.items[i].figures[figure].n &&
            isfinite(r->cells.items[i].figures[figure].max))
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

static void chart(const struct report *r, const struct group *g, size_t figure, struct strbuf *out)
{
    const struct figure *f = &r->figures.items[figure];
    const struct cell *before = NULL;
    double most = highest(r, g, figure);

    if (!(most > 0))
        return;
    strbuf_adds(out, "<div class=\"chart\"><h3>");
    html_text(out, f->heading);
    strbuf_addf(out, "%s%s", f->measure[0] ? " in " : "", f->measure);
    if (g->len < r->cells.len) {
        strbuf_adds(out, " <small>(");
        html_text(out, g->model[0] ? g->model : "model unknown");
        strbuf_adds(out, ")</small>");
    }
    strbuf_adds(out, "</h3><table><tbody>\n");
    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        if (!belongs(r, g, c))
            continue;
        if (r->axis_count > 1 && (!before || !same_group(r, before, c)))
            group_head(r, c, out);
        bar(r, c, figure, most, out);
        before = c;
    }
    strbuf_adds(out, "</tbody></table></div>\n");
}

/* Requests per second and p99 of each phase that counts, in place of those of a whole of two models. */
static void phase_charts(const struct report *r, const struct group *g, struct strbuf *out)
{
    const struct trial_parts *p = NULL;

    for (size_t i = 0; i < r->cells.len && !p; i++)
        if (belongs(r, g, &r->cells.items[i]))
            p = cell_parts(r, &r->cells.items[i], PART_PHASE);
    for (size_t i = 0; p && i < p->count[PART_PHASE] && i < PHASES_DRAWN; i++) {
        const struct load_part *part = &p->items[PART_PHASE][i];
        size_t first = part_first_figure(r, PART_PHASE, part->name);
        if (part->warmup || first == SIZE_MAX)
            continue;
        chart(r, g, first + PART_GOODPUT, out);
        chart(r, g, first + PART_P99, out);
    }
}

static void group_charts(const struct report *r, const struct group *g, struct strbuf *out)
{
    static const size_t of_load[] = {FIGURE_GOODPUT, FIGURE_P99}, others[] = {FIGURE_MEMORY, FIGURE_CPU};

    if (g->len < 2) /* a bar beside nothing says nothing */
        return;
    strbuf_adds(out, "<div class=\"charts\">\n");
    if (strncmp(g->model, "mixed", 5) == 0)
        phase_charts(r, g, out);
    else
        for (size_t i = 0; i < ARRAY_LEN(of_load); i++)
            chart(r, g, of_load[i], out);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        chart(r, g, others[i], out);
    strbuf_adds(out, "</div>\n");
}

void html_charts(const struct report *r, struct strbuf *out)
{
    if (r->cells.len > BARS_MAX)
        return;
    for (size_t i = 0; i < r->cells.len; i++) {
        struct group g = {.model = r->cells.items[i].model};
        bool first = true;
        for (size_t k = 0; k < r->cells.len; k++) {
            first = first && (k >= i || !belongs(r, &g, &r->cells.items[k]));
            g.len += belongs(r, &g, &r->cells.items[k]);
        }
        if (first)
            group_charts(r, &g, out);
    }
}
