/* SPDX-License-Identifier: MIT */
/*
 * A sweep as JUnit XML, which build servers show: a test suite, a test case per scenario with its trials
 * inside. What the application did wrong is a failure, what spoilt a measurement an error. Text of a bundle
 * can be nothing but text: what XML cannot hold comes as '?'.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>

enum verdict { PASSED, SKIPPED, ERRORED, FAILED, VERDICTS };

static const char *const elements[VERDICTS] = {
    [SKIPPED] = "skipped", [ERRORED] = "error", [FAILED] = "failure"};

/* --- what became of it --- */

/* A check or an expectation that did not hold, of a trial whose numbers can be trusted. */
static bool is_broken(const struct trial *t, const struct check_result *c)
{
    return c->gated && !c->passed && t->outcome != OUTCOME_INVALID && t->outcome != OUTCOME_ERROR &&
           t->outcome != OUTCOME_SKIPPED;
}

static const struct check_result *broken_check(const struct trial *t)
{
    for (size_t i = 0; i < t->check_count; i++)
        if (is_broken(t, &t->checks[i]))
            return &t->checks[i];
    return NULL;
}

static enum verdict verdict_of_trial(const struct trial *t)
{
    static const enum verdict verdicts[OUTCOMES] = {
        [OUTCOME_OK] = PASSED,        [OUTCOME_DEGRADED] = FAILED, [OUTCOME_CRASHED] = FAILED,
        [OUTCOME_NOT_READY] = FAILED, [OUTCOME_INVALID] = ERRORED, [OUTCOME_ERROR] = ERRORED,
        [OUTCOME_SKIPPED] = SKIPPED,
    };

    return broken_check(t) ? FAILED : verdicts[t->outcome];
}

/* What the application did in one trial is not made good by another that was spoilt. */
static enum verdict verdict_of_cell(const struct cell *c)
{
    enum verdict worst = c->trial_count ? PASSED : SKIPPED;

    for (size_t i = 0; i < c->trial_count; i++)
        if (verdict_of_trial(c->trials[i]) > worst)
            worst = verdict_of_trial(c->trials[i]);
    return worst;
}

static double seconds_of(const struct cell *c)
{
    double sum = 0;

    for (size_t i = 0; i < c->trial_count; i++)
        if (c->trials[i]->duration_ms > 0)
            sum += c->trials[i]->duration_ms / 1e3;
    return isfinite(sum) ? sum : 0;
}

struct totals {
    size_t cases, of[VERDICTS];
    double seconds;
};

static struct totals totals_of(const struct report *r)
{
    struct totals all = {.cases = r->cells.len};

    for (size_t i = 0; i < r->cells.len; i++) {
        all.of[verdict_of_cell(&r->cells.items[i])]++;
        all.seconds += seconds_of(&r->cells.items[i]);
    }
    return all;
}

/* --- writing --- */

static void add_attribute(struct strbuf *out, const char *name, const char *value)
{
    strbuf_addf(out, " %s=\"", name);
    html_text(out, value);
    strbuf_addc(out, '"');
}

static void add_totals(struct strbuf *out, const struct totals *all)
{
    strbuf_addf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\"",
                all->cases, all->of[FAILED], all->of[ERRORED], all->of[SKIPPED], all->seconds);
}

/* "trial 2: crashed: OOM-killed 5 times", and a line for each check that did not hold. */
static void add_trial(struct strbuf *out, const struct trial *t)
{
    strbuf_addf(out, "trial %d: %s", t->trial, outcome_name(t->outcome));
    if (t->reason && t->reason[0]) {
        strbuf_adds(out, ": ");
        html_text(out, t->reason);
    }
    strbuf_addc(out, '\n');
    for (size_t i = 0; i < t->check_count; i++) {
        const struct check_result *c = &t->checks[i];
        if (!is_broken(t, c))
            continue;
        strbuf_addf(out, "trial %d: check ", t->trial);
        html_text(out, c->name ? c->name : "?");
        strbuf_adds(out, c->value ? ": " : ": not evaluated: ");
        html_text(out, c->value ? c->value : c->message ? c->message : "no value");
        if (c->expect) {
            strbuf_adds(out, ", expected ");
            html_text(out, c->expect);
        }
        strbuf_addc(out, '\n');
    }
}

/* The worst of those trials that made the scenario what it is. */
static const struct trial *told_by(const struct cell *c, enum verdict verdict, size_t *ret_count)
{
    const struct trial *worst = NULL;

    *ret_count = 0;
    for (size_t i = 0; i < c->trial_count; i++) {
        if (verdict_of_trial(c->trials[i]) != verdict)
            continue;
        ++*ret_count;
        if (!worst || trial_worse(c->trials[i], worst))
            worst = c->trials[i];
    }
    return worst;
}

static void add_verdict(struct strbuf *out, const struct cell *c, enum verdict verdict)
{
    size_t count;
    const struct trial *t = told_by(c, verdict, &count);

    strbuf_addf(out, "    <%s", elements[verdict]);
    if (!t) {
        add_attribute(out, "message", NOT_RUN);
        strbuf_adds(out, "/>\n");
        return;
    }
    const char *what = t->outcome == OUTCOME_OK ? "expect" : outcome_name(t->outcome);
    const struct check_result *check = t->outcome == OUTCOME_OK ? broken_check(t) : NULL;
    const char *why = check ? check->name : t->reason;
    CLEANUP_FREE char *message = xasprintf("%s in %zu of %zu trials%s%s", what, count, c->trial_count,
                                           why && why[0] ? ": " : "", why ? why : "");
    add_attribute(out, "message", message);
    if (verdict != SKIPPED)
        add_attribute(out, "type", what);
    strbuf_addc(out, '>');
    for (size_t i = 0; i < c->trial_count; i++)
        if (verdict_of_trial(c->trials[i]) != PASSED)
            add_trial(out, c->trials[i]);
    strbuf_addf(out, "</%s>\n", elements[verdict]);
}

/* How each trial went, and what of it is to be doubted. */
static void add_trials(struct strbuf *out, const struct cell *c)
{
    if (!c->trial_count)
        return;
    strbuf_adds(out, "    <system-out>");
    for (size_t i = 0; i < c->trial_count; i++) {
        const struct trial *t = c->trials[i];
        strbuf_addf(out, "trial %d: %s", t->trial, outcome_name(t->outcome));
        if (isfinite(t->duration_ms))
            strbuf_addf(out, " after %.3f s", t->duration_ms / 1e3);
        if (isfinite(t->load.goodput_rps))
            strbuf_addf(out, ", %.6g ok/s", t->load.goodput_rps);
        if (isfinite(t->load.latency_ms.p99))
            strbuf_addf(out, ", p99 %.6g ms", t->load.latency_ms.p99);
        strbuf_addc(out, '\n');
        for (size_t k = 0; k < t->validity_count; k++) {
            const struct validity_result *v = &t->validity[k];
            if (!v->verdict || strcmp(v->verdict, "PASS") == 0)
                continue;
            strbuf_addf(out, "trial %d: ", t->trial);
            html_text(out, v->verdict);
            strbuf_addc(out, ' ');
            html_text(out, v->id ? v->id : "?");
            strbuf_adds(out, ": ");
            html_text(out, v->message ? v->message : "");
            strbuf_addc(out, '\n');
        }
    }
    strbuf_adds(out, "</system-out>\n");
}

static void add_case(struct strbuf *out, const struct cell *c, const char *class)
{
    enum verdict verdict = verdict_of_cell(c);

    strbuf_adds(out, "  <testcase");
    add_attribute(out, "name", c->scenario);
    add_attribute(out, "classname", class);
    strbuf_addf(out, " time=\"%.3f\">\n", seconds_of(c));
    if (verdict != PASSED)
        add_verdict(out, c, verdict);
    add_trials(out, c);
    strbuf_adds(out, "  </testcase>\n");
}

static void add_property(struct strbuf *out, const char *name, const char *value)
{
    if (!value)
        return;
    strbuf_adds(out, "    <property");
    add_attribute(out, "name", name);
    add_attribute(out, "value", value);
    strbuf_adds(out, "/>\n");
}

static void add_sweep(struct strbuf *out, const struct report *r)
{
    const struct json *info = r->sweep->info;

    strbuf_adds(out, "  <properties>\n");
    add_property(out, "title", r->title);
    add_property(out, "benchctl", json_get_text(info, "benchctl"));
    add_property(out, "cpu", json_get_text(json_get(info, "host"), "cpu"));
    add_property(out, "kernel", json_get_text(json_get(info, "host"), "kernel"));
    add_property(out, "complete", r->sweep->complete ? "true" : "false");
    strbuf_adds(out, "  </properties>\n");
}

static void add_remarks_of_sweep(struct strbuf *out, const struct report *r)
{
    strbuf_adds(out, "  <system-out>");
    for (size_t i = 0; i < r->verdict.len; i++) {
        const struct validity_result *v = &r->verdict.results[i];
        if (strcmp(v->verdict, "PASS") == 0)
            continue;
        strbuf_addf(out, "%s %s: ", v->verdict, v->id);
        html_text(out, v->message ? v->message : "");
        strbuf_addc(out, '\n');
    }
    strbuf_adds(out, "</system-out>\n");
}

/* "2026-01-31T08:00:00", as the schema of most readers wants it; NULL unless it looks like a time. */
static char *timestamp_of(const struct report *r)
{
    const char *text = json_get_text(r->sweep->info, "started_at");

    return text && strlen(text) >= 19 && text[10] == 'T' ? xstrndup(text, 19) : NULL;
}

void render_junit(const struct report *r, struct strbuf *out)
{
    const char *name = json_get_text(r->sweep->info, "name"),
               *host = json_get_text(json_get(r->sweep->info, "host"), "name");
    CLEANUP_FREE char *started = timestamp_of(r);
    struct totals all = totals_of(r);

    name = name ? name : r->title;
    strbuf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    add_attribute(out, "name", "benchctl");
    add_totals(out, &all);
    strbuf_adds(out, ">\n<testsuite");
    add_attribute(out, "name", name);
    add_totals(out, &all);
    if (started)
        add_attribute(out, "timestamp", started);
    if (host)
        add_attribute(out, "hostname", host);
    strbuf_adds(out, ">\n");
    add_sweep(out, r);
    for (size_t i = 0; i < r->cells.len; i++)
        add_case(out, &r->cells.items[i], name);
    add_remarks_of_sweep(out, r);
    strbuf_adds(out, "</testsuite>\n</testsuites>\n");
}
