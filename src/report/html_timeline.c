/* SPDX-License-Identifier: MIT */
/*
 * A container's trial as a strip: time from left to right, its states as bands that differ in pattern and
 * height and not only in colour, a mark for each death, a triangle where it was ready again. The same stands
 * in tables beside it.
 */
#include "timeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "text.h"

enum {
    WIDTH = 900,
    HEIGHT = 62,
    BAND_TOP = 18,
    BAND_HEIGHT = 22,
    BAND_BOTTOM = BAND_TOP + BAND_HEIGHT,
    LETTER = 6,      /* about what one takes */
    MARK_GAP = 3,    /* nearer ones are one */
    SERVED_MIN = 26, /* narrower lives have no number */
    FOUND_MAX = 50,
    TICKS_MAX = 12,
    WARMUP_ROOM = 110, /* beside the word at the begin */
    TICK_ROOM = 115,   /* around the words at the window's ends */
};

static const char *const state_classes[STATES] = {
    [STATE_NONE] = "s-none",     [STATE_UP] = "s-up",     [STATE_STARTING] = "s-starting",
    [STATE_SILENT] = "s-silent", [STATE_DOWN] = "s-down",
};

/* The less it served, the lower its band. */
void html_state(enum state s, double x, double width, struct strbuf *out)
{
    static const int heights[STATES] = {[STATE_NONE] = 2,
                                        [STATE_UP] = BAND_HEIGHT,
                                        [STATE_STARTING] = 15,
                                        [STATE_SILENT] = BAND_HEIGHT,
                                        [STATE_DOWN] = 7};

    strbuf_addf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                state_classes[s], x, BAND_BOTTOM - heights[s], width, heights[s]);
}

/* --- one strip --- */

struct strip {
    const struct timeline *l;
    const struct trial *t;
    const struct container_result *c;
    struct strbuf *out;
};

static double x_of(const struct strip *s, double at_ms)
{
    return WIDTH * timeline_share(s->l, at_ms);
}

/* For who cannot see it: the whole in a sentence. */
static void describe(const struct strip *s)
{
    const struct container_result *c = s->c;
    char text[32];

    strbuf_adds(s->out, "<title>");
    html_text(s->out, s->t->scenario);
    strbuf_addf(s->out, " #%d, ", s->t->trial);
    html_text(s->out, container_role(s->t, c));
    strbuf_addf(s->out, ": when it was up</title><desc>%zu end%s", c->exit_count, plural(c->exit_count));
    if (c->exit_count)
        strbuf_addf(s->out, ", the first at %s", seconds_text(c->exits[0].at_ms, text));
    if (isfinite(c->uptime_pct))
        strbuf_addf(s->out, "; up %.1f %% of the load", c->uptime_pct);
    if (c->silence_count)
        strbuf_addf(s->out, "; unresponsive %zu time%s, the first from %s", c->silence_count,
                    plural(c->silence_count), seconds_text(c->silences[0].from_ms, text));
    strbuf_adds(s->out, ". The table beside it has each.</desc>\n");
}

static void bands(const struct strip *s)
{
    const struct timeline *l = s->l;

    for (size_t i = 0, n; i < TIMELINE_COLUMNS; i += n) {
        for (n = 1; i + n < TIMELINE_COLUMNS && l->states[i + n] == l->states[i];)
            n++;
        if (l->told || l->states[i] != STATE_NONE)
            html_state((enum state)l->states[i], (double)WIDTH * (double)i / TIMELINE_COLUMNS,
                       (double)WIDTH * (double)n / TIMELINE_COLUMNS, s->out);
    }
}

/* How many it served, where its life is wide enough for the number. */
static void served(const struct strip *s)
{
    double last = -1;

    for (size_t i = 0; i < s->c->life_count; i++) {
        const struct container_life *life = &s->c->lives[i];
        double begin = isnan(life->ready_ms) ? life->start_ms : life->ready_ms;
        double from = x_of(s, begin), to = isnan(life->end_ms) ? WIDTH : x_of(s, life->end_ms);
        char text[32];
        if (!(life->requests >= 0) || to - from < SERVED_MIN || from < last)
            continue;
        int len = snprintf(text, sizeof(text), life->requests < 1e7 ? "%.0f" : "%.2g", life->requests);
        if (to - from < LETTER * len + 4)
            continue;
        last = to;
        strbuf_addf(s->out, "<text class=\"in\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>",
                    (from + to) / 2, BAND_TOP + 15, text);
    }
}

static void ready_again(const struct strip *s)
{
    double last = -2 * MARK_GAP;
    char text[32];

    for (size_t i = 1; i < s->c->life_count; i++) {
        double ready = s->c->lives[i].ready_ms, x = x_of(s, ready);
        if (isnan(ready) || x - last < 2 * MARK_GAP)
            continue;
        last = x;
        strbuf_addf(s->out,
                    "<path class=\"again\" d=\"M%.1f %dl4 7h-8z\"><title>ready again: %s</title></path>", x,
                    BAND_BOTTOM + 1, seconds_text(ready, text));
    }
}

/* "OOM", or "14 x OOM, every 15.0 s" over the first of many. */
static void mark_label(const struct strip *s, const struct death *d, size_t n, double every_ms,
                       double *room_from)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf label = STRBUF_INIT;
    double x = x_of(s, d->exit->at_ms);
    char text[32];

    if (n > 1)
        strbuf_addf(&label, "%zu × ", n);
    strbuf_adds(&label, death_mark(d->exit, text));
    if (n > 1)
        strbuf_addf(&label, ", every %s", seconds_text(every_ms, text));
    double width = LETTER * (double)text_columns(strbuf_text(&label));
    double left = fmax(0, fmin(n > 1 ? x : x - width / 2, WIDTH - width));
    if (left < *room_from)
        return;
    *room_from = left + width + LETTER;
    strbuf_addf(s->out, "<text class=\"cause\" x=\"%.1f\" y=\"10\">", left);
    html_text(s->out, strbuf_text(&label));
    strbuf_adds(s->out, "</text>");
}

static void mark(const struct strip *s, const struct container_exit *e, double x)
{
    char text[32];

    strbuf_addf(s->out, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"13\" y2=\"%d\"><title>%s: ",
                exit_is_ours(e) ? "ours" : "exit", x, x, BAND_BOTTOM + 2, seconds_text(e->at_ms, text));
    html_text(s->out, e->cause ? e->cause : "ended, cause not recorded");
    strbuf_addf(s->out, " (exit code %d)</title></line>\n", e->code);
}

/* What the bands and ends do not show by themselves. */
static bool worth_a_mark(const struct strip *s, const struct finding *f)
{
    static const char *const shown_already[] = {"unresponsive", "never-started"};

    for (size_t i = 0; i < ARRAY_LEN(shown_already); i++)
        if (text_equal(f->id, shown_already[i]))
            return false;
    return f->id && text_equal(f->role, container_role(s->t, s->c)) && isfinite(f->at_ms);
}

static void found_marks(const struct strip *s)
{
    double room_from = 0;

    for (size_t i = 0; i < s->t->finding_count && i < FOUND_MAX; i++) {
        const struct finding *f = &s->t->findings[i];
        if (!worth_a_mark(s, f))
            continue;
        double x = x_of(s, f->at_ms), width = LETTER * (double)text_columns(f->id);
        strbuf_addf(s->out, "<line class=\"found\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"><title>", x, x,
                    BAND_TOP, BAND_BOTTOM + 2);
        html_text(s->out, f->message ? f->message : f->id);
        strbuf_adds(s->out, "</title></line>\n");
        if (s->c->exit_count || x < room_from) /* the ends have the line above */
            continue;
        room_from = x + width + LETTER;
        strbuf_addf(s->out, "<text class=\"cause\" x=\"%.1f\" y=\"12\">", fmin(x, WIDTH - width));
        html_text(s->out, f->id);
        strbuf_adds(s->out, "</text>\n");
    }
}

static void marks(const struct strip *s, struct arena *a)
{
    const struct death *deaths = deaths_of(s->c, a);
    double last = -MARK_GAP, room_from = 0;

    for (size_t i = 0, n; i < s->c->exit_count; i += n) {
        double every_ms = NAN;
        n = deaths_alike(&deaths[i], s->c->exit_count - i, &every_ms);
        mark_label(s, &deaths[i], n, every_ms, &room_from);
        for (size_t k = i; k < i + n; k++) {
            double x = x_of(s, deaths[k].exit->at_ms);
            if (isnan(deaths[k].exit->at_ms) || x - last < MARK_GAP)
                continue;
            last = x;
            mark(s, deaths[k].exit, x);
        }
    }
}

/* --- the axis below it --- */

static void word_at(const struct strip *s, double at_ms, const char *word)
{
    double x = x_of(s, at_ms);
    const char *anchor = x > WIDTH - TICK_ROOM ? "end" : x < TICK_ROOM ? "start" : "middle";

    strbuf_addf(s->out, "<line class=\"edge\" x1=\"%.1f\" x2=\"%.1f\" y1=\"13\" y2=\"%d\"/>", x, x,
                BAND_BOTTOM + 8);
    strbuf_addf(s->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>", x, HEIGHT - 3, anchor,
                word);
}

static bool near_a_word(const struct strip *s, double x)
{
    if (x < x_of(s, s->l->begin_ms) && !isnan(s->l->warmup_ms))
        return true;
    return fabs(x - x_of(s, s->l->begin_ms)) < TICK_ROOM || fabs(x - x_of(s, s->l->end_ms)) < TICK_ROOM;
}

static void ticks(const struct strip *s)
{
    double span = s->l->to_ms - s->l->from_ms, step = html_tick_step(span / 1e3) * 1e3;
    double at = ceil(s->l->from_ms / step) * step;
    char text[32];

    if (!(step > 0) || !isfinite(step))
        return;
    for (int i = 0; i < TICKS_MAX && at <= s->l->to_ms; i++, at += step) {
        double x = x_of(s, at);
        strbuf_addf(s->out, "<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>", x, x,
                    BAND_BOTTOM, BAND_BOTTOM + 4);
        if (near_a_word(s, x) || x > WIDTH - 30)
            continue;
        (void)snprintf(text, sizeof(text), "%g s", at / 1e3);
        strbuf_addf(s->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\">%s</text>", x, HEIGHT - 3,
                    x < 20 ? "start" : "middle", text);
    }
}

static void window(const struct strip *s)
{
    char end[64], text[32];

    if (isnan(s->l->begin_ms))
        return;
    word_at(s, s->l->begin_ms, "load begins");
    (void)snprintf(end, sizeof(end), "load ends, %s", seconds_text(s->l->end_ms, text));
    word_at(s, s->l->end_ms, end);
}

static void warmup(const struct strip *s)
{
    double from = x_of(s, s->l->warmup_ms), to = x_of(s, s->l->begin_ms);

    if (isnan(s->l->warmup_ms) || !(to > from))
        return;
    strbuf_addf(s->out,
                "<rect class=\"warmup\" x=\"%.1f\" y=\"13\" width=\"%.1f\" height=\"%d\"><title>warm-up"
                "</title></rect>",
                from, to - from, BAND_BOTTOM - 5);
    if (to - from > WARMUP_ROOM)
        strbuf_addf(s->out, "<text x=\"%.1f\" y=\"%d\">warm-up</text>", from + 2, HEIGHT - 3);
}

void html_timeline(const struct report *r, const struct trial *t, const struct container_result *c,
                   struct strbuf *out)
{
    struct timeline l;
    const struct strip s = {&l, t, c, out};

    if (!timeline_of(t, c, &l))
        return;
    strbuf_addf(out,
                "<div class=\"scroll\"><svg class=\"strip\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
                "role=\"img\">",
                WIDTH, HEIGHT, WIDTH, HEIGHT);
    describe(&s);
    warmup(&s);
    bands(&s);
    served(&s);
    ticks(&s);
    window(&s);
    ready_again(&s);
    found_marks(&s);
    marks(&s, r->arena);
    strbuf_adds(out, "</svg></div>\n");
}
