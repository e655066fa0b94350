/* SPDX-License-Identifier: MIT */
/* V14, V15, V20 and V23: were the scenarios under the same conditions? */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/name_index.h"

#define FAILURES_DIFFER 0.001 /* shares: 0.1 percentage points */
#define METRICS_MAX 20        /* that are told of by name */

/* --- V14, V15, V23 --- */

static void failures_comparable(struct sweep_judge *j)
{
    const struct arm *least = NULL, *most = NULL;
    size_t known = 0;

    for (size_t i = 0; i < j->len; i++) {
        const struct arm *a = &j->arms[i];
        if (isnan(a->error_rate))
            continue;
        known++;
        if (!least || a->error_rate < least->error_rate)
            least = a;
        if (!most || a->error_rate > most->error_rate)
            most = a;
    }
    if (known < 2)
        return;
    if (most->error_rate - least->error_rate > FAILURES_DIFFER)
        sweep_say(
            j, "failures-comparable", "WARN",
            "from %s (%s) to %s (%s) of the requests failed: latency is of those that were answered, and "
            "throughput of different work",
            percent(j->arena, least->error_rate), least->scenario, percent(j->arena, most->error_rate),
            most->scenario);
    else
        sweep_say(j, "failures-comparable", "PASS", "%s %% of the requests failed",
                  from_to(j->arena, 100 * least->error_rate, 100 * most->error_rate));
}

static void crash_contamination(struct sweep_judge *j)
{
    struct names_list names = {0};

    for (size_t i = 0; i < j->len; i++)
        if (j->arms[i].out)
            names_add(&names, arena_printf(j->arena, "%s (%s trials)", j->arms[i].scenario, j->arms[i].out));
    size_t out = names.len;
    if (out)
        sweep_say(
            j, "out-of-comparison", "WARN",
            "%zu of %zu scenarios crashed, restarted or were OOM-killed and are out of the comparison of "
            "speeds: %s",
            out, j->len, names_text(&names, j->arena));
    else if (j->len)
        sweep_say(j, "out-of-comparison", "PASS", "no scenario crashed or restarted");
}

static void models_mixed(struct sweep_judge *j)
{
    const char *first = NULL, *other = NULL;
    bool mixed = false;

    for (size_t i = 0; i < j->len; i++) {
        const char *model = j->arms[i].model;
        if (!model)
            continue;
        mixed |= text_equal(model, "mixed");
        if (!first)
            first = model;
        else if (!other && !text_equal(model, first))
            other = model;
    }
    if (!first)
        return;
    if (other)
        sweep_say(j, "models-mixed", "WARN",
                  "loads of different models stand in one table: %s and %s; their latencies mean different "
                  "things",
                  first, other);
    else if (mixed)
        sweep_say(j, "models-mixed", "WARN",
                  "every load has open and closed phases: its figures as a whole are of neither, look at the "
                  "phases");
    else
        sweep_say(j, "models-mixed", "PASS", "all loads were %s", first);
}

void judge_sameness(struct sweep_judge *j)
{
    failures_comparable(j);
    crash_contamination(j);
    models_mixed(j);
}

/* --- V20 --- */

struct metric_seen {
    const char *name;
    size_t arms, last; /* last: the arm that was counted last, from 1 */
};

static bool measured(const struct metric_value *m)
{
    return !isnan(m->avg) || !isnan(m->max) || !isnan(m->last) || !isnan(m->increase);
}

static bool arm_has(const struct arm *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < a->counted[i]->metric_count; k++)
            if (measured(&a->counted[i]->metrics[k]) && text_equal(a->counted[i]->metrics[k].name, name))
                return true;
    return false;
}

/* Metrics that the same scenarios lack. */
struct metrics_lacking {
    const char *where; /* which scenarios, in words */
    size_t arms;       /* that have them */
    struct names_list metrics;
};
struct lacking {
    VEC(struct metrics_lacking) items;
};

static void add_missing(struct sweep_judge *j, struct lacking *all, const struct metric_seen *m)
{
    struct names_list names = {0};

    for (size_t i = 0; i < j->len; i++)
        if (j->arms[i].n && !arm_has(&j->arms[i], m->name))
            names_add(&names, j->arms[i].scenario);
    const char *where = names_text(&names, j->arena);
    const char *quoted = arena_printf(j->arena, "'%s'", m->name);
    vec_each (l, &all->items)
        if (l->arms == m->arms && text_equal(l->where, where)) {
            names_add(&l->metrics, quoted);
            return;
        }
    struct metrics_lacking new = {.where = where, .arms = m->arms};
    names_add(&new.metrics, quoted);
    vec_push(&all->items, new);
}

static void say_missing(struct sweep_judge *j, struct metrics_lacking *l, size_t arms)
{
    const char *were = l->metrics.len == 1 ? "was" : "were";

    sweep_say(j, "metrics-everywhere", "WARN", "%s %s measured in %zu of %zu scenarios: absent, not 0, in %s",
              names_text(&l->metrics, j->arena), were, l->arms, arms, l->where);
}

void judge_metrics(struct sweep_judge *j)
{
    struct name_index index = NAME_INDEX_INIT;
    VEC(struct metric_seen) seen = {0};
    struct lacking lacking = {0};
    size_t arms = 0, missing = 0;

    for (size_t i = 0; i < j->len; i++) {
        const struct arm *a = &j->arms[i];
        arms += a->n > 0;
        for (size_t t = 0; t < a->n; t++)
            for (size_t k = 0; k < a->counted[t]->metric_count; k++) {
                const struct metric_value *m = &a->counted[t]->metrics[k];
                bool new;
                if (!measured(m) || !m->name)
                    continue;
                size_t at = *name_index_put(&index, m->name, seen.len, &new);
                if (new)
                    vec_push(&seen, (struct metric_seen){.name = m->name});
                seen.items[at].arms += seen.items[at].last != i + 1;
                seen.items[at].last = i + 1;
            }
    }
    vec_each (m, &seen)
        if (m->arms != arms && missing++ < METRICS_MAX)
            add_missing(j, &lacking, m);
    vec_each (l, &lacking.items)
        say_missing(j, l, arms);
    if (missing > METRICS_MAX)
        sweep_say(j, "metrics-everywhere", "WARN", "and %zu more metrics are not in every scenario",
                  missing - METRICS_MAX);
    vec_release(&lacking.items);
    if (seen.len && !missing)
        sweep_say(j, "metrics-everywhere", "PASS", "%zu metrics were measured in all %zu scenarios", seen.len,
                  arms);
    vec_release(&seen);
    name_index_release(&index);
}
