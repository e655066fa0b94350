/* SPDX-License-Identifier: MIT */
/* The engine's stats replies: which memory is used, what CPU is, and what is no sample at all. */
#include <dirent.h>
#include "sample_test.h"

static bool parse_text(const char *text, size_t len, struct resource_sample *ret, const char **rule)
{
    CLEANUP(json_free) struct json *j = parse_json(text, len);

    return stats_parse(j, ret, rule);
}

static bool parse_case(const char *name, struct resource_sample *ret, const char **rule)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_case(name);

    return parse_text(strbuf_text(&text), text.len, ret, rule);
}

static void test_memory_rules(void **state)
{
    (void)state;
    static const struct {
        const char *file, *rule;
        double used, limit, peak;
    } cases[] = {
        {"A02/v1.json", "usage - total_inactive_file", 134217728, 536870912, 314572800},
        {"A02/v2.json", "usage - inactive_file", 201326592, 536870912, NAN},
        {"A02/podman.json", "usage, cache not separable", 6422528, 67353804800, NAN},
        {"A02/inactive_larger.json", "usage (difference negative)", 10485760, 536870912, NAN},
        {"A02/v1_nolimit.json", "usage - total_inactive_file", 268435456, INFINITY, 268435456},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct resource_sample s;
        const char *rule = NULL;
        assert_true(parse_case(cases[i].file, &s, &rule));
        assert_near(s.used_bytes, cases[i].used);
        assert_true(s.limit_bytes == cases[i].limit);
        if (isnan(cases[i].peak))
            assert_nan(s.peak_bytes);
        else
            assert_near(s.peak_bytes, cases[i].peak);
        assert_string_equal(rule, cases[i].rule);
    }
}

static void test_breakdown(void **state)
{
    (void)state;
    struct resource_sample s;
    const char *rule;

    assert_true(parse_case("A02/v1.json", &s, &rule));
    assert_near(s.anon_bytes, 104857600);
    assert_near(s.file_bytes, 150994944);
    assert_true(parse_case("A02/v2.json", &s, &rule));
    assert_near(s.anon_bytes, 157286400);
    assert_near(s.shmem_bytes, 41943040);
    assert_int_equal(s.at_ns, -1); /* no clock in it */
    assert_true(parse_case("A02/podman.json", &s, &rule));
    assert_nan(s.anon_bytes);
}

/* Feeds the lines of a stream; gives CPU in percent of one core between the first two, as the engine's own
 * tool would. */
static double cpu_percent(const char *name)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_case(name);
    CLEANUP(series_free) struct resource_series *series = series_new("app");
    struct container_result r;
    char *rest = NULL;
    int lines = 0;

    for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), lines++) {
        struct resource_sample s;
        const char *rule;
        assert_true(parse_text(line, strlen(line), &s, &rule));
        series_add(series, &s);
        if (!lines) {
            series_summary(series, &r);
            assert_nan(r.cpu_cores.avg); /* the first one has no CPU */
            assert_nan(r.cpu_cores.peak);
        }
    }
    assert_int_equal(lines, 2);
    series_summary(series, &r);
    return r.cpu_cores.avg * 100;
}

static void test_cpu_from_own_differences(void **state)
{
    (void)state;
    assert_near(cpu_percent("A03/stream_two_frames.jsonl"), 50);
    assert_near(cpu_percent("A03/podman_two_frames.jsonl"), 50);
    assert_near(cpu_percent("A03/percpu_only.jsonl"), 100);
    assert_nan(cpu_percent("A03/system_backwards.jsonl"));
}

static void test_no_sample(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "{\"message\":\"No such container: x\"}",
        "{\"read\":\"2026-01-02T03:04:05Z\",\"memory_stats\":{},\"cpu_stats\":{}}",
        /* an engine without a memory controller: zeros with status 200 */
        "{\"read\":\"2026-01-02T03:04:05Z\",\"memory_stats\":{\"usage\":0,\"limit\":0},\"cpu_stats\":{\"cpu_"
        "usage\":{\"total_usage\":0}},"
        "\"pids_stats\":{}}",
        "{\"read\":\"yesterday\",\"memory_stats\":{\"usage\":5}}",
        "{\"memory_stats\":{\"usage\":\"5\"}}",
    };
    struct resource_sample s;
    const char *rule;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(parse_text(texts[i], strlen(texts[i]), &s, &rule));
    assert_false(parse_case("A03/stopped.json", &s, &rule));
    assert_false(stats_parse(NULL, &s, &rule)); /* an empty reply */
}

static void test_cpu_without_memory(void **state)
{
    (void)state;
    static const char text[] = "{\"read\":\"2026-01-02T03:04:05Z\",\"memory_stats\":{},"
                               "\"cpu_stats\":{\"cpu_usage\":{\"total_usage\":7}},\"pids_stats\":{}}";
    struct resource_sample s;
    const char *rule;

    assert_true(parse_text(text, sizeof(text) - 1, &s, &rule));
    assert_near(s.cpu_ns, 7);
    assert_nan(s.usage_bytes);
    assert_nan(s.pids);
    assert_nan(s.rx_bytes);
    assert_string_equal(rule, "not measured");
}

/* --- recorded replies --- */

static void check_number(const char *what, double have, const struct json *want)
{
    double number = json_number(want);

    if (isnan(number) ? !isnan(have) : !(fabs(have - number) <= 1e-6 * fabs(number)))
        fail_msg("%s is %.17g, not %.17g", what, have, number);
}

static void check_sample(const struct json *reply, const struct json *want, struct resource_series *series)
{
    struct resource_sample s;
    struct container_result r;
    const char *rule;
    bool got = stats_parse(reply, &s, &rule);

    assert_int_equal(got, json_get_bool(want, "running"));
    if (!got)
        return;
    check_number("cpu_total_ns", s.cpu_ns, json_get(want, "cpu_total_ns"));
    check_number("system_cpu_ns", s.system_cpu_ns, json_get(want, "system_cpu_ns"));
    check_number("mem_usage_bytes", s.usage_bytes, json_get(want, "mem_usage_bytes"));
    check_number("mem_used_bytes", s.used_bytes, json_get(want, "mem_used_bytes"));
    check_number("mem_limit_bytes", s.limit_bytes, json_get(want, "mem_limit_bytes"));
    check_number("net_rx_bytes", s.rx_bytes, json_get(want, "net_rx_bytes"));
    check_number("net_tx_bytes", s.tx_bytes, json_get(want, "net_tx_bytes"));
    check_number("pids", s.pids, json_get(want, "pids"));
    check_number("throttled_periods", s.nr_throttled, json_get(want, "throttled_periods"));
    check_number("throttled_ns", s.throttled_ns, json_get(want, "throttled_ns"));
    assert_int_equal(s.at_ns, clock_parse_rfc3339(json_get_text(want, "read")));
    series_window(series, INT64_MIN); /* the interval that ends here, alone */
    series_add(series, &s);
    series_summary(series, &r);
    if (!isnan(json_get_number(want, "cpu_percent")))
        check_number("cpu_percent", r.cpu_cores.avg * 100, json_get(want, "cpu_percent"));
}

/* A reply by itself: its own figures, but no CPU, which takes two. */
static void check_one(const struct json *reply, const struct json *want, struct resource_series *series)
{
    CLEANUP(json_free) struct json *plain = json_clone(want);

    json_remove(plain, "cpu_percent");
    if (json_get(plain, "error")) /* "no such container" */
        json_set_bool(plain, "running", false);
    check_sample(reply, plain, series);
}

static void check_file(const char *path, const struct json *want)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_whole(path);
    CLEANUP(series_free) struct resource_series *series = series_new("app");
    const struct json *samples = json_get(want, "samples");
    size_t used = 0, at = 0, count = 0;

    for (; at < text.len; at += used, count++) {
        struct json *raw = NULL;
        struct error err = ERROR_INIT;
        if (json_take(text.data + at, text.len - at, &raw, &used, &err) != 1)
            break;
        CLEANUP(json_free) struct json *reply = raw;
        if (samples)
            check_sample(reply, json_at(samples, count), series);
        else
            check_one(reply, want, series);
    }
    assert_int_equal(count, samples ? json_len(samples) : 1);
}

static int check_folder(const char *dir)
{
    CLEANUP(closedir) DIR *d = opendir(dir);
    int count = 0;

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *path = path_join(dir, e->d_name), *json_path = xasprintf("%s.expected.json", path);
        if (!fs_exists(json_path))
            continue;
        CLEANUP_VALUE(strbuf_release) struct strbuf json = read_whole(json_path);
        CLEANUP(json_free) struct json *want = parse_json(json.data, json.len);
        if (!text_starts(json_get_text(want, "format"),
                         "docker-stats")) /* Podman's own API is another matter */
            continue;
        check_file(path, want);
        count++;
    }
    return count;
}

static void test_recorded(void **state)
{
    (void)state;
    assert_int_equal(check_folder(TESTS_DIR "/data/docker-stats"), 12);
}

static void test_more_recorded(void **state)
{
    (void)state;
    CLEANUP_FREE char *dir = shared_path("data/docker-stats");

    if (!check_folder(dir)) {
        print_message("skipped: no '%s' here\n", dir);
        free(TAKE(dir));
        skip(); /* leaves by longjmp: cleanups do not run */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_rules),
        cmocka_unit_test(test_breakdown),
        cmocka_unit_test(test_cpu_from_own_differences),
        cmocka_unit_test(test_no_sample),
        cmocka_unit_test(test_cpu_without_memory),
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_more_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
