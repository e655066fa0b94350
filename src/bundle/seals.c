/* SPDX-License-Identifier: MIT */
/* Which trials count, by the journal's records. */
#include <search.h>
#include "internal.h"

static int compare(const void *a, const void *b)
{
    const struct seal *x = a, *y = b;
    int r = strcmp(x->scenario, y->scenario);

    return r ? r : (x->trial > y->trial) - (x->trial < y->trial);
}

static void keep(void *seal)
{
    (void)seal;
}

void seals_release(struct seals *s)
{
    tdestroy(s->tree, keep);
    vec_each (seal, &s->order) {
        free((*seal)->scenario);
        free((*seal)->digest);
        free(*seal);
    }
    vec_release(&s->order);
    s->tree = NULL;
}

struct seal *seals_find(const struct seals *s, const char *scenario, int trial)
{
    CLEANUP_FREE char *copy = xstrdup(scenario);
    struct seal key = {.scenario = copy, .trial = trial}, **found = tfind(&key, &s->tree, compare);

    return found ? *found : NULL;
}

/* Says whether the two records are about the same result: an honest one is written only once. */
static void seal_again(struct seal *old, const char *sha256)
{
    if (!old->void_ && strcmp(old->sha256, sha256) != 0)
        old->conflict = true;
    old->void_ = old->begun_again = false;
    (void)snprintf(old->sha256, sizeof(old->sha256), "%s", sha256);
}

static void sealed(struct seals *s, const char *scenario, int trial, const struct json *record)
{
    const char *sha256 = json_get_text(record, "sha256"), *digest = json_get_text(record, "digest");
    struct seal *seal = seals_find(s, scenario, trial);

    if (!sha256 || strlen(sha256) != SHA256_HEX_SIZE - 1)
        return;
    if (seal) {
        seal_again(seal, sha256);
        free(seal->digest);
    } else {
        seal = xcalloc(1, sizeof(*seal));
        seal->scenario = xstrdup(scenario);
        seal->trial = trial;
        (void)snprintf(seal->sha256, sizeof(seal->sha256), "%s", sha256);
        if (!tsearch(seal, &s->tree, compare))
            abort(); /* out of memory */
        vec_push(&s->order, seal);
    }
    seal->digest = digest ? xstrdup(digest) : NULL;
    const char *outcome = json_get_text(record, "outcome");
    seal->has_outcome = outcome && outcome_parse(outcome, &seal->outcome) == 0;
    seal->order = ++s->count;
}

void seals_apply(const struct json *record, void *seals)
{
    struct seals *s = seals;
    const char *event = json_get_text(record, "event"), *scenario = json_get_text(record, "scenario");
    int64_t trial = json_get_int(record, "trial");

    if (text_equal(event, JOURNAL_END))
        s->complete = true;
    else if (text_equal(event, JOURNAL_BEGIN) || text_equal(event, JOURNAL_STOPPED))
        s->complete = false;
    if (!scenario || trial < 1 || trial > 1000000)
        return;
    if (text_equal(event, JOURNAL_TRIAL_SEALED)) {
        sealed(s, scenario, (int)trial, record);
    } else if (text_equal(event, JOURNAL_TRIAL_BEGUN)) {
        struct seal *seal = seals_find(s, scenario, (int)trial);
        if (seal) {
            seal->void_ = seal->begun_again = true;
            seal->conflict = false;
        }
    }
}
