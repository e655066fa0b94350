/* SPDX-License-Identifier: MIT */
/* Can this workload tell its scenarios apart, and if not, what was probably measured instead? */
#include "sweep_internal.h"

#include <math.h>

/* --- the verdict on the workload --- */

static size_t late_arms(const struct group *g)
{
    size_t late = 0;

    for (size_t i = 0; i < g->len; i++)
        late += g->arms[i]->late;
    return late;
}

static bool group_judged(const struct group *g)
{
    size_t known = 0;

    for (size_t i = 0; i < g->len; i++)
        known += g->arms[i]->state != ARM_UNKNOWN;
    if (g->len < 2 || (double)known < MOST * (double)g->len)
        return false;
    return (g->idle && g->close) || 2 * late_arms(g) < g->len; /* figures that are late make no difference */
}

static double highest(const struct group *g, double (*value)(const struct arm *a))
{
    double high = -INFINITY;

    for (size_t i = 0; i < g->len; i++)
        high = fmax(high, value(g->arms[i]));
    return high;
}

static double cores(const struct arm *a)
{
    return a->cores;
}

static double request_cpu(const struct arm *a)
{
    return a->request_cpu_ms;
}

static double p50(const struct arm *a)
{
    return a->p50;
}

static const char *how_idle(struct sweep_judge *j, const struct group *g)
{
    struct arena *a = j->arena;
    double busy = highest(g, busy_share);
    const char *used = busy >= 0 ? arena_printf(a, "at most %s of the CPU that it could", percent(a, busy))
                                 : arena_printf(a, "at most %s cores", digits(a, highest(g, cores)));

    return arena_printf(a, "the application used %s (%s ms per request, of a p50 of %s ms)", used,
                        digits(a, median_of(j, g, request_cpu)), digits(a, median_of(j, g, p50)));
}

#define LOADS_NAMED 4

/* "2 users: 4 of 4 scenarios ...; 8 users: ..." */
static void add_how(struct sweep_judge *j, const bool *cannot, size_t count, struct strbuf *text)
{
    size_t said = 0;

    for (size_t i = 0; i < j->group_count; i++) {
        const struct group *g = &j->groups[i];
        if (!cannot[i] || said++ >= LOADS_NAMED)
            continue;
        strbuf_addf(text, "%s%s%s", said > 1 ? "; " : "", under_load(j, g), g->how);
    }
    if (said > LOADS_NAMED)
        strbuf_addf(text, "; and so on under %zu more loads", count - LOADS_NAMED);
}

static const char *cannot_words(struct sweep_judge *j, const bool *cannot, size_t count)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct group *middle = NULL;
    struct group all;
    size_t at = 0;

    for (size_t i = 0; i < j->group_count && !middle; i++)
        if (cannot[i] && at++ == (count - 1) / 2)
            middle = &j->groups[i];
    join_groups(j, cannot, &all);
    const char *instead = ceiling_words(j, middle);
    strbuf_adds(&text, "this workload cannot tell these scenarios apart: ");
    add_how(j, cannot, count, &text);
    strbuf_addf(&text, "%s while %s; what was probably measured instead%s%s: %s",
                count > 1 ? "; all that" : "", how_idle(j, &all), count > 1 ? ", as at " : "",
                count > 1 ? load_name(j, middle) : "",
                instead ? instead : "a wait outside of the application");
    if (late_arms(&all))
        strbuf_addf(&text, "; the generator was late in all trials of %zu of %zu scenarios", late_arms(&all),
                    all.len);
    return arena_strdup(j->arena, strbuf_text(&text));
}

static void decide(struct sweep_judge *j, struct validity_sweep *ret)
{
    bool *cannot = arena_array(j->arena, bool, j->group_count + 1);
    size_t judged = 0, count = 0;

    for (size_t i = 0; i < j->group_count; i++) {
        const struct group *g = &j->groups[i];
        if (!group_judged(g))
            continue;
        judged++;
        cannot[i] = g->idle && g->close;
        count += cannot[i];
    }
    ret->judged = judged > 0;
    ret->discriminates = count < judged;
    if (judged && count == judged)
        ret->words = cannot_words(j, cannot, count);
}

/* --- all of it --- */

static size_t place_of(const struct validity_result *r)
{
    size_t i = 0;

    while (i < validity_rule_count && !text_equal(validity_rules[i].id, r->id))
        i++;
    return i;
}

static void in_order(struct sweep_judge *j, struct validity_sweep *ret)
{
    CLEANUP_FREE size_t *places = xmalloc((j->results.len + 1) * sizeof(*places));

    ret->results = arena_array(j->arena, struct validity_result, j->results.len + 1);
    for (size_t i = 0; i < j->results.len; i++)
        places[i] = place_of(&j->results.items[i]);
    for (size_t place = 0; place <= validity_rule_count; place++)
        for (size_t i = 0; i < j->results.len; i++)
            if (places[i] == place)
                ret->results[ret->len++] = j->results.items[i];
    vec_release(&j->results);
}

void validity_judge_sweep(const struct validity_sweep_facts *f, struct arena *a, struct validity_sweep *ret)
{
    struct sweep_judge j = {.arena = a, .facts = f};

    *ret = (struct validity_sweep){0};
    sweep_arms(&j);
    sweep_states(&j);
    sweep_limits(&j, ret);
    judge_speed(&j);
    judge_ceiling(&j);
    judge_sameness(&j);
    judge_metrics(&j);
    judge_answers(&j);
    judge_jvm(&j);
    judge_canary(&j, &ret->canary);
    decide(&j, ret);
    judge_controls(&j, ret);
    in_order(&j, ret);
}
