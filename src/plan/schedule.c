/* SPDX-License-Identifier: MIT */
/* The order of execution as it comes, and what the searches have found. */
#include <assert.h>
#include <math.h>

#include "benchctl/base/mem.h"
#include "canary.h"
#include "order.h"
#include "plan_internal.h"
#include "search.h"

/*
 * With a search a *unit* is what takes turns: a search, or an included scenario, in this order. An included
 * one is a search among one in which everything passes: it ends after all its trials.
 */
struct plan_schedule {
    const struct plan *p;
    struct search *units; /* NULL: a plan without a search */
    size_t unit_count, active;
    uint64_t told, left_at_most;
    double left_expected;
    /* where it stands */
    uint64_t round, place; /* the next turn of the round; no turn before it wants anything any more */
    bool round_has_begun;
    size_t current; /* the unit whose turn it is, once asked for */
    bool asked;
    struct canary_turns canary;
    bool ended; /* no more trials, but a canary for the end */
};

#define EVERYTHING_PASSES (~0u)

unsigned plan_until(const struct plan *p)
{
    return p->grid.axes[p->candidates.axis].axis->search->until;
}

static void count_unit(struct plan_schedule *s, const struct search *unit, int sign)
{
    s->left_expected += sign * search_trials_expected(unit);
    if (sign > 0)
        s->left_at_most += (uint64_t)search_trials_left(unit);
    else
        s->left_at_most -= (uint64_t)search_trials_left(unit);
}

static void make_units(struct plan_schedule *s)
{
    const struct plan *p = s->p;
    size_t searches = p->candidates.len;

    s->unit_count = s->active = searches + p->kept_includes_len;
    s->units = xcalloc(s->unit_count, sizeof(*s->units));
    for (size_t i = 0; i < s->unit_count; i++) {
        bool search = i < searches;
        search_init(&s->units[i], search ? (int64_t)candidates_count(&p->candidates, i) : 1, p->m->trials,
                    search ? plan_until(p) : EVERYTHING_PASSES);
        count_unit(s, &s->units[i], 1);
    }
}

struct plan_schedule *plan_schedule_new(const struct plan *p)
{
    struct plan_schedule *s = xcalloc(1, sizeof(*s));

    s->p = p;
    s->canary.every = p->m->canary ? (uint64_t)p->m->canary->every : 0;
    if (p->candidates.len) {
        make_units(s);
    } else {
        s->left_at_most = p->counts.trials;
        s->left_expected = (double)p->counts.trials;
    }
    return s;
}

void plan_schedule_free(struct plan_schedule *s)
{
    if (!s)
        return;
    free(s->units);
    free(s);
}

/* Whose turn `place` of the current round is. */
static size_t unit_of_turn(const struct plan_schedule *s)
{
    if (s->p->m->order == ORDER_LISTED)
        return (size_t)s->place;
    return (size_t)order_permute(s->unit_count, order_key(s->p->m->seed, s->round), s->place);
}

/* Goes on to a turn of somebody who wants something. There is one. */
static void find_turn(struct plan_schedule *s)
{
    while (!s->asked) {
        if (s->place == s->unit_count) {
            s->place = 0;
            s->round++;
            s->round_has_begun = false;
        }
        s->current = unit_of_turn(s);
        s->asked = search_wants(&s->units[s->current]) >= 0;
        s->place += !s->asked;
    }
}

static bool has_more(const struct plan_schedule *s)
{
    return s->left_at_most && !s->ended;
}

void plan_schedule_end(struct plan_schedule *s)
{
    s->ended = true;
}

bool plan_schedule_next(struct plan_schedule *s, struct planned_trial *ret)
{
    const struct plan *p = s->p;

    if (canary_is_due(&s->canary, has_more(s))) {
        *ret = (struct planned_trial){.scenario = PLAN_CANARY, .trial = (int)s->canary.told + 1};
        return true;
    }
    if (!has_more(s))
        return false;
    if (!s->units) {
        *ret = plan_trial(p, s->told);
        return true;
    }
    find_turn(s);
    const struct search *unit = &s->units[s->current];
    ret->trial = (int)unit->told + 1;
    ret->scenario = s->current < p->candidates.len
                        ? p->candidates.items[p->candidates.first[s->current] + (size_t)search_wants(unit)]
                        : p->kept_len + (s->current - p->candidates.len);
    return true;
}

void plan_schedule_tell(struct plan_schedule *s, enum outcome o)
{
    struct planned_trial which;
    bool more = plan_schedule_next(s, &which);

    assert(more);
    (void)more;
    if (which.scenario == PLAN_CANARY) {
        canary_told(&s->canary);
        return;
    }
    s->told++;
    s->canary.since++;
    if (!s->units) {
        s->left_at_most--;
        s->left_expected = (double)s->left_at_most;
        return;
    }
    struct search *unit = &s->units[s->current];
    count_unit(s, unit, -1);
    search_tell(unit, o);
    count_unit(s, unit, 1);
    bool over = search_wants(unit) < 0;
    s->active -= over;
    /* listed: the same one again, until it is done */
    s->place += over || s->p->m->order != ORDER_LISTED;
    s->round_has_begun = !(over && s->p->m->order == ORDER_LISTED);
    s->asked = false;
}

/* The round that comes: of a plan without a search, as many trials as there are scenarios; listed, those of
 * one scenario. */
static void tell_round(struct plan_schedule *s, struct plan_progress *ret)
{
    bool listed = s->p->m->order == ORDER_LISTED;

    if (!s->units) {
        ret->round_trials = listed ? (uint64_t)s->p->m->trials : s->p->counts.scenarios;
        ret->round_begins = s->told % ret->round_trials == 0;
        return;
    }
    find_turn(s);
    ret->round_begins = !s->round_has_begun;
    ret->round_trials = listed ? (uint64_t)search_trials_left(&s->units[s->current]) : s->active;
}

void plan_schedule_progress(struct plan_schedule *s, struct plan_progress *ret)
{
    *ret = (struct plan_progress){
        .told = s->told, .left_at_most = s->left_at_most, .left_expected = s->left_expected};
    if (s->left_at_most)
        tell_round(s, ret);
    ret->canaries_told = s->canary.told;
    ret->canaries_left = canary_left(&s->canary, s->ended ? 0 : round(s->left_expected));
    ret->round_canaries = canary_left(&s->canary, (double)ret->round_trials);
}

static size_t scenario_at(const struct plan_schedule *s, size_t i, int64_t candidate)
{
    const struct candidates *c = &s->p->candidates;

    return candidate < 0 || candidate >= s->units[i].len ? SIZE_MAX
                                                         : c->items[c->first[i] + (size_t)candidate];
}

void plan_schedule_finding(const struct plan_schedule *s, size_t i, struct plan_finding *ret)
{
    assert(i < s->p->candidates.len);
    const struct search *unit = &s->units[i];
    *ret = (struct plan_finding){
        .done = search_wants(unit) < 0,
        .certain = search_is_certain(unit),
        .passes = scenario_at(s, i, unit->passes),
        .fails = scenario_at(s, i, unit->fails),
        .failed = unit->failed,
        .failed_trial = unit->failed_trial,
        .probes = (uint64_t)unit->probes,
    };
}
