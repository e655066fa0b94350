/* SPDX-License-Identifier: MIT */
/*
 * The outcome of a trial and the one sentence that says why. Pure: decides from the record and from what went
 * wrong. A crash is a finding, not a failure of benchctl: it comes before whatever the generator made of it.
 */
#include "run_internal.h"

#include <stdarg.h>
#include <stdio.h>

static void conclude(struct trial_run *t, enum outcome o, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void conclude(struct trial_run *t, enum outcome o, const char *fmt, ...)
{
    char text[6000];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    t->record.outcome = o;
    t->record.reason = arena_strdup(t->arena, text);
}

static const char *limit_text(const struct container_result *c, char *buf)
{
    if (isfinite(c->memory_bytes.limit) && c->memory_bytes.limit > 0)
        return size_human(c->memory_bytes.limit, buf);
    return "no limit";
}

/* "OOM-killed 14 times and restarted 13 times in 210 s at 256 MiB", "exited 1 (exit 3)", or "" when nothing
 * happened. */
static const char *deaths(const struct trial_run *t, char *buf, size_t size)
{
    const struct container_result *a = &t->record.app;
    char limit[32];
    double window_s = t->load_begin_ns && t->load_end_ns > t->load_begin_ns
                          ? (double)(t->load_end_ns - t->load_begin_ns) / 1e9
                          : t->record.duration_ms / 1e3;
    int n = 0;

    buf[0] = '\0';
    if (a->oom_kills > 0)
        n = snprintf(buf, size, "OOM-killed %.0f time%s", a->oom_kills, a->oom_kills == 1 ? "" : "s");
    else if (a->exit_count)
        n = snprintf(buf, size, "ended %zu time%s (last: %s)", a->exit_count, a->exit_count == 1 ? "" : "s",
                     a->exits[a->exit_count - 1].cause);
    if (a->restarts > 0 && n >= 0 && (size_t)n < size)
        n += snprintf(buf + n, size - (size_t)n, "%srestarted %.0f time%s", n ? ", " : "", a->restarts,
                      a->restarts == 1 ? "" : "s");
    if (n > 0 && (size_t)n < size)
        (void)snprintf(buf + n, size - (size_t)n, " in %.0f s at %s", window_s, limit_text(a, limit));
    return buf;
}

static bool app_died_for_good(const struct trial_run *t)
{
    return t->app && (t->never_up || t->app->ledger.terminal) && ledger_deaths(&t->app->ledger) > 0;
}

/* Ended, and nobody has seen how: not even inspect, so that it must have been removed. */
static bool app_vanished(const struct trial_run *t)
{
    return t->app && t->app->ledger.terminal && ledger_deaths(&t->app->ledger) == 0;
}

static void conclude_dead(struct trial_run *t)
{
    char story[512];
    const char *when = isnan(t->record.ready_ms) ? "before it was ready: " : "";

    (void)deaths(t, story, sizeof(story));
    if (!story[0])
        (void)snprintf(story, sizeof(story), "it ended with exit code %d", t->app->ledger.last_code);
    bool stopped = t->load_failed && t->app_ended; /* the generator, by us: that is no news */
    if (t->error.message[0] && !stopped)
        conclude(t, OUTCOME_CRASHED, "%s%s; %s", when, story, t->error.message);
    else
        conclude(t, OUTCOME_CRASHED, "%s%s", when, story);
}

/* Every gate that does not hold, in one sentence; NULL when all hold. One that could not be evaluated says
 * why. */
static const char *failed_gates(const struct trial_run *t)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < t->record.check_count; i++) {
        const struct check_result *c = &t->record.checks[i];
        if (!c->gated || c->passed)
            continue;
        strbuf_addf(&text, "%s'%s%s%s', but %s%s", text.len ? "; " : "expected ", c->name,
                    c->expect != c->name ? " " : "", c->expect != c->name ? c->expect : "",
                    c->message ? c->message : "it is ",
                    c->message ? ""
                    : c->value ? c->value
                               : "null");
    }
    return text.len ? arena_strdup(t->arena, text.data) : NULL;
}

static const struct validity_result *failed_validity(const struct trial_run *t)
{
    for (size_t i = 0; i < t->record.validity_count; i++)
        if (strcmp(t->record.validity[i].verdict, "FAIL") == 0)
            return &t->record.validity[i];
    return NULL;
}

/*
 * When the generator did not do what it was asked for: what else speaks of a machine that had no time for it.
 * As a continuation of its sentence, "" when nothing does.
 */
static const char *neighbouring_causes(const struct trial_run *t, const struct validity_result *failed)
{
    static const char *const of_the_generator[] = {"generator-kept-up", "load-delivered", "load-complete"};
    static const char *const causes[] = {"host-quiet", "host-saturated", "generator-busy", "local-ports"};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    bool concerned = false;

    for (size_t i = 0; i < ARRAY_LEN(of_the_generator); i++)
        concerned = concerned || text_equal(failed->id, of_the_generator[i]);
    for (size_t i = 0; concerned && i < t->record.validity_count; i++)
        for (size_t k = 0; k < ARRAY_LEN(causes); k++)
            if (text_equal(t->record.validity[i].id, causes[k]) &&
                strcmp(t->record.validity[i].verdict, "WARN") == 0)
                strbuf_addf(&text, "; %s", t->record.validity[i].message);
    return text.len ? arena_strdup(t->arena, text.data) : "";
}

static int by_count(const void *a, const void *b)
{
    double x = ((const struct error_count *)a)->count, y = ((const struct error_count *)b)->count;

    return (x < y) - (x > y);
}

/* "connect 200, timeout 14", the most frequent first; "" when no kinds are known. */
static const char *kinds_of_errors(const struct trial_run *t)
{
    const struct load_result *l = &t->record.load;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error_count *sorted = arena_array(t->arena, struct error_count, l->error_count + 1);

    for (size_t i = 0; i < l->error_count; i++)
        sorted[i] = l->errors[i];
    if (l->error_count)
        qsort(sorted, l->error_count, sizeof(*sorted), by_count);
    for (size_t i = 0; i < l->error_count && sorted[i].count > 0; i++)
        strbuf_addf(&text, "%s%s %.0f", text.len ? ", " : "", sorted[i].kind, sorted[i].count);
    return text.len ? arena_strdup(t->arena, text.data) : "";
}

/* The load was measured: what do its numbers say? */
static void conclude_measured(struct trial_run *t)
{
    const struct load_result *l = &t->record.load;
    const struct container_result *a = &t->record.app;
    const struct validity_result *v = failed_validity(t);
    const char *gates = failed_gates(t);
    double limit = isnan(t->settings->load.max_error_rate) ? 0.01 : t->settings->load.max_error_rate;
    bool unstable = a->restarts > 0 || a->oom_kills > 0, failing = l->error_rate > limit;
    const char *kinds = kinds_of_errors(t);
    char story[512], rate[512] = "";

    (void)deaths(t, story, sizeof(story));
    if (l->failed > 0)
        (void)snprintf(rate, sizeof(rate), "%s%.3g %% of requests failed%s%s%s", story[0] ? "; " : "",
                       100 * l->error_rate, kinds[0] ? " (" : "", kinds, kinds[0] ? ")" : "");
    if (l->requests > 0 && l->ok <= 0)
        conclude(t, unstable ? OUTCOME_CRASHED : OUTCOME_DEGRADED,
                 "%s%s: no request is known to have succeeded", story, rate);
    else if (unstable)
        conclude(t, OUTCOME_DEGRADED, "%s%s", story, rate);
    else if (v)
        conclude(t, OUTCOME_INVALID, "%s%s", v->message, neighbouring_causes(t, v));
    else if (failing)
        conclude(t, OUTCOME_DEGRADED, "%.3g %% of requests failed (%.0f of %.0f%s%s), more than %.3g %%",
                 100 * l->error_rate, l->failed, l->ok + l->failed, kinds[0] ? ": " : "", kinds, 100 * limit);
    else if (gates)
        conclude(t, OUTCOME_DEGRADED, "%s", gates);
    else if (isnan(l->requests))
        conclude(t, OUTCOME_OK, "no requests are part of this load");
    else
        conclude(t, OUTCOME_OK, "%.0f requests, %s", l->requests, l->failed > 0 ? rate : "none failed");
}

void trial_decide(struct trial_run *t)
{
    char story[512];

    if (t->interference) { /* whatever the figures say, they are not of this application alone */
        conclude(t, OUTCOME_INVALID, "%s", t->interference);
    } else if (t->service_death && t->load_begin_ns) {
        conclude(t, OUTCOME_ERROR, "%s", t->service_death);
    } else if (app_died_for_good(t)) {
        conclude_dead(t);
    } else if (app_vanished(t)) {
        conclude(t, OUTCOME_ERROR, "the container has gone: somebody removed it");
    } else if (t->not_ready) {
        conclude(t, OUTCOME_NOT_READY, "%s", t->error.message);
    } else if (t->load_failed && (t->record.app.restarts > 0 || t->record.app.oom_kills > 0)) {
        (void)deaths(t, story, sizeof(story));
        conclude(t, OUTCOME_CRASHED, "%s; %s", story, t->error.message);
    } else if (t->load_failed) {
        conclude(t, OUTCOME_INVALID, "%s", t->error.message);
    } else if (t->failed) {
        conclude(t, OUTCOME_ERROR, "%s: %s%s%s", t->failed_step, t->error.message,
                 t->error.hint[0] ? "; " : "", t->error.hint);
    } else if (t->record.has_load) {
        conclude_measured(t);
    } else {
        conclude(t, OUTCOME_ERROR, "no load was measured");
    }
}
