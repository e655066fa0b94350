/* SPDX-License-Identifier: MIT */
/* Each trial's record, folded away: what it did and when, how its containers ended, what limits its worth. */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"
#include "events.h"
#include "part_figures.h"
#include "series.h"
#include "timeline.h"

#define FINDINGS_MAX 100 /* of one trial */

static bool all_fit(const struct report *r)
{
    return r->sweep->trial_count <= PAGE_TRIALS_MAX;
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

static void findings(const struct trial *t, struct strbuf *out)
{
    char at[32];

    strbuf_adds(out, t->finding_count ? "<ul>\n" : "");
    for (size_t i = 0; i < t->finding_count && i < FINDINGS_MAX; i++) {
        const struct finding *f = &t->findings[i];
        bool around = finding_of_surroundings(f);
        strbuf_addf(out, "<li%s>", around ? "" : " class=\"warn\"");
        html_text(out, f->id ? f->id : "?");
        strbuf_adds(out, " (");
        html_text(out, f->role ? f->role : "app");
        strbuf_adds(out, around ? "; not the application's doing)" : ")");
        if (f->count > 1)
            strbuf_addf(out, ", %.15g times", f->count);
        if (isfinite(f->at_ms))
            strbuf_addf(out, ", first at %s", seconds_text(f->at_ms, at));
        strbuf_adds(out, ": ");
        html_text(out, f->message ? f->message : "no message");
        strbuf_adds(out, "</li>\n");
    }
    if (t->finding_count > FINDINGS_MAX)
        strbuf_addf(out, "<li>and %zu more</li>\n", t->finding_count - FINDINGS_MAX);
    strbuf_adds(out, t->finding_count ? "</ul>\n" : "");
}

static void one_verdict(const struct validity_result *v, struct strbuf *out)
{
    strbuf_addf(out, "<li%s>", text_equal(v->verdict, "PASS") ? "" : " class=\"warn\"");
    html_text(out, v->verdict ? v->verdict : "?");
    strbuf_addc(out, ' ');
    html_text(out, v->check ? v->check : "");
    strbuf_adds(out, v->check ? " " : "");
    html_text(out, v->id ? v->id : "?");
    strbuf_adds(out, v->message ? ": " : "");
    html_text(out, v->message ? v->message : "");
    strbuf_adds(out, "</li>\n");
}

/* Those that passed, folded, or the others; how many there are. */
static size_t verdicts(const struct trial *t, bool passed, struct strbuf *out)
{
    size_t n = 0;

    for (size_t i = 0; i < t->validity_count; i++) {
        if (text_equal(t->validity[i].verdict, "PASS") != passed)
            continue;
        n++;
        if (out)
            one_verdict(&t->validity[i], out);
    }
    return n;
}

static void remarks(const struct report *r, const struct trial *t, struct strbuf *out)
{
    const struct validity_result *mark = canary_mark(r, t);
    size_t passed = verdicts(t, true, NULL);

    if (t->validity_count > passed || mark || t->note_count || t->check_count) {
        strbuf_adds(out, "<ul>\n");
        (void)verdicts(t, false, out);
        if (mark)
            one_verdict(mark, out);
        for (size_t i = 0; i < t->check_count; i++)
            one_check(&t->checks[i], out);
        for (size_t i = 0; i < t->note_count; i++) {
            strbuf_adds(out, "<li>");
            html_text(out, t->notes[i] ? t->notes[i] : "");
            strbuf_adds(out, "</li>\n");
        }
        strbuf_adds(out, "</ul>\n");
    }
    if (!passed)
        return;
    strbuf_addf(out, "<details><summary>%zu rule%s of validity passed</summary><ul>\n", passed,
                plural(passed));
    (void)verdicts(t, true, out);
    strbuf_adds(out, "</ul></details>\n");
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
    html_containers(r, t, out);
    html_events(r, t, out);
    findings(t, out);
    remarks(r, t, out);
    strbuf_adds(out, "</div>\n");
}

void html_trials(const struct report *r, struct strbuf *out)
{
    size_t written = 0;

    if (!r->sweep->trial_count)
        return;
    strbuf_adds(out, "<section><h2>Trials</h2>\n");
    for (size_t i = 0; i < r->cells.len && written < PAGE_TRIALS_MAX; i++) {
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
                    r->sweep->trial_count, PAGE_TRIALS_MAX);
    strbuf_adds(out, "</section>\n");
}
