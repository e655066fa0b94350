/* SPDX-License-Identifier: MIT */
/*
 * Can this sweep's workload tell its scenarios apart? Above all tables, because it says what they are worth:
 * when it cannot, what was probably measured instead, and every rule over the whole sweep that objects.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>

/* Of the machine that the containers ran on; NAN: not recorded. */
static double host_cores(const struct report *r)
{
    int64_t engine = json_get_int(json_get(r->sweep->info, "engine"), "cpus");
    int64_t host = json_get_int(json_get(r->sweep->info, "host"), "cpus");

    return engine > 0 ? (double)engine : host > 0 ? (double)host : NAN;
}

void report_discrimination(struct report *r)
{
    struct validity_arm *arms = arena_array(r->arena, struct validity_arm, r->cells.len + 1);
    size_t len = 0;

    for (size_t i = 0; i < r->cells.len; i++) {
        const struct cell *c = &r->cells.items[i];
        if (c->trial_count)
            arms[len++] = (struct validity_arm){c->scenario, c->trials, c->trial_count};
    }
    const struct validity_sweep_facts f = {.arms = arms,
                                           .count = len,
                                           .host_cores = host_cores(r),
                                           .canary = canary_facts(r),
                                           .controls = controls_facts(r)};
    validity_judge_sweep(&f, r->arena, &r->verdict);
}

static const char *verdict_text(struct report *r, const struct validity_result *v)
{
    return arena_printf(r->arena, "%s %s%s%s: %s", v->verdict, v->check ? v->check : "", v->check ? " " : "",
                        v->id, v->message);
}

void list_discrimination(struct report *r)
{
    const struct validity_sweep *v = &r->verdict;
    bool cannot = v->judged && !v->discriminates;
    struct section *s = NULL;
    size_t more = 0;

    if (cannot) {
        s = section_new(r, "What this sweep measured");
        s->alarm = true;
        vec_push(&s->lines, (struct line){v->words, NULL, TONE_BAD});
    }
    for (size_t i = 0; i < v->len; i++) {
        if (text_equal(v->results[i].verdict, "PASS"))
            continue;
        if (!s)
            s = section_new(r, "What this sweep measured");
        if (s->lines.len < LINES_MAX)
            vec_push(&s->lines,
                     (struct line){verdict_text(r, &v->results[i]), NULL,
                                   text_equal(v->results[i].verdict, "FAIL") ? TONE_BAD : TONE_WARN});
        else
            more++;
    }
    if (more)
        section_line(s, arena_printf(r->arena, "and %zu more, in the report as JSON", more));
}

static struct json *results_json(const struct validity_sweep *v)
{
    struct json *list = json_new_array();

    for (size_t i = 0; i < v->len; i++) {
        struct json *j = json_new_object();
        json_set_text(j, "check", v->results[i].check);
        json_set_text(j, "id", v->results[i].id);
        json_set_text(j, "verdict", v->results[i].verdict);
        json_set_text(j, "message", v->results[i].message);
        json_append(list, j);
    }
    return list;
}

void discrimination_json(const struct report *r, struct json *out)
{
    struct json *j = json_new_object();

    json_set_bool(j, "judged", r->verdict.judged);
    if (r->verdict.judged)
        json_set_bool(j, "discriminates", r->verdict.discriminates);
    else
        json_set(j, "discriminates", json_new_null());
    json_set_text(j, "words", r->verdict.words);
    json_set(out, "discrimination", j);
    json_set(out, "validity_of_sweep", results_json(&r->verdict));
}
