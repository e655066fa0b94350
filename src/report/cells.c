/* SPDX-License-Identifier: MIT */
/* Trials to cells: which trials' numbers count, and what the worst of them was. */
#include "memory_curve.h"

#include <math.h>
#include <string.h>

#define WAITING_MAX 200 /* planned scenarios without a trial that get a row of their own */

/* How bad, for "the worst": a crash is worse than numbers that cannot be trusted. */
static int badness(enum outcome o)
{
    static const int rank[OUTCOMES] = {
        [OUTCOME_OK] = 0,    [OUTCOME_SKIPPED] = 1,   [OUTCOME_DEGRADED] = 2, [OUTCOME_INVALID] = 3,
        [OUTCOME_ERROR] = 4, [OUTCOME_NOT_READY] = 5, [OUTCOME_CRASHED] = 6,
    };
    return rank[o];
}

bool trial_worse(const struct trial *a, const struct trial *b)
{
    if (a->outcome != b->outcome)
        return badness(a->outcome) > badness(b->outcome);
    return a->app.restarts + a->app.oom_kills > b->app.restarts + b->app.oom_kills; /* false with NAN */
}

static bool unstable(const struct trial *t)
{
    return t->app.restarts > 0 || t->app.oom_kills > 0 || t->outcome == OUTCOME_CRASHED;
}

/* Failed trials have no numbers in a report: only a reason. */
static bool has_numbers(const struct trial *t)
{
    return t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED || t->outcome == OUTCOME_CRASHED;
}

/* Steady trials where there are any; otherwise those that crashed, marked as such: never both together. How
 * often the application failed is told by every trial whose record can be trusted. */
bool trial_counts(const struct cell *c, const struct trial *t, const struct figure *f)
{
    if (f && f->source == SOURCE_BUILD) /* before the application was there */
        return true;
    if (f && f->finding)
        return has_numbers(t) || t->outcome == OUTCOME_NOT_READY;
    return has_numbers(t) && (c->contaminated || !unstable(t));
}

/* --- which trials belong together --- */

struct grouping {
    struct report *r;
    struct name_index scenarios;
    size_t *cell_of; /* per trial */
};

static struct cell *find_or_add(struct grouping *g, const char *scenario, bool *ret_new)
{
    size_t at = *name_index_put(&g->scenarios, scenario, g->r->cells.len, ret_new);

    if (*ret_new) {
        vec_push(&g->r->cells, (struct cell){.scenario = scenario});
        g->r->cells.items[at].ranks = arena_array(g->r->arena, size_t, g->r->axis_count + 1);
    }
    return &g->r->cells.items[at];
}

static size_t rank_of(const struct axis *axis, const char *value)
{
    const size_t *rank = name_index_get(&axis->index, value ? value : "");

    return rank ? *rank : 0;
}

static void place(struct grouping *g, size_t number)
{
    const struct trial *t = &g->r->sweep->trials[number];
    bool new;
    struct cell *c = find_or_add(g, t->scenario, &new);

    for (size_t i = 0; i < g->r->axis_count && new; i++)
        c->ranks[i] = rank_of(&g->r->axes[i], axis_value(t->axes, t->axis_count, g->r->axes[i].name));
    c->trial_count++;
    g->cell_of[number] = (size_t)(c - g->r->cells.items);
}

static void add_trial(struct cell *c, const struct trial *t)
{
    c->trials[c->trial_count++] = t;
    c->outcomes[t->outcome]++;
    if (!c->worst || trial_worse(t, c->worst))
        c->worst = t;
}

/* Planned, and not only if a search should ask for it. */
static bool certain(const struct grouping *g, const struct json *planned)
{
    const struct report *r = g->r;

    for (size_t i = 0; i < r->axis_count && json_get(r->sweep->plan, "search"); i++)
        if (search_candidate(r, r->axes[i].name, json_get_text(json_get(planned, "axes"), r->axes[i].name)))
            return false;
    return json_get_text(planned, "id") && !json_get_text(planned, "control");
}

/* Rows for what has not been run: a sweep that was interrupted, or is still running. */
static void add_waiting(struct grouping *g)
{
    const struct json *plan = json_get(g->r->sweep->plan, "scenarios");
    size_t with_trials = g->r->cells.len;
    bool new;

    for (size_t i = 0; i < json_len(plan); i++) {
        const struct json *planned = json_at(plan, i);
        g->r->waiting += certain(g, planned) && !name_index_get(&g->scenarios, json_get_text(planned, "id"));
    }
    for (size_t i = 0; i < json_len(plan) && g->r->waiting <= WAITING_MAX && with_trials; i++) {
        const struct json *axes = json_get(json_at(plan, i), "axes");
        const char *id = json_get_text(json_at(plan, i), "id");
        struct cell *c = certain(g, json_at(plan, i)) ? find_or_add(g, id, &new) : NULL;
        for (size_t k = 0; c && new &&k < g->r->axis_count; k++)
            c->ranks[k] = rank_of(&g->r->axes[k], json_get_text(axes, g->r->axes[k].name));
    }
}

static int compare_cells(const void *a, const void *b, void *data)
{
    const struct cell *x = a, *y = b;
    const struct report *r = data;

    for (size_t i = 0; i < r->axis_count; i++)
        if (x->ranks[i] != y->ranks[i])
            return x->ranks[i] < y->ranks[i] ? -1 : 1;
    return strverscmp(x->scenario, y->scenario);
}

static void count_used(struct report *r, size_t axis)
{
    CLEANUP_FREE bool *used = xcalloc(r->axes[axis].value_count + 1, sizeof(*used));

    for (size_t i = 0; i < r->cells.len; i++) {
        r->axes[axis].used += !used[r->cells.items[i].ranks[axis]];
        used[r->cells.items[i].ranks[axis]] = true;
    }
}

void report_cells(struct report *r)
{
    const struct sweep *s = r->sweep;
    struct grouping g = {.r = r, .cell_of = xcalloc(s->trial_count + 1, sizeof(size_t))};

    for (size_t t = 0; t < s->trial_count; t++)
        place(&g, t);
    for (size_t i = 0; i < r->cells.len; i++) {
        struct cell *c = &r->cells.items[i];
        c->trials = arena_array(r->arena, const struct trial *, c->trial_count);
        c->trial_count = 0;
    }
    for (size_t t = 0; t < s->trial_count; t++)
        add_trial(&r->cells.items[g.cell_of[t]], &s->trials[t]);
    add_waiting(&g);
    if (r->cells.len)
        qsort_r(r->cells.items, r->cells.len, sizeof(*r->cells.items), compare_cells, r);
    for (size_t i = 0; i < r->axis_count; i++)
        count_used(r, i);
    name_index_release(&g.scenarios);
    free(g.cell_of);
}

/* --- their numbers --- */

static void read_values(struct report *r, const struct trial *t, double *values)
{
    CLEANUP(json_free) struct json *record = NULL;

    for (size_t f = 0; f < r->figures.len; f++) {
        const struct figure *figure = &r->figures.items[f];
        values[f] = figure_value(figure, t);
        if (figure->source != SOURCE_NAMED)
            continue;
        if (!record)
            record = trial_to_json(t);
        if (trial_number(record, figure->key, &values[f]) < 0)
            values[f] = NAN;
    }
    part_values(r, t, values);
}

/* "ok", "1 of 3 crashed", "not run" */
static const char *what_became(struct report *r, const struct cell *c)
{
    if (!c->worst)
        return NOT_RUN;
    size_t times = c->outcomes[c->worst->outcome];
    const char *name = outcome_name(c->worst->outcome);
    return times == c->trial_count ? name
                                   : arena_printf(r->arena, "%zu of %zu %s", times, c->trial_count, name);
}

static void summarise(struct report *r, struct cell *c, double *scratch)
{
    size_t steady = 0, numbers = 0;

    for (size_t i = 0; i < c->trial_count; i++) {
        numbers += has_numbers(c->trials[i]);
        steady += has_numbers(c->trials[i]) && !unstable(c->trials[i]);
    }
    c->contaminated = numbers && !steady;
    c->counted = steady ? steady : numbers;
    c->became = what_became(r, c);
    c->figures = arena_array(r->arena, struct summary, r->figures.len);
    for (size_t f = 0; f < r->figures.len; f++) {
        size_t n = 0;
        for (size_t i = 0; i < c->trial_count; i++)
            if (trial_counts(c, c->trials[i], &r->figures.items[f]))
                scratch[n++] = cell_trial_value(r, c, i, f);
        stats_summary(scratch, n, &c->figures[f]);
    }
}

void report_summaries(struct report *r)
{
    const struct sweep *s = r->sweep;
    double *scratch = arena_array(r->arena, double, s->trial_count + 1);

    r->values = arena_array(r->arena, double, s->trial_count * r->figures.len + 1);
    for (size_t t = 0; t < s->trial_count; t++)
        read_values(r, &s->trials[t], &r->values[t * r->figures.len]);
    for (size_t i = 0; i < r->cells.len; i++)
        summarise(r, &r->cells.items[i], scratch);
}

/* --- what they are called --- */

double cell_trial_value(const struct report *r, const struct cell *c, size_t trial, size_t figure)
{
    return r->values[(size_t)(c->trials[trial] - r->sweep->trials) * r->figures.len + figure];
}

const char *cell_value(const struct report *r, const struct cell *c, size_t axis)
{
    return r->axes[axis].value_count ? r->axes[axis].values[c->ranks[axis]] : "";
}

enum tone outcome_tone(enum outcome o)
{
    static const enum tone tones[OUTCOMES] = {
        [OUTCOME_OK] = TONE_GOOD,       [OUTCOME_DEGRADED] = TONE_WARN, [OUTCOME_CRASHED] = TONE_BAD,
        [OUTCOME_NOT_READY] = TONE_BAD, [OUTCOME_INVALID] = TONE_WARN,  [OUTCOME_ERROR] = TONE_BAD,
        [OUTCOME_SKIPPED] = TONE_FAINT,
    };
    return tones[o];
}

enum tone cell_tone(const struct cell *c)
{
    return c->worst ? outcome_tone(c->worst->outcome) : TONE_FAINT;
}
