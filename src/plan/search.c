/* SPDX-License-Identifier: MIT */
#include "search.h"

#include <assert.h>

void search_init(struct search *s, int64_t len, int64_t trials, unsigned until)
{
    assert(len > 0 && trials > 0);
    *s = (struct search){.len = len, .fails = -1, .passes = len, .trials = trials, .until = until};
}

int64_t search_wants(const struct search *s)
{
    if (s->passes - s->fails <= 1)
        return -1;
    if (s->passes == s->len)
        return s->len - 1;
    if (s->fails < 0)
        return 0;
    return s->fails + (s->passes - s->fails) / 2;
}

void search_tell(struct search *s, enum outcome o)
{
    int64_t candidate = search_wants(s);

    assert(candidate >= 0);
    s->told++;
    if (!(s->until >> o & 1)) {
        s->fails = candidate;
        s->failed = o;
        s->failed_trial = (int)s->told;
    } else if (s->told < s->trials) {
        return;
    } else {
        s->passes = candidate;
    }
    s->told = 0;
    s->probes++;
}

/* How often a distance can be halved until it is one. */
static int64_t halvings(int64_t distance)
{
    int64_t n = 0;

    for (; distance > 1; distance = (distance + 1) / 2)
        n++;
    return n;
}

/* Those in the middle, once both ends have been tried. */
static int64_t middle_left(const struct search *s)
{
    int64_t passes = s->passes < s->len ? s->passes : s->len - 1, fails = s->fails < 0 ? 0 : s->fails;

    return halvings(passes - fails);
}

/* The first candidate is also the last one of a grid of one. */
static bool first_to_come(const struct search *s)
{
    return s->fails < 0 && s->passes > 0 && s->len > 1;
}

int64_t search_probes_left(const struct search *s)
{
    if (search_wants(s) < 0)
        return 0;
    return (s->passes == s->len) + first_to_come(s) + middle_left(s);
}

int64_t search_trials_left(const struct search *s)
{
    return search_probes_left(s) * s->trials - s->told;
}

/* The last candidate passes as a rule, the first fails at once, of the others one half each. */
double search_trials_expected(const struct search *s)
{
    double all = (double)s->trials, expected;

    if (search_wants(s) < 0)
        return 0;
    expected = (s->passes == s->len ? all : 0) + (first_to_come(s) ? 1 : 0) +
               (double)middle_left(s) * (all + 1) / 2 - (double)s->told;
    return expected > 1 ? expected : 1;
}

bool search_is_certain(const struct search *s)
{
    return s->fails < 0 ||
           (s->failed != OUTCOME_ERROR && s->failed != OUTCOME_INVALID && s->failed != OUTCOME_SKIPPED);
}
