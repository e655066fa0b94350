/* SPDX-License-Identifier: MIT */
/* One search against brute force: on every curve it ends at a pair of neighbours, within its bound. */
#include "fixture.h"
#include "search.h"

#include <stdlib.h>

#define OK (1u << OUTCOME_OK)

/* The outcome of candidate i's trial t on a curve of any form. */
typedef enum outcome curve_fn(const void *curve, int64_t i, int64_t t);

struct walk {
    int64_t probes, trials, last;
};

/* Runs it to its end. */
static struct walk walk(struct search *s, curve_fn *curve, const void *data)
{
    struct walk w = {.last = -1};
    int64_t bound = search_probes_left(s), trials = search_trials_left(s), candidate;

    while ((candidate = search_wants(s)) >= 0) {
        int64_t told = s->told, left = search_trials_left(s);
        assert_true(candidate < s->len && left > 0);
        assert_true(search_trials_expected(s) >= 1 && search_trials_expected(s) <= (double)left);
        search_tell(s, curve(data, candidate, told));
        w.trials++;
        w.probes += s->told == 0;
        w.last = candidate;
        assert_true(search_trials_left(s) < left);
        assert_true(search_probes_left(s) + w.probes <= bound);
    }
    assert_int_equal(w.probes, s->probes);
    assert_true(w.probes <= bound && w.trials <= trials);
    assert_int_equal(search_probes_left(s), 0);
    assert_int_equal(search_trials_left(s), 0);
    assert_true(search_trials_expected(s) == 0);
    return w;
}

static enum outcome from_threshold(const void *threshold, int64_t i, int64_t t)
{
    (void)t;
    return i >= *(const int64_t *)threshold ? OUTCOME_OK : OUTCOME_CRASHED;
}

static void the_smallest_of_every_length(void **state)
{
    (void)state;
    for (int64_t len = 1; len <= 70; len++) {
        for (int64_t threshold = 0; threshold <= len; threshold++) {
            struct search s;
            search_init(&s, len, 3, OK);
            struct walk w = walk(&s, from_threshold, &threshold);
            assert_int_equal(s.passes, threshold);
            if (threshold)
                assert_int_equal(s.fails, threshold - 1);
            else
                assert_int_equal(s.fails, -1);
            if (threshold == len)
                assert_int_equal(w.trials, 1); /* the largest is tried first, and one trial says it */
            if (threshold == 0)
                assert_true(w.probes <= 2);
        }
    }
}

/* Both ends, and as many halvings as the distance between them takes. */
static void the_bound(void **state)
{
    static const int64_t known[][2] = {{1, 1}, {2, 2},  {3, 3},  {4, 4},  {5, 4},
                                       {9, 5}, {61, 8}, {65, 8}, {66, 9}, {1024, 12}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        struct search s;
        search_init(&s, known[i][0], 2, OK);
        assert_int_equal(search_probes_left(&s), known[i][1]);
        assert_int_equal(search_trials_left(&s), 2 * known[i][1]);
        /* and no smaller one would do */
        int64_t most = 0;
        for (int64_t threshold = 0; threshold <= known[i][0]; threshold++) {
            search_init(&s, known[i][0], 2, OK);
            struct walk w = walk(&s, from_threshold, &threshold);
            most = w.probes > most ? w.probes : most;
        }
        assert_int_equal(most, known[i][1]);
    }
}

struct table {
    enum outcome outcomes[128][4];
    int64_t trials;
};

static enum outcome from_table(const void *data, int64_t i, int64_t t)
{
    const struct table *table = data;

    return table->outcomes[i][t];
}

static bool passes(const struct table *table, int64_t i)
{
    for (int64_t t = 0; t < table->trials; t++)
        if (table->outcomes[i][t] != OUTCOME_OK && table->outcomes[i][t] != OUTCOME_DEGRADED)
            return false;
    return true;
}

/* More is not always better: the answer is still a pair of neighbours, one that passes and one that does not.
 */
static void fickle_curves(void **state)
{
    (void)state;
    srandom(19);
    for (int n = 0; n < 20000; n++) {
        struct table table = {.trials = 1 + random() % 4};
        int64_t len = 1 + random() % 128;
        long bias = random() % 100;
        for (int64_t i = 0; i < len; i++) {
            for (int64_t t = 0; t < table.trials; t++)
                table.outcomes[i][t] =
                    random() % 100 < bias ? OUTCOME_OK : (enum outcome)(random() % OUTCOMES);
        }
        struct search s;
        search_init(&s, len, table.trials, OK | 1u << OUTCOME_DEGRADED);
        (void)walk(&s, from_table, &table);
        assert_int_equal(s.passes - s.fails, 1);
        assert_true(s.passes == len || passes(&table, s.passes));
        assert_true(s.fails < 0 || !passes(&table, s.fails));
        if (!passes(&table, len - 1))
            assert_int_equal(s.passes, len);
        else if (passes(&table, 0))
            assert_int_equal(s.passes, 0);
        if (s.fails >= 0)
            assert_int_equal(s.failed, table.outcomes[s.fails][s.failed_trial - 1]);
    }
}

/* At the first trial that does not pass the others are not run. */
static void one_trial_is_enough_to_fail(void **state)
{
    struct search s;

    (void)state;
    search_init(&s, 1, 5, OK);
    search_tell(&s, OUTCOME_OK);
    search_tell(&s, OUTCOME_OK);
    assert_int_equal(search_trials_left(&s), 3);
    assert_int_equal(search_wants(&s), 0);
    search_tell(&s, OUTCOME_NOT_READY);
    assert_int_equal(search_wants(&s), -1);
    assert_int_equal(s.failed_trial, 3);
    assert_int_equal(s.failed, OUTCOME_NOT_READY);
    assert_true(search_is_certain(&s));
}

/* What failed by the environment's fault is not held against the application, unless a better witness comes.
 */
static void what_makes_it_uncertain(void **state)
{
    static const enum outcome doubtful[] = {OUTCOME_ERROR, OUTCOME_INVALID, OUTCOME_SKIPPED};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(doubtful); i++) {
        struct search s;
        search_init(&s, 5, 1, OK);
        search_tell(&s, OUTCOME_OK);
        assert_true(search_is_certain(&s)); /* nothing failed yet */
        search_tell(&s, doubtful[i]);
        assert_false(search_is_certain(&s));
        struct search other = s;
        search_tell(&s, OUTCOME_CRASHED); /* a larger one failed by itself */
        assert_true(search_is_certain(&s));
        search_tell(&s, OUTCOME_OK);
        assert_true(search_wants(&s) < 0 && search_is_certain(&s));
        search_tell(&other, OUTCOME_OK);
        search_tell(&other, OUTCOME_OK);
        assert_true(search_wants(&other) < 0 && !search_is_certain(&other));
        assert_int_equal(other.passes, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_of_every_length),
        cmocka_unit_test(the_bound),
        cmocka_unit_test(fickle_curves),
        cmocka_unit_test(one_trial_is_enough_to_fail),
        cmocka_unit_test(what_makes_it_uncertain),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
