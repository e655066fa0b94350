/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "report_internal.h"

#define COLUMNS_MAX 32

/* --- reading --- */

struct cells {
    const char *text[COLUMNS_MAX];
    size_t len[COLUMNS_MAX], count;
};

/* The next line in its parts; false at the end. */
static bool next_row(const char **at, const char *end, struct cells *row)
{
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at)), *line_end = newline ? newline : end;
    row->count = 0;
    for (const char *p = *at; row->count < COLUMNS_MAX; p++) {
        const char *comma = memchr(p, ',', (size_t)(line_end - p)), *cell_end = comma ? comma : line_end;
        row->text[row->count] = p;
        row->len[row->count++] = (size_t)(cell_end - p);
        if (!comma)
            break;
        p = comma;
    }
    *at = newline ? newline + 1 : end;
    return true;
}

static size_t column_of(const struct cells *head, const char *name)
{
    for (size_t i = 0; i < head->count; i++)
        if (head->len[i] == strlen(name) && memcmp(head->text[i], name, head->len[i]) == 0)
            return i;
    return COLUMNS_MAX;
}

static double number_in(const struct cells *row, size_t column)
{
    double value;

    if (column >= row->count || !row->len[column] ||
        number_scan(row->text[column], row->len[column], &value) != row->len[column])
        return NAN;
    return value;
}

static void add(struct series *s, enum series_line line, double at_s, double value)
{
    double share = at_s / s->span_s;

    if (!(share >= 0) || !(share <= 1) || !isfinite(value))
        return;
    size_t i = (size_t)(share * SERIES_BINS);
    struct series_bin *b = &s->bins[line][i < SERIES_BINS ? i : SERIES_BINS - 1];
    b->sum += value;
    b->most = b->n++ ? fmax(b->most, value) : value;
    s->there[line] = true;
}

void series_add_load(struct series *s, const char *bytes, size_t len)
{
    const char *at = bytes, *end = bytes + len;
    struct cells head, row;
    double before_s = 0;

    if (!next_row(&at, end, &head))
        return;
    size_t ms = column_of(&head, "at_ms"), seconds = column_of(&head, "at_s"), ok = column_of(&head, "ok"),
           requests = column_of(&head, "requests"), failed = column_of(&head, "failed"),
           p99 = column_of(&head, "p99_ms");
    while (next_row(&at, end, &row)) {
        /* ours names the end of each second, a stream its beginning */
        double end_s = ms < COLUMNS_MAX ? number_in(&row, ms) / 1e3 : number_in(&row, seconds) + 1;
        double lost = number_in(&row, failed), count = number_in(&row, ok);
        if (ok == COLUMNS_MAX)
            count = number_in(&row, requests) - (isnan(lost) ? 0 : lost);
        double length_s = end_s - before_s;
        if (!(length_s > 0))
            continue;
        double middle_s = end_s - length_s / 2;
        add(s, SERIES_OK, middle_s, count / length_s);
        add(s, SERIES_P99, middle_s, number_in(&row, p99));
        before_s = end_s;
    }
}

void series_add_samples(struct series *s, const char *bytes, size_t len, double load_begin_s)
{
    const char *at = bytes, *end = bytes + len;
    struct cells head, row;

    if (!next_row(&at, end, &head))
        return;
    size_t ms = column_of(&head, "at_ms"), role = column_of(&head, "role"),
           used = column_of(&head, "used_bytes"), cores = column_of(&head, "cpu_cores");
    while (next_row(&at, end, &row)) {
        if (role >= row.count || row.len[role] != 3 || memcmp(row.text[role], "app", 3) != 0)
            continue;
        double at_s = number_in(&row, ms) / 1e3 - load_begin_s;
        add(s, SERIES_MEMORY, at_s, number_in(&row, used) / 1048576);
        add(s, SERIES_CPU, at_s, number_in(&row, cores));
    }
}

/* --- drawing --- */

enum { WIDTH = 640, HEIGHT = 44, TOP = 12 };

static const struct {
    const char *name;
    bool most; /* the highest of a bin, else its mean */
} lines[SERIES_LINES] = {
    [SERIES_OK] = {"successful requests per second", false},
    [SERIES_P99] = {"p99 of latency in ms", true},
    [SERIES_MEMORY] = {"used memory of the application in MiB", true},
    [SERIES_CPU] = {"CPU of the application in cores", false},
};

static double bin_value(const struct series *s, size_t line, size_t i)
{
    const struct series_bin *b = &s->bins[line][i];

    return !b->n ? (double)NAN : lines[line].most ? b->most : b->sum / b->n;
}

/* Bins without a value between two that have one are bridged when nothing was due there: with fewer seconds
 * than bins. A longer silence is a gap. */
static void draw(const struct series *s, size_t line, double top, struct strbuf *out)
{
    size_t bridge = s->span_s > 0 ? (size_t)(2.5 * SERIES_BINS / s->span_s) + 1 : 1, last = SERIES_BINS;

    strbuf_adds(out, "<path class=\"line\" d=\"");
    for (size_t i = 0; i < SERIES_BINS; i++) {
        double value = bin_value(s, line, i);
        if (isnan(value))
            continue;
        strbuf_addf(out, "%c%.1f %.1f", last < SERIES_BINS && i - last <= bridge ? 'L' : 'M',
                    (double)WIDTH * ((double)i + 0.5) / SERIES_BINS,
                    TOP + (HEIGHT - TOP - 1) * (1 - (top > 0 ? value / top : 0)));
        last = i;
    }
    strbuf_adds(out, "\"/>");
}

/* --- the axis of time, and phases --- */

static double x_of(const struct series *s, double at_s)
{
    double share = at_s / s->span_s;

    return WIDTH * (share > 1 ? 1 : share > 0 ? share : 0);
}

static void begin_picture(const char *class, int height, struct strbuf *out)
{
    strbuf_addf(out, "<svg class=\"%s\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">",
                class, WIDTH, height, WIDTH, height);
}

/* Behind a line: what was warm-up, and where a phase began. */
static void draw_phases(const struct series *s, int top, int height, struct strbuf *out)
{
    for (size_t i = 0; i < s->phase_count; i++) {
        const struct series_phase *p = &s->phases[i];
        double from = x_of(s, p->begin_s), to = x_of(s, p->end_s);
        if (p->warmup && to > from)
            strbuf_addf(out, "<rect class=\"warmup\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                        from, top, to - from, height - top);
        if (from > 0)
            strbuf_addf(out, "<line class=\"border\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", from,
                        from, top, height);
    }
}

/* Ends of the application, and whiles in which it answered nothing, on every line: what they did to it. */
static void draw_marks(const struct series *s, struct strbuf *out)
{
    enum { GAP = 3 };
    double last = -GAP;

    for (size_t i = 0; i < s->mark_count; i++) {
        const struct series_mark *m = &s->marks[i];
        double x = x_of(s, m->from_s), to = x_of(s, m->to_s);
        if (m->from_s < 0 || m->from_s > s->span_s)
            continue;
        if (to > x)
            strbuf_addf(out, "<rect class=\"s-silent\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\">", x,
                        TOP, to - x, HEIGHT - TOP);
        else if (x - last >= GAP)
            strbuf_addf(out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\">",
                        m->kill ? "exit thin" : "exit thin dashed", x, x, TOP, HEIGHT);
        else
            continue;
        last = to > x ? last : x;
        strbuf_adds(out, "<title>");
        html_text(out, m->text);
        strbuf_adds(out, to > x ? "</title></rect>" : "</title></line>");
    }
}

/* Each name stands where its phase does, cut where that is too short for it. */
static void name_phases(const struct series *s, struct strbuf *out)
{
    enum { NAMES_HEIGHT = 16, WARMUP_WIDTH = 140 };

    if (!s->phase_count)
        return;
    begin_picture("phases", NAMES_HEIGHT, out);
    draw_phases(s, 0, NAMES_HEIGHT, out);
    for (size_t i = 0; i < s->phase_count; i++) {
        const struct series_phase *p = &s->phases[i];
        double from = x_of(s, p->begin_s), to = x_of(s, p->end_s);
        if (!(to > from))
            continue;
        strbuf_addf(out, "<svg x=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>", from, to - from,
                    NAMES_HEIGHT);
        html_text(out, p->name);
        strbuf_addf(out, "%s: %.2f s to %.2f s</title><text x=\"3\" y=\"12\">", p->warmup ? " (warm-up)" : "",
                    p->begin_s, p->end_s);
        html_text(out, p->name);
        strbuf_addf(out, "%s</text></svg>", p->warmup && to - from > WARMUP_WIDTH ? " (warm-up)" : "");
    }
    strbuf_adds(out, "</svg>\n");
}

/* 1, 2 or 5 times a power of ten. */
double html_tick_step(double span_s)
{
    double step = pow(10, floor(log10(span_s / 8))), times = span_s / 8 / step;

    return step * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void time_axis(const struct series *s, struct strbuf *out)
{
    enum { AXIS_HEIGHT = 18 };
    double step = html_tick_step(s->span_s);

    if (!(step > 0) || !isfinite(step))
        return;
    begin_picture("axis", AXIS_HEIGHT, out);
    for (int i = 0; i * step <= s->span_s && i <= 10; i++) {
        double x = x_of(s, i * step);
        strbuf_addf(out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"4\"/>", x, x);
        strbuf_addf(out, "<text x=\"%.1f\" y=\"15\" text-anchor=\"%s\">%g s</text>", x,
                    i == 0           ? "start"
                    : x > WIDTH - 20 ? "end"
                                     : "middle",
                    i * step);
    }
    strbuf_adds(out, "</svg>\n");
}

void html_series(const struct series *s, struct strbuf *out)
{
    bool any = false;

    for (size_t line = 0; line < SERIES_LINES; line++)
        any |= s->there[line];
    if (!any)
        return;
    name_phases(s, out);
    for (size_t line = 0; line < SERIES_LINES; line++) {
        double top = 0;
        if (!s->there[line])
            continue;
        for (size_t i = 0; i < SERIES_BINS; i++)
            top = fmax(top, bin_value(s, line, i)); /* fmax() takes the one that is a number */
        begin_picture("series", HEIGHT, out);
        draw_phases(s, TOP, HEIGHT, out);
        draw_marks(s, out);
        strbuf_addf(out, "<text x=\"0\" y=\"9\">%s, up to ", lines[line].name);
        strbuf_addf(out, top >= 999.5 && top < 1e15 ? "%.0f</text>" : "%.3g</text>", top);
        draw(s, line, top, out);
        strbuf_adds(out, "</svg>\n");
    }
    time_axis(s, out);
}
