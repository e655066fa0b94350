/* SPDX-License-Identifier: MIT */
/* Did all scenarios of a sweep do the same? Metrics, answers, rows, and what JVMs choose. */
#include "sweep_fixture.h"

static const struct found usual = {376, 53.1, 1.1, 20, 51.9};

static struct trial *one(struct sweep_fixture *s, const char *name)
{
    return add_trial(s, name, &usual);
}

/* --- V20 --- */

static void metrics(void **state)
{
    struct sweep_fixture *s = *state;
    struct metric_value both[] = {{"gc_pauses", 1, 2, 3, 4, 0}, {"threads", 1, 2, 3, NAN, 0}},
                        none[] = {{"gc_pauses", NAN, NAN, NAN, NAN, 30}, {"threads", 1, 2, 3, NAN, 0}};

    for (int i = 0; i < 6; i++) {
        struct trial *t = one(s, arena_printf(s->arena, "s%d", i));
        t->metrics = both;
        t->metric_count = 2;
    }
    judge(s);
    assert_string_equal(verdicts(s, "metrics-everywhere"), "PASS");
    s->trials[4].metrics = none;
    s->trials[5].metric_count = 0;
    judge(s);
    assert_string_equal(verdicts(s, "metrics-everywhere"), "WARN WARN");
    assert_says(message(s, "metrics-everywhere"),
                "'gc_pauses' was measured in 4 of 6 scenarios: absent, not 0, in s4, s5");
    both[1].name = none[1].name = "heap"; /* what the same ones lack is told together */
    none[1].max = none[1].avg = none[1].last = NAN;
    judge(s);
    assert_string_equal(verdicts(s, "metrics-everywhere"), "WARN");
    assert_says(message(s, "metrics-everywhere"), "'gc_pauses', 'heap' were measured in 4 of 6 scenarios");
}

/* --- V26 --- */

static void answers(void **state)
{
    struct sweep_fixture *s = *state;
    struct answer_sample a[] = {{"GET /a", 200, 1000, "h1", "f1"}, {"GET /b", 200, 10, "h2", "f2"}};
    struct answer_sample b[] = {{"GET /a", 200, 1009, "h3", "f1"}, {"GET /b", 200, 10, "h2", "f2"}};

    one(s, "a")->answers = a;
    one(s, "b")->answers = b;
    s->trials[0].answer_count = s->trials[1].answer_count = 2;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "PASS PASS");
    assert_says(message(s, "same-answers"), "if not the same bytes");
    b[0].bytes = 1011;
    b[1].shape = "other";
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "WARN WARN");
    assert_says(message(s, "same-answers"), "another size than in a (1011 bytes instead of 1000) by b");
    b[0].status = 500;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "FAIL WARN");
    s->trials[1].load.error_rate = 0.02; /* some fail: it may be one of these that was asked */
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "WARN WARN");
    assert_says(message(s, "same-answers"), "but 2 % of the requests failed there");
    s->trials[1].load.error_rate = 1;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "FAIL WARN");
    b[0].shape = b[0].sha256 = b[0].request = NULL; /* of a record that is not whole */
    judge(s);
}

static void rows(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 2; i++) {
        struct trial *t = one(s, i ? "a" : "b");
        t->has_database = true;
        t->database.rows_inserted = 3760;
        t->database.rows_updated = t->database.rows_deleted = NAN;
    }
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "PASS");
    s->trials[1].database.rows_inserted = 2 * 3760;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "WARN");
    assert_says(message(s, "same-answers"), "rows inserted per request: 1 in b, 2 in a");
    s->trials[1].app.oom_kills = 1; /* it has answered for some of its rows only */
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "");
}

/* One request of ten inserts, by chance; and the last second of the warm-up is told late. */
static void rows_of_chance(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 2; i++) {
        struct trial *t = one(s, i ? "a" : "b");
        t->has_database = true;
        t->load.ok = 40000;
        t->load.window_ms = 100e3;
        t->database.rows_inserted = i ? 4000 : 4360;
        t->database.rows_updated = t->database.rows_deleted = NAN;
    }
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "PASS");
    s->trials[0].database.rows_inserted = 4600;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "WARN");
    s->trials[0].load.window_ms = s->trials[1].load.window_ms = 6e3;
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "PASS");
    for (int i = 0; i < 2; i++) { /* one row each of many requests: as exact as that */
        s->trials[i].load.ok = 4e6;
        s->trials[i].load.window_ms = 600e3;
        s->trials[i].database.rows_inserted = i ? 4e6 : 4.08e6;
    }
    judge(s);
    assert_string_equal(verdicts(s, "same-answers"), "WARN");
}

/* --- what a JVM chooses --- */

static struct trial *jvm(struct sweep_fixture *s, const char *stack, const char *memory, double bytes)
{
    struct trial *t = one(s, arena_printf(s->arena, "%s/%s", stack, memory));

    add_axis(s, t, "stack", stack);
    add_axis(s, t, "memory", memory);
    t->app.has_jvm = true;
    t->app.effective.memory_bytes = bytes;
    t->app.jvm = (struct jvm_facts){.version = "17",
                                    .collector = isinf(bytes) ? "G1" : "Serial",
                                    .heap_max_bytes = isinf(bytes) ? 6e9 : bytes / 4,
                                    .cpus = 2};
    return t;
}

static void collectors_along_memory(void **state)
{
    struct sweep_fixture *s = *state;

    for (int i = 0; i < 2; i++) {
        const char *stack = i ? "reactive" : "imperative";
        jvm(s, stack, "256m", 256e6);
        jvm(s, stack, "512m", 512e6);
        jvm(s, stack, "unlimited", INFINITY);
    }
    judge(s);
    assert_string_equal(verdicts(s, "jvm-ergonomics"), "WARN");
    assert_string_equal(
        message(s, "jvm-ergonomics"),
        "along memory: Serial at 256m, 512m; G1 at unlimited (and so in 1 more combination of "
        "the other axes): the sweep compares collectors too");
}

static void chosen_by_hand(void **state)
{
    struct sweep_fixture *s = *state;

    jvm(s, "a", "256m", 256e6);
    jvm(s, "a", "2g", 2e9)->app.jvm.collector = "G1";
    for (size_t i = 0; i < 2; i++)
        s->trials[i].app.jvm.options = "-Xss1m -XX:+UseG1GC -Xmx64m";
    judge(s);
    assert_string_equal(verdicts(s, "jvm-ergonomics"), "PASS");
    s->trials[0].app.jvm.options = s->trials[1].app.jvm.options = "-XX:+UseStringDeduplication";
    judge(s);
    assert_string_equal(verdicts(s, "jvm-ergonomics"), "WARN");
}

static void heaps_and_processors(void **state)
{
    struct sweep_fixture *s = *state;

    jvm(s, "a", "64m", 64e6)->app.jvm.heap_max_bytes = 32e6;
    jvm(s, "a", "256m", 256e6)->app.jvm.cpus = 1;
    judge(s);
    assert_string_equal(verdicts(s, "jvm-ergonomics"), "WARN WARN");
    assert_says(message(s, "jvm-ergonomics"), "50 % at 64m; 25 % at 256m");
    for (size_t i = 0; i < 2; i++) {
        s->trials[i].app.jvm.cpus = s->trials[i].app.jvm.heap_max_bytes = NAN;
        s->trials[i].app.jvm.collector = NULL;
    }
    judge(s);
    assert_string_equal(verdicts(s, "jvm-ergonomics"), "PASS");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        T(metrics),
        T(answers),
        T(rows),
        T(rows_of_chance),
        T(collectors_along_memory),
        T(chosen_by_hand),
        T(heaps_and_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
