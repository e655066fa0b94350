/* SPDX-License-Identifier: MIT */
/*
 * Why a limit was not enough. Only what memory explains is a cliff of memory: a kill by the kernel, a heap
 * that was exhausted, an application that never came up with this much and did with more. Everything else is
 * told beside it, so that nobody buys memory for want of connections.
 */
#include "memory_curve.h"
#include "timeline.h"

#include <string.h>

/* Findings in an application's own log that are of memory (docs/outcomes.md). */
static const char *const memory_findings[] = {
    "oom-child", "java-heap", "java-metaspace", "java-direct-memory", "java-native-memory",
    "node-heap", "go-memory", "python-memory",  "dotnet-memory",      "allocation-failed",
};
/* Those that tell of another want. */
static const char *const other_findings[] = {"connection-limit",   "pool-exhausted", "file-descriptors",
                                             "java-native-thread", "jvm-crash",      "go-panic"};
/* Causes of death that are, whole or in part. */
static const char *const memory_causes[] = {"oom", "java heap exhausted"};

static const char *memory_of_exits(const struct trial *t)
{
    for (size_t i = 0; i < t->app.exit_count; i++) {
        const char *cause = t->app.exits[i].cause;
        for (size_t k = 0; cause && k < ARRAY_LEN(memory_causes); k++)
            if (strcmp(cause, memory_causes[k]) == 0)
                return memory_causes[k];
        if (cause && text_ends(cause, "after the oom kill of a child"))
            return cause;
        if (t->app.exits[i].oom)
            return "oom";
    }
    return NULL;
}

/* NULL: nothing of memory in its record. */
static const char *memory_sign(const struct trial *t)
{
    const char *exit = memory_of_exits(t);

    if (exit || t->app.oom_kills > 0)
        return exit ? exit : "oom kills";
    for (size_t i = 0; i < ARRAY_LEN(memory_findings); i++)
        if (trial_finding_of(t, memory_findings[i], &t->app))
            return memory_findings[i];
    return NULL;
}

/* What else explains it; NULL: nothing does. */
static const char *other_sign(const struct trial *t)
{
    for (size_t i = 0; i < t->finding_count; i++) {
        if (finding_of_surroundings(&t->findings[i]))
            return t->findings[i].id;
        for (size_t k = 0; k < ARRAY_LEN(other_findings); k++)
            if (text_equal(t->findings[i].id, other_findings[k]))
                return other_findings[k];
    }
    for (size_t i = 0; i < t->app.exit_count; i++)
        if (!exit_is_ours(&t->app.exits[i]))
            return t->app.exits[i].cause;
    return NULL;
}

static bool failed_there(const struct memory_curves *m, const struct trial *t)
{
    return !m->passes[t->outcome] && (t->outcome == OUTCOME_DEGRADED || t->outcome == OUTCOME_CRASHED ||
                                      t->outcome == OUTCOME_NOT_READY);
}

/* Not one trial of this limit became ready, though nothing else explains it. */
static bool never_up(const struct curve_point *p)
{
    for (size_t i = 0; i < p->cell->trial_count; i++) {
        enum outcome o = p->cell->trials[i]->outcome;
        if (o == OUTCOME_OK || o == OUTCOME_DEGRADED || o == OUTCOME_CRASHED)
            return false;
        if (o == OUTCOME_NOT_READY && other_sign(p->cell->trials[i]))
            return false;
    }
    return true;
}

const char *memory_cause(const struct report *r, const struct memory_curves *m, const struct curve *c,
                         size_t point)
{
    const struct curve_point *p = &c->points[point];
    const struct trial *other = NULL, *any = NULL;

    if (p->ok == p->decided)
        return NULL;
    for (size_t i = 0; i < p->cell->trial_count; i++) {
        const struct trial *t = p->cell->trials[i];
        if (!failed_there(m, t))
            continue;
        const char *sign = memory_sign(t);
        if (sign)
            return arena_printf(r->arena, "memory: %s", sign);
        if (!other && other_sign(t))
            other = t;
        if (!any || trial_worse(t, any))
            any = t;
    }
    if (other)
        return arena_printf(r->arena, "not memory: %s", other_sign(other));
    if (never_up(p) && c->viable < c->len && point < c->viable)
        return "memory: never ready with this much, ok with more";
    return any ? arena_printf(r->arena, "no sign of memory: %s",
                              any->reason ? any->reason : "no reason was recorded")
               : NULL;
}

bool cause_is_memory(const char *cause)
{
    return !cause || text_starts(cause, "memory: ");
}
