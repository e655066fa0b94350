/* SPDX-License-Identifier: MIT */
/* What the canary says of the host: bands, trends, failures, and which trials are marked. */
#include "benchctl/base/strbuf.h"
#include "benchctl/validity.h"
#include "unit/check.h"

#define CANARIES_MAX 64

struct flock {
    struct arena *arena;
    struct trial trials[CANARIES_MAX];
    const struct trial *pointers[CANARIES_MAX];
    double values[CANARIES_MAX];
    size_t after[CANARIES_MAX];
    struct validity_canary_facts facts;
    struct validity_sweep verdict;
};

static void flock_release(struct flock *f)
{
    arena_free(f->arena);
}

/* One every `every` trials; a value of 0 is one that crashed, of -1 one that was skipped. */
static void fly(struct flock *f, size_t every, double band, size_t count, const double *values)
{
    f->arena = arena_new();
    for (size_t i = 0; i < count; i++) {
        trial_init(&f->trials[i]);
        f->trials[i].trial = (int)i + 1;
        f->trials[i].outcome = values[i] > 0    ? OUTCOME_OK
                               : values[i] == 0 ? OUTCOME_CRASHED
                                                : OUTCOME_SKIPPED;
        f->pointers[i] = &f->trials[i];
        f->values[i] = values[i] > 0 ? values[i] : NAN;
        f->after[i] = i * every;
    }
    f->facts = (struct validity_canary_facts){
        .trials = f->pointers,
        .values = f->values,
        .after = f->after,
        .count = count,
        .trial_count = count ? (count - 1) * every : 0,
        .metric = "load.goodput_rps",
        .band = band,
        .interleaved = true,
    };
    validity_judge_sweep(&(struct validity_sweep_facts){.canary = &f->facts}, f->arena, &f->verdict);
}

static const struct validity_result *said(const struct flock *f, const char *id)
{
    for (size_t i = 0; i < f->verdict.len; i++)
        if (strcmp(f->verdict.results[i].id, id) == 0)
            return &f->verdict.results[i];
    return NULL;
}

static const char *verdict(const struct flock *f, const char *id)
{
    return said(f, id) ? said(f, id)->verdict : "nothing";
}

/* "..XX.." */
static const char *marks(struct flock *f)
{
    char *text = arena_strdup(f->arena, "................................................................");

    assert_true(f->facts.trial_count < CANARIES_MAX);
    text[f->facts.trial_count] = '\0';
    for (size_t i = 0; i < f->facts.trial_count; i++)
        text[i] = f->verdict.canary.marks[i] ? 'X' : '.';
    return text;
}

#define FLY(name, every, band, ...)                                                                          \
    CLEANUP_VALUE(flock_release) struct flock name;                                                          \
    static const double name##_values[] = {__VA_ARGS__};                                                     \
    fly(&name, every, band, ARRAY_LEN(name##_values), name##_values)

static void a_steady_host_is_said_to_be_one(void **state)
{
    (void)state;
    FLY(f, 3, 0.05, 1000, 1010, 990, 1005, 995, 1002);
    assert_string_equal(verdict(&f, "host-drift"), "PASS");
    assert_string_equal(verdict(&f, "host-trend"), "PASS");
    assert_string_equal(verdict(&f, "canary-failed"), "nothing");
    assert_string_equal(verdict(&f, "canary-band"), "nothing");
    assert_string_equal(marks(&f), "...............");
    assert_int_equal(f.verdict.canary.measured, 6);
}

static void neighbours_up_to_the_good_ones_are_marked(void **state)
{
    (void)state;
    FLY(one, 3, 0.05, 1000, 1010, 800, 1005, 995, 1002);
    assert_string_equal(verdict(&one, "host-drift"), "WARN");
    assert_string_equal(marks(&one), "...XXXXXX......");
    assert_has(said(&one, "host-drift")->message, "canary 3 (after 6 trials) -20");
    assert_has(said(&one, "host-drift")->message, "6 of 15 trials");
    assert_has(one.verdict.canary.marks[3], "canary 3");
    assert_int_equal(one.verdict.canary.worst_at, 2);
    FLY(two, 2, 0.05, 1000, 1010, 800, 790, 995, 1002);
    assert_string_equal(marks(&two), "..XXXXXX..");
    assert_has(two.verdict.canary.marks[2], "canary 3"); /* the nearest speaks */
    assert_has(two.verdict.canary.marks[7], "canary 4");
    FLY(first, 2, 0.05, 700, 1010, 1000, 1005, 995, 1002);
    assert_string_equal(marks(&first), "XX........");
    FLY(last, 2, 0.05, 1000, 1010, 1000, 1005, 995, 1302);
    assert_string_equal(marks(&last), "........XX");
}

static void three_are_enough_to_find_one(void **state)
{
    (void)state;
    FLY(f, 2, NAN, 1000, 600, 1010);
    assert_string_equal(verdict(&f, "host-drift"), "WARN");
    assert_true(f.verdict.canary.good[0] && !f.verdict.canary.good[1] && f.verdict.canary.good[2]);
    FLY(alike, 2, NAN, 1000, 1100, 1010); /* as far as two starts of one program differ */
    assert_string_equal(verdict(&alike, "host-drift"), "PASS");
    FLY(pair, 4, NAN, 1000, 600);
    assert_string_equal(verdict(&pair, "host-drift"), "WARN");
    assert_string_equal(marks(&pair), "XXXX");
    FLY(one, 4, NAN, 1000);
    assert_string_equal(verdict(&one, "host-drift"), "nothing");
    FLY(none, 4, NAN, -1, -1);
    assert_string_equal(verdict(&none, "host-drift"), "nothing");
    assert_string_equal(verdict(&none, "canary-failed"), "nothing");
}

/* On a noisy machine a band of 5 % would mark everything: its own spread is said and taken. */
static void a_band_follows_the_noise(void **state)
{
    (void)state;
    FLY(asked, 1, 0.05, 1000, 1200, 950, 1130, 870, 1060, 900, 1180, 1010, 860);
    assert_string_equal(verdict(&asked, "canary-band"), "WARN");
    assert_string_equal(verdict(&asked, "host-drift"), "PASS");
    FLY(own, 1, NAN, 1000, 1200, 950, 1130, 870, 1060, 900, 1180, 1010, 860);
    assert_string_equal(verdict(&own, "canary-band"), "nothing");
    assert_string_equal(verdict(&own, "host-drift"), "PASS");
    assert_true(own.verdict.canary.band > 0.3);
    FLY(quiet, 1, NAN, 1000, 1001, 1002, 1000, 999, 1001, 1070); /* never below 5 % */
    assert_string_equal(verdict(&quiet, "host-drift"), "WARN");
    assert_true(quiet.verdict.canary.band == 0.05);
}

static void a_step_is_no_spread(void **state)
{
    (void)state;
    FLY(f, 1, NAN, 1000, 1005, 998, 1003, 1001, 600, 604, 598, 601);
    assert_string_equal(verdict(&f, "host-drift"), "WARN");
    assert_string_equal(marks(&f), "....XXXX");
}

static void a_trend_is_more_than_chance(void **state)
{
    (void)state;
    FLY(down, 2, 0.5, 1000, 985, 972, 955, 941, 930, 915, 900);
    assert_string_equal(verdict(&down, "host-trend"), "WARN");
    assert_has(said(&down, "host-trend")->message, "over the sweep: rounds");
    assert_has(said(&down, "host-trend")->message, "rounds spread it");
    FLY(little, 2, 0.5, 1000, 999, 998, 997, 996, 995); /* real, and does not matter */
    assert_string_equal(verdict(&little, "host-trend"), "PASS");
    FLY(noise, 2, 0.5, 1000, 900, 1100, 950, 1080, 930, 1020);
    assert_string_equal(verdict(&noise, "host-trend"), "PASS");
    FLY(few, 2, 0.5, 1000, 900, 800, 700);
    assert_string_equal(verdict(&few, "host-trend"), "nothing");
}

static void a_canary_that_dies_is_a_sign(void **state)
{
    (void)state;
    FLY(f, 2, 0.05, 1000, 1010, 0, 1005, 995);
    assert_string_equal(verdict(&f, "canary-failed"), "WARN");
    assert_has(said(&f, "canary-failed")->message, "1 of 5 canaries failed");
    assert_has(said(&f, "canary-failed")->message, "crashed");
    assert_string_equal(marks(&f), "..XXXX..");
    FLY(skipped, 2, 0.05, 1000, 1010, -1, 1005, 995);
    assert_string_equal(marks(&skipped), "........");
    FLY(all, 2, 0.05, 0, 0, 0);
    assert_has(said(&all, "canary-failed")->message, "every canary failed");
    assert_string_equal(marks(&all), "....");
}

static void a_restart_is_a_failure_too(void **state)
{
    CLEANUP_VALUE(flock_release) struct flock f;
    static const double values[] = {1000, 1001, 1002, 999, 1000};

    (void)state;
    fly(&f, 2, 0.05, ARRAY_LEN(values), values);
    f.trials[1].outcome = f.trials[3].outcome = OUTCOME_DEGRADED;
    f.trials[3].app.oom_kills = 1;
    validity_judge_sweep(&(struct validity_sweep_facts){.canary = &f.facts}, f.arena, &f.verdict);
    assert_has(said(&f, "canary-failed")->message, "1 of 5");
    assert_string_equal(marks(&f), "....XXXX");
}

static void none_is_nothing_to_say(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct validity_sweep v;

    (void)state;
    validity_judge_sweep(&(struct validity_sweep_facts){.host_cores = 2}, a, &v);
    assert_true(v.len == 0 && !v.canary.marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_steady_host_is_said_to_be_one),
        cmocka_unit_test(neighbours_up_to_the_good_ones_are_marked),
        cmocka_unit_test(three_are_enough_to_find_one),
        cmocka_unit_test(a_band_follows_the_noise),
        cmocka_unit_test(a_step_is_no_spread),
        cmocka_unit_test(a_trend_is_more_than_chance),
        cmocka_unit_test(a_canary_that_dies_is_a_sign),
        cmocka_unit_test(a_restart_is_a_failure_too),
        cmocka_unit_test(none_is_nothing_to_say),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
