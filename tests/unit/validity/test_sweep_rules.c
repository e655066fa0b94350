/* SPDX-License-Identifier: MIT */
/* Each rule over a sweep at its boundary, with what is missing, and with many scenarios. */
#include "sweep_fixture.h"

#include <time.h>

static const struct found usual = {376, 53.1, 1.1, 20, 51.9};

static struct trial *one(struct sweep_fixture *s, const char *name)
{
    return add_trial(s, name, &usual);
}

/* --- V1 --- */

static void offered_and_delivered(void **state)
{
    struct sweep_fixture *s = *state;

    make_open(one(s, "a"), 376);
    make_open(one(s, "b"), 376 / 0.9901);
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    assert_says(message(s, "throughput-is-input"), "376 to 380 requests/s were offered");
    make_open(&s->trials[1], 376 / 0.9899);
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "PASS");
}

static void closed_loads_offer_nothing(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a");
    one(s, "b");
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "");
    /* 7 of 10 parts of a user's time */
    for (size_t i = 0; i < 2; i++)
        s->trials[i].load.think_ms = 53.1 * 0.7 / 0.3 + 0.1;
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    for (size_t i = 0; i < 2; i++)
        s->trials[i].load.think_ms = 53.1 * 0.7 / 0.3 - 0.1;
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "");
}

/* A service that was silent kept its users waiting: their pauses did not decide. */
static void pauses_of_a_silent_service_decide_nothing(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a");
    one(s, "b");
    for (size_t i = 0; i < 2; i++) {
        s->trials[i].load.think_ms = 53.1 * 0.7 / 0.3 + 0.1;
        s->trials[i].load.concurrency =
            s->trials[i].load.goodput_rps * (s->trials[i].load.think_ms + 53.1) / 1e3 / 0.801;
    }
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "WARN");
    for (size_t i = 0; i < 2; i++)
        s->trials[i].load.concurrency *= 0.801 / 0.799;
    judge(s);
    assert_string_equal(verdicts(s, "throughput-is-input"), "");
}

/* --- V3, V4 --- */

static void floors(void **state)
{
    struct sweep_fixture *s = *state;

    add_trial(s, "a", &(struct found){100, 100, 5, 10, 70.1});
    judge(s);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    s->trials[0].floor.p50_ms = 69.9;
    judge(s);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "PASS");
    s->trials[0].floor.p50_ms = 90; /* and most of it is work */
    s->trials[0].floor.cpu_ms_per_request = 60;
    judge(s);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "PASS");
    s->trials[0].load.latency_ms.p50 = NAN;
    judge(s);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "");
}

/* Of records that have no figures to go by, the verdict that they hold. */
static void recorded_verdicts_stand_in(void **state)
{
    struct sweep_fixture *s = *state;
    struct validity_result said[] = {{"latency-floor", "WARN", "", "V3"},
                                     {"nothing-stressed", "WARN", "", "V4"}};

    for (int i = 0; i < 2; i++) {
        struct trial *t = one(s, i ? "a" : "b");
        t->has_floor = false;
        t->app.cpu_cores.avg = t->app.cpu_cores.total_ms = NAN;
        t->validity = said;
        t->validity_count = 2;
    }
    judge(s);
    assert_string_equal(verdicts(s, "latency-floor-everywhere"), "WARN");
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "WARN");
}

static void what_is_stress(void **state)
{
    struct sweep_fixture *s = *state;
    struct container_result database;

    struct trial *t = one(s, "a"); /* 0.41 of 2 cores */
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "WARN");
    t->app.effective.cpus = 1.6; /* 26 % */
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "PASS");
    t->app.effective.cpus = INFINITY;
    t->app.cpu_periods = 1000;
    t->app.cpu_throttled_periods = 11;
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "PASS");
    t->app.cpu_throttled_periods = 9;
    container_result_init(&database, "database");
    database.cpu_cores.avg = 0.3;
    database.effective.cpuset = "1";
    t->services = &database;
    t->service_count = 1;
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "PASS");
    assert_says(message(s, "nothing-stressed-anywhere"), "a service at most 30 %");
    database.effective.cpuset = "0-1";
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "WARN");
    struct metric_value pending = {"pool_pending_max", 3, 62, 0, NAN, 0};
    t->metrics = &pending;
    t->metric_count = 1;
    judge(s);
    assert_string_equal(verdicts(s, "nothing-stressed-anywhere"), "PASS");
}

/* --- V5 --- */

/* xorshift64*, Box-Muller */
static double normal(uint64_t *seed)
{
    double u[2];

    for (int i = 0; i < 2; i++) {
        *seed ^= *seed >> 12;
        *seed ^= *seed << 25;
        *seed ^= *seed >> 27;
        u[i] = ((double)((*seed * UINT64_C(2685821657736338717)) >> 11) + 0.5) / 9007199254740992.0;
    }
    return sqrt(-2 * log(u[0])) * cos(2 * 3.14159265358979323846 * u[1]);
}

/* Six scenarios of four trials each, of one program: told apart in 5 % of the sweeps (four standard errors of
 * 1500 are 2.3 points). */
static void equal_scenarios(void **state)
{
    struct sweep_fixture *s = *state;
    uint64_t seed = 20170613;
    int separated = 0, rounds = 1500;

    for (int r = 0; r < rounds; r++) {
        arena_reset(s->arena);
        s->trial_count = s->arm_count = 0;
        for (int i = 0; i < 24; i++)
            add_trial(s, arena_printf(s->arena, "s%d", i / 4),
                      &(struct found){900 * exp(0.03 * normal(&seed)), 20, 1.9, 20, 4});
        judge(s);
        separated += strcmp(verdicts(s, "separable"), "PASS") == 0;
    }
    if (separated < 0.027 * rounds || separated > 0.073 * rounds)
        fail_msg("%d of %d sweeps of equal scenarios were told apart", separated, rounds);
}

static void different_scenarios(void **state)
{
    struct sweep_fixture *s = *state;
    uint64_t seed = 42;

    for (int i = 0; i < 24; i++)
        add_trial(s, arena_printf(s->arena, "s%d", i / 4),
                  &(struct found){900 * (1 + 0.1 * (i / 4)) * exp(0.02 * normal(&seed)), 20, 1.9, 20, 4});
    judge(s);
    assert_string_equal(verdicts(s, "separable"), "PASS");
    assert_says(message(s, "separable"), "standard deviation between 6 scenarios");
}

/* --- V6 --- */

static void piles(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 10; i++)
        add_trial(s, arena_printf(s->arena, "s%d", i),
                  &(struct found){i < 7 ? 376 + i : 300 - 20 * i, 53.1, 1 + 0.1 * i, 20, 51.9});
    judge(s);
    assert_string_equal(verdicts(s, "common-ceiling"), "WARN");
    assert_says(message(s, "common-ceiling"), "7 of 10 scenarios");
    s->trials[6].load.goodput_rps = 390; /* 6 of 10 */
    judge(s);
    assert_string_equal(verdicts(s, "common-ceiling"), "PASS");
}

static void a_pile_of_one_program(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a");
    one(s, "b");
    one(s, "c");
    judge(s);
    assert_string_equal(verdicts(s, "common-ceiling"), "PASS");
    s->trials[1].app.memory_bytes.anon_peak *= 1.11;
    judge(s);
    assert_string_equal(verdicts(s, "common-ceiling"), "WARN");
    assert_says(message(s, "common-ceiling"), "their memory differs by up to 11 %");
}

static void ceilings_are_named(void **state)
{
    struct sweep_fixture *s = *state;
    struct container_result database[3];
    struct metric_value pool[] = {{"pool_pending_max", 30, 62, 10, NAN, 0}, {"pool_max", 10, 10, 10, NAN, 0}};
    struct validity_result busy = {"generator-busy", "WARN", "", "V9"};

    for (int i = 0; i < 3; i++) {
        struct trial *t =
            add_trial(s, arena_printf(s->arena, "s%d", i), &(struct found){376, 530, 0.5 + 0.1 * i, 200, 3});
        container_result_init(&database[i], "database");
        database[i].cpu_cores.avg = 1.9;
        t->services = &database[i];
        t->service_count = 1;
        t->metrics = pool;
        t->metric_count = 2;
        t->validity = &busy;
        t->validity_count = 1;
    }
    judge(s);
    assert_says(message(s, "common-ceiling"), "the load generator: it was out of time");
    assert_says(message(s, "common-ceiling"), "service 'database': it used 95 %");
    assert_says(message(s, "common-ceiling"), "the connection pool of 10: up to 62 requests waited");
    assert_says(message(s, "common-ceiling"), "200 users / p50 of 530 ms = 377 requests/s");
    assert_true(s->verdict.discriminates); /* the queries are theirs */
    for (int i = 0; i < 3; i++)
        database[i].role = "upstream";
    judge(s);
    assert_says(message(s, "common-ceiling"), "service 'upstream': it used 95 %");
    assert_false(s->verdict.discriminates);
}

/* --- V14, V15, V23 --- */

static void failures(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a")->load.error_rate = 0;
    one(s, "b")->load.error_rate = 0.00099;
    judge(s);
    assert_string_equal(verdicts(s, "failures-comparable"), "PASS");
    s->trials[1].load.error_rate = 0.0011;
    judge(s);
    assert_string_equal(verdicts(s, "failures-comparable"), "WARN");
    s->trials[1].load.error_rate = NAN;
    judge(s);
    assert_string_equal(verdicts(s, "failures-comparable"), "");
}

static void crashes(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a");
    one(s, "b")->app.oom_kills = 1;
    one(s, "c")->outcome = OUTCOME_CRASHED;
    judge(s);
    assert_string_equal(verdicts(s, "out-of-comparison"), "WARN");
    assert_says(message(s, "out-of-comparison"), "2 of 3 scenarios");
    assert_says(message(s, "out-of-comparison"), "b (1 of 1 trials), c (1 of 1 trials)");
    assert_false(s->verdict.judged);
}

static void models(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a");
    one(s, "b");
    judge(s);
    assert_string_equal(verdicts(s, "models-mixed"), "PASS");
    make_open(&s->trials[1], 376);
    judge(s);
    assert_string_equal(verdicts(s, "models-mixed"), "WARN");
    assert_false(s->verdict.judged); /* not two of one kind */
    s->trials[0].load.model = s->trials[1].load.model = "mixed";
    judge(s);
    assert_string_equal(verdicts(s, "models-mixed"), "WARN");
    s->trials[0].load.model = s->trials[1].load.model = NULL;
    judge(s);
    assert_string_equal(verdicts(s, "models-mixed"), "");
}

/* --- many --- */

enum { MANY = 10000 };

static void ten_thousand_scenarios(void **state)
{
    struct sweep_fixture *s = *state;
    struct trial *trials = xcalloc(MANY, sizeof(*trials));
    const struct trial **pointers = xcalloc(MANY, sizeof(*pointers));
    struct validity_arm *arms = xcalloc(MANY, sizeof(*arms));
    struct metric_value metric = {"m", 1, 1, 1, 1, 0};
    struct answer_sample answer = {"GET /", 200, 10, "h", "f"};

    struct trial *like = one(s, "x");
    for (size_t i = 0; i < MANY; i++) {
        trials[i] = *like;
        trials[i].load.goodput_rps = 376 + (double)(i % 5);
        trials[i].load.concurrency =
            20 + (double)(i % 10 == 0) * (double)i; /* a thousand loads of their own */
        trials[i].app.cpu_cores.total_ms *= 1 + 0.1 * (double)(i % 7);
        trials[i].app.has_jvm = true;
        trials[i].app.jvm = (struct jvm_facts){.collector = i % 2 ? "G1" : "Serial", .heap_max_bytes = NAN};
        trials[i].axis_count = 0;
        add_axis(s, &trials[i], "a", arena_printf(s->arena, "%zu", i / 100));
        add_axis(s, &trials[i], "b", arena_printf(s->arena, "%zu", i % 100));
        trials[i].metrics = &metric;
        trials[i].metric_count = i % 3 > 0;
        trials[i].answers = &answer;
        trials[i].answer_count = 1;
        pointers[i] = &trials[i];
        arms[i] = (struct validity_arm){arena_printf(s->arena, "s%zu", i), &pointers[i], 1};
    }
    clock_t begin = clock();
    const struct validity_sweep_facts f = {.arms = arms, .count = MANY, .host_cores = 2};
    validity_judge_sweep(&f, s->arena, &s->verdict);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_true(s->verdict.judged && !s->verdict.discriminates);
    if (seconds > 20) /* some tenths without sanitizers; a square of the number would take minutes */
        fail_msg("%.1f s of CPU time", seconds);
    free(trials);
    free(pointers);
    free(arms);
}

static void infinities_and_holes(void **state)
{
    struct sweep_fixture *s = *state;
    static const double odd[] = {NAN, INFINITY, 0, -1, 1e308, 1e-308};

    for (size_t i = 0; i < ARRAY_LEN(odd); i++)
        for (size_t k = 0; k < ARRAY_LEN(odd); k++) {
            s->trial_count = s->arm_count = 0;
            for (int n = 0; n < 4; n++) {
                struct trial *t = one(s, arena_printf(s->arena, "s%d", n));
                t->load.goodput_rps = n % 2 ? odd[i] : 376;
                t->load.latency_ms.p50 = n < 2 ? odd[k] : 53;
                t->load.concurrency = odd[i];
                t->load.think_ms = odd[k];
                t->app.cpu_cores.total_ms = odd[k];
                t->app.effective.cpus = odd[i];
                t->app.effective.cpuset = i % 2 ? "0-" : "7-3,x";
                t->floor.p50_ms = odd[i];
                t->load.offered = odd[k];
                t->load.model = k % 2 ? "open" : "closed";
            }
            judge(s);
            for (size_t v = 0; v < s->verdict.len; v++)
                assert_null(strstr(s->verdict.results[v].message, "nan"));
        }
}

/* Every verdict has its rule in the table, of this scope. */
static void rules_are_in_the_table(void **state)
{
    struct sweep_fixture *s = *state;

    one(s, "a")->app.restarts = 1;
    for (int i = 0; i < 6; i++)
        one(s, i < 3 ? "b" : "c");
    make_open(one(s, "d"), 376);
    judge(s);
    for (size_t i = 0; i < s->verdict.len; i++) {
        const struct validity_rule *rule = validity_rule_find(s->verdict.results[i].id);
        if (!rule || rule->scope != VALIDITY_OF_SWEEP ||
            !text_equal(rule->check, s->verdict.results[i].check))
            fail_msg("'%s'", s->verdict.results[i].id);
        if (i)
            assert_true(validity_rule_find(s->verdict.results[i - 1].id) <= rule);
    }
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(offered_and_delivered),
        T(closed_loads_offer_nothing),
        T(pauses_of_a_silent_service_decide_nothing),
        T(floors),
        T(recorded_verdicts_stand_in),
        T(what_is_stress),
        T(equal_scenarios),
        T(different_scenarios),
        T(piles),
        T(a_pile_of_one_program),
        T(ceilings_are_named),
        T(failures),
        T(crashes),
        T(models),
        T(ten_thousand_scenarios),
        T(infinities_and_holes),
        T(rules_are_in_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
