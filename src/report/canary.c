/* SPDX-License-Identifier: MIT */
/* The canary: what it measured through the sweep, and which trials it puts a mark at. Nothing without one. */
#include "report_internal.h"

#include <math.h>
#include <string.h>

#define DEFAULT_METRIC "load.goodput_rps"

static const struct json *planned_canary(const struct report *r)
{
    return json_get(r->sweep->plan, "canary");
}

static const char *metric_of(const struct report *r)
{
    const char *metric = json_get_text(planned_canary(r), "metric");

    return metric ? metric : DEFAULT_METRIC;
}

static double value_of(const struct trial *t, const char *metric)
{
    CLEANUP(json_free) struct json *j = trial_to_json(t);
    double value = NAN;

    return trial_number(j, metric, &value) == 0 && isfinite(value) ? value : NAN;
}

const struct validity_canary_facts *canary_facts(struct report *r)
{
    const struct sweep *s = r->sweep;
    size_t n = s->canary_count;

    if (!n)
        return NULL;
    struct validity_canary_facts *f = arena_new_of(r->arena, struct validity_canary_facts);
    const struct trial **trials = arena_array(r->arena, const struct trial *, n);
    double *values = arena_array(r->arena, double, n);
    const char *mode = json_get_text(json_get(s->info, "order"), "mode"), *metric = metric_of(r);
    double band = json_get_number(planned_canary(r), "band");
    for (size_t i = 0; i < n; i++) {
        trials[i] = &s->canaries[i];
        values[i] = value_of(trials[i], metric);
    }
    *f = (struct validity_canary_facts){
        .trials = trials,
        .values = values,
        .after = s->canary_after,
        .count = n,
        .trial_count = s->trial_count,
        .metric = metric,
        .band = band > 0 ? band : NAN,
        .interleaved = mode && strcmp(mode, "listed") != 0,
    };
    return f;
}

const struct validity_result *canary_mark(const struct report *r, const struct trial *t)
{
    const struct validity_canary *c = &r->verdict.canary;
    size_t at = (size_t)(t - r->sweep->trials);

    if (!c->marks || t < r->sweep->trials || at >= r->sweep->trial_count || !c->marks[at])
        return NULL;
    struct validity_result *v = arena_new_of(r->arena, struct validity_result);
    *v = (struct validity_result){
        .id = "host-drift", .verdict = "WARN", .check = "V13", .message = c->marks[at]};
    return v;
}

/* --- a line of its own --- */

static const char *number(struct report *r, double value)
{
    const struct figure f = {.unit = unit_of_name(metric_of(r), &(const char *){NULL})};
    char text[32];

    figure_format(&f, value, text);
    return arena_strdup(r->arena, text);
}

static const char *percent_of(struct report *r, double share)
{
    return arena_printf(r->arena, "%+.1f %%", 100 * share);
}

static const char *worst_text(struct report *r)
{
    const struct validity_canary *c = &r->verdict.canary;
    const struct trial *t = &r->sweep->canaries[c->worst_at];

    return arena_printf(r->arena, "; the farthest is %s: canary %d, after %zu trials%s%s",
                        percent_of(r, c->worst), t->trial, r->sweep->canary_after[c->worst_at],
                        t->started_at ? ", " : "", t->started_at ? t->started_at : "");
}

void list_canary(struct report *r)
{
    const struct validity_canary *c = &r->verdict.canary;
    const char *base = json_get_text(planned_canary(r), "scenario");
    int64_t every = json_get_int(planned_canary(r), "every");
    size_t n = r->sweep->canary_count;

    if (!n)
        return;
    struct section *s = section_new(r, "Canary");
    const char *head = arena_printf(r->arena, "%s%s%zu canar%s", base ? base : "", base ? ": " : "", n,
                                    n == 1 ? "y" : "ies");
    if (every > 0)
        head =
            arena_printf(r->arena, "%s, every %lld trial%s", head, (long long)every, plural((size_t)every));
    if (!c->measured)
        head = arena_printf(r->arena, "%s: none measured %s", head, metric_of(r));
    else
        head = arena_printf(r->arena, "%s: %s %s (%s to %s)%s", head, metric_of(r), number(r, c->median),
                            number(r, c->low), number(r, c->high), c->measured > 1 ? worst_text(r) : "");
    section_line(s, head);
    const char *spread =
        isnan(c->spread)
            ? ""
            : arena_printf(r->arena,
                           "; from one canary to the next it varies by %.1f %% (standard deviation)",
                           100 * c->spread);
    if (c->measured > 1)
        section_line(s, arena_printf(r->arena, "The band is %.1f %%%s. It is in no scenario's figures.",
                                     100 * c->band, spread));
    if (!c->marked)
        return;
    section_line(s, arena_printf(r->arena, "%zu of %zu trials are marked: V13 host-drift", c->marked,
                                 r->sweep->trial_count));
    s->lines.items[s->lines.len - 1].tone = TONE_WARN;
}

/* --- for other programs --- */

size_t cell_marked(const struct report *r, const struct cell *c)
{
    size_t n = 0;

    for (size_t k = 0; k < c->trial_count; k++)
        n += canary_mark(r, c->trials[k]) != NULL;
    return n;
}

/* A trial's record with the mark among what is to be believed of it. */
struct json *marked_trial_json(const struct report *r, const struct trial *t)
{
    const struct validity_result *mark = canary_mark(r, t);
    struct trial copy = *t;

    if (!mark)
        return trial_to_json(t);
    copy.validity = arena_array(r->arena, struct validity_result, t->validity_count + 1);
    if (t->validity_count)
        memcpy(copy.validity, t->validity, t->validity_count * sizeof(*copy.validity));
    copy.validity[copy.validity_count++] = *mark;
    return trial_to_json(&copy);
}

void canary_json(const struct report *r, struct json *out)
{
    const struct validity_canary *c = &r->verdict.canary;
    const struct sweep *s = r->sweep;
    struct json *j, *list;

    if (!s->canary_count)
        return;
    j = json_new_object();
    list = json_new_array();
    json_set_text(j, "scenario", json_get_text(planned_canary(r), "scenario"));
    json_set_text(j, "metric", metric_of(r));
    json_set_int(j, "measured", (int64_t)c->measured);
    json_set_int(j, "failed", (int64_t)c->failed);
    json_set_number(j, "median", c->median);
    json_set_number(j, "band", c->band);
    json_set_number(j, "spread", c->spread);
    json_set_number(j, "worst", c->worst);
    json_set_int(j, "marked", (int64_t)c->marked);
    for (size_t i = 0; i < s->canary_count; i++) {
        struct json *one = json_new_object();
        json_set_int(one, "after", (int64_t)s->canary_after[i]);
        json_set_number(one, "value", value_of(&s->canaries[i], metric_of(r)));
        json_set_bool(one, "good", c->good && c->good[i]);
        json_set(one, "trial", trial_to_json(&s->canaries[i]));
        json_append(list, one);
    }
    json_set(j, "canaries", list);
    json_set(out, "canary", j);
}
