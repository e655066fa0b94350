/* SPDX-License-Identifier: MIT */
/* Long CSV: every number of a trial once, under its recorded name, and nothing for what was not measured. */
#include "fixed_sweep.h"

#include "benchctl/base/csv.h"

struct table {
    VEC(char *) values; /* of all rows, one after the other */
    size_t columns, rows;
};

static struct table read_table(const char *text)
{
    struct table t = {0};
    struct csv_reader r = {0};
    struct error err = ERROR_INIT;

    if (csv_reader_init(&r, text, strlen(text), "tidy", &err) < 0)
        fail_msg("%s", err.message);
    while (csv_more(&r)) {
        size_t n = 0;
        for (bool last = false; !last; n++) {
            struct strbuf value = STRBUF_INIT;
            if (csv_next(&r, &value, &last, &err) < 0)
                fail_msg("%s", err.message);
            vec_push(&t.values, strbuf_detach(&value));
        }
        t.columns = t.rows ? t.columns : n;
        assert_int_equal(n, t.columns); /* of every row */
        t.rows++;
    }
    return t;
}

static void table_release(struct table *t)
{
    for (size_t i = 0; i < t->values.len; i++)
        free(t->values.items[i]);
    vec_release(&t->values);
}

static const char *at(const struct table *t, size_t row, const char *column)
{
    for (size_t i = 0; i < t->columns; i++)
        if (strcmp(t->values.items[i], column) == 0)
            return t->values.items[row * t->columns + i];
    fail_msg("there is no column '%s'", column);
    return NULL;
}

/* The row of a scenario's trial and metric; 0, the head: there is none. */
static size_t find(const struct table *t, const char *scenario, const char *trial, const char *metric)
{
    for (size_t i = 1; i < t->rows; i++)
        if (strcmp(at(t, i, "scenario"), scenario) == 0 && strcmp(at(t, i, "trial"), trial) == 0 &&
            strcmp(at(t, i, "metric"), metric) == 0)
            return i;
    return 0;
}

static struct table tidy(struct maker *m)
{
    CLEANUP_FREE char *text = rendered(m, &(struct report_options){0}, REPORT_TIDY);

    return read_table(text);
}

static void assert_row(const struct table *t, const char *metric, const char *value, const char *unit)
{
    size_t row = find(t, "flask/blocking/256m", "1", metric);

    if (!row)
        fail_msg("there is no '%s'", metric);
    assert_string_equal(at(t, row, "value"), value);
    assert_string_equal(at(t, row, "unit"), unit);
}

static void test_rows(void **state)
{
    static const char *const columns[] = {"scenario", "framework", "stack",   "memory", "trial", "position",
                                          "round",    "outcome",   "counted", "metric", "value", "unit"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_VALUE(table_release) struct table t = tidy(&m);
    assert_int_equal(t.columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < t.columns; i++)
        assert_string_equal(t.values.items[i], columns[i]);
    assert_row(&t, "load.latency_ms.p95", "14", "ms");
    assert_row(&t, "load.goodput_rps", "1500", "1/s");
    assert_row(&t, "load.error_rate", "0", "ratio");
    assert_row(&t, "app.memory_bytes.limit", "268435456", "bytes");
    assert_row(&t, "app.uptime_pct", "100", "percent");
    assert_row(&t, "app.cpu_cores.avg", "1.065", "cores");
    assert_row(&t, "services.database.cpu_cores.avg", "0.25", "cores");
    assert_row(&t, "database.commits", "12000", "");
    assert_row(&t, "steps.ready.duration_ms", "960.75", "ms");
    assert_row(&t, "generator_cpu_cores", "0.09", "cores");
    assert_int_equal(find(&t, "flask/blocking/256m", "1", "load.dropped"), 0);  /* not measured: no row */
    assert_int_equal(find(&t, "express/blocking/256m", "1", "duration_ms"), 0); /* not run */
    size_t check = find(&t, "express/async/80m", "3", "checks.abandoned writes");
    assert_string_equal(at(&t, check, "value"), "17");
    assert_string_equal(at(&t, check, "outcome"), "degraded");
    assert_string_equal(at(&t, check, "counted"), "true");
    assert_string_equal(at(&t, check, "round"), "3");
    size_t crash = find(&t, "flask/async/256m", "3", "app.restarts"),
           restarts = find(&t, "flask/async/80m", "2", "app.restarts");
    assert_string_equal(at(&t, crash, "counted"), "false"); /* it crashed among steady ones */
    assert_string_equal(at(&t, crash, "value"), "5");
    assert_string_equal(at(&t, restarts, "outcome"), "not-ready");
}

/* Each number under the name by which --figures, expect and a reader of trial.json know it, and none twice.
 */
static void test_names(void **state)
{
    static const char *const others[] = {
        "phases.", "requests.", "steps.", "build.", "checks.", "cpu_ms_per_request", "generator_cpu_cores"};
    CLEANUP_VALUE(maker_release) struct maker m;
    size_t compared = 0;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_VALUE(table_release) struct table t = tidy(&m);
    for (size_t row = 1; row < t.rows; row++) {
        const char *name = at(&t, row, "metric");
        size_t position = (size_t)strtoul(at(&t, row, "position"), NULL, 10);
        bool other = false;
        double value;
        for (size_t i = 0; i < ARRAY_LEN(others); i++)
            other |= text_starts(name, others[i]);
        assert_true(position >= 1 && position <= m.trials.len);
        const struct trial *trial = &m.trials.items[position - 1];
        assert_string_equal(at(&t, row, "scenario"), trial->scenario);
        assert_int_equal(find(&t, trial->scenario, at(&t, row, "trial"), name), row);
        if (other)
            continue;
        CLEANUP(json_free) struct json *record = trial_to_json(trial);
        if (trial_number(record, name, &value) < 0)
            fail_msg("'%s' is no recorded name", name);
        assert_true(value == strtod(at(&t, row, "value"), NULL));
        compared++;
    }
    assert_true(compared > 500);
}

static void test_parts_and_limits(void **state)
{
    static const char *const axes[] = {"trial", "memory", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "x/1m", OUTCOME_OK, 1);
    t->load.phases =
        "[{\"name\":\"a_ms\",\"goodput_rps\":5,\"rates\":{\"offered\":6},\"latency_ms\":{\"p99\":7.5}},"
        "{\"name\":\"b\",\"goodput_rps\":null},{\"name\":\"b\",\"goodput_rps\":9}]";
    t->load.by_request = "[{\"name\":\"list\",\"requests\":3}]";
    t->app.effective.pids = INFINITY;
    t->checks = arena_array(m.sweep.arena, struct check_result, 2);
    t->checks[0] = (struct check_result){.name = "word", .value = "seven"};
    t->checks[1] = (struct check_result){.name = "gone", .message = "the database did not answer"};
    t->check_count = 2;
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TIDY);
    assert_true(text_starts(text, "scenario,axis.trial,memory,trial,position,round,"));
    assert_has(text, "x/1m,x,1m,1,1,,ok,true,phases.a_ms.goodput_rps,5,1/s\r\n");
    assert_has(text, ",phases.a_ms.rates.offered,6,1/s\r\n");
    assert_has(text, ",phases.a_ms.latency_ms.p99,7.5,ms\r\n");
    assert_has(text, ",requests.list.requests,3,\r\n");
    assert_has(text, ",app.effective.pids,Inf,\r\n");
    assert_null(strstr(text, "phases.b."));
    assert_null(strstr(text, "checks."));
    assert_null(strstr(text, "nan"));
}

static void test_no_formula(void **state)
{
    static const char *const axes[] = {"=axis", "memory", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "=1+2/@SUM(A1)", OUTCOME_OK, 1);
    t->services[0].role = "a,\"b\"\033";
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_TIDY);
    assert_true(text_starts(text, "scenario,'=axis,memory,"));
    assert_has(text, "\r\n'=1+2/@SUM(A1),'=1+2,'@SUM(A1),1,1,,ok,true,");
    assert_has(text, ",\"services.a,\"\"b\"\"?.cpu_cores.avg\",0.25,cores\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_parts_and_limits),
        cmocka_unit_test(test_no_formula),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
