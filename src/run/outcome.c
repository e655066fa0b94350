/* SPDX-License-Identifier: MIT */
/*
 * The outcome of a trial and the one sentence that says why. Pure: decides from the record and from what went
 * wrong. A crash is a finding, not a failure of benchctl: it comes before whatever the generator made of it.
 */
#include "run_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include "benchctl/base/secrets.h"

static void conclude(struct trial_run *t, enum outcome o, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void conclude(struct trial_run *t, enum outcome o, const char *fmt, ...)
{
    char text[6000];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    secrets_mask_text(text);
    t->record.outcome = o;
    t->record.reason = arena_strdup(t->arena, text);
}

static const char *limit_text(const struct container_result *c, char *buf)
{
    if (isfinite(c->memory_bytes.limit) && c->memory_bytes.limit > 0)
        return size_human(c->memory_bytes.limit, buf);
    return "no limit";
}

/* The load, or where there was none the application's own time: setup is not part of it. */
static double window_s(const struct trial_run *t)
{
    const struct container_result *a = &t->record.app;

    if (t->load_begin_ns && t->load_end_ns > t->load_begin_ns)
        return (double)(t->load_end_ns - t->load_begin_ns) / 1e9;
    if (a->life_count && a->exit_count && a->exits[a->exit_count - 1].at_ms >= a->lives[0].start_ms)
        return (a->exits[a->exit_count - 1].at_ms - a->lives[0].start_ms) / 1e3;
    return t->record.duration_ms / 1e3;
}

static const char *seconds_text(double s, char *buf, size_t size)
{
    (void)snprintf(buf, size, s < 1 ? "%.2f s" : "%.0f s", s);
    return buf;
}

static const char *times(double n)
{
    return n == 1 ? "time" : "times";
}

static void comma(struct strbuf *out)
{
    if (out->len)
        strbuf_adds(out, ", ");
}

/* How it ended: kills for want of memory by whom they hit, and the other ends with the last one's cause. */
static void tell_ends(struct strbuf *out, const struct container_result *a)
{
    const struct container_exit *last = NULL;
    double of_main = 0, others = 0;

    for (size_t i = 0; i < a->exit_count; i++) {
        of_main += a->exits[i].oom;
        others += !a->exits[i].oom;
        if (!a->exits[i].oom)
            last = &a->exits[i];
    }
    double of_children = a->oom_kills > of_main ? a->oom_kills - of_main : 0;
    if (of_main > 0)
        strbuf_addf(out, "OOM-killed %.0f %s", of_main, times(of_main));
    if (of_children > 0)
        strbuf_addf(out, "%sa child OOM-killed %.0f %s", of_main > 0 ? ", " : "", of_children,
                    times(of_children));
    if (last) {
        comma(out);
        strbuf_addf(out, "ended %.0f %s (last: %s)", others, times(others), last->cause);
    }
}

/* "OOM-killed 14 times, restarted 13 times in 210 s at 256 MiB, up 55 % of the time", "ended 1 time (last:
 * exit 3) in 3 s at no limit", or "" when nothing happened. */
static const char *deaths(const struct trial_run *t, char *buf, size_t size)
{
    const struct container_result *a = &t->record.app;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    char limit[32], window[32];

    tell_ends(&text, a);
    if (a->restarts > 0) {
        comma(&text);
        strbuf_addf(&text, "restarted %.0f %s", a->restarts, times(a->restarts));
    }
    if (text.len)
        strbuf_addf(&text, " in %s at %s", seconds_text(window_s(t), window, sizeof(window)),
                    limit_text(a, limit));
    if (text.len && a->exit_count && a->uptime_pct < 99.5)
        strbuf_addf(&text, ", up %.0f %% of the load", a->uptime_pct);
    (void)snprintf(buf, size, "%s", strbuf_text(&text));
    return buf;
}

/* --- alive, and answering nothing --- */

/* The heap of a JVM that is full explains its silence: "java heap exhausted; ". */
static const char *cause_of_silence(const struct trial_run *t)
{
    vec_each (f, &t->findings)
        if (strcmp(f->id, "java-heap") == 0 && text_equal(f->role, "app"))
            return "java heap exhausted; ";
    return "";
}

/*
 * Silent at the end, or for a larger part of the window than requests may fail: then it did not serve,
 * whatever the generator made of it. "" when it answered.
 */
static const char *silence(const struct trial_run *t, double tolerated, char *buf, size_t size)
{
    const struct container_result *a = &t->record.app;
    const struct container_silence *first = a->silences,
                                   *last = a->silence_count ? &a->silences[a->silence_count - 1] : NULL;

    buf[0] = '\0';
    if (!last || (!isnan(last->to_ms) && !(a->unresponsive_ms > tolerated * window_s(t) * 1e3)))
        return buf;
    (void)snprintf(buf, size,
                   "%sunresponsive from %.1f s of the load on (alive; nothing answered for %.1f s%s)",
                   cause_of_silence(t), first->from_ms / 1e3, a->unresponsive_ms / 1e3,
                   a->silence_count > 1 ? ", in several pieces" : "");
    return buf;
}

/* Alive, and not one request succeeded: as with silence, at the end or for a larger part than may fail. */
static bool add_unserved(const struct trial_run *t, double tolerated, char *story, size_t size)
{
    size_t used = strlen(story);

    if (!t->unserved || (!t->unserved_to_end && !(t->unserved_ms > tolerated * window_s(t) * 1e3)))
        return false;
    (void)snprintf(story + used, size - used, "%s%s, though the application was alive", used ? "; " : "",
                   t->unserved);
    return true;
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
    char story[1024];
    const char *when = isnan(t->record.ready_ms) ? "before it was ready: " : "";

    (void)deaths(t, story, sizeof(story));
    if (!story[0])
        (void)snprintf(story, sizeof(story), "it ended with exit code %d", t->app->ledger.last_code);
    bool stopped = t->load_failed && t->app_ended; /* the generator, by us: that is no news */
    if (t->error.message[0] && !stopped)
        conclude(t, OUTCOME_CRASHED, "%s%s; %s%s", when, story, t->error.message, causes_in_logs(t));
    else
        conclude(t, OUTCOME_CRASHED, "%s%s%s", when, story, causes_in_logs(t));
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
    for (size_t i = 0; i < l->error_count && sorted[i].count > 0; i++) {
        comma(&text);
        if (!text_equal(sorted[i].kind, "status")) /* "status 936" would be one */
            strbuf_addf(&text, "%s %.0f", sorted[i].kind, sorted[i].count);
        else if (t->wrong_statuses)
            strbuf_adds(&text, t->wrong_statuses);
        else
            strbuf_addf(&text, "%.0f with another status than expected", sorted[i].count);
    }
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
    char story[1024], silent[256], rate[512] = "";

    (void)deaths(t, story, sizeof(story));
    if (silence(t, limit, silent, sizeof(silent))[0]) {
        bool told = story[0];
        (void)snprintf(story + strlen(story), sizeof(story) - strlen(story), "%s%s", told ? "; " : "",
                       silent);
        unstable = true;
    }
    unstable |= add_exhaustion(t, story, sizeof(story));
    const char *causes = causes_in_logs(t);
    bool hung = l->ok > 0 && add_unserved(t, limit, story, sizeof(story));
    if (l->failed > 0)
        (void)snprintf(rate, sizeof(rate), "%s%.3g %% of requests failed%s%s%s", story[0] ? "; " : "",
                       100 * l->error_rate, kinds[0] ? " (" : "", kinds, kinds[0] ? ")" : "");
    if (l->requests > 0 && l->ok <= 0)
        conclude(t, unstable ? OUTCOME_CRASHED : OUTCOME_DEGRADED,
                 "%s%s: no request is known to have succeeded%s", story, rate, causes);
    else if (unstable || hung)
        conclude(t, OUTCOME_DEGRADED, "%s%s%s", story, rate, causes);
    else if (v)
        conclude(t, OUTCOME_INVALID, "%s%s", v->message, neighbouring_causes(t, v));
    else if (failing)
        conclude(t, OUTCOME_DEGRADED, "%.3g %% of requests failed (%.0f of %.0f%s%s), more than %.3g %%%s",
                 100 * l->error_rate, l->failed, l->ok + l->failed, kinds[0] ? ": " : "", kinds, 100 * limit,
                 causes);
    else if (gates)
        conclude(t, OUTCOME_DEGRADED, "%s", gates);
    else if (isnan(l->requests))
        conclude(t, OUTCOME_OK, "no requests are part of this load");
    else
        conclude(t, OUTCOME_OK, "%.0f requests, %s", l->requests, l->failed > 0 ? rate : "none failed");
}

/* There was a load and the generator gave no figures: is the application the reason? */
static void conclude_without_figures(struct trial_run *t)
{
    char story[1024], silent[256];

    (void)deaths(t, story, sizeof(story));
    (void)silence(t, 0, silent, sizeof(silent));
    if (t->record.app.restarts > 0 || t->record.app.oom_kills > 0)
        conclude(t, OUTCOME_CRASHED, "%s; %s", story, t->error.message);
    else if (silent[0])
        conclude(t, OUTCOME_CRASHED, "%s; %s", silent, t->error.message);
    else
        conclude(t, OUTCOME_INVALID, "%s", t->error.message);
}

/* How the other containers ended, as a continuation of a sentence: "; 'mock' OOM-killed 1 time". "" when none
 * did. */
static const char *ends_of_services(const struct trial_run *t)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    for (size_t i = 0; i < t->record.service_count; i++) {
        const struct container_result *c = &t->record.services[i];
        CLEANUP_VALUE(strbuf_release) struct strbuf ends = STRBUF_INIT;
        tell_ends(&ends, c);
        if (ends.len && strcmp(c->role, "generator") != 0)
            strbuf_addf(&text, "; '%s' %s", c->role, ends.data);
    }
    return text.len ? arena_strdup(t->arena, text.data) : "";
}

/* Whatever the figures say, they are not of this application alone; how it ended is still told. */
static void conclude_touched(struct trial_run *t)
{
    char story[1024];

    (void)deaths(t, story, sizeof(story));
    conclude(t, OUTCOME_INVALID, "%s%s%s", t->interference, story[0] ? "; " : "", story);
}

void trial_decide(struct trial_run *t)
{
    if (t->skipped) {
        conclude(t, OUTCOME_SKIPPED, "%s, in step '%s'", t->error.message, t->failed_step);
    } else if (t->engine_lost) {
        conclude(t, OUTCOME_ERROR, "%s", t->engine_lost);
    } else if (t->environment) {
        conclude(t, OUTCOME_ERROR, "%s", t->environment);
    } else if (t->never_started) {
        conclude(t, OUTCOME_CRASHED, "%s", t->never_started);
    } else if (t->host_oom) {
        conclude(t, OUTCOME_INVALID, "%s", t->host_oom);
    } else if (t->interference) {
        conclude_touched(t);
    } else if (t->service_death && t->load_begin_ns) {
        conclude(t, OUTCOME_ERROR, "%s%s", t->service_death, ends_of_services(t));
    } else if (app_died_for_good(t)) {
        conclude_dead(t);
    } else if (app_vanished(t)) {
        conclude(t, OUTCOME_ERROR, "the container has gone: somebody removed it");
    } else if (t->not_ready) {
        conclude(t, OUTCOME_NOT_READY, "%s%s", t->error.message, causes_in_logs(t));
    } else if (t->load_failed) {
        conclude_without_figures(t);
    } else if (t->failed) {
        conclude(t, OUTCOME_ERROR, "%s: %s%s%s%s", t->failed_step, t->error.message,
                 t->error.hint[0] ? "; " : "", t->error.hint, ends_of_services(t));
    } else if (t->record.has_load) {
        conclude_measured(t);
    } else {
        conclude(t, OUTCOME_ERROR, "no load was measured");
    }
}
