/* SPDX-License-Identifier: MIT */
/* Asks every rule of the table about one trial. */
#include "trial_rules.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/strbuf.h"

#define MESSAGE_SIZE 512

struct judgement {
    struct arena *arena;
    const char *check, *id; /* of the rule that is asked */
    VEC(struct validity_result) results;
};

void validity_facts_init(struct validity_facts *f, const struct trial *t)
{
    *f = (struct validity_facts){
        .trial = t,
        .app_cores = NAN,
        .database_cores = NAN,
        .generator_cores = NAN,
        .host_cores = NAN,
        .pool_pending = NAN,
        .commits_per_request = NAN,
        .metrics_known = NAN,
        .load1_before = NAN,
        .load1_allowed = NAN,
        .suspended_s = NAN,
        .suspended_in_window_s = NAN,
        .clock_step_s = NAN,
    };
}

void say(struct judgement *j, enum verdict v, const char *fmt, ...)
{
    static const char *const verdicts[] = {[PASS] = "PASS", [WARN] = "WARN", [FAIL] = "FAIL"};
    char text[MESSAGE_SIZE];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vec_push(&j->results, (struct validity_result){
                              .id = j->id,
                              .verdict = verdicts[v],
                              .message = arena_strdup(j->arena, text),
                              .check = j->check,
                          });
}

int ms_decimals(double ms)
{
    return ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0;
}

const char *s_of(double count)
{
    return count == 1 ? "" : "s";
}

bool is_amount(double x)
{
    return isfinite(x) && x >= 0;
}

const struct validity_rule *validity_rule_find(const char *id)
{
    for (size_t i = 0; i < validity_rule_count; i++)
        if (text_equal(validity_rules[i].id, id))
            return &validity_rules[i];
    return NULL;
}

/* What somebody else has said under this id; how much of it there was. */
static size_t repeat_said(const struct validity_facts *f, const char *id, struct judgement *j)
{
    size_t n = 0;

    for (size_t i = 0; i < f->said_count; i++) {
        const struct validity_said *s = &f->said[i];
        if (!text_equal(s->id, id))
            continue;
        vec_push(&j->results, (struct validity_result){
                                  .id = arena_strdup(j->arena, s->id),
                                  .verdict = arena_strdup(j->arena, s->verdict),
                                  .message = arena_strdup(j->arena, s->message),
                                  .check = j->check,
                              });
        n++;
    }
    return n;
}

static bool is_first_of_its_id(const struct validity_facts *f, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (text_equal(f->said[i].id, f->said[at].id))
            return false;
    return true;
}

void validity_judge_trial(const struct validity_facts *f, struct arena *a, struct validity_result **ret,
                          size_t *ret_len)
{
    struct judgement j = {.arena = a};

    for (size_t i = 0; i < validity_rule_count; i++) {
        const struct validity_rule *r = &validity_rules[i];
        j.check = r->check;
        j.id = r->id;
        if (r->scope == VALIDITY_OF_TRIAL && !repeat_said(f, r->id, &j) && r->judge)
            r->judge(f, &j);
    }
    j.check = NULL;
    for (size_t i = 0; i < f->said_count; i++)
        if (!validity_rule_find(f->said[i].id) && is_first_of_its_id(f, i))
            (void)repeat_said(f, f->said[i].id, &j);
    *ret = arena_array(a, struct validity_result, j.results.len + 1);
    if (j.results.len)
        memcpy(*ret, j.results.items, j.results.len * sizeof(**ret));
    *ret_len = j.results.len;
    vec_release(&j.results);
}
