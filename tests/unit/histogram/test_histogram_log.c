/* SPDX-License-Identifier: MIT */
/* Interval logs: those of another implementation with the figures it reads from them, ours, and broken ones.
 */
#include "unit/check.h"

#include <math.h>
#include <stdio.h>
#include "benchctl/base/fs.h"
#include "benchctl/histogram.h"
#include "support/scratch.h"

#define DATA TESTS_DIR "/data/histogram/"

struct seen {
    struct histogram *all;
    int intervals, stop_after;
    char tags[64];
    double start_s, length_s, max;
};

static int merge(const struct histogram_interval *i, const struct histogram *h, void *data, struct error *err)
{
    struct seen *s = data;

    histogram_merge(s->all, h);
    s->intervals++;
    snprintf(s->tags + strlen(s->tags), sizeof(s->tags) - strlen(s->tags), "%s;", i->tag ? i->tag : "");
    s->start_s = i->start_s;
    s->length_s = i->length_s;
    s->max = i->max;
    return s->intervals == s->stop_after ? error_set(err, ERROR_INTERRUPTED, "enough") : 0;
}

static double asked(const struct seen *s, const char *what)
{
    if (strcmp(what, "count") == 0)
        return (double)histogram_count(s->all);
    if (strcmp(what, "intervals") == 0)
        return s->intervals;
    if (strcmp(what, "min") == 0)
        return histogram_min_ms(s->all);
    if (strcmp(what, "max") == 0)
        return histogram_max_ms(s->all);
    if (strcmp(what, "mean") == 0)
        return histogram_mean_ms(s->all);
    if (strcmp(what, "stdev") == 0)
        return histogram_stdev_ms(s->all);
    assert_true(what[0] == 'p');
    return histogram_quantile_ms(s->all, strtod(what + 1, NULL) / 100);
}

/* `share`: how far figures may be off that pass from one layout to another; counts never. */
static void compare(const char *name, double values_per_us, double share)
{
    CLEANUP(histogram_free) struct histogram *all = histogram_new();
    CLEANUP_FREE char *log = xasprintf(DATA "%s.hlog", name);
    CLEANUP_FREE char *expected = xasprintf(DATA "%s.expected", name);
    CLEANUP(fclose) FILE *f = fopen(expected, "re");
    struct seen s = {.all = all};
    struct error err = ERROR_INIT;
    char what[32];
    double value;
    int lines = 0;

    assert_non_null(f);
    if (histogram_log_read(log, values_per_us, merge, &s, &err) < 0)
        fail_msg("%s", err.message);
    for (; fscanf(f, "%31s %lf", what, &value) == 2; lines++) {
        bool exact = strcmp(what, "count") == 0 || strcmp(what, "intervals") == 0;
        double is = asked(&s, what),
               allowed = exact ? 0 : fmax(share * value, share > 1e-9 ? 0.0011 : 1e-12 * value);
        if (!(fabs(is - value) <= allowed))
            fail_msg("%s: %s is %.17g instead of %.17g", name, what, is, value);
    }
    assert_int_equal(lines, 13);
}

static void logs_of_others(void **state)
{
    (void)state;
    compare("microseconds", 1, 1e-12);
    compare("hiccups", 1, 1e-12);
    compare("nanoseconds", 1000, 0.001);
    compare("lowest-1000", 1000, 0.001);
    compare("five-digits", 1, 0.001);
    compare("two-digits", 1, 0.01);
}

static void tags_are_given(void **state)
{
    CLEANUP(histogram_free) struct histogram *all = histogram_new();
    struct seen s = {.all = all};
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(histogram_log_read(DATA "hiccups.hlog", 1, merge, &s, &err), 0);
    assert_string_equal(s.tags, ";read;write x;read;;");
    assert_true(s.start_s == 4.5 && s.length_s == 1);
}

static void ours_come_back_exactly(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "a.hlog");
    CLEANUP_VALUE(strbuf_release) struct strbuf log = STRBUF_INIT;
    CLEANUP(histogram_free) struct histogram *h = histogram_new();
    CLEANUP(histogram_free) struct histogram *all = histogram_new();
    CLEANUP(histogram_free) struct histogram *read = histogram_new();
    struct seen s = {.all = read};
    struct error err = ERROR_INIT;

    histogram_log_begin(&log, INT64_C(1700000000123) * 1000000);
    assert_has(log.data, "#[StartTime: 1700000000.123 (seconds since epoch), 2023-11-14T22:13:20.123Z]\n");
    for (int k = 0; k < 3; k++) {
        histogram_clear(h);
        histogram_record(h, 1234567 + k * 1000, 5);
        histogram_record(h, 10 * k, 1);
        struct histogram_interval i = {k == 1 ? "a, b\n" : NULL, k, 1, histogram_max_ms(h)};
        histogram_log_line(&log, &i, h);
        histogram_merge(all, h);
    }
    assert_int_equal(fs_write(path, log.data, log.len, &err), 0);
    assert_int_equal(histogram_log_read(path, 1, merge, &s, &err), 0);
    assert_int_equal(s.intervals, 3);
    assert_string_equal(s.tags, ";a__b_;;");
    assert_true(histogram_max_ms(read) == 1236.567 && s.max == 1236.567);
    for (double q = 0; q <= 1; q += 0.125)
        assert_true(histogram_quantile_ms(read, q) == histogram_quantile_ms(all, q));
    assert_true(histogram_mean_ms(read) == histogram_mean_ms(all));

    struct seen stopped = {.all = read, .stop_after = 2};
    assert_int_equal(histogram_log_read(path, 1, merge, &stopped, &err), -1);
    assert_string_equal(err.message, "enough");
    assert_int_equal(stopped.intervals, 2);
}

/* Reads `text` as a file; the number of intervals, or -1. */
static const char *scratch_dir;

static int read_text(const char *text, size_t len, struct error *err)
{
    CLEANUP_FREE char *path = path_join(scratch_dir, "b.hlog");
    CLEANUP(histogram_free) struct histogram *all = histogram_new();
    struct seen s = {.all = all};

    assert_int_equal(fs_write(path, text, len, err), 0);
    int rc = histogram_log_read(path, 1, merge, &s, err);
    return rc < 0 ? -1 - s.intervals : s.intervals;
}

#define ONE "HISTFAAAAD14nJNpmSzMwMAgzwABzFCaEURcm7yEwf4DRICJiWkyYwMIODyUY2L5zc/EdJCZ7XcVU2cc0/Q4JgB50w40"

static void lines_that_are_fine(void **state)
{
    static const struct {
        const char *text;
        int intervals;
    } cases[] = {
        {"", 0},
        {"# nothing\n\n\r\n", 0},
        {"0,1,2," ONE, 1},
        {"\xef\xbb\xbf"
         "0,1,2," ONE "\n",
         1},
        {" 0 ,\t1, 2 , " ONE " \r\n0,1,2," ONE "\r\n", 2},
        {"Tag=,0,1,2," ONE "\n", 1},
        {"Tag=a=b,1e3,1,2," ONE "\n# half a comm", 1},
        {"\"StartTimestamp\",\"Interval_Length\"\n1700000000.5,1,0," ONE "\n", 1},
    };
    struct error err = ERROR_INIT;

    scratch_dir = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_int_equal(read_text(cases[i].text, strlen(cases[i].text), &err), cases[i].intervals);
}

static void lines_that_are_not(void **state)
{
    static const struct {
        const char *text, *why;
        int intervals; /* before it */
    } cases[] = {
        {"0,1,2\n", "b.hlog:1: it has 3 of the 4 fields", 0},
        {"hello\n", "b.hlog:1: it has 1 of the 4 fields", 0},
        {"Tag=x\n", "b.hlog:1: nothing follows the tag", 0},
        {"#\n0,x,2," ONE "\n", "b.hlog:2: 'x' is no interval length", 0},
        {"nan,1,2," ONE "\n", "'nan' is no start time", 0},
        {"0,1,," ONE "\n", "'' is no maximum", 0},
        {"0,1,2," ONE ",x\n", "more fields", 0},
        {"0,1,2,\n", "it is empty", 0},
        {"0,1,2,HIST\n", "b.hlog:1: not a usable histogram: it is cut short", 0},
        {"0,1,2," ONE "\n0,1,2,HISTFAAAAD14nJNpmSzMwMAgzwAB", "b.hlog:2: the last line is cut short", 1},
        {"0,1,2," ONE "\n0,1", "b.hlog:2: the last line is cut short", 1},
        {"0,1,2," ONE "!\n", "base64", 0},
    };

    scratch_dir = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct error err = ERROR_INIT;
        assert_int_equal(read_text(cases[i].text, strlen(cases[i].text), &err), -1 - cases[i].intervals);
        assert_int_equal(err.kind, ERROR_INVALID);
        assert_has(err.message, cases[i].why);
    }
    struct error err = ERROR_INIT;
    assert_int_equal(read_text("0,1,\0"
                               "2\n",
                               7, &err),
                     -1);
    assert_has(err.message, "NUL");
}

static void lines_without_end(void **state)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *block = xmalloc(1 << 20);

    scratch_dir = *state;
    memset(block, 'A', 1 << 20);
    for (int i = 0; i < 9; i++)
        strbuf_add(&text, block, 1 << 20);
    assert_int_equal(read_text(text.data, text.len, &err), -1);
    assert_has(err.message, "longer than 8 MiB");
    assert_int_equal(histogram_log_read("/does/not/exist", 1, merge, NULL, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_others),         cmocka_unit_test(tags_are_given),
        cmocka_unit_test(ours_come_back_exactly), cmocka_unit_test(lines_that_are_fine),
        cmocka_unit_test(lines_that_are_not),     cmocka_unit_test(lines_without_end),
    };

    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
