/* SPDX-License-Identifier: MIT */
/*
 * What the canary says of the host. It is the same all through the sweep, so what changes in it is not the
 * application's doing. Values are looked at as ratios to the median of all of them; the median of the
 * *others* would do as well for many, but of three it would call two good ones bad for the sake of the third.
 */
#include "sweep_internal.h"

#include <math.h>
#include <stdlib.h>

/* Without a band of the matrix': the canaries' own spread times this; one in two thousand of a steady host is
 * beyond it. */
#define BAND_SPREADS 3.5
/* But never narrower: what is less makes no difference to anybody. */
#define BAND_MIN 0.05
/* A spread takes differences of neighbours: of fewer canaries two starts of one program's is taken. */
#define SPREAD_MIN 5
/* A median difference of neighbours is that many standard deviations where nothing but chance makes them. */
#define NEIGHBOURS_SD 0.954
/* One in twenty of steady values is outside of twice their standard deviation: a narrower band is no band. */
#define NOISE_SPREADS 2.0
/* Of a trend: Mann and Kendall's score, beyond which one in forty orders of the same values lies. */
#define TREND_SCORE 2.2
#define TREND_MIN 5 /* fewer cannot reach it */

struct canary_judge {
    struct sweep_judge *j;
    const struct validity_canary_facts *f;
    struct validity_canary *out;
};

static bool is_failed(const struct trial *t)
{
    switch (t->outcome) {
    case OUTCOME_OK:
    case OUTCOME_SKIPPED:
        return false;
    case OUTCOME_DEGRADED: /* failed requests may be the scenario's own way; deaths are not steady */
        return t->app.restarts > 0 || t->app.oom_kills > 0;
    default:
        return true;
    }
}

/* --- the numbers --- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Those that were measured; returns how many. */
static size_t measured(const struct canary_judge *c, double *values, size_t *places)
{
    size_t n = 0;

    for (size_t i = 0; i < c->f->count; i++) {
        if (!(c->f->values[i] > 0) || is_failed(c->f->trials[i]))
            continue;
        places[n] = i;
        values[n++] = c->f->values[i];
    }
    return n;
}

/* By differences of neighbours on logs, so that neither a trend nor a step counts as spread; NAN: too few. */
static double spread_of(const double *values, size_t n, struct arena *a)
{
    double *steps = arena_array(a, double, n + 1);

    if (n < SPREAD_MIN)
        return NAN;
    for (size_t i = 1; i < n; i++)
        steps[i - 1] = fabs(log(values[i] / values[i - 1]));
    return stats_quantile(steps, n - 1, 0.5) / NEIGHBOURS_SD;
}

/* As a share. */
static double band_of(struct canary_judge *c, size_t n)
{
    double own = n < SPREAD_MIN ? SINGLE_SPREAD : fmax(BAND_MIN, BAND_SPREADS * c->out->spread);
    double asked = c->f->band;
    struct arena *a = c->j->arena;

    if (isnan(asked))
        return own;
    if (n < SPREAD_MIN || asked >= NOISE_SPREADS * c->out->spread)
        return asked;
    sweep_say(
        c->j, "canary-band", "WARN",
        "the band of %s is narrower than what the canary varies by from one trial to the next (standard "
        "deviation %s): %s is taken in its place",
        percent(a, asked), percent(a, c->out->spread), percent(a, own));
    return own;
}

/* --- the band --- */

static const char *change(struct arena *a, double share)
{
    return arena_printf(a, "%s%s", share > 0 ? "+" : "", percent(a, share));
}

static const char *canary_name(struct canary_judge *c, size_t i)
{
    return arena_printf(c->j->arena, "canary %d (after %zu trials)", c->f->trials[i]->trial, c->f->after[i]);
}

/* Trials between the last good canary before a bad one and the next good one. */
static void mark_around(struct canary_judge *c, size_t bad, const char *why)
{
    const struct validity_canary_facts *f = c->f;
    size_t from = bad, to = bad;

    while (from > 0 && !c->out->good[from])
        from--;
    while (to + 1 < f->count && !c->out->good[to])
        to++;
    size_t first = c->out->good[from] ? f->after[from] : 0;
    size_t end = c->out->good[to] ? f->after[to] : f->trial_count;
    for (size_t t = first; t < end && t < f->trial_count; t++) {
        /* of several the nearest one speaks */
        if (c->out->marks[t] && !(t >= f->after[bad]))
            continue;
        c->out->marked += !c->out->marks[t];
        c->out->marks[t] = why;
    }
}

static const char *marked_text(struct canary_judge *c)
{
    return arena_printf(c->j->arena, "%zu of %zu trials near %s marked", c->out->marked, c->f->trial_count,
                        c->out->marked == 1 ? "it is" : "them are");
}

static void judge_band(struct canary_judge *c, const size_t *places, const double *values, size_t n)
{
    struct arena *a = c->j->arena;
    struct names_list names = {.text = STRBUF_INIT};
    struct validity_canary *out = c->out;
    size_t beyond = 0;

    for (size_t k = 0; k < n; k++) {
        /* of two nobody knows which is the odd one */
        double share = n == 2 ? values[k] / values[1 - k] - 1 : values[k] / out->median - 1;
        out->good[places[k]] = fabs(share) <= out->band;
        if (isnan(out->worst) || fabs(share) > fabs(out->worst)) {
            out->worst = share;
            out->worst_at = places[k];
        }
    }
    for (size_t k = 0; k < n; k++) {
        double share = n == 2 ? values[k] / values[1 - k] - 1 : values[k] / out->median - 1;
        if (out->good[places[k]])
            continue;
        beyond++;
        const char *how = arena_printf(a, "%s %s", canary_name(c, places[k]), change(a, share));
        names_add(&names, how);
        mark_around(c, places[k],
                    arena_printf(a,
                                 "%s of %s is %s off the %s, beyond the band of %s: the host was another one "
                                 "around this trial",
                                 c->f->metric, canary_name(c, places[k]), change(a, share),
                                 n == 2 ? "other one" : "median", percent(a, out->band)));
    }
    const char *which = names_text(&names, a);
    if (beyond)
        sweep_say(c->j, "host-drift", "WARN", "%zu of %zu canaries left the band of %s around %s %s: %s; %s",
                  beyond, n, percent(a, out->band), c->f->metric, digits(a, out->median), which,
                  marked_text(c));
    else if (n > 1)
        sweep_say(c->j, "host-drift", "PASS", "all %zu canaries are within %s of %s %s, the farthest %s", n,
                  percent(a, out->band), c->f->metric, digits(a, out->median), change(a, out->worst));
}

/* --- the trend --- */

/* Mann and Kendall: how many pairs rise more than fall, in standard deviations of chance. */
static double trend_score(const double *values, size_t n)
{
    double pairs = 0, m = (double)n;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            pairs += (values[k] > values[i]) - (values[k] < values[i]);
    double sd = sqrt(m * (m - 1) * (2 * m + 5) / 18);
    return pairs > 0 ? (pairs - 1) / sd : pairs < 0 ? (pairs + 1) / sd : 0;
}

/* Theil and Sen: the median of all pairs' slopes on logs, over the whole sweep; as a share. */
static double trend_size(const double *values, size_t n, struct arena *a)
{
    double *slopes = arena_array(a, double, n *(n - 1) / 2 + 1);
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            slopes[count++] = log(values[k] / values[i]) / (double)(k - i);
    return exp(stats_quantile(slopes, count, 0.5) * (double)(n - 1)) - 1;
}

static void judge_trend(struct canary_judge *c, const double *values, size_t n)
{
    struct arena *a = c->j->arena;

    if (n < TREND_MIN || n > VALIDITY_CANARIES_MAX)
        return;
    double size = trend_size(values, n, a);
    bool real = fabs(trend_score(values, n)) >= TREND_SCORE && fabs(size) >= BAND_MIN;
    sweep_say(c->j, "host-trend", real ? "WARN" : "PASS", "%s of %zu canaries %s %s over the sweep%s%s",
              c->f->metric, n, real ? "went" : "goes", change(a, size),
              real ? ": " : ", no more than chance makes or than matters",
              !real ? ""
              : c->f->interleaved
                  ? "rounds spread it over all scenarios, their intervals are the wider for it"
                  : "later trials are another machine's");
}

/* --- failures --- */

static void judge_failures(struct canary_judge *c)
{
    struct arena *a = c->j->arena;
    struct names_list names = {.text = STRBUF_INIT};
    size_t failed = 0, counted = 0;

    for (size_t i = 0; i < c->f->count; i++) {
        const struct trial *t = c->f->trials[i];
        counted += t->outcome != OUTCOME_SKIPPED;
        failed += is_failed(t);
    }
    for (size_t i = 0; i < c->f->count; i++) {
        const struct trial *t = c->f->trials[i];
        if (!is_failed(t))
            continue;
        names_add(&names, arena_printf(a, "%s %s%s%s", canary_name(c, i), outcome_name(t->outcome),
                                       t->reason ? ": " : "", t->reason ? t->reason : ""));
        if (failed < counted) /* when all fail, it is the canary that is wrong */
            mark_around(c, i,
                        arena_printf(a, "%s ended in '%s': host or setup were not steady around this trial",
                                     canary_name(c, i), outcome_name(t->outcome)));
    }
    const char *which = names_text(&names, a);
    if (failed && failed == counted)
        sweep_say(
            c->j, "canary-failed", "WARN",
            "every canary failed, so it says nothing about the host: %s; choose another scenario for it",
            which);
    else if (failed)
        sweep_say(c->j, "canary-failed", "WARN",
                  "%zu of %zu canaries failed: the host or the setup is not steady: %s; %s", failed, counted,
                  which, marked_text(c));
    c->out->failed = failed;
}

void judge_canary(struct sweep_judge *j, struct validity_canary *ret)
{
    const struct validity_canary_facts *f = j->facts->canary;
    struct canary_judge c = {j, f, ret};

    *ret = (struct validity_canary){.median = NAN, .spread = NAN, .band = NAN, .worst = NAN};
    if (!f || !f->count)
        return;
    double *values = arena_array(j->arena, double, f->count), *sorted;
    size_t *places = arena_array(j->arena, size_t, f->count);
    ret->good = arena_array(j->arena, bool, f->count);
    ret->marks = arena_array(j->arena, const char *, f->trial_count + 1);
    ret->measured = measured(&c, values, places);
    sorted = arena_copy(j->arena, values, f->count * sizeof(*values));
    qsort(sorted, ret->measured, sizeof(*sorted), compare_doubles);
    if (ret->measured) {
        ret->low = sorted[0];
        ret->high = sorted[ret->measured - 1];
        ret->median = stats_quantile(values, ret->measured, 0.5);
        ret->spread = spread_of(values, ret->measured, j->arena);
        ret->band = band_of(&c, ret->measured);
        judge_band(&c, places, values, ret->measured);
        judge_trend(&c, values, ret->measured);
    }
    judge_failures(&c);
}
