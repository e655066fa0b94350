/* SPDX-License-Identifier: MIT */
/*
 * The memory curve as small pictures on the same scales, one per combination: limits from left to right in
 * their order, throughput, p99 and used memory above each other, the cliff as a line with its name. What
 * was not ok is a cross and not a dot.
 */
#include "memory_curve.h"

#include <math.h>
#include <string.h>
#include "text.h"

enum {
    CURVES_MAX = 24, /* more cannot be looked at; the table has all */
    WIDTH = 340,
    LEFT = 6,
    RIGHT = 6,
    TOP = 18, /* the cliff's name */
    PANEL = 64,
    PANEL_HEAD = 21,
    LETTER = 6,
    LABELS_BOTTOM = 32
};

static const struct {
    const char *name;
    size_t figure;
} panels[] = {
    {"ok/s", FIGURE_GOODPUT},
    {"p99, ms", FIGURE_P99},
    {"used memory, MiB", FIGURE_MEMORY},
};

enum { HEIGHT = TOP + (int)ARRAY_LEN(panels) * PANEL + LABELS_BOTTOM };

struct picture {
    const struct report *r;
    const struct curve *c;
    double most[ARRAY_LEN(panels)]; /* of all curves */
    struct strbuf *out;
};

static double x_of(const struct picture *p, double place)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / (double)p->c->len;
}

static double value_of(const struct picture *p, size_t point, size_t panel)
{
    const struct summary *s = &p->c->points[point].cell->figures[panels[panel].figure];

    return s->n && isfinite(s->median) ? s->median : (double)NAN;
}

static double y_of(const struct picture *p, size_t panel, double value)
{
    double top = TOP + (double)panel * PANEL + PANEL_HEAD, height = PANEL - PANEL_HEAD - 4;
    double share = p->most[panel] > 0 ? fmax(0, fmin(1, value / p->most[panel])) : 0;

    return top + height * (1 - share);
}

static void dot(const struct picture *p, size_t point, size_t panel, double value)
{
    const struct curve_point *at = &p->c->points[point];
    double x = x_of(p, (double)point), y = y_of(p, panel, value);
    char text[32];

    if (point_ok(at))
        strbuf_addf(p->out, "<circle class=\"ok\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\">", x, y);
    else
        strbuf_addf(p->out, "<path class=\"not\" d=\"M%.1f %.1fl7 7m0 -7l-7 7\">", x - 3.5, y - 3.5);
    figure_format(&p->r->figures.items[panels[panel].figure], value, text);
    strbuf_adds(p->out, "<title>");
    html_text(p->out, at->limit);
    strbuf_addf(p->out, ": %s, ", text);
    html_text(p->out, at->cell->became);
    strbuf_addf(p->out, "</title></%s>\n", point_ok(at) ? "circle" : "path");
}

static void panel(const struct picture *p, size_t panel)
{
    double bottom = TOP + (double)(panel + 1) * PANEL - 4;
    bool pen_down = false;
    char text[32];

    figure_format(&p->r->figures.items[panels[panel].figure], p->most[panel], text);
    strbuf_addf(p->out, "<line class=\"base\" x1=\"0\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", WIDTH, bottom,
                bottom);
    strbuf_addf(p->out, "<text x=\"0\" y=\"%.1f\">%s, up to %s</text>", bottom - PANEL + 14,
                panels[panel].name, text);
    strbuf_adds(p->out, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < p->c->len; i++) {
        double value = value_of(p, i, panel);
        if (!isnan(value))
            strbuf_addf(p->out, "%c%.1f %.1f", pen_down ? 'L' : 'M', x_of(p, (double)i),
                        y_of(p, panel, value));
        pen_down = !isnan(value);
    }
    strbuf_adds(p->out, "\"/>\n");
    for (size_t i = 0; i < p->c->len; i++)
        if (!isnan(value_of(p, i, panel)))
            dot(p, i, panel, value_of(p, i, panel));
}

/* Between the largest limit that is not enough and the smallest that is. */
static void cliff(const struct picture *p)
{
    const struct curve *c = p->c;
    CLEANUP_VALUE(strbuf_release) struct strbuf label = STRBUF_INIT;

    if (c->viable == c->len || c->failing == c->len) {
        strbuf_addf(p->out, "<text class=\"limit\" x=\"0\" y=\"11\">");
        html_text(p->out, c->words);
        strbuf_adds(p->out, "</text>\n");
        return;
    }
    double x = x_of(p, ((double)c->viable + (double)c->failing) / 2);
    strbuf_addf(&label, "%s: %s–%s", cause_is_memory(curve_cause(c)) ? "cliff" : "not of memory",
                c->points[c->failing].limit, c->points[c->viable].limit);
    double width = LETTER * (double)text_columns(strbuf_text(&label));
    strbuf_addf(p->out, "<line class=\"cliff\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x, TOP - 4,
                HEIGHT - LABELS_BOTTOM);
    strbuf_addf(p->out, "<text class=\"limit\" x=\"%.1f\" y=\"11\">",
                fmax(0, fmin(x - width / 2, WIDTH - width)));
    html_text(p->out, strbuf_text(&label));
    strbuf_adds(p->out, "</text>\n");
}

/* Below: each limit, as many as there is room for, and how often the kernel killed there. */
static void limits(const struct picture *p)
{
    double room_from = -1, kills_from = -1;

    for (size_t i = 0; i < p->c->len; i++) {
        const struct curve_point *at = &p->c->points[i];
        double x = x_of(p, (double)i), width = LETTER * (double)text_columns(at->limit);
        const struct summary *kills = &at->cell->figures[FIGURE_OOM];
        if (x - width / 2 >= room_from) {
            double left = fmax(0, fmin(x - width / 2, WIDTH - width));
            strbuf_addf(p->out, "<text x=\"%.1f\" y=\"%d\">", left, HEIGHT - LABELS_BOTTOM + 12);
            html_text(p->out, at->limit);
            strbuf_adds(p->out, "</text>\n");
            room_from = left + width + LETTER;
        }
        if (kills->n && kills->max > 0 && kills->max < 1e9 && x - 20 >= kills_from) {
            strbuf_addf(p->out,
                        "<text class=\"cause\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f OOM</text>\n",
                        fmax(x, 20), HEIGHT - LABELS_BOTTOM + 26, kills->max);
            kills_from = x + 24;
        }
    }
}

static void picture(const struct picture *p, const char *name)
{
    strbuf_adds(p->out, "<div class=\"chart\"><h3>");
    html_text(p->out, name[0] ? name : "all");
    strbuf_addf(
        p->out,
        "</h3><svg class=\"curve\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\"><title>",
        WIDTH, HEIGHT, WIDTH, HEIGHT);
    html_text(p->out, name);
    strbuf_adds(p->out, name[0] ? ": memory curve</title><desc>" : "memory curve</title><desc>");
    html_text(p->out, p->c->words);
    if (curve_cause(p->c)) {
        strbuf_adds(p->out, "; ");
        html_text(p->out, curve_cause(p->c));
    }
    strbuf_adds(p->out, ". The memory curve's table has the numbers.</desc>\n");
    for (size_t i = 0; i < ARRAY_LEN(panels); i++)
        if (p->most[i] > 0)
            panel(p, i);
    cliff(p);
    limits(p);
    strbuf_adds(p->out, "</svg></div>\n");
}

void html_memory(const struct report *r, struct strbuf *out)
{
    struct picture p = {.r = r, .out = out};
    struct memory_curves m;

    if (!memory_curves_of(r, &m))
        return;
    vec_each (c, &m.items) {
        p.c = c;
        for (size_t i = 0; i < ARRAY_LEN(panels) * c->len; i++) {
            size_t panel = i % ARRAY_LEN(panels);
            p.most[panel] = fmax(p.most[panel], value_of(&p, i / ARRAY_LEN(panels), panel));
        }
    }
    strbuf_adds(out, "<p class=\"legend\">● every trial ok, × not; limits are in order, not to scale.</p>\n"
                     "<div class=\"charts\">\n");
    for (size_t i = 0; i < m.items.len && i < CURVES_MAX; i++) {
        p.c = &m.items.items[i];
        picture(&p, curve_name(r, &m, p.c));
    }
    strbuf_adds(out, "</div>\n");
    if (m.items.len > CURVES_MAX)
        strbuf_addf(out, "<p>%zu more are in the table.</p>\n", m.items.len - CURVES_MAX);
    memory_curves_release(&m);
}
