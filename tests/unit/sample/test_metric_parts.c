/* SPDX-License-Identifier: MIT */
/* Metric adapters that are made of several: which file comes when, and which of them a value is from. */
#include "metrics_test.h"
#include "support/scratch.h"

static void give(const char *dir, const char *name, const char *text)
{
    CLEANUP_FREE char *below = xasprintf("metrics/%s.yaml", name);

    put(dir, below, text);
}

static int read_names(const char *dir, const char *names, struct metric_adapter **ret, struct error *err)
{
    CLEANUP_FREE char *copy = xstrdup(names), *place = xstrdup(dir);
    char *const dirs[] = {place, NULL};
    const char *items[8];
    struct text_list list = {.items = items};

    for (char *p = strtok(copy, ","); p; p = strtok(NULL, ","))
        items[list.len++] = p;
    return metric_adapter_read_all(&list, dirs, ret, err);
}

static struct metric_adapter *read_good(const char *dir, const char *names)
{
    struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;

    if (read_names(dir, names, &a, &err) < 0)
        fail_msg("%s", err.message);
    return a;
}

/* "a *b *c": the parts in order, those that are included with a star. */
static void check_parts(const char *dir, const char *names, const char *wanted)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = read_good(dir, names);
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    for (size_t i = 0; i < metric_adapter_parts(a); i++)
        strbuf_addf(&out, "%s%s%s", i ? " " : "", metric_adapter_part(a, i)->included ? "*" : "",
                    metric_adapter_part(a, i)->name);
    assert_string_equal(strbuf_text(&out), wanted);
}

#define HEAD "benchctl-adapter: 1\n"
#define GAUGE(NAME, SERIES) HEAD "metrics: {" NAME ": {from: [{series: " SERIES "}]}}\n"

static void test_order(void **state)
{
    give(*state, "a", HEAD "includes: [b, c]\nmetrics: {own: {from: [{series: own}]}}\n");
    give(*state, "b", GAUGE("both", "of_b"));
    give(*state, "c", HEAD "includes: b\nmetrics: {both: {from: [{series: of_c}]}}\n");
    give(*state, "only", HEAD "includes: [c]\n");
    check_parts(*state, "a", "a *b *c");
    check_parts(*state, "c", "c *b");
    check_parts(*state, "b,a", "b a *c");
    check_parts(*state, "only,b", "only *c *b");
    check_parts(*state, "b,b", "b");
    CLEANUP(metric_adapter_free) struct metric_adapter *a = read_good(*state, "a");
    assert_int_equal(metric_adapter_count(a), 2); /* own, both */
}

static void check_value(const char *dir, const char *names, const char *scrape, double wanted)
{
    RESULT r = apply(read_good(dir, names), &scrape, 1);

    assert_near(must(&r, "both")->last, wanted);
    size_t named = 0;
    for (size_t i = 0; i < r.len; i++)
        named += strcmp(r.values[i].name, "both") == 0;
    assert_int_equal(named, 1);
}

static void test_first_with_a_value_wins(void **state)
{
    give(*state, "b", GAUGE("both", "of_b"));
    give(*state, "c", GAUGE("both", "of_c"));
    give(*state, "own", HEAD "includes: [b, c]\nmetrics: {both: {from: [{series: of_own}]}}\n");
    check_value(*state, "b,c", "of_b 1\nof_c 2\n", 1);
    check_value(*state, "c,b", "of_b 1\nof_c 2\n", 2);
    check_value(*state, "b,c", "of_c 2\n", 2);           /* b's is not there */
    check_value(*state, "b,c", "of_b NaN\nof_c 2\n", 2); /* a gap is no value */
    check_value(*state, "own", "of_b 1\nof_c 2\nof_own 3\n", 3);
    check_value(*state, "own", "of_c 2\n", 2);
    check_value(*state, "own,b", "of_b 1\nof_c 2\n", 1);
}

/* What is a counter here may be a gauge there: the value is as its own adapter says. */
static void test_kinds_stay(void **state)
{
    static const char *const gauge[] = {"of_b 4\n", "of_b 8\n"};
    static const char *const counter[] = {"of_c_total 4\n", "of_c_total 8\n"};

    give(*state, "b", GAUGE("both", "of_b"));
    give(*state, "c", HEAD "metrics: {both: {kind: counter, from: [{series: of_c_total}]}}\n");
    RESULT level = apply(read_good(*state, "c,b"), gauge, 2);
    assert_near(must(&level, "both")->avg, 6);
    assert_true(isnan(must(&level, "both")->increase));
    RESULT grown = apply(read_good(*state, "b,c"), counter, 2);
    assert_near(must(&grown, "both")->increase, 4);
    assert_true(isnan(must(&grown, "both")->avg));
}

static void test_absent_is_said_once(void **state)
{
    static const char *const scrape[] = {"something_else 1\n"};

    give(*state, "b", GAUGE("both", "of_b"));
    give(*state, "c", GAUGE("both", "of_c"));
    RESULT r = apply(read_good(*state, "b,c"), scrape, 1);
    assert_int_equal(r.len, 0);
    assert_true(noted(&r, "metrics that are absent: both"));
    assert_false(noted(&r, "both, both"));
}

static void check_refused(const char *dir, const char *names, const char *message)
{
    CLEANUP(metric_adapter_free) struct metric_adapter *a = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(read_names(dir, names, &a, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
    assert_has(err.message, message);
}

static void test_refused(void **state)
{
    give(*state, "good", GAUGE("a", "a"));
    give(*state, "self", HEAD "includes: [self]\n");
    give(*state, "ring1", HEAD "includes: [good, ring2]\n");
    give(*state, "ring2", HEAD "includes: [ring1]\n");
    give(*state, "lost", HEAD "includes: [good, nowhere]\n");
    give(*state, "broken", HEAD "includes: [bad]\n");
    give(*state, "bad", HEAD "metrics: {a: {from: []}}\n");
    give(*state, "empty", HEAD "help: nothing\n");
    give(*state, "away", HEAD "includes: [../metrics/good]\n");
    check_refused(*state, "self", "the metric adapter 'self' includes itself");
    check_refused(*state, "self", "self.yaml:2");
    check_refused(*state, "ring1", "the metric adapter 'ring1' includes itself");
    check_refused(*state, "lost", "no metric adapter 'nowhere'");
    check_refused(*state, "lost", "lost.yaml");
    check_refused(*state, "broken", "bad.yaml:2");
    check_refused(*state, "good,nowhere", "no metric adapter 'nowhere'");
    check_refused(*state, "empty", "no metrics");
    check_refused(*state, "away", "no metric adapter '../metrics/good'");
}

static void test_many_parts(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;

    strbuf_adds(&all, HEAD "includes: [");
    for (int i = 0; i < 100; i++) {
        CLEANUP_FREE char *name = xasprintf("p%d", i);
        give(*state, name, GAUGE("a", "a"));
        strbuf_addf(&all, "%s%s", i ? ", " : "", name);
    }
    strbuf_adds(&all, "]\n");
    give(*state, "all", strbuf_text(&all));
    check_refused(*state, "all", "more than 64 adapters are included");
}

/* A value that stands for none is none, alone and among others. */
static void test_unset(void **state)
{
    (void)state;
    static const char text[] = HEAD "metrics: {a: {from: [{series: a, unset: -1}, {series: b}]}}\n";
    static const char *const some[] = {"a{p=\"1\"} -1\na{p=\"2\"} 10\n"}, *const none[] = {"a -1\nb 7\n"};
    RESULT r = apply(adapter_from(text), some, 1), other = apply(adapter_from(text), none, 1);

    assert_near(must(&r, "a")->last, 10);
    assert_near(must(&other, "a")->last, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_first_with_a_value_wins, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_kinds_stay, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_absent_is_said_once, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_many_parts, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
