/* SPDX-License-Identifier: MIT */
/* Is what stands beside the load there, cheap, and of the same mind? */
#include "trial_rules.h"

#include "benchctl/base/strbuf.h"

#define GAPS_MAX 0.02       /* of the scrapes */
#define OBSERVER_MAX 0.01   /* of the application's CPU time */
#define OBSERVER_CORES 0.02 /* below it nobody notices, however little the application does */
#define SCRAPE_P99_MS 100.0
#define COUNTS_MAX 0.005 /* of the requests */
/* What the application counts as well: a look a second whether it still answers, and a few requests at both
 * ends of the window. */
#define LOOKS_PER_S 1.0
#define OWN_REQUESTS 10.0

void rule_metric_exists(const struct validity_facts *f, struct judgement *j)
{
    const struct trial *t = f->trial;
    double missing = t->scrapes.failed / t->scrapes.count, worst = 0;
    const char *whose = NULL;

    if (!t->has_scrapes || !(t->scrapes.count > 0))
        return;
    for (size_t i = 0; i < t->metric_count; i++)
        if (t->metrics[i].gaps > worst) {
            worst = t->metrics[i].gaps;
            whose = t->metrics[i].name;
        }
    if (missing > GAPS_MAX)
        say(j, WARN, "%.0f of %.0f scrapes failed: what happened meanwhile is in no metric",
            t->scrapes.failed, t->scrapes.count);
    else if (f->metrics_known > 0 && !t->metric_count)
        say(j, WARN, "none of the %.0f names that the metric adapter knows was there: absent is not 0",
            f->metrics_known);
    else if (worst > GAPS_MAX * t->scrapes.count && whose)
        say(j, WARN, "'%s' had no value in %.0f of %.0f scrapes: absent is not 0", whose, worst,
            t->scrapes.count);
    else if (f->metrics_known > 0)
        say(j, PASS, "%zu of the %.0f names that the metric adapter knows were there, in %.0f scrapes",
            t->metric_count, f->metrics_known, t->scrapes.count);
    else
        say(j, PASS, "%.0f scrapes, %.0f failed", t->scrapes.count, isnan(missing) ? 0 : t->scrapes.failed);
}

void rule_observer_cost(const struct validity_facts *f, struct judgement *j)
{
    const struct trial *t = f->trial;
    double app = t->app.cpu_cores.avg, window = t->load.window_ms, own = t->host.benchctl_cpu_cores;
    /* at most this: a scrape that waits for a processor uses none */
    double scraping = t->has_scrapes ? t->scrapes.count * t->scrapes.mean_ms / window : 0;
    double cost = (is_amount(own) ? own : 0) + (is_amount(scraping) ? scraping : 0);

    if (t->has_scrapes && t->scrapes.p99_ms > SCRAPE_P99_MS)
        say(j, WARN, "p99 of a scrape is %.0f ms: the application was busy with being observed",
            t->scrapes.p99_ms);
    else if (!f->local || !(app > 0) || !is_amount(own))
        return;
    else if (cost > OBSERVER_MAX * app && cost > OBSERVER_CORES)
        say(j, WARN, "sampling and scrapes took up to %.3f cores, %.2g %% of the application's %.2f", cost,
            100 * (cost / app), app);
    else
        say(j, PASS, "sampling and scrapes took up to %.4f cores beside the application's %.2f", cost, app);
}

/* --- V24 --- */

static double increase_of(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->metric_count; i++)
        if (text_equal(t->metrics[i].name, name))
            return t->metrics[i].increase;
    return NAN;
}

/* "application 1990 (-0.5 %)" to the text; false when that is too far off. */
static bool add_count(struct strbuf *text, const char *who, double count, const double range[2])
{
    bool near = count >= range[0] * (1 - COUNTS_MAX) && count <= range[1] * (1 + COUNTS_MAX);

    strbuf_addf(text, ", %s %.0f", who, count);
    return near;
}

/* Lost or repeated work, retries, a generator that counts something else. Requests of which nobody knows
 * whether they arrived (failed ones) may be counted or not. */
void rule_counts_agree(const struct validity_facts *f, struct judgement *j)
{
    const struct trial *t = f->trial;
    double tried = t->load.ok + t->load.failed, served = increase_of(t, "http_requests");
    double own = OWN_REQUESTS + (t->has_scrapes && t->scrapes.count > 0 ? t->scrapes.count : 0) +
                 (is_amount(t->load.window_ms) ? LOOKS_PER_S * t->load.window_ms / 1e3 : 0);
    double per = f->commits_per_request, commits = t->has_database ? t->database.commits : NAN;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    bool agree = true, judged = false;

    if (!(tried > 0) || !isfinite(tried))
        return;
    strbuf_addf(&text, "generator %.0f", tried);
    if (is_amount(served) && t->app.restarts == 0) { /* a new process begins to count anew */
        judged = true;
        agree = add_count(&text, "application", served, (const double[2]){t->load.ok, tried + own});
    }
    if (per > 0 && is_amount(commits)) {
        judged = true;
        agree = add_count(&text, "commits", commits,
                          (const double[2]){per * t->load.ok, per * tried + OWN_REQUESTS}) &&
                agree;
    }
    if (judged && agree)
        say(j, PASS, "the counts agree: %s", strbuf_text(&text));
    else if (judged)
        say(j, WARN, "the counts differ by more than 0.5 %%: %s", strbuf_text(&text));
}
