/* SPDX-License-Identifier: MIT */
/* Each trial's record, folded away: what it did and when, how its containers ended, what limits its worth. */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "part_figures.h"
#include "series.h"

#define TRIALS_MAX 300 /* in one page; more: only those that went wrong */
#define EXITS_MAX 200  /* of one container */

static bool all_fit(const struct report *r)
{
    return r->sweep->trial_count <= TRIALS_MAX;
}

bool html_has_details(const struct report *r, const struct cell *c)
{
    return c->worst && (all_fit(r) || c->worst->outcome != OUTCOME_OK);
}

static const char *ms_text(double ms, char *buf)
{
    if (!isfinite(ms) || fabs(ms) > 1e12)
        return NOT_MEASURED;
    return duration_human((int64_t)(ms * 1e6), buf);
}

static const char *offset_text(double ms, char *buf)
{
    if (isfinite(ms))
        (void)snprintf(buf, 32, "%.2f s", ms / 1e3);
    return isfinite(ms) ? buf : "?";
}

/* --- the failure timeline: the load from left to right, a mark for each exit --- */

enum { TIMELINE_WIDTH = 640, TIMELINE_MARGIN = 30 };

static double timeline_x(double at_ms, double from, double to)
{
    return TIMELINE_MARGIN + (TIMELINE_WIDTH - 2 * TIMELINE_MARGIN) * (at_ms - from) / (to - from);
}

static void timeline_mark(const struct container_exit *e, double x, struct strbuf *out)
{
    char text[32];

    strbuf_addf(out, "<line class=\"exit\" x1=\"%.1f\" x2=\"%.1f\" y1=\"2\" y2=\"24\"><title>%s: ", x, x,
                offset_text(e->at_ms, text));
    html_text(out, e->cause ? e->cause : "exit");
    strbuf_adds(out, "</title></line>\n");
}

static void timeline(const struct trial *t, const struct container_result *c, struct strbuf *out)
{
    double from = 0, to = t->load.window_ms;
    char text[32];

    for (size_t i = 0; i < c->exit_count; i++) {
        from = fmin(from, c->exits[i].at_ms);
        to = fmax(to, c->exits[i].at_ms);
    }
    if (!c->exit_count || !isfinite(from) || !isfinite(to) || !(to > from))
        return;
    double begin = timeline_x(0, from, to), end = timeline_x(t->load.window_ms, from, to);
    strbuf_addf(out, "<svg width=\"%d\" height=\"42\" viewBox=\"0 0 %d 42\" role=\"img\">", TIMELINE_WIDTH,
                TIMELINE_WIDTH);
    if (end > begin)
        strbuf_addf(
            out,
            "<rect class=\"up\" x=\"%.1f\" y=\"6\" width=\"%.1f\" height=\"14\"><title>load</title></rect>",
            begin, end - begin);
    for (size_t i = 0; i < c->exit_count && i < EXITS_MAX; i++)
        timeline_mark(&c->exits[i], timeline_x(c->exits[i].at_ms, from, to), out);
    strbuf_addf(out, "<text x=\"%.1f\" y=\"38\" text-anchor=\"start\">load begins</text>", begin);
    if (end > begin)
        strbuf_addf(out, "<text x=\"%.1f\" y=\"38\" text-anchor=\"end\">%s</text>", end,
                    offset_text(t->load.window_ms, text));
    strbuf_adds(out, "</svg>\n");
}

static void exits(const struct container_result *c, struct strbuf *out)
{
    char text[32];

    strbuf_adds(out, "<table><thead><tr><th class=\"r\">since the load began</th><th "
                     "class=\"r\">code</th><th>cause</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < c->exit_count && i < EXITS_MAX; i++) {
        strbuf_addf(out, "<tr><td class=\"r\">%s</td><td class=\"r\">%d</td><td>",
                    offset_text(c->exits[i].at_ms, text), c->exits[i].code);
        html_text(out, c->exits[i].cause ? c->exits[i].cause : "unknown");
        strbuf_adds(out, "</td></tr>\n");
    }
    strbuf_adds(out, "</tbody></table>\n");
    if (c->exit_count > EXITS_MAX)
        strbuf_addf(out, "<p>and %zu more</p>\n", c->exit_count - EXITS_MAX);
}

static void container(const struct trial *t, const struct container_result *c, struct strbuf *out)
{
    if (!c->exit_count)
        return;
    strbuf_adds(out, "<p>");
    html_text(out, c->role ? c->role : "app");
    strbuf_addf(out, ": %zu exit%s", c->exit_count, plural(c->exit_count));
    if (isfinite(c->uptime_pct))
        strbuf_addf(out, ", up %.1f %% of the load", c->uptime_pct);
    strbuf_adds(out, "</p>\n");
    timeline(t, c, out);
    exits(c, out);
}

/* --- the rest --- */

/* A step that has nothing to do takes its while, too. */
static bool asked_for(const struct report *r, const struct trial *t, const char *step)
{
    const struct json *load = planned_load(r, t->scenario);

    return !load || !text_equal(step, "warm-up") || json_get(load, "warmup");
}

static void steps(const struct report *r, const struct trial *t, struct strbuf *out)
{
    char text[32];

    if (!t->step_count)
        return;
    strbuf_adds(out, "<p>");
    for (size_t i = 0; i < t->step_count; i++) {
        if (t->steps[i].duration_ms < 1 || !asked_for(r, t, t->steps[i].name))
            continue;
        html_text(out, t->steps[i].name ? t->steps[i].name : "?");
        strbuf_addf(out, " %s · ", ms_text(t->steps[i].duration_ms, text));
    }
    strbuf_addf(out, "in all %s</p>\n", ms_text(t->duration_ms, text));
}

/* Of any trial that has some, whether or not they count. */
static void main_figures(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const double *values = &r->values[(size_t)(t - r->sweep->trials) * r->figures.len];
    const char *between = "<p>";
    char text[32];

    for (size_t f = 0; f < r->figures.len; f++) {
        const struct figure *figure = &r->figures.items[f];
        if (!(figure->tables & TABLE_MAIN) || figure->finding || isnan(values[f]))
            continue;
        figure_format(figure, values[f], text);
        strbuf_adds(out, between);
        html_text(out, figure->name);
        strbuf_addf(out, " %s%s%s", text, figure->measure[0] ? " " : "", figure->measure);
        between = " · ";
    }
    if (between[0] == '<')
        return;
    strbuf_adds(out, t->outcome == OUTCOME_INVALID ? " <strong class=\"warn\">in no median</strong></p>\n"
                                                   : "</p>\n");
}

/* "ramp (closed): ok/s 417 · errors 0% · p50 48.0 ms · ..." */
static void phase_figures(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct trial_parts *p = &r->parts[t - r->sweep->trials];
    const double *values = &r->values[(size_t)(t - r->sweep->trials) * r->figures.len];
    char text[32];

    for (size_t i = 0; i < p->count[PART_PHASE] && p->count[PART_PHASE] > 1; i++) {
        const struct load_part *part = &p->items[PART_PHASE][i];
        size_t first = part_first_figure(r, PART_PHASE, part->name);
        const char *between = ": ";
        for (size_t k = 0; k < PART_FIGURES && first != SIZE_MAX; k++) {
            if (isnan(values[first + k]))
                continue;
            if (between[0] == ':') {
                strbuf_adds(out, "<p>");
                html_text(out, part->name);
                strbuf_addf(out, " (%s", part->warmup ? "warm-up, " : "");
                html_text(out, part->model ? part->model : "model unknown");
                strbuf_addc(out, ')');
            }
            figure_format(&r->figures.items[first + k], values[first + k], text);
            strbuf_addf(out, "%s%s %s%s%s", between, part_figures[k].name, text,
                        part_figures[k].measure[0] ? " " : "", part_figures[k].measure);
            between = " · ";
        }
        strbuf_adds(out, between[0] == ':' ? "" : "</p>\n");
    }
}

static void failures(const struct trial *t, struct strbuf *out)
{
    const struct load_result *l = &t->load;
    const char *between = " (";

    if (!t->has_load || !(l->failed > 0))
        return;
    strbuf_addf(out, "<p>%.0f failed", l->failed);
    for (size_t i = 0; i < l->error_count; i++) {
        if (!(l->errors[i].count > 0))
            continue;
        strbuf_addf(out, "%s%.0f ", between, l->errors[i].count);
        html_text(out, l->errors[i].kind ? l->errors[i].kind : "?");
        between = ", ";
    }
    strbuf_adds(out, between[0] == ',' ? ")</p>\n" : "</p>\n");
}

static void one_check(const struct check_result *c, struct strbuf *out)
{
    strbuf_addf(out, "<li%s>", c->gated && !c->passed ? " class=\"bad\"" : "");
    html_text(out, c->name ? c->name : "check");
    strbuf_adds(out, ": ");
    html_text(out, c->value ? c->value : NOT_MEASURED);
    if (c->gated)
        strbuf_adds(out, c->passed ? ", as expected" : ", not as expected");
    if (c->expect && !text_equal(c->name, c->expect)) {
        strbuf_adds(out, " (");
        html_text(out, c->expect);
        strbuf_addc(out, ')');
    }
    if (c->message) {
        strbuf_adds(out, ": ");
        html_text(out, c->message);
    }
    strbuf_adds(out, "</li>\n");
}

static void one_verdict(const struct validity_result *v, struct strbuf *out)
{
    strbuf_addf(out, "<li%s>", text_equal(v->verdict, "PASS") ? "" : " class=\"warn\"");
    html_text(out, v->verdict ? v->verdict : "?");
    strbuf_addc(out, ' ');
    html_text(out, v->id ? v->id : "?");
    strbuf_adds(out, v->message ? ": " : "");
    html_text(out, v->message ? v->message : "");
    strbuf_adds(out, "</li>\n");
}

static void remarks(const struct trial *t, struct strbuf *out)
{
    if (!t->validity_count && !t->note_count && !t->check_count)
        return;
    strbuf_adds(out, "<ul>\n");
    for (size_t i = 0; i < t->validity_count; i++)
        one_verdict(&t->validity[i], out);
    for (size_t i = 0; i < t->check_count; i++)
        one_check(&t->checks[i], out);
    for (size_t i = 0; i < t->note_count; i++) {
        strbuf_adds(out, "<li>");
        html_text(out, t->notes[i] ? t->notes[i] : "");
        strbuf_adds(out, "</li>\n");
    }
    strbuf_adds(out, "</ul>\n");
}

static void one_trial(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct series *course = r->series ? r->series[t - r->sweep->trials] : NULL;

    strbuf_addf(out, "<div class=\"trial\"><h4>trial %d", t->trial);
    if (t->attempt > 1)
        strbuf_addf(out, ", attempt %d", t->attempt);
    strbuf_addf(out, ": <span class=\"%s\">%s</span>", html_class(outcome_tone(t->outcome)),
                outcome_name(t->outcome));
    strbuf_adds(out, "</h4>\n<p>");
    html_text(out, t->reason ? t->reason : "no reason was recorded");
    if (t->started_at) {
        strbuf_adds(out, " (started ");
        html_text(out, t->started_at);
        strbuf_addc(out, ')');
    }
    strbuf_adds(out, "</p>\n");
    main_figures(r, t, out);
    phase_figures(r, t, out);
    steps(r, t, out);
    failures(t, out);
    if (course)
        html_series(course, out);
    container(t, &t->app, out);
    for (size_t i = 0; i < t->service_count; i++)
        container(t, &t->services[i], out);
    remarks(t, out);
    strbuf_adds(out, "</div>\n");
}

void html_trials(const struct report *r, struct strbuf *out)
{
    size_t written = 0;

    if (!r->sweep->trial_count)
        return;
    strbuf_adds(out, "<section><h2>Trials</h2>\n");
    for (size_t i = 0; i < r->cells.len && written < TRIALS_MAX; i++) {
        const struct cell *c = &r->cells.items[i];
        if (!html_has_details(r, c))
            continue;
        strbuf_addf(out, "<details id=\"s%zu\"><summary>", i);
        html_text(out, c->scenario);
        strbuf_addf(out, ": <span class=\"%s\">%s</span></summary>\n", html_class(cell_tone(c)),
                    outcome_name(c->worst->outcome));
        for (size_t k = 0; k < c->trial_count; k++)
            one_trial(r, c->trials[k], out);
        strbuf_adds(out, "</details>\n");
        written += c->trial_count;
    }
    if (!all_fit(r))
        strbuf_addf(out,
                    "<p>Of %zu trials only those that did not end well are here, and no more than %d.</p>\n",
                    r->sweep->trial_count, TRIALS_MAX);
    strbuf_adds(out, "</section>\n");
}
