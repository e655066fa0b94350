/* SPDX-License-Identifier: MIT */
/* Was the load made that was asked for, and do its figures fit together? */
#include "trial_rules.h"
#include "thresholds.h"

#include <stdio.h>
#include "benchctl/base/strbuf.h"

#define LIMIT_SHARE_MAX 0.01 /* of the requests may have failed at the generator's own limits */
#define BUSY_MAX 0.8         /* of the cores that the generator could use */
#define BEYOND_MIN 100       /* requests above a percentile that make it one */
#define OMISSION_MAX 1.5     /* corrected to measured p99 of a closed load */
#define LITTLE_MAX 0.05      /* of the concurrency may be unexplained */
#define LITTLE_OVER_MAX                                                                                      \
    0.25 /* tools that correct latencies for stalls afterwards explain more users than there are */
#define LITTLE_REQUESTS_MIN 30 /* of fewer, how the first were sent and the last ended counts too much */
#define LITTLE_CYCLES_MIN                                                                                    \
    10 /* with fewer requests one after the other the ends of the window count for too much */
/* A generator's own work between an answer and the next request: a tenth of it for the lean ones, up to this
 * for those in garbage-collected languages on a quiet machine. */
#define OWN_WORK_MS 0.25
#define LAG_MS 1.0      /* the system's timers and scheduling alone reach this */
#define LAG_OF_P50 0.05 /* of the latency: less does not move a percentile */

/* An open load that was not made is not the load that was asked for, and hides how slow the answers are. */
void rule_load_delivered(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double dropped = l->dropped > 0 ? l->dropped : 0;
    double offered = l->offered > 0 ? l->offered : l->requests + dropped;

    if (!(offered > 0) || !isfinite(offered) || (!(l->offered > 0) && !(dropped > 0)))
        return;
    double made = offered - dropped;
    if (l->offered > 0 && l->requests < made)
        made = l->requests;
    if (made >= DELIVERED * offered)
        say(j, PASS, "%.0f of %.0f requests that were to be made were made", made, offered);
    else
        say(j, FAIL,
            "the load was not delivered: %.0f of %.0f requests (%.3g %%) were made, %.0f were dropped", made,
            offered, 100 * (made / offered), dropped);
}

/* --- Little's law --- */

struct little {
    double users, rate, cycle_ms; /* requests per second; from one request of a user to its next */
    double window_ms;
    double resolution_ms; /* of the mean latency, as the generator writes it */
};

/* Failed without an answer: how long those took is in no mean. */
static double unanswered(const struct load_result *l)
{
    double answered = 0;

    for (size_t i = 0; i < l->error_count; i++) {
        const char *kind = l->errors[i].kind;
        if (l->errors[i].count > 0 && kind && (text_starts(kind, "status") || text_equal(kind, "mismatch")))
            answered += l->errors[i].count;
    }
    return l->failed - answered;
}

/* Tools that print whole or tens of milliseconds round what they know. */
static double resolution_ms(double mean_ms)
{
    return fmod(mean_ms, 10) == 0 ? 10 : fmod(mean_ms, 1) == 0 ? 1 : 0;
}

static bool all_there(const struct trial *t)
{
    const struct container_result *a = &t->app;

    return !(a->restarts > 0) && !(a->down_ms > 0) && !(a->unresponsive_ms > 0);
}

static bool little_facts(const struct trial *t, struct little *ret)
{
    const struct load_result *l = &t->load;
    double tried = l->ok + l->failed;

    ret->window_ms = is_amount(l->duration_ms) ? l->duration_ms : l->window_ms;
    ret->users = l->concurrency;
    ret->cycle_ms = l->latency_ms.mean + (is_amount(l->think_ms) ? l->think_ms : 0);
    ret->rate = tried / ret->window_ms * 1e3;
    ret->resolution_ms = resolution_ms(l->latency_ms.mean);
    return text_equal(l->model, "closed") && !text_equal(l->corrected, "yes") &&
           tried >= LITTLE_REQUESTS_MIN && unanswered(l) <= 0 && all_there(t) && ret->users > 0 &&
           isfinite(ret->users) && l->latency_ms.mean > 0 && isfinite(ret->cycle_ms) && ret->window_ms > 0 &&
           isfinite(ret->rate) && ret->window_ms >= LITTLE_CYCLES_MIN * ret->cycle_ms;
}

/* In a closed load every user is either waiting for an answer or thinking. Who does neither is somewhere that
 * nobody has measured: a sleep in a script, or a generator that does not get round to it. */
void rule_littles_law(const struct validity_facts *f, struct judgement *j)
{
    struct little m;
    char sum[160];

    if (!little_facts(f->trial, &m))
        return;
    double explained = m.rate * m.cycle_ms / 1e3, idle = m.users - explained;
    double unknown_ms = idle / m.rate * 1e3; /* of each request */
    double tolerated = LITTLE_MAX + m.cycle_ms / m.window_ms;

    (void)snprintf(sum, sizeof(sum), "%.*f requests/s x %.*f ms keep %.*f of %.*f users busy",
                   ms_decimals(m.rate), m.rate, ms_decimals(m.cycle_ms), m.cycle_ms, ms_decimals(explained),
                   explained, ms_decimals(m.users), m.users);
    if (idle < -LITTLE_OVER_MAX * m.users && -unknown_ms > m.resolution_ms)
        say(j, WARN, "%s: more than there are, so that one of these figures is wrong or corrected", sum);
    else if (fabs(idle) <= tolerated * m.users)
        say(j, PASS, "%s", sum);
    else if (fabs(unknown_ms) <= m.resolution_ms)
        say(j, PASS, "%s, as far as a mean in steps of %.0f ms can tell", sum, m.resolution_ms);
    else if (idle < 0)
        say(j, PASS, "%s", sum);
    else if (unknown_ms <= OWN_WORK_MS)
        say(j, WARN, "%s: the rest, %.*f ms of each request, is the generator's own work", sum,
            ms_decimals(unknown_ms), unknown_ms);
    else
        say(j, FAIL, "%s: a delay of %.*f ms hides in each request, or the generator is the limit", sum,
            ms_decimals(unknown_ms), unknown_ms);
}

/* --- the generator --- */

/* That it did not, it says of itself. */
void rule_generator_kept_up(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double lag = l->lag_p99_ms, p50 = l->latency_ms.p50;

    if (!is_amount(lag) || !is_amount(p50))
        return;
    if (lag > LAG_MS && lag > LAG_OF_P50 * p50)
        say(j, WARN,
            "one request in a hundred was sent %.*f ms late or later, at a median latency of %.*f ms: the "
            "upper percentiles hold the generator's own delay",
            ms_decimals(lag), lag, ms_decimals(p50), p50);
    else
        say(j, PASS, "p99 of how late requests were sent is %.*f ms", ms_decimals(lag), lag);
}

/* No port, no descriptor: that is the machine that makes the load, not the one under test. */
void rule_generator_limit(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double tried = l->ok + l->failed, at_limit = 0;
    bool counted = false;

    for (size_t i = 0; i < l->error_count; i++)
        if (text_equal(l->errors[i].kind, "generator") && is_amount(l->errors[i].count)) {
            at_limit += l->errors[i].count;
            counted = true;
        }
    if (at_limit > 0)
        say(j, at_limit > LIMIT_SHARE_MAX * tried ? FAIL : WARN,
            "%.0f requests failed at limits of the load generator (ports, descriptors), not at the "
            "application",
            at_limit);
    else if (counted && tried > 0)
        say(j, PASS, "none of %.0f requests failed at a limit of the load generator", tried);
}

void rule_generator_busy(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double used = l->cpu_ms / l->window_ms, cores = f->generator_cores;

    if (!is_amount(used) || !(cores > 0) || !isfinite(cores))
        return;
    if (used > BUSY_MAX * cores)
        say(j, WARN,
            "the load generator used %.2f of the %.0f core%s it could: what it measured may be itself", used,
            cores, s_of(cores));
    else
        say(j, PASS, "the load generator used %.2f of the %.0f core%s it could", used, cores, s_of(cores));
}

/* --- percentiles --- */

void rule_percentile_support(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double beyond = l->ok * 0.01;

    if (isnan(l->latency_ms.p99) || !is_amount(l->ok))
        return;
    if (beyond < BEYOND_MIN)
        say(j, WARN, "only %.0f of %.0f requests lie beyond p99", floor(beyond), l->ok);
    else
        say(j, PASS, "%.0f of %.0f requests lie beyond p99%s", floor(beyond), l->ok,
            l->ok * 0.001 < BEYOND_MIN && !isnan(l->latency_ms.p999) ? ", too few beyond p99.9" : "");
}

/* A client that waits while the server stalls does not send, and so does not measure, what it would have. */
void rule_coordinated_omission(const struct validity_facts *f, struct judgement *j)
{
    const struct load_result *l = &f->trial->load;
    double measured = l->latency_ms.p99, corrected = l->corrected_p99_ms;

    if (!text_equal(l->model, "closed") || text_equal(l->corrected, "yes") || !is_amount(corrected) ||
        !(measured > 0))
        return;
    if (corrected > OMISSION_MAX * measured)
        say(j, WARN,
            "stalls kept requests back: p99 is %.*f ms as measured, about %.*f ms had they been sent all the "
            "same",
            ms_decimals(measured), measured, ms_decimals(corrected), corrected);
    else
        say(j, PASS, "p99 is %.*f ms as measured, %.*f ms with the requests that stalls kept back",
            ms_decimals(measured), measured, ms_decimals(corrected), corrected);
}
