/* SPDX-License-Identifier: MIT */
/* Streams as generators write them: both orders of the members, in pieces of any size, broken, and recorded
 * ones with the figures that stand beside them. */
#include "load_test.h"

#include <dirent.h>
#include "benchctl/histogram.h"
#include "benchctl/base/clock.h"
#include "stream.h"

#define DATA TESTS_DIR "/data/streams/"

static struct load_stream *stream_of(const struct load_stream_options *o, struct load_adapter **ret_adapter)
{
    struct load_stream *s = NULL;
    struct error err = ERROR_INIT;

    *ret_adapter = adapter_of("k6");
    if (load_stream_new(*ret_adapter, o, &s, &err) < 0)
        fail_msg("%s", err.message);
    return s;
}

static struct load_stream_total total_of(const struct load_stream *s, const char *metric)
{
    struct load_stream_total t = {0};

    if (!load_stream_get_total(s, metric, &t))
        fail_msg("nothing came as '%s'", metric);
    return t;
}

static void feed_in_pieces(struct load_stream *s, const char *bytes, size_t len, size_t piece)
{
    struct error err = ERROR_INIT;

    for (size_t at = 0; at < len; at += piece) {
        size_t n = piece < len - at ? piece : len - at;
        CLEANUP_FREE char *exact = xmalloc(n);
        memcpy(exact, bytes + at, n);
        assert_int_equal(load_stream_feed(s, exact, n, &err), 0);
    }
    assert_int_equal(load_stream_end(s, &err), 0);
}

/* The twelve requests that the made-up files hold. */
static void check_twelve(const struct load_stream *s)
{
    struct load_stream_total duration = total_of(s, "http_req_duration");

    assert_true(total_of(s, "http_reqs").sum == 12 && total_of(s, "http_req_failed").sum == 2);
    assert_true(load_stream_answered(s) == 10);
    assert_true(total_of(s, "dropped_iterations").sum == 2 && total_of(s, "vus").last == 5);
    assert_int_equal(duration.count, 12);
    check_number("sum", duration.sum, 780 + 12 * 0.125);
    check_number("min", duration.min, 10.125);
    check_number("max", duration.max, 120.125);
    check_number("p50", load_stream_quantile_ms(s, 0.5), 65.125); /* between 60.125 and 70.125 */
    check_number("p0", load_stream_quantile_ms(s, 0), 10.125);
    check_number("p100", load_stream_quantile_ms(s, 1), 120.125);
    assert_int_equal(histogram_count(load_stream_histogram(s)), 12);
    assert_true(total_of(s, "checks").count == 2 && total_of(s, "checks").sum == 1);
}

static void either_order_any_piece(void **state)
{
    static const char *const names[] = {"metric-first.ndjson", "metric-last.ndjson"};
    static const size_t pieces[] = {1, 2, 3, 7, 64, 255, 4096, 1 << 20};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        CLEANUP_FREE char *path = path_join(DATA, names[i]);
        struct error err = ERROR_INIT;

        assert_int_equal(fs_read(path, 1 << 20, &text, &err), 0);
        for (size_t p = 0; p < ARRAY_LEN(pieces); p++) {
            CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
            CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
            struct load_stream_counts c;

            feed_in_pieces(s, text.data, text.len, pieces[p]);
            check_twelve(s);
            load_stream_get_counts(s, &c);
            assert_true(c.lines == 49 && c.points == 43 && c.other == 6 && c.invalid == 0 && !c.cut);
            assert_true(c.first_ns == clock_parse_rfc3339("2026-01-31T08:00:01.000000007Z"));
            assert_true(c.last_ns == clock_parse_rfc3339("2026-01-31T08:00:05.5Z"));
            assert_true(c.slow < 3);
            assert_null(load_stream_metric_name(s, 6));
        }
    }
}

struct rows {
    struct load_stream_second list[32];
    uint64_t counts[32];
    size_t len;
};

static int keep_row(const struct load_stream_second *x, void *data, struct error *err)
{
    struct rows *r = data;

    (void)err;
    assert_true(r->len < ARRAY_LEN(r->list));
    r->counts[r->len] = histogram_count(x->latency);
    r->list[r->len++] = *x;
    return 0;
}

static void seconds_pass(void **state)
{
    CLEANUP_FREE char *series = path_join(*state, "series.csv");
    CLEANUP_FREE char *log = path_join(*state, "latency.hlog");
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf csv = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf hlog = STRBUF_INIT;
    static const double requests[] = {4, 3, 0, 3, 2}, failed[] = {1, 0, 0, 1, 0}, vus[] = {1, 2, NAN, 4, 5};
    struct rows rows = {0};
    struct error err = ERROR_INIT;
    const struct load_stream_options o = {
        .on_second = keep_row, .data = &rows, .series_path = series, .log_path = log};
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(&o, &a);

    assert_int_equal(load_stream_read_file(s, DATA "metric-first.ndjson", &err), 0);
    assert_int_equal(rows.len, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_true(rows.list[i].at_s == (double)i && rows.list[i].requests == requests[i]);
        assert_true(rows.list[i].failed == failed[i] && rows.counts[i] == (uint64_t)requests[i]);
        assert_true(isnan(vus[i]) ? isnan(rows.list[i].vus) : rows.list[i].vus == vus[i]);
        assert_true(rows.list[i].dropped == (i == 3 ? 2 : 0));
    }
    assert_int_equal(fs_read(series, 1 << 20, &csv, &err), 0);
    assert_has(csv.data, "time,at_s,vus,requests,failed,dropped,p50_ms,p99_ms,max_ms,mean_ms\n"
                         "2026-01-31T08:00:01.000Z,0,1,4,1,0,20.127,40.125,40.125,");
    assert_has(csv.data, "\n2026-01-31T08:00:03.000Z,2,,0,0,0,,,,\n");
    assert_int_equal(fs_read(log, 1 << 20, &hlog, &err), 0);
    assert_has(hlog.data, "#[StartTime: 1769846401.000");
    assert_has(hlog.data, "\n3.000,1.000,100.125,HIST");
    assert_null(strstr(hlog.data, "\n2.000,"));
}

static void point(struct strbuf *out, const char *metric, const char *time, const char *value)
{
    strbuf_addf(
        out, "{\"metric\":\"%s\",\"type\":\"Point\",\"data\":{\"time\":\"%s\",\"value\":%s,\"tags\":{}}}\n",
        metric, time, value);
}

static void late_lines_find_their_second(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct rows rows = {0};
    const struct load_stream_options o = {.on_second = keep_row, .data = &rows};
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(&o, &a);
    struct load_stream_counts c;

    (void)state;
    point(&text, "http_reqs", "2026-01-31T08:00:10Z", "1");
    point(&text, "http_reqs", "2026-01-31T08:00:08.2Z", "1"); /* before the first */
    point(&text, "http_reqs", "2026-01-31T08:00:14Z", "1");
    point(&text, "http_reqs", "2026-01-31T08:00:07.5Z", "1"); /* 7 s late */
    point(&text, "http_reqs", "2026-01-31T08:00:16Z", "1");
    point(&text, "http_reqs", "2026-01-31T08:00:08Z", "1"); /* 8 s: too late */
    point(&text, "http_reqs", "2026-01-31T08:00:10Z", "1");
    point(&text, "http_reqs", "2026-01-31T10:00:00Z", "1"); /* far ahead */
    point(&text, "http_reqs", "2026-01-31T08:00:17+half", "1");
    point(&text, "http_reqs", "yesterday", "1");
    point(&text, "http_reqs", "2026-01-31T08:00:17Z", "1");
    feed_in_pieces(s, text.data, text.len, 100);
    load_stream_get_counts(s, &c);
    assert_true(c.late == 1 && c.ahead == 1 && c.timeless == 2 && c.points == 11);
    assert_true(total_of(s, "http_reqs").sum == 11);
    static const double wanted[] = {1, 1, 0, 2, 0, 0, 0, 1, 0, 1, 1}; /* 07 to 17 */
    assert_int_equal(rows.len, ARRAY_LEN(wanted));
    for (size_t i = 0; i < rows.len; i++)
        assert_true(rows.list[i].requests == wanted[i] && rows.list[i].at_s == (double)i);
}

/* A clock that jumps for good is believed after a while; hours without a line are no rows. */
static void time_may_jump(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct rows rows = {0};
    const struct load_stream_options o = {.on_second = keep_row, .data = &rows};
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(&o, &a);
    struct load_stream_counts c;
    double sum = 0;

    (void)state;
    point(&text, "http_reqs", "1970-01-01T00:00:01Z", "1");
    for (int i = 0; i < 150; i++)
        point(&text, "http_reqs", "2026-01-31T08:00:10Z", "1");
    feed_in_pieces(s, text.data, text.len, 1000);
    load_stream_get_counts(s, &c);
    assert_true(c.ahead == 99 && c.late == 0);
    for (size_t i = 0; i < rows.len; i++)
        sum += rows.list[i].requests;
    assert_true(sum == 52 && rows.len < 12);
}

static void broken_lines_are_counted(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_stream_counts c;
    struct load_problems problems;
    struct load_result r;

    (void)state;
    assert_int_equal(load_stream_read_file(s, DATA "broken.ndjson", &err), 0);
    check_twelve(s);
    load_stream_get_counts(s, &c);
    assert_true(c.invalid == 3 && c.first_invalid == 9 && c.cut);
    assert_true(c.lines == 49 + 3 + 1 + 1 && c.other == 7 && c.points == 43);
    assert_has(c.invalid_reason, "not JSON");

    assert_int_equal(parse_file(a, DATA "broken.ndjson", arena, &r, &problems, &err), 0);
    assert_true(r.requests == 12 && r.failed == 2 && r.dropped == 2 && r.latency_ms.max == 120.125);
    bool said = false, cut = false;
    for (size_t i = 0; i < problems.len; i++) {
        said = said || strstr(problems.items[i], "3 of 54 lines are no JSON, line 9 first: ");
        cut = cut || strstr(problems.items[i], "the last line was cut short");
    }
    assert_true(said && cut);
}

static void lines_without_end(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
    CLEANUP(load_stream_free) struct load_stream *again = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *blanks = xmalloc(3 << 20);
    struct error err = ERROR_INIT;
    struct load_stream_counts c;

    (void)state;
    memset(blanks, 'x', 3 << 20);
    point(&text, "http_reqs", "2026-01-31T08:00:10Z", "1");
    strbuf_add(&text, blanks, 3 << 20);
    strbuf_addc(&text, '\n');
    point(&text, "http_reqs", "2026-01-31T08:00:10Z", "1");
    feed_in_pieces(s, text.data, text.len, 10000);
    load_stream_get_counts(s, &c);
    assert_true(c.points == 2 && c.invalid == 1 && c.first_invalid == 2 && c.lines == 3);
    assert_has(c.invalid_reason, "longer than 1 MiB");
    assert_int_equal(load_stream_new(a, NULL, &again, &err), 0);
    feed_in_pieces(again, text.data, text.len, text.len);
    load_stream_get_counts(again, &c);
    assert_true(c.points == 2 && c.invalid == 1 && c.lines == 3);
}

static void names_are_bounded(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct load_stream_counts c;
    char name[300];

    (void)state;
    for (int i = 0; i < 300; i++) {
        snprintf(name, sizeof(name), "metric-%d", i);
        point(&text, name, "2026-01-31T08:00:10Z", "1");
    }
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    point(&text, name, "2026-01-31T08:00:10Z", "1");
    feed_in_pieces(s, text.data, text.len, 1 << 20);
    load_stream_get_counts(s, &c);
    assert_true(c.points == 301 && c.unnamed == 45);
    assert_string_equal(load_stream_metric_name(s, 255), "metric-255");
}

/* More values than are kept one by one: the histogram answers. */
static void many_values(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error err = ERROR_INIT;

    (void)state;
    assert_true(load_stream_answered(s) == 0); /* nothing yet, and known to be nothing */
    for (int i = 0; i < 70000; i++) {
        char value[32];
        strbuf_clear(&text);
        snprintf(value, sizeof(value), "%d.5", i % 1000);
        point(&text, "http_req_duration", "2026-01-31T08:00:10.25Z", value);
        assert_int_equal(load_stream_feed(s, text.data, text.len, &err), 0);
    }
    assert_int_equal(load_stream_end(s, &err), 0);
    assert_int_equal(s->exact.len, STREAM_EXACT_MAX);
    assert_true(fabs(load_stream_quantile_ms(s, 0.99) - 989.5) < 1);
    assert_true(fabs(load_stream_quantile_ms(s, 0.5) - 499.5) < 0.5);
}

static void check_recording(const char *path, const char *expected)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = NULL;
    CLEANUP(load_stream_free) struct load_stream *s = stream_of(NULL, &a);
    CLEANUP(json_free) struct json *e = NULL;
    struct error err = ERROR_INIT;
    struct load_stream_counts c;

    if (json_read_file(expected, 1 << 20, &e, &err) < 0 || load_stream_read_file(s, path, &err) < 0)
        fail_msg("%s", err.message);
    load_stream_get_counts(s, &c);
    struct load_stream_total t = total_of(s, "http_req_duration");
    check_number("requests", total_of(s, "http_reqs").sum, json_get_number(e, "requests"));
    check_number("errors", total_of(s, "http_req_failed").sum, json_get_number(e, "errors"));
    check_number("mean", t.sum / (double)t.count, json_get_number(e, "mean"));
    assert_true(t.min == json_get_number(e, "min") && t.max == json_get_number(e, "max"));
    static const double shares[] = {0.5, 0.9, 0.95, 0.99};
    static const char *const names[] = {"p50", "p90", "p95", "p99"};
    for (size_t i = 0; i < ARRAY_LEN(shares); i++) {
        double is = load_stream_quantile_ms(s, shares[i]), wanted = json_get_number(e, names[i]);
        if (fabs(is - wanted) > 1e-9 * wanted)
            fail_msg("%s: %s is %.12g instead of %.12g", path, names[i], is, wanted);
    }
    assert_true((double)c.lines == json_get_number(e, "lines") &&
                (double)c.points == json_get_number(e, "points"));
    assert_true(c.invalid == 0 && c.timeless == 0);
    check_number("iterations", total_of(s, "iterations").sum, json_get_number(e, "iterations"));
    const struct json *checks = json_get(e, "checks"), *metrics = json_get(e, "metrics");
    struct load_stream_total k = total_of(s, "checks");
    check_number("passes", k.sum, json_get_number(checks, "passes"));
    check_number("fails", (double)k.count - k.sum, json_get_number(checks, "fails"));
    for (size_t i = 0; i < json_len(metrics); i++)
        (void)total_of(s, json_text(json_at(metrics, i)));
    assert_null(load_stream_metric_name(s, json_len(metrics)));
    assert_true(c.first_ns == clock_parse_rfc3339(json_get_text(e, "first_time")));
    assert_true(c.last_ns == clock_parse_rfc3339(json_get_text(e, "last_time")));
}

static void recordings(void **state)
{
    char dir[4096]; /* skip() leaves without cleaning up */
    int count = 0;

    (void)state;
    (void)snprintf(dir, sizeof(dir), "%s/data/k6-ndjson", shared_dir());
    if (!fs_is_dir(dir)) {
        print_message("skipped: no recorded streams in %s\n", dir);
        skip();
    }
    CLEANUP(closedir) DIR *d = opendir(dir);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (!text_ends(e->d_name, ".ndjson"))
            continue;
        CLEANUP_FREE char *path = path_join(dir, e->d_name);
        CLEANUP_FREE char *expected = xasprintf("%s.expected.json", path);
        check_recording(path, expected);
        count++;
    }
    assert_true(count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(either_order_any_piece),
        cmocka_unit_test(seconds_pass),
        cmocka_unit_test(late_lines_find_their_second),
        cmocka_unit_test(time_may_jump),
        cmocka_unit_test(broken_lines_are_counted),
        cmocka_unit_test(lines_without_end),
        cmocka_unit_test(names_are_bounded),
        cmocka_unit_test(many_values),
        cmocka_unit_test(recordings),
    };

    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
