/* SPDX-License-Identifier: MIT */
/*
 * V7 and V8, by twins of one scenario that ran in every round: two that are alike must not differ, and what
 * they differ by is what the sweep can resolve; one that has less CPU must be seen to be slower, or the
 * workload cannot tell scenarios apart at all.
 */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/units.h"

/* Of throughput and of p50: two looks at one twin share 5 %. Slower is one direction, and half of that is on
 * the other side. */
#define AA_LEVEL (1 - 0.05 / 2)
#define HANDICAP_LEVEL (1 - 0.05)
#define TRIALS_MIN 3 /* below, that nothing was seen says nothing */
#define WIDE                                                                                                 \
    0.25 /* an interval that reaches farther says that there is too much noise, not that they are alike */

static double goodput(const struct trial *t)
{
    return t->load.goodput_rps;
}

static double p50(const struct trial *t)
{
    return t->load.latency_ms.p50;
}

static bool measured(const struct trial *t)
{
    return (t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED) && t->has_load &&
           t->load.goodput_rps > 0 && !(t->app.restarts > 0) && !(t->app.oom_kills > 0);
}

static const struct trial *of_round(const struct validity_arm *arm, int round)
{
    for (size_t i = 0; i < arm->count; i++)
        if (arm->trials[i]->trial == round && measured(arm->trials[i]))
            return arm->trials[i];
    return NULL;
}

/* By rounds, in which both met the same hour of the host. */
static void compare(struct sweep_judge *j, const struct validity_arm *base, const struct validity_arm *twin,
                    double (*value)(const struct trial *t), double level, struct validity_control_ratio *ret)
{
    double *a = arena_array(j->arena, double, twin->count + 1),
           *b = arena_array(j->arena, double, twin->count + 1);
    struct stats_ratio r;
    size_t n = 0;

    for (size_t i = 0; i < twin->count; i++) {
        const struct trial *t = twin->trials[i], *of = of_round(base, t->trial);
        if (!of || !measured(t))
            continue;
        a[n] = value(of);
        b[n++] = value(t);
    }
    stats_ratio_paired(a, b, n, &r);
    ret->ratio = r.ratio;
    stats_ratio_interval(&r, level, &ret->low, &ret->high);
    ret->n = r.base_n;
}

static void compare_twin(struct sweep_judge *j, const struct validity_arm *base,
                         const struct validity_arm *twin, double level, struct validity_control *ret)
{
    compare(j, base, twin, goodput, level, &ret->goodput);
    compare(j, base, twin, p50, level, &ret->p50);
    ret->trials = twin->count;
    for (size_t i = 0; i < twin->count; i++)
        ret->failed += !measured(twin->trials[i]);
    for (size_t i = 0; i < base->count; i++)
        ret->base_failed += !measured(base->trials[i]);
}

/* "1.02 [0.97, 1.07]" */
static const char *words(struct sweep_judge *j, const struct validity_control_ratio *r)
{
    return arena_printf(j->arena, "%.3f [%.3f, %.3f]", r->ratio, r->low, r->high);
}

static const char *both(struct sweep_judge *j, const struct validity_control *c)
{
    return arena_printf(j->arena, "throughput %s, p50 %s", words(j, &c->goodput), words(j, &c->p50));
}

/* How far from 1 the interval reaches: as a share, either way alike. */
static double reach(const struct validity_control_ratio *r)
{
    return fmax(r->high, 1 / r->low) - 1;
}

static void judge_aa(struct sweep_judge *j, const struct validity_control *c)
{
    bool apart = c->goodput.low > 1 || c->goodput.high < 1 || c->p50.low > 1 || c->p50.high < 1;

    if (c->goodput.n < 2)
        return;
    if (apart)
        sweep_say(j, "control-aa", "FAIL",
                  "two scenarios that are alike differ, twin : scenario %s: differences as large are not the "
                  "scenarios' own",
                  both(j, c));
    else
        sweep_say(j, "control-aa", "PASS",
                  "two scenarios that are alike, twin : scenario %s (%zu trials each): throughputs nearer "
                  "than %s are not told "
                  "apart",
                  both(j, c), c->goodput.n, percent(j->arena, reach(&c->goodput)));
}

/* Nothing to see, or too much noise to see it. */
static const char *unseen_words(struct sweep_judge *j, const char *what, const struct validity_control *c)
{
    bool wide = reach(&c->goodput) > WIDE;

    return arena_printf(
        j->arena, "one scenario was slowed down on purpose (%s), and %s, handicapped : scenario %s: %s", what,
        wide ? arena_printf(j->arena, "that is lost in the noise of %zu trials", c->goodput.n)
             : "came out like the one that was not",
        both(j, c),
        wide ? "so few trials on this machine cannot tell scenarios apart, if they differ by less"
             : "this workload cannot tell scenarios apart");
}

static void judge_handicap(struct sweep_judge *j, const char *what, struct validity_control *c)
{
    bool slower = c->goodput.high < 1 || c->p50.low > 1;

    if (c->failed && !c->base_failed) {
        c->seen = true;
        sweep_say(j, "control-handicap", "PASS", "the handicap (%s) is seen: it failed in %zu of %zu trials",
                  what, c->failed, c->trials);
    } else if (c->goodput.n >= 2 && slower) {
        c->seen = true;
        sweep_say(j, "control-handicap", "PASS", "the handicap (%s) is seen, handicapped : scenario %s", what,
                  both(j, c));
    } else if (c->goodput.n >= TRIALS_MIN) {
        c->unseen = true;
        sweep_say(j, "control-handicap", "FAIL", "%s", unseen_words(j, what, c));
    } else if (c->goodput.n == 2) {
        sweep_say(
            j, "control-handicap", "WARN",
            "the handicap (%s) is not seen with two trials each, handicapped : scenario %s: more would tell",
            what, both(j, c));
    }
}

void judge_controls(struct sweep_judge *j, struct validity_sweep *ret)
{
    const struct validity_controls_facts *f = j->facts->controls;

    if (!f)
        return;
    if (f->aa.count) {
        compare_twin(j, &f->base, &f->aa, AA_LEVEL, &ret->aa);
        judge_aa(j, &ret->aa);
    }
    if (f->handicap.count) {
        compare_twin(j, &f->base, &f->handicap, HANDICAP_LEVEL, &ret->handicap);
        judge_handicap(j, f->what ? f->what : "less CPU", &ret->handicap);
    }
    if (!ret->handicap.unseen)
        return;
    ret->judged = true;
    ret->discriminates = false;
    if (!ret->words)
        ret->words = unseen_words(j, f->what ? f->what : "less CPU", &ret->handicap);
}
