/* SPDX-License-Identifier: MIT */
#include "benchctl/trial.h"

#include "fields.h"

static const char *const OUTCOME_NAMES[OUTCOMES] = {"ok",      "degraded", "crashed", "not-ready",
                                                    "invalid", "error",    "skipped"};

const char *outcome_name(enum outcome o)
{
    return OUTCOME_NAMES[o];
}

int outcome_parse(const char *text, enum outcome *ret)
{
    for (int i = 0; i < OUTCOMES; i++) {
        if (text_equal(text, OUTCOME_NAMES[i])) {
            *ret = (enum outcome)i;
            return 0;
        }
    }
    return -1;
}

void trial_init(struct trial *t)
{
    *t = (struct trial){.app = {.role = "app"}};
    record_init(&trial_record, t);
}

void load_result_init(struct load_result *r)
{
    *r = (struct load_result){0};
    record_init(&load_record, r);
}

void container_result_init(struct container_result *c, const char *role)
{
    *c = (struct container_result){.role = role};
    record_init(&container_record, c);
}

struct json *trial_to_json(const struct trial *t)
{
    return record_to_json(&trial_record, t);
}

struct json *load_result_to_json(const struct load_result *r)
{
    return record_to_json(&load_record, r);
}

int trial_from_json(const struct json *j, struct arena *a, struct trial *ret, struct error *err)
{
    struct trial t;

    trial_init(&t);
    if (record_from_json(&trial_record, j, a, &t, err) < 0)
        return error_wrap(err, "not a trial's record");
    if (!t.scenario || !*t.scenario || t.trial < 1 || !json_get_text(j, "outcome"))
        return error_set(err, ERROR_INVALID,
                         "not a trial's record: 'scenario', 'trial' and 'outcome' are needed");
    *ret = t;
    return 0;
}
