/* SPDX-License-Identifier: MIT */
/* Two sets of trials: pairs of scenarios, ratios, verdicts. */
#include "benchctl/compare.h"

#include "benchctl/base/mem.h"
#include "benchctl/base/name_index.h"

#define INTERVAL 0.95
#define ALPHA 0.05                  /* of every test */
#define EQUIVALENCE (1 - 2 * ALPHA) /* two one-sided tests at ALPHA are one interval at this level */

static const char *const verdict_names[COMPARE_VERDICTS] = {
    [COMPARE_REPRODUCED] = "reproduced",
    [COMPARE_DIFFERS] = "differs",
    [COMPARE_UNDECIDED] = "undecided",
    [COMPARE_NOT_JUDGED] = "not judged",
};

const char *compare_verdict_name(enum compare_verdict v)
{
    return verdict_names[v];
}

void comparison_free(struct comparison *c)
{
    if (!c)
        return;
    free(c->scenarios);
    arena_free(c->arena);
    free(c);
}

/* --- pairs --- */

/* The values of one side of one scenario, figure by figure. */
struct side {
    double *values[COMPARE_FIGURES];
    int *rounds;
    size_t len, cap;
};

struct pair {
    const char *name;
    struct side then, now;
};

struct pairing {
    VEC(struct pair) pairs;
    struct name_index index;
};

static void side_add(struct side *s, const struct compare_trial *t)
{
    if (s->len == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 8;
        for (int f = 0; f < COMPARE_FIGURES; f++)
            s->values[f] = xrealloc(s->values[f], s->cap * sizeof(double));
        s->rounds = xrealloc(s->rounds, s->cap * sizeof(*s->rounds));
    }
    s->rounds[s->len] = t->trial;
    for (int f = 0; f < COMPARE_FIGURES; f++)
        s->values[f][s->len] = t->figures[f];
    s->len++;
}

static void side_release(struct side *s)
{
    for (int f = 0; f < COMPARE_FIGURES; f++)
        free(s->values[f]);
    free(s->rounds);
}

static void pairing_release(struct pairing *p)
{
    vec_each (pair, &p->pairs) {
        side_release(&pair->then);
        side_release(&pair->now);
    }
    vec_release(&p->pairs);
    name_index_release(&p->index);
}

static void count_set(struct pairing *p, const struct compare_set *set, bool now,
                      struct compared_scenario *results)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct compare_trial *t = &set->trials[i];
        bool fresh;
        size_t at = *name_index_put(&p->index, t->scenario, p->pairs.len, &fresh);
        if (fresh)
            vec_push(&p->pairs, (struct pair){.name = t->scenario});
        struct compared_scenario *r = &results[at];
        r->name = p->pairs.items[at].name;
        *(now ? &r->now_n : &r->then_n) += 1;
        (now ? r->now_outcomes : r->then_outcomes)[t->outcome]++;
        side_add(now ? &p->pairs.items[at].now : &p->pairs.items[at].then, t);
    }
}

/* --- verdicts --- */

static double median_of(const struct side *s, int figure)
{
    return s->len ? stats_quantile(s->values[figure], s->len, 0.5) : NAN;
}

/* The values of `other` in the order of the rounds of `base`; false: these are not the same rounds. */
static bool in_rounds(const struct side *base, const struct side *other, int figure, double *ret)
{
    if (base->len != other->len)
        return false;
    for (size_t i = 0; i < base->len; i++) {
        size_t at = SIZE_MAX;
        for (size_t k = 0; k < other->len; k++)
            at = other->rounds[k] == base->rounds[i] && at == SIZE_MAX ? k : at;
        for (size_t k = 0; k < i; k++)
            if (base->rounds[k] == base->rounds[i])
                return false;
        if (at == SIZE_MAX || isfinite(other->values[figure][at]) != isfinite(base->values[figure][i]))
            return false;
        ret[i] = other->values[figure][at];
    }
    return true;
}

static void estimate_ratio(const struct pair *p, int figure, bool paired, struct compared_figure *ret)
{
    CLEANUP_FREE double *ordered = xcalloc(p->now.len + 1, sizeof(*ordered));

    ret->paired = paired && p->then.len && in_rounds(&p->then, &p->now, figure, ordered);
    if (ret->paired)
        stats_ratio_paired(p->then.values[figure], ordered, p->then.len, &ret->ratio);
    else
        stats_ratio(p->then.values[figure], p->then.len, p->now.values[figure], p->now.len, &ret->ratio);
}

static void estimate(const struct pair *p, int figure, bool paired, struct compared_figure *ret)
{
    estimate_ratio(p, figure, paired, ret);
    stats_ratio_interval(&ret->ratio, INTERVAL, &ret->low, &ret->high);
    ret->then = median_of(&p->then, figure);
    ret->now = median_of(&p->now, figure);
}

/* A value of 0 is no small one: an application that served nothing is not about as fast as it was. */
static enum compare_verdict judge_zeros(const struct stats_ratio *r)
{
    if (r->base_zeros == r->base_n && r->other_zeros == r->other_n)
        return COMPARE_NOT_JUDGED; /* nothing on both sides */
    return r->base_zeros && r->other_zeros ? COMPARE_UNDECIDED : COMPARE_DIFFERS;
}

static enum compare_verdict judge(const struct compared_figure *f, double margin)
{
    double low, high;

    if (f->ratio.base_n < COMPARE_TRIALS_MIN || f->ratio.other_n < COMPARE_TRIALS_MIN)
        return COMPARE_NOT_JUDGED;
    if (f->ratio.base_zeros || f->ratio.other_zeros)
        return judge_zeros(&f->ratio);
    stats_ratio_interval(&f->ratio, EQUIVALENCE, &low, &high);
    if (low >= 1 / (1 + margin) && high <= 1 + margin)
        return COMPARE_REPRODUCED;
    bool beyond = f->ratio.ratio > 1 + margin || f->ratio.ratio < 1 / (1 + margin);
    return beyond && f->p < ALPHA ? COMPARE_DIFFERS : COMPARE_UNDECIDED;
}

/* One figure over all scenarios: a family of tests. */
static void judge_figure(struct comparison *c, const struct pairing *p, bool paired, int figure)
{
    CLEANUP_FREE double *values = xcalloc(c->len + 1, sizeof(*values));

    for (size_t i = 0; i < c->len; i++) {
        struct compared_figure *f = &c->scenarios[i].figures[figure];
        estimate(&p->pairs.items[i], figure, paired, f);
        bool enough = f->ratio.base_n >= COMPARE_TRIALS_MIN && f->ratio.other_n >= COMPARE_TRIALS_MIN;
        values[i] = enough ? f->ratio.p : NAN; /* what is not judged is not tested */
    }
    stats_holm(values, c->len, values);
    for (size_t i = 0; i < c->len; i++) {
        struct compared_figure *f = &c->scenarios[i].figures[figure];
        f->p = values[i];
        f->verdict = judge(f, c->margin);
        c->verdicts[figure][f->verdict]++;
    }
}

static void judge_outcomes(struct comparison *c)
{
    for (size_t i = 0; i < c->len; i++) {
        struct compared_scenario *s = &c->scenarios[i];
        c->only_then += !s->now_n;
        c->only_now += !s->then_n;
        for (int o = 0; s->then_n && s->now_n && o < OUTCOMES; o++)
            s->outcomes_differ |= !s->then_outcomes[o] != !s->now_outcomes[o];
        c->outcomes_differ += s->outcomes_differ;
    }
}

/* What crashes now and did not then comes first, whatever the figures say. */
static void put_first(struct comparison *c)
{
    struct compared_scenario *sorted = xcalloc(c->len + 1, sizeof(*sorted));
    size_t n = 0;

    for (int same = 0; same < 2; same++)
        for (size_t i = 0; i < c->len; i++)
            if (c->scenarios[i].outcomes_differ == !same)
                sorted[n++] = c->scenarios[i];
    free(c->scenarios);
    c->scenarios = sorted;
}

void compare_sets(const struct compare_set *then, const struct compare_set *now,
                  const struct compare_options *o, struct comparison **ret)
{
    CLEANUP_VALUE(pairing_release) struct pairing p = {0};
    struct comparison *c = xcalloc(1, sizeof(*c));

    c->margin = o && o->margin > 0 ? o->margin : COMPARE_MARGIN;
    c->then_name = then->name;
    c->now_name = now->name;
    c->arena = arena_new();
    c->scenarios = xcalloc(then->len + now->len + 1, sizeof(*c->scenarios));
    count_set(&p, then, false, c->scenarios);
    count_set(&p, now, true, c->scenarios);
    c->len = p.pairs.len;
    vec_each (pair, &p.pairs) {
        struct compared_scenario *s = &c->scenarios[pair - p.pairs.items];
        s->name = arena_strdup(c->arena, s->name);
    }
    for (int f = 0; f < COMPARE_FIGURES; f++)
        judge_figure(c, &p, o && o->paired, f);
    judge_outcomes(c);
    put_first(c);
    *ret = c;
}
