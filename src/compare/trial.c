/* SPDX-License-Identifier: MIT */
/* What is kept of a trial. */
#include "benchctl/compare.h"

static const struct {
    const char *name, *label;
} figures[COMPARE_FIGURES] = {
    [COMPARE_GOODPUT] = {"load.goodput_rps", "goodput"},
    [COMPARE_P50] = {"load.latency_ms.p50", "latency p50"},
    [COMPARE_P99] = {"load.latency_ms.p99", "latency p99"},
    [COMPARE_MEMORY] = {"app.memory_bytes.used_peak", "memory peak"},
};

const char *compare_figure_name(enum compare_figure f)
{
    return figures[f].name;
}

const char *compare_figure_label(enum compare_figure f)
{
    return figures[f].label;
}

void compare_take(const struct trial *t, struct compare_trial *ret)
{
    bool counts = t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED;

    *ret = (struct compare_trial){.scenario = t->scenario, .trial = t->trial, .outcome = t->outcome};
    for (int f = 0; f < COMPARE_FIGURES; f++)
        ret->figures[f] = NAN;
    if (!counts)
        return;
    ret->figures[COMPARE_MEMORY] = t->app.memory_bytes.used_peak;
    if (!t->has_load)
        return;
    ret->figures[COMPARE_GOODPUT] = t->load.goodput_rps;
    ret->figures[COMPARE_P50] = t->load.latency_ms.p50;
    ret->figures[COMPARE_P99] = t->load.latency_ms.p99;
}

struct json *compare_trial_json(const struct compare_trial *t)
{
    struct json *j = json_new_object();

    json_set_text(j, "scenario", t->scenario);
    json_set_int(j, "trial", t->trial);
    json_set_text(j, "outcome", outcome_name(t->outcome));
    for (int f = 0; f < COMPARE_FIGURES; f++)
        json_set_number(j, figures[f].name, t->figures[f]);
    return j;
}

int compare_trial_read(const struct json *j, struct arena *a, struct compare_trial *ret, struct error *err)
{
    const char *scenario = json_get_text(j, "scenario"), *outcome = json_get_text(j, "outcome");
    struct compare_trial t = {.trial = (int)json_get_int(j, "trial")};

    if (!scenario || !outcome || outcome_parse(outcome, &t.outcome) < 0)
        return error_set(err, ERROR_INVALID, "a trial to compare with has no scenario or outcome");
    t.scenario = arena_strdup(a, scenario);
    for (int f = 0; f < COMPARE_FIGURES; f++)
        t.figures[f] = json_get_number(j, figures[f].name);
    *ret = t;
    return 0;
}
