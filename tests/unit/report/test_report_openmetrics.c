/* SPDX-License-Identifier: MIT */
/* What is written as OpenMetrics comes out of our own reader of it as it was. */
#include "fixed_sweep.h"

#include "benchctl/sample.h"

static void read_back(struct maker *m, struct prom_scrape *ret)
{
    CLEANUP_FREE char *text = rendered(m, &(struct report_options){0}, REPORT_OPENMETRICS);
    struct error err = ERROR_INIT;

    if (prom_parse(text, strlen(text), "application/openmetrics-text", m->sweep.arena, ret, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(text_ends(text, "\n# EOF\n"));
    assert_int_equal(ret->bad_lines, 0);
    assert_int_equal(ret->duplicate_series, 0);
    assert_int_equal(ret->repeated_meta, 0);
    assert_int_equal(ret->unknown_escapes, 0);
    assert_true(ret->complete);
}

static const char *label(const struct prom_sample *s, const char *name)
{
    for (size_t i = 0; i < s->label_count; i++)
        if (strcmp(s->labels[i].name, name) == 0)
            return s->labels[i].value;
    return "";
}

/* NAN: no sample. */
static double value_of(const struct prom_scrape *s, const char *name, const char *scenario, const char *trial)
{
    for (size_t i = 0; i < s->sample_count; i++)
        if (strcmp(s->samples[i].name, name) == 0 &&
            strcmp(label(&s->samples[i], "scenario"), scenario) == 0 &&
            strcmp(label(&s->samples[i], "trial"), trial) == 0)
            return s->samples[i].value;
    return NAN;
}

static const char *type_of(const struct prom_scrape *s, const char *name)
{
    for (size_t i = 0; i < s->family_count; i++)
        if (strcmp(s->families[i].name, name) == 0)
            return s->families[i].type;
    return "";
}

static void test_round_trip(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    struct prom_scrape s;
    size_t p99 = 0;

    (void)state;
    fixed_sweep(&m);
    read_back(&m, &s);
    for (size_t t = 0; t < m.trials.len; t++) {
        const struct trial *trial = &m.trials.items[t];
        CLEANUP_FREE char *number = xasprintf("%d", trial->trial);
        double is = value_of(&s, "benchctl_load_latency_p99_seconds", trial->scenario, number),
               was = trial->load.latency_ms.p99;
        assert_true(isnan(was) ? isnan(is) : is == was / 1e3);
        p99 += !isnan(is);
        is = value_of(&s, "benchctl_app_memory_used_peak_bytes", trial->scenario, number);
        was = trial->app.memory_bytes.used_peak;
        assert_true(isnan(was) ? isnan(is) : is == was);
    }
    assert_int_equal(p99, 14);
    for (size_t i = 0; i < s.sample_count; i++)
        assert_false(isnan(s.samples[i].value));
    assert_string_equal(type_of(&s, "benchctl_load_goodput_rps"), "gauge");
    assert_string_equal(type_of(&s, "benchctl_trial_outcome"), "stateset");
    assert_string_equal(type_of(&s, "benchctl_load_dropped"), ""); /* nobody measured it */
    assert_true(value_of(&s, "benchctl_app_uptime_ratio", "flask/blocking/80m", "1") == 0.45);
    assert_true(value_of(&s, "benchctl_cpu_per_request_seconds", "flask/blocking/80m", "1") == 1.42 / 1e3);
    assert_true(value_of(&s, "benchctl_trial_counted", "flask/async/256m", "3") == 0);
    assert_true(value_of(&s, "benchctl_trial_counted", "flask/async/256m", "2") == 1);
}

static void test_text(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    fixed_sweep(&m);
    CLEANUP_FREE char *text = rendered(&m, &(struct report_options){0}, REPORT_OPENMETRICS);
    assert_has(
        text,
        "# TYPE benchctl_load_latency_p50_seconds gauge\n"
        "# UNIT benchctl_load_latency_p50_seconds seconds\n"
        "# HELP benchctl_load_latency_p50_seconds Median latency (load.latency_ms.p50 of trial.json)\n");
    assert_has(text,
               "benchctl_checks_value{matrix=\"fixed\",scenario=\"express/async/80m\",framework=\"express\","
               "stack=\"async\",memory=\"80m\",trial=\"3\",check=\"abandoned writes\"} 17\n");
    assert_has(text, ",trial=\"1\",service=\"database\"} 0.25\n");
    assert_has(text, ",metric=\"gc_pauses\"} ");
    assert_has(text, "benchctl_sweep_complete{matrix=\"fixed\"} 0\n");
    assert_null(strstr(text, "\n\n"));
}

/* Names that cannot be labels, or are taken; values with everything that could end one. */
static void test_names(void **state)
{
    static const char *const axes[] = {"jvm-heap", "jvm_heap",   "1st", "trial",
                                       "__name__", "axis_trial", NULL};
    static const char evil[] = "a\"b\\c\nd\t{}=,#\033\xff";
    CLEANUP_VALUE(maker_release) struct maker m;
    struct prom_scrape s;
    bool found = false;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "a/b/c/d/e/f", OUTCOME_OK, 1);
    t->axes[0].value = evil;
    add_metrics(&m, t, 3);
    t->metrics[0].name = "x.y";
    t->metrics[1].name = "x_y";
    t->app.memory_bytes.limit = INFINITY;
    read_back(&m, &s);
    for (size_t i = 0; i < s.sample_count; i++) {
        if (strcmp(s.samples[i].name, "benchctl_app_memory_limit_bytes") != 0)
            continue;
        found = true;
        assert_true(isinf(s.samples[i].value));
        assert_string_equal(label(&s.samples[i], "jvm_heap"), "a\"b\\c d {}=,#??");
        assert_string_equal(label(&s.samples[i], "axis_jvm_heap"), "b");
        assert_string_equal(label(&s.samples[i], "axis_1st"), "c");
        assert_string_equal(label(&s.samples[i], "trial"), "1");
        assert_string_equal(label(&s.samples[i], "axis_trial"), "d");
        assert_string_equal(label(&s.samples[i], "axis___name__"), "e");
        assert_string_equal(label(&s.samples[i], "axis_axis_trial"), "f");
    }
    assert_true(found);
}

/* Figures asked for by names that are the same as soon as they are names here. */
static void test_families_apart(void **state)
{
    static const char *const axes[] = {"a", NULL};
    static const char *const figures[] = {"metrics.a-b.last", "metrics.a_b.last"};
    CLEANUP_VALUE(maker_release) struct maker m;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = add_full(&m, "a", OUTCOME_OK, 1);
    t->metrics = arena_array(m.sweep.arena, struct metric_value, 2);
    t->metrics[0] = (struct metric_value){"a-b", NAN, NAN, 1, NAN, 0};
    t->metrics[1] = (struct metric_value){"a_b", NAN, NAN, 2, NAN, 0};
    t->metric_count = 2;
    CLEANUP_FREE char *text =
        rendered(&m, &(struct report_options){.figures = figures, .figure_count = 2}, REPORT_OPENMETRICS);
    assert_has(text, "# TYPE benchctl_metrics_a_b_last gauge\n");
    assert_has(text, "# TYPE benchctl_metrics_a_b_last_2 gauge\n");
}

static void test_nothing(void **state)
{
    static const char *const axes[] = {"a", NULL};
    CLEANUP_VALUE(maker_release) struct maker m;
    struct prom_scrape s;

    (void)state;
    maker_begin(&m, axes, NULL, NULL);
    read_back(&m, &s);
    assert_int_equal(s.sample_count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),     cmocka_unit_test(test_text),    cmocka_unit_test(test_names),
        cmocka_unit_test(test_families_apart), cmocka_unit_test(test_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
