/* SPDX-License-Identifier: MIT */
/* Recorded scrapes of many programs, against what an independent script counted in them. */
#include <dirent.h>
#include "prom_test.h"

static bool has_labels(const struct prom_sample *s, const struct json *labels)
{
    if (s->label_count != json_len(labels))
        return false;
    for (void *it = json_iter(labels); it; it = json_iter_next(labels, it))
        if (!text_equal(label(s, json_iter_key(it)), json_text(json_iter_value(it))))
            return false;
    return true;
}

static double json_value(const struct json *j)
{
    const char *text = json_text(j);

    return text ? strtod(text, NULL) : json_number(j);
}

static void check_sample(const struct prom_scrape *s, const struct json *check, const char *file)
{
    double want = json_value(json_get(check, "value"));
    const char *name = json_get_text(check, "name");

    for (size_t i = 0; i < s->sample_count; i++) {
        const struct prom_sample *have = &s->samples[i];
        if (strcmp(have->name, name) != 0 || !has_labels(have, json_get(check, "labels")))
            continue;
        if (isnan(want) ? !isnan(have->value) : have->value != want)
            fail_msg("%s: %s is %.17g, not %.17g", file, name, have->value, want);
        if (json_get_text(check, "timestamp"))
            assert_near(have->timestamp_ms, strtod(json_get_text(check, "timestamp"), NULL));
        return;
    }
    fail_msg("%s: no sample %s", file, name);
}

struct totals {
    double nan, plus, minus, stamps, sum, names;
};

static struct totals total(const struct prom_scrape *s)
{
    struct totals t = {0};

    for (size_t i = 0; i < s->sample_count; i++) {
        double v = s->samples[i].value;
        t.nan += isnan(v);
        t.plus += v == (double)INFINITY;
        t.minus += v == -(double)INFINITY;
        t.stamps += !isnan(s->samples[i].timestamp_ms);
        t.sum += isfinite(v) ? v : 0;
        t.names++;
        for (size_t k = 0; k < i; k++) {
            if (strcmp(s->samples[k].name, s->samples[i].name) == 0) {
                t.names--;
                break;
            }
        }
    }
    return t;
}

static void check_types(const struct prom_scrape *s, const struct json *types)
{
    for (void *it = json_iter(types); it; it = json_iter_next(types, it)) {
        double count = 0;
        for (size_t i = 0; i < s->family_count; i++)
            count += strcmp(s->families[i].type, json_iter_key(it)) == 0;
        assert_near(count, json_number(json_iter_value(it)));
    }
}

static void check_recorded(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name), *json_path = xasprintf("%s.expected.json", path);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_whole(path), json = read_whole(json_path);
    CLEANUP(json_free) struct json *want = parse_json(json.data, json.len);
    PARSED p = parse_as(text.data, text.len, NULL);
    struct totals t = total(&p.s);

    assert_near((double)p.s.sample_count, json_get_number(want, "series"));
    assert_int_equal(p.s.bad_lines + p.s.duplicate_series, 0);
    assert_near(t.nan, json_get_number(want, "nan"));
    assert_near(t.plus, json_get_number(want, "plus_inf"));
    assert_near(t.minus, json_get_number(want, "minus_inf"));
    assert_near(t.stamps, json_get_number(want, "timestamps"));
    assert_near(t.names, json_get_number(want, "distinct_names"));
    assert_near(t.sum, json_get_number(want, "sum_of_finite_values"));
    check_types(&p.s, json_get(want, "types"));
    for (size_t i = 0; i < json_len(json_get(want, "checks")); i++)
        check_sample(&p.s, json_at(json_get(want, "checks"), i), name);
}

static int check_folder(const char *dir)
{
    CLEANUP(closedir) DIR *d = opendir(dir);
    int count = 0;

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *expected = xasprintf("%s/%s.expected.json", dir, e->d_name);
        if (!fs_exists(expected))
            continue;
        check_recorded(dir, e->d_name);
        count++;
    }
    return count;
}

static void test_recorded(void **state)
{
    (void)state;
    assert_int_equal(check_folder(TESTS_DIR "/data/prometheus"), 2);
}

static void test_more_recorded(void **state)
{
    (void)state;
    CLEANUP_FREE char *dir = shared_path("data/prometheus");

    if (!check_folder(dir)) {
        print_message("skipped: no '%s' here\n", dir);
        free(TAKE(dir));
        skip(); /* leaves by longjmp: cleanups do not run */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_more_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
