/* SPDX-License-Identifier: MIT */
/*
 * The parts of each trial's load, as its generator gave them: phases and kinds of request. Which there are,
 * when they were, and how long they were planned to last; their figures are read later.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/units.h"

enum { NAMES_MAX = 32, ITEMS_MAX = 64 };

static void know_name(struct report *r, enum part_kind kind, const char *name)
{
    struct part_names *all = &r->part_names[kind];
    bool new;

    if (all->items.len >= NAMES_MAX) {
        r->dropped += !name_index_get(&all->index, name);
        return;
    }
    (void)name_index_put(&all->index, name, all->items.len, &new);
    if (new)
        vec_push(&all->items, (struct part_name){name, SIZE_MAX});
}

/* --- the plan --- */

static void index_plan(struct report *r)
{
    const struct json *scenarios = json_get(r->sweep->plan, "scenarios");
    bool new;

    for (size_t i = 0; i < json_len(scenarios); i++) {
        const char *id = json_get_text(json_at(scenarios, i), "id");
        if (id)
            (void)name_index_put(&r->plan, id, i, &new);
    }
}

const struct json *planned_settings(const struct report *r, const char *scenario)
{
    const size_t *at = name_index_get(&r->plan, scenario);

    return json_get(at ? json_at(json_get(r->sweep->plan, "scenarios"), *at) : NULL, "settings");
}

const struct json *planned_load(const struct report *r, const char *scenario)
{
    return json_get(planned_settings(r, scenario), "load");
}

static double duration_ms_of(const struct json *o)
{
    const char *text = json_get_text(o, "duration");
    struct error ignored = ERROR_INIT;
    int64_t ns;

    return text && duration_parse(text, &ns, &ignored) == 0 ? (double)ns / 1e6 : (double)NAN;
}

static double stages_ms(const struct json *stages)
{
    double sum = json_len(stages) ? 0 : (double)NAN;

    for (size_t i = 0; i < json_len(stages) && i < ITEMS_MAX; i++)
        sum += duration_ms_of(json_at(stages, i));
    return sum;
}

/* How long a phase of VUs was to last, by the matrix; one of iterations has no such time. */
static double planned_by_matrix(const struct json *load, const char *name, size_t phases)
{
    const struct json *list = json_get(load, "phases");

    if (!json_len(list))
        return phases == 1 && !json_get(load, "iterations") ? duration_ms_of(load) : (double)NAN;
    for (size_t i = 0; i < json_len(list) && i < ITEMS_MAX; i++) {
        const struct json *p = json_at(list, i);
        if (text_equal(json_get_text(p, "name"), name))
            return json_get(p, "stages") ? stages_ms(json_get(p, "stages")) : duration_ms_of(p);
    }
    return NAN;
}

/* --- one trial --- */

static void read_part(struct report *r, struct load_part *ret, const struct json *j, double planned_ms)
{
    const char *name = json_get_text(j, "name"), *model = json_get_text(j, "model");
    double rate = json_get_number(json_get(j, "rates"), "offered");

    ret->name = arena_strdup(r->arena, name ? name : "?");
    ret->model = model ? arena_strdup(r->arena, model) : NULL;
    ret->warmup = json_get_bool(j, "warmup");
    ret->begin_ms = json_get_number(j, "begin_ms");
    ret->duration_ms = json_get_number(j, "duration_ms");
    ret->planned_ms = rate > 0 ? 1e3 * json_get_number(j, "planned") / rate : planned_ms;
}

static void read_parts(struct report *r, size_t trial, enum part_kind kind, const struct json *list)
{
    const struct json *load = planned_load(r, r->sweep->trials[trial].scenario);
    struct trial_parts *p = &r->parts[trial];
    size_t n = json_len(list) < ITEMS_MAX ? json_len(list) : ITEMS_MAX;

    p->items[kind] = arena_array(r->arena, struct load_part, n + 1);
    p->count[kind] = n;
    for (size_t i = 0; i < n; i++) {
        read_part(r, &p->items[kind][i], json_at(list, i),
                  planned_by_matrix(load, json_get_text(json_at(list, i), "name"), n));
        know_name(r, kind, p->items[kind][i].name);
    }
}

/* From the first phase's begin to the end of the last, as it was and as it was planned. Warm-up is no part
 * of it. */
static void measure(struct trial_parts *p, const struct json *list)
{
    double begin = INFINITY, end = 0, planned_end = 0, planned = 0;
    bool open = true;

    for (size_t i = 0; i < p->count[PART_PHASE]; i++) {
        const struct load_part *part = &p->items[PART_PHASE][i];
        if (part->warmup || !(part->duration_ms > 0))
            continue;
        begin = fmin(begin, part->begin_ms);
        end = fmax(end, part->begin_ms + part->duration_ms);
        if (isnan(part->begin_ms) || isnan(part->planned_ms))
            planned_end = NAN;
        else if (part->begin_ms + part->planned_ms > planned_end)
            planned_end = part->begin_ms + part->planned_ms;
        open = open && text_equal(part->model, "open");
        planned += json_get_number(json_at(list, i), "planned");
    }
    if (!isfinite(begin) || !(planned_end > begin))
        return;
    p->planned_ms = planned_end - begin;
    p->drain_ms = fmax(0, end - planned_end);
    p->offered_rps = open ? 1e3 * planned / p->planned_ms : (double)NAN;
}

static void read_trial(struct report *r, size_t trial)
{
    const struct load_result *l = &r->sweep->trials[trial].load;
    const char *const texts[PART_KINDS] = {[PART_PHASE] = l->phases, [PART_REQUEST] = l->by_request};
    struct error ignored = ERROR_INIT;

    r->parts[trial].offered_rps = r->parts[trial].planned_ms = r->parts[trial].drain_ms = NAN;
    for (int kind = 0; kind < PART_KINDS && r->sweep->trials[trial].has_load; kind++) {
        CLEANUP(json_free) struct json *list = NULL;
        if (!texts[kind] || json_parse(texts[kind], strlen(texts[kind]), "parts", &list, &ignored) < 0 ||
            json_type_of(list) != JSON_TYPE_ARRAY)
            continue;
        read_parts(r, trial, (enum part_kind)kind, list);
        if (kind == PART_PHASE)
            measure(&r->parts[trial], list);
    }
    if (!r->parts[trial].count[PART_PHASE] && text_equal(l->model, "open") && l->offered > 0)
        r->parts[trial].offered_rps =
            1e3 * l->offered / duration_ms_of(planned_load(r, r->sweep->trials[trial].scenario));
}

void report_parts(struct report *r)
{
    r->parts = arena_array(r->arena, struct trial_parts, r->sweep->trial_count + 1);
    index_plan(r);
    for (size_t t = 0; t < r->sweep->trial_count; t++)
        read_trial(r, t);
}

void parts_release(struct report *r)
{
    for (int kind = 0; kind < PART_KINDS; kind++) {
        name_index_release(&r->part_names[kind].index);
        vec_release(&r->part_names[kind].items);
    }
    name_index_release(&r->plan);
}
