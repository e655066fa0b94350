/* SPDX-License-Identifier: MIT */
/* What is it that was measured: the application, or something before or behind it? */
#include "trial_rules.h"
#include "thresholds.h"

#include <stdio.h>
#include "benchctl/base/strbuf.h"

/* On a machine that others fill a request waits its turn for each bit of its own work. */
#define FULL_STRETCH 10
#define CLIENT_MS 1.0  /* below it the time of whoever asks is a part that counts */
#define THREAD_MIN 0.8 /* cores: one thread that never rests looks like this, on any number of processors */
#define FULL_MIN 0.95  /* of all processors, whoever used them */
#define STRESSED_MIN 0.25  /* of what processors it had: below it there is room for four times as much */
#define FAILED_MAX 0.001   /* less does not move p99 */
#define FALLBACKS_MAX 0.01 /* as many failures would make the trial degraded */

static bool machine_was_full(const struct validity_facts *f)
{
    return f->local && f->trial->host.cpu_busy > FULL_MIN * f->host_cores;
}

/* --- V3 --- */

void rule_latency_floor(const struct validity_facts *f, struct judgement *j)
{
    const struct floor_result *one = &f->trial->floor;
    double p50 = f->trial->load.latency_ms.p50, alone = one->p50_ms;
    double own = is_amount(one->cpu_ms_per_request) ? fmin(one->cpu_ms_per_request, alone) : 0;
    double waits = (alone - (machine_was_full(f) ? FULL_STRETCH : 1) * own) / p50;
    char sum[160];

    if (!f->trial->has_floor || !(p50 > 0) || !isfinite(p50) || !(alone > 0) || !isfinite(alone))
        return;
    (void)snprintf(sum, sizeof(sum), "one request at a time takes %.*f ms, p50 under load is %.*f ms",
                   ms_decimals(alone), alone, ms_decimals(p50), p50);
    if (own > 0)
        (void)snprintf(
            sum, sizeof(sum),
            "one request at a time takes %.*f ms (%.*f ms of them CPU time of the application), p50 under "
            "load is %.*f ms",
            ms_decimals(alone), alone, ms_decimals(own), own, ms_decimals(p50), p50);
    if (alone < CLIENT_MS || waits < FLOOR_SHARE)
        say(j, PASS, "%s", sum);
    else
        say(j, WARN, "%s: %.0f %% of the latency was there before any load, and is that of what it waits for",
            sum, 100 * fmin(waits, 1));
}

/* --- V4 --- */

static const struct container_result *container_of(const struct validity_facts *f, const char *role)
{
    for (size_t i = 0; i < f->container_count; i++)
        if (text_equal(f->containers[i].result->role, role))
            return f->containers[i].result;
    return NULL;
}

/* Adds "app 0.02 of 2 cores" to the text; the share of what it had, NAN when that is not known. A thread that
 * never rests is all that some can use: 1. */
static double add_use(struct strbuf *text, const char *who, double used, double had)
{
    double share = used >= THREAD_MIN ? 1 : used / had;

    if (!is_amount(used) || !(had > 0) || !isfinite(had))
        return NAN;
    strbuf_addf(text, "%s%s %.2f of %.3g cores", text->len ? ", " : "", who, used, had);
    return share;
}

static bool was_throttled(const struct container_result *c)
{
    return c && c->cpu_throttled_ms > 0;
}

void rule_nothing_stressed(const struct validity_facts *f, struct judgement *j)
{
    const struct trial *t = f->trial;
    const struct load_result *l = &t->load;
    const struct container_result *database = container_of(f, "database");
    CLEANUP_VALUE(strbuf_release) struct strbuf used = STRBUF_INIT;
    double app = add_use(&used, "application", t->app.cpu_cores.avg, f->app_cores);
    double db = database ? add_use(&used, "database", database->cpu_cores.avg, f->database_cores) : NAN;
    double generator = add_use(&used, "generator", l->cpu_ms / l->window_ms, f->generator_cores);

    if (!(l->requests > 0) || isnan(app))
        return; /* nobody asked it for anything, or nobody knows what it used */
    if (app >= STRESSED_MIN || db >= STRESSED_MIN || generator >= STRESSED_MIN)
        say(j, PASS, "%s", strbuf_text(&used));
    else if (was_throttled(&t->app) || was_throttled(database))
        say(j, PASS, "%s, and the CPU quota held it back", strbuf_text(&used));
    else if (machine_was_full(f))
        say(j, PASS, "%s, and the machine was full", strbuf_text(&used));
    else if (f->pool_pending > 0)
        say(j, PASS, "%s, and requests waited for a database connection", strbuf_text(&used));
    else
        say(j, WARN, "nothing was stressed: %s%s", strbuf_text(&used),
            isnan(f->pool_pending) ? "" : ", nobody waited for a database connection");
}

/* --- V11 --- */

void rule_steady_state(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double from_s = l->steady_from_ms / 1e3;

    if (!l->steady)
        return;
    if (strcmp(l->steady, "flat") == 0)
        say(j, PASS, "the throughput was steady over the whole window");
    else if (strcmp(l->steady, "no steady state") == 0)
        say(j, WARN, "the throughput came to no steady state of at least half of the window and 30 s");
    else if (is_amount(from_s))
        say(j, WARN, "%s: the throughput was steady only from %.0f s on, the figures hold what was before",
            l->steady, from_s);
    else
        say(j, WARN, "%s: the throughput was not steady over the whole window", l->steady);
}

/* --- V14 --- */

static double errors_of(const struct load_result *l, const char *kind)
{
    for (size_t i = 0; i < l->error_count; i++)
        if (text_equal(l->errors[i].kind, kind))
            return l->errors[i].count;
    return NAN;
}

/* A time-out has no latency: it waited for longer than any number that is shown. */
void rule_failures_in_latency(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double tried = l->ok + l->failed, timeouts = errors_of(l, "timeout");

    if (!is_amount(l->failed) || !(tried > 0) || !isfinite(tried) || isnan(l->latency_ms.p50))
        return;
    if (l->failed <= FAILED_MAX * tried)
        say(j, PASS, "%.0f of %.0f requests failed", l->failed, tried);
    else if (timeouts > 0)
        say(j, WARN,
            "%.3g %% of requests failed, %.0f by a time-out: these waited longer than any percentile says, "
            "and "
            "of all requests those above p%.4g are not known",
            100 * (l->failed / tried), timeouts, floor(1e4 * (1 - timeouts / tried)) / 100);
    else
        say(j, WARN,
            "%.3g %% of requests failed: the latency is not that of the same work as without failures",
            100 * (l->failed / tried));
}

/* --- V23 --- */

void rule_phase_purity(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    size_t constant = f->constant_phases, ramping = f->ramping_phases;

    if (text_equal(l->model, "mixed"))
        say(j, WARN, "open and closed phases are in one figure%s", l->phases ? "; load.phases has each" : "");
    else if (constant && ramping)
        say(j, WARN, "%zu constant and %zu ramping phase%s are in one figure%s", constant, ramping,
            s_of((double)ramping), l->phases ? "; load.phases has each" : "");
    else if (constant + ramping > 0)
        say(j, PASS, "%s phases only", constant ? "constant" : "ramping");
}

/* --- V25 --- */

void rule_degraded_successes(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double share = l->fallbacks / l->ok, failed = l->failed / (l->ok + l->failed);

    if (!is_amount(l->fallbacks) || !(l->ok > 0) || !isfinite(share))
        return;
    say(j, share > FALLBACKS_MAX ? WARN : PASS,
        "%.3g %% of the good answers (%.0f of %.0f) came from a fallback, beside %.3g %% that failed",
        100 * share, l->fallbacks, l->ok, isnan(failed) ? 0 : 100 * failed);
}
