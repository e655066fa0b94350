/* SPDX-License-Identifier: MIT */
/* What trials left beside their records: histograms that are merged, seconds that are drawn. */
#include "make_sweep.h"
#include "report_internal.h"

#include <stdlib.h>
#include "benchctl/histogram.h"
#include "series.h"

static const char *const axes[] = {"framework", NULL};

static int scratch_setup(void **state)
{
    char *dir = xstrdup("/tmp/benchctl-report-XXXXXX");

    *state = dir;
    return mkdtemp(dir) ? 0 : -1;
}

static int scratch_teardown(void **state)
{
    struct error err = ERROR_INIT;
    int rc = fs_remove_tree(*state, &err);

    free(*state);
    return rc;
}

static void put(const char *dir, const char *scenario, int trial, const char *name, const char *text)
{
    CLEANUP_FREE char *path = xasprintf("%s/trials/%s/%d/%s", dir, scenario, trial, name);
    CLEANUP_FREE char *parent = path_dirname(path);
    struct error err = ERROR_INIT;

    assert_int_equal(fs_mkdirs(parent, &err), 0);
    assert_int_equal(fs_write(path, text, strlen(text), &err), 0);
}

/* Requests of `ms` each, in two seconds, and a service time that must not count. */
static void put_log(const char *dir, const char *scenario, int trial, double ms, uint64_t count)
{
    CLEANUP(histogram_free) struct histogram *h = histogram_new(), *service = histogram_new();
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    histogram_record(h, (int64_t)(ms * 1000), count / 2);
    histogram_record(service, 1, count * 9);
    histogram_log_begin(&text, 1000000000);
    for (int i = 0; i < 2; i++) {
        const struct histogram_interval response = {.tag = "GET_/", .start_s = i, .length_s = 1, .max = ms};
        const struct histogram_interval sent = {.tag = "GET_/!service", .start_s = i, .length_s = 1};
        histogram_log_line(&text, &response, h);
        histogram_log_line(&text, &sent, service);
    }
    put(dir, scenario, trial, "load/histogram.hlog", strbuf_text(&text));
}

static struct trial *measured(struct maker *m, const char *scenario, enum outcome o, double p99)
{
    struct trial *t = add(m, scenario, o, 100);

    t->load.latency_ms.p50 = t->load.latency_ms.p99 = p99;
    t->load.window_ms = 2000;
    return t;
}

static struct report *built(struct maker *m, const char *dir)
{
    struct report *r = NULL;
    struct error err = ERROR_INIT;

    m->sweep.path = dir;
    if (report_build(made(m), &(struct report_options){0}, &r, &err) < 0)
        fail_msg("%s", err.message);
    return r;
}

static bool near(double value, double wanted)
{
    return value > wanted * 0.998 && value < wanted * 1.002;
}

/* 900 requests of 10 ms and 100 of 50 ms: the median of the trials' p99 would be 30. */
static void percentiles_are_merged(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    maker_begin(&m, axes, NULL, NULL);
    measured(&m, "a", OUTCOME_OK, 10);
    measured(&m, "a", OUTCOME_OK, 50);
    measured(&m, "a", OUTCOME_ERROR, NAN)->has_load = false;
    measured(&m, "b", OUTCOME_OK, 10);
    measured(&m, "b", OUTCOME_OK, 50);
    put_log(*state, "a", 1, 10, 900);
    put_log(*state, "a", 2, 50, 100);
    put_log(*state, "a", 3, 900, 100000); /* of a trial that does not count */
    put_log(*state, "b", 1, 10, 900);
    put(*state, "b", 2, "load/histogram.hlog", "[StartTime: 1\nGET,0,1,5,!!!\n");
    CLEANUP(report_free) struct report *r = built(&m, *state);
    const struct cell *a = &r->cells.items[0], *b = &r->cells.items[1];
    assert_true(a->merged);
    assert_true(near(a->figures[FIGURE_P50].median, 10));
    assert_true(near(a->figures[FIGURE_P99].median, 50));
    assert_true(a->figures[FIGURE_P99].min == 10 && a->figures[FIGURE_P99].max == 50);
    assert_false(b->merged); /* one of its logs is damaged */
    assert_true(b->figures[FIGURE_P99].median == 30);
    CLEANUP_FREE char *page = rendered(&m, &(struct report_options){0}, REPORT_MARKDOWN);
    assert_has(page, "Percentiles of scenarios whose trials all left a histogram are of these, merged");
}

/* Without a page nothing is read but histograms, and their figures are the same. */
static void numbers_only(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    struct report *r = NULL;
    struct error err = ERROR_INIT;

    maker_begin(&m, axes, NULL, NULL);
    measured(&m, "a", OUTCOME_OK, 10);
    measured(&m, "a", OUTCOME_OK, 50);
    put_log(*state, "a", 1, 10, 900);
    put_log(*state, "a", 2, 50, 100);
    put(*state, "a", 1, "load/series.csv", "at_ms,ok,p99_ms\n1000,80,7.5\n2000,60,9\n");
    CLEANUP(report_free) struct report *page = built(&m, *state);
    if (report_build(made(&m), &(struct report_options){.reads = REPORT_READS_HISTOGRAMS}, &r, &err) < 0)
        fail_msg("%s", err.message);
    assert_non_null(page->series[0]);
    assert_null(r->series[0]);
    assert_true(r->cells.items[0].merged);
    assert_true(r->cells.items[0].figures[FIGURE_P99].median ==
                page->cells.items[0].figures[FIGURE_P99].median);
    report_free(r);
    if (report_build(made(&m), &(struct report_options){.reads = REPORT_READS_RECORDS}, &r, &err) < 0)
        fail_msg("%s", err.message);
    assert_false(r->cells.items[0].merged);
    report_free(r);
}

static void one_trial_needs_no_merging(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    maker_begin(&m, axes, NULL, NULL);
    measured(&m, "a", OUTCOME_OK, 10);
    put_log(*state, "a", 1, 11, 900);
    CLEANUP(report_free) struct report *r = built(&m, *state);
    assert_false(r->cells.items[0].merged);
    assert_true(r->cells.items[0].figures[FIGURE_P99].median == 10); /* the generator's own */
}

static void the_course_is_drawn(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;

    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = measured(&m, "a", OUTCOME_OK, 10);
    struct step_time steps[] = {{"ready", 0, 900}, {"load", 1000, 2000}};
    t->load.phases = "[{\"name\":\"warm\",\"warmup\":true,\"begin_ms\":0,\"duration_ms\":500},"
                     "{\"name\":\"r<mp\",\"begin_ms\":500,\"duration_ms\":1500}]";
    t->steps = steps;
    t->step_count = 2;
    measured(&m, "a", OUTCOME_OK, 10);
    put(*state, "a", 1, "load/series.csv",
        "at_ms,vus,planned,started,requests,ok,failed,dropped,aborted,p50_ms,p99_ms,max_ms,mean_ms\n"
        "1000,4,0,0,90,80,10,0,0,1,7.5,9,1\n2000,4,0,0,90,60,30,0,0,1,,9,1\n");
    put(*state, "a", 1, "samples.csv",
        "at_ms,role,usage_bytes,used_bytes,cpu_cores\n500.0,app,1,999999999,9\n1500.0,app,1,52428800,0.25\n"
        "1500.0,load,1,999999999,9\n2500.0,app,1,104857600,0.5\n3600.0,app,1,999999999,9\n");
    CLEANUP_FREE char *page = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_null(strstr(page, "svg class=\"series\""));
    m.sweep.path = *state;
    CLEANUP_FREE char *drawn = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_has(drawn, "successful requests per second, up to 80<");
    assert_has(drawn, "p99 of latency in ms, up to 7.5<");
    assert_has(drawn, "used memory of the application in MiB, up to 100<");
    assert_has(drawn, "CPU of the application in cores, up to 0.5<");
    assert_has(drawn, "<title>warm (warm-up): 0.00 s to 0.50 s</title>");
    assert_has(drawn,
               "<svg x=\"160.0\" width=\"480.0\" height=\"16\"><title>r&lt;mp: 0.50 s to 2.00 s</title>");
    assert_int_equal(occurrences(drawn, "<line class=\"border\" x1=\"160.0\""), 5);
    assert_int_equal(occurrences(drawn, "class=\"tick\""), 5); /* 0, 0.5, ... 2 s */
    assert_has(drawn, ">1.5 s</text>");
}

/* Ends and silences stand on each line of the course, and the events themselves below. */
static void failures_on_the_course(void **state)
{
    CLEANUP_VALUE(maker_release) struct maker m;
    CLEANUP_VALUE(strbuf_release) struct strbuf events = STRBUF_INIT;

    maker_begin(&m, axes, NULL, NULL);
    struct trial *t = measured(&m, "a", OUTCOME_DEGRADED, 10);
    struct step_time load = {"load", 1000, 2000};
    struct container_exit exits[] = {{500, 137, true, "oom", NULL}, {1500, 3, false, "exit 3", NULL}};
    struct container_silence silence = {1600, NAN};
    t->steps = &load;
    t->step_count = 1;
    t->app.exits = exits;
    t->app.exit_count = 2;
    t->app.silences = &silence;
    t->app.silence_count = 1;
    put(*state, "a", 1, "load/series.csv", "at_ms,ok,p99_ms\n1000,80,7.5\n2000,60,9\n");
    strbuf_adds(
        &events,
        "{\"at_ms\":1000,\"event\":\"load begin\",\"role\":\"load\"}\nno line at all\n[7]\n{}\n"
        "{\"at_ms\":1510,\"engine_at_ms\":1500.5,\"event\":\"die<b>\",\"role\":\"app\",\"code\":137}\n");
    for (int i = 0; i < 300; i++)
        strbuf_adds(&events, "{\"at_ms\":1600,\"event\":\"kill\",\"role\":\"app\",\"signal\":9}\n");
    put(*state, "a", 1, "events.ndjson", strbuf_text(&events));
    m.sweep.path = *state;
    CLEANUP_FREE char *page = rendered(&m, &(struct report_options){0}, REPORT_HTML);
    assert_int_equal(occurrences(page, "<line class=\"exit thin\" x1=\"160.0\""), 2); /* on two lines */
    assert_int_equal(occurrences(page, "<line class=\"exit thin dashed\" x1=\"480.0\""), 2);
    assert_has(page, "<title>unresponsive</title></rect>");
    assert_has(page, "<td class=\"r\">0.50 s</td><td>app</td><td>die&lt;b&gt;, exit code 137</td>");
    assert_has(page, "<td class=\"r\">0.60 s</td><td>app</td><td>kill, signal 9</td>");
    assert_has(page, "and 102 more in events.ndjson");
}

static void a_stream_has_other_columns(void **state)
{
    static const char csv[] = "time,at_s,vus,requests,failed,dropped,p50_ms,p99_ms\n"
                              "x,0,1,50,10,,1,2\nx,1,1,30,,,1,4\nx,7,1,99999,0,,1,99999\n";
    struct series *s = xcalloc(1, sizeof(*s));

    (void)state;
    s->span_s = 2;
    series_add_load(s, csv, strlen(csv));
    assert_true(s->bins[SERIES_OK][SERIES_BINS / 4].sum == 40);
    assert_true(s->bins[SERIES_OK][3 * SERIES_BINS / 4].sum == 30);
    assert_true(s->bins[SERIES_P99][3 * SERIES_BINS / 4].most == 4);
    assert_false(s->there[SERIES_MEMORY]);
    free(s);
}

static void texts_that_are_no_series(void **state)
{
    static const char *const bad[] = {
        "",
        "\n",
        "at_ms",
        "at_ms,ok,p99_ms\n,,\n,\n\n-5,1,1\n1e400,1,1\nnan,2,2\n0,5,5\n",
        "at_s,requests\n99999999999999999999,1\n1e308,1e308\n",
        "a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,1,2,3,4,5,6,7,8,9,0\n1"};
    struct series *s = xcalloc(1, sizeof(*s));
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    (void)state;
    s->span_s = 2;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        series_add_load(s, bad[i], strlen(bad[i]));
        series_add_samples(s, bad[i], strlen(bad[i]), 1);
    }
    html_series(s, &out);
    assert_int_equal(out.len, 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(percentiles_are_merged, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(numbers_only, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(one_trial_needs_no_merging, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_course_is_drawn, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(failures_on_the_course, scratch_setup, scratch_teardown),
        cmocka_unit_test(a_stream_has_other_columns),
        cmocka_unit_test(texts_that_are_no_series),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
