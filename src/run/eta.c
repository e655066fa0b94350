/* SPDX-License-Identifier: MIT */
#include "eta.h"

#include <math.h>

/* A scenario. Small: there may be a million. */
struct arm {
    float planned_ns, mean_ns; /* mean: of `n` trials */
    uint32_t n, left;
};

struct mean {
    double sum;
    uint64_t n;
};

struct eta {
    struct arm *arms; /* the canary's last */
    size_t len;
    /* sums over what is to come, without the canary: of scenarios with a mean, and of those without */
    double seen_ns, unseen_ns;
    uint64_t left;
    double took_ns, foreseen_ns;  /* of trials that ended: what they took, and what the plan had thought */
    struct mean trials, planned;  /* of all trials that ended; of all scenarios' estimates */
    struct mean cooled, cooldown; /* cooldowns as they were, and as planned */
};

struct eta *eta_new(size_t scenarios, int64_t trials)
{
    struct eta *e = xcalloc(1, sizeof(*e));

    e->arms = xcalloc(scenarios + 1, sizeof(*e->arms));
    e->len = scenarios;
    for (size_t i = 0; i < scenarios; i++)
        e->arms[i].left = (uint32_t)trials;
    e->left = (uint64_t)scenarios * (uint64_t)trials;
    return e;
}

void eta_free(struct eta *e)
{
    if (!e)
        return;
    free(e->arms);
    free(e);
}

static struct arm *arm_of(const struct eta *e, size_t scenario)
{
    return &e->arms[scenario == ETA_CANARY ? e->len : scenario];
}

static void add(struct mean *m, double value)
{
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : 0;
}

/* What is to come of an arm goes out of the sums, or back into them after it has changed. */
static void count(struct eta *e, size_t scenario, int sign)
{
    const struct arm *a = arm_of(e, scenario);

    if (scenario == ETA_CANARY)
        return;
    if (a->n)
        e->seen_ns += sign * (double)a->left * (double)a->mean_ns;
    else
        e->unseen_ns += sign * (double)a->left * (double)a->planned_ns;
}

void eta_plan(struct eta *e, size_t scenario, double trial_ns, double cooldown_ns)
{
    struct arm *a = arm_of(e, scenario);

    if (!a->n)
        count(e, scenario, -1);
    a->planned_ns = (float)trial_ns;
    if (!a->n)
        count(e, scenario, 1);
    if (scenario != ETA_CANARY)
        add(&e->planned, trial_ns);
    add(&e->cooldown, cooldown_ns);
}

void eta_took(struct eta *e, size_t scenario, double ns)
{
    struct arm *a = arm_of(e, scenario);

    if (!(ns >= 0) || !isfinite(ns))
        return;
    count(e, scenario, -1);
    a->n++;
    a->mean_ns += (float)((ns - (double)a->mean_ns) / (double)a->n);
    count(e, scenario, 1);
    e->took_ns += ns;
    e->foreseen_ns += (double)a->planned_ns;
    if (scenario != ETA_CANARY)
        add(&e->trials, ns);
}

void eta_cooled(struct eta *e, double ns)
{
    add(&e->cooled, ns);
}

void eta_done(struct eta *e, size_t scenario)
{
    struct arm *a = arm_of(e, scenario);

    if (scenario == ETA_CANARY || !a->left)
        return;
    count(e, scenario, -1);
    a->left--;
    e->left--;
    count(e, scenario, 1);
}

/* How wrong the plan has been so far. */
static double ratio(const struct eta *e)
{
    return e->foreseen_ns > 0 ? e->took_ns / e->foreseen_ns : 1;
}

double eta_trial_ns(const struct eta *e, size_t scenario)
{
    const struct arm *a = arm_of(e, scenario);

    return a->n ? (double)a->mean_ns : (double)a->planned_ns * ratio(e);
}

double eta_any_trial_ns(const struct eta *e)
{
    return e->trials.n ? mean_of(&e->trials) : mean_of(&e->planned) * ratio(e);
}

double eta_cooldown_ns(const struct eta *e)
{
    return mean_of(e->cooled.n ? &e->cooled : &e->cooldown);
}

/* The last of all has no cooldown behind it. */
static double cooldowns_ns(const struct eta *e, double trials)
{
    return trials > 1 ? (trials - 1) * eta_cooldown_ns(e) : 0;
}

double eta_left_ns(const struct eta *e, uint64_t canaries)
{
    double trials_ns = e->seen_ns + e->unseen_ns * ratio(e);
    double all_ns = trials_ns + (double)canaries * eta_trial_ns(e, ETA_CANARY) +
                    cooldowns_ns(e, (double)(e->left + canaries));

    return all_ns > 0 ? all_ns : 0; /* sums that come down to nothing may end a little below */
}

double eta_guess_ns(const struct eta *e, double trials, uint64_t canaries)
{
    return trials * eta_any_trial_ns(e) + (double)canaries * eta_trial_ns(e, ETA_CANARY) +
           cooldowns_ns(e, trials + (double)canaries);
}
