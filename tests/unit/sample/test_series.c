/* SPDX-License-Identifier: MIT */
/* A series of samples as averages and peaks over a window, through restarts. */
#include "sample_test.h"
#include "series.h"

#define MS NS_PER_MS

static struct resource_sample sample(int64_t at_ms, double used, double cpu_ms)
{
    return (struct resource_sample){.at_ns = at_ms * MS,
                                    .usage_bytes = used + 10,
                                    .used_bytes = used,
                                    .anon_bytes = used / 2,
                                    .file_bytes = 10,
                                    .shmem_bytes = 0,
                                    .peak_bytes = NAN,
                                    .limit_bytes = 1000,
                                    .cpu_ns = cpu_ms * 1e6,
                                    .throttled_ns = cpu_ms * 1e5,
                                    .nr_periods = NAN,
                                    .nr_throttled = NAN,
                                    .pids = 3,
                                    .rx_bytes = cpu_ms * 2,
                                    .tx_bytes = cpu_ms * 3,
                                    .oom_kills = 0,
                                    .system_cpu_ns = NAN,
                                    .cpus = NAN,
                                    .swap_bytes = NAN};
}

static void add(struct resource_series *s, int64_t at_ms, double used, double cpu_ms)
{
    struct resource_sample one = sample(at_ms, used, cpu_ms);

    series_add(s, &one);
}

static struct container_result summary(const struct resource_series *s)
{
    struct container_result r;

    container_result_init(&r, "app");
    series_summary(s, &r);
    return r;
}

static void test_nothing(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");
    struct container_result r = summary(s);

    assert_nan(r.memory_bytes.used_avg);
    assert_nan(r.memory_bytes.peak);
    assert_null(r.memory_bytes.peak_source);
    assert_nan(r.cpu_cores.avg);
    assert_nan(r.cpu_cores.total_ms);
    assert_nan(r.oom_kills);
    assert_near(r.samples, 0);
    assert_null(series_last(s));
}

static void test_one_sample(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add(s, 0, 100, 5);
    struct container_result r = summary(s);
    assert_near(r.memory_bytes.used_avg, 100);
    assert_near(r.memory_bytes.anon_peak, 50);
    assert_near(r.memory_bytes.limit, 1000);
    assert_near(r.memory_bytes.peak, 110);
    assert_string_equal(r.memory_bytes.peak_source, "sampled");
    assert_nan(r.cpu_cores.avg);
    assert_nan(r.rx_bytes);
    assert_near(r.pids_peak, 3);
}

/* 100 for 9 seconds and 1000 for one must not average to 550. */
static void test_weighted_by_time(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add(s, 0, 100, 0);
    add(s, 9000, 100, 900);
    add(s, 9001, 1000, 901);
    add(s, 10000, 1000, 1900);
    struct container_result r = summary(s);
    assert_true(r.memory_bytes.used_avg > 189 && r.memory_bytes.used_avg < 191);
    assert_near(r.memory_bytes.used_peak, 1000);
    assert_near(r.cpu_cores.avg, 0.19);
    assert_near(r.cpu_cores.total_ms, 1900);
    assert_near(r.cpu_throttled_ms, 190);
    assert_near(r.rx_bytes, 3800);
    assert_near(r.tx_bytes, 5700);
    assert_near(r.samples, 4);
}

static void test_cpu_peak_is_the_busiest_second(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    for (int i = 0; i <= 30;
         i++) /* 3 s at 10 Hz: 0.2 cores, in the second second 0.8, with one interval at 2.6 */
        add(s, i * 100, 1,
            i <= 10   ? i * 20
            : i < 15  ? 200 + (i - 10) * 60
            : i <= 20 ? 440 + (i - 14) * 60 + (i == 15 ? 0 : 200)
                      : 1000 + (i - 20) * 20);
    struct container_result r = summary(s);
    assert_near(r.cpu_cores.peak, 0.8);
    CLEANUP(series_free) struct resource_series *brief = series_new("app");
    add(brief, 0, 1, 0);
    add(brief, 100, 1, 50);
    assert_near(summary(brief).cpu_cores.peak, 0.5); /* less than a second: what there is */
}

static void test_window(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add(s, 0, 900, 0);
    add(s, 1000, 900, 1000);
    series_window(s, 1500 * MS);
    assert_nan(summary(s).memory_bytes.used_peak);
    add(s, 2000, 100, 1200); /* half of the interval lies in the window */
    add(s, 3000, 100, 1300);
    struct container_result r = summary(s);
    assert_near(r.memory_bytes.used_peak, 100);
    assert_near(r.cpu_cores.total_ms, 200);
    assert_near(r.cpu_cores.avg, 200.0 / 1500);
    assert_near(r.samples, 2);
    assert_near(r.memory_bytes.limit, 1000);
}

static void test_restart(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");
    struct resource_sample killed = sample(1000, 400, 500);

    killed.oom_kills = 2;
    add(s, 0, 400, 100);
    series_add(s, &killed);
    assert_near(series_cores(s), 0.4);
    series_restarted(s);
    assert_nan(series_cores(s));
    add(s, 5000, 100, 50); /* the time between the lives counts for nothing, the new life's CPU so far does */
    add(s, 6000, 100, 250);
    struct container_result r = summary(s);
    assert_near(r.memory_bytes.used_avg, 250);
    assert_near(r.cpu_cores.total_ms, 400 + 50 + 200);
    assert_near(r.cpu_cores.avg, 0.3);
    assert_near(r.oom_kills, 2);
    assert_near(series_oom_kills(s), 2);
    assert_near(r.restarts, 1);
    assert_near(r.rx_bytes, 2 * (400 + 50 + 200));
    assert_near(r.samples, 4);
}

static void test_counter_that_goes_back(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add(s, 0, 1, 1000);
    add(s, 1000, 1, 10); /* a restart that nobody told of: no value for this interval */
    assert_nan(series_cores(s));
    add(s, 2000, 1, 110);
    struct container_result r = summary(s);
    assert_near(r.cpu_cores.total_ms, 100);
    assert_near(r.cpu_cores.avg, 0.1);
    assert_near(r.rx_bytes, 200);
}

static void test_time_that_does_not_move(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add(s, 1000, 1, 0);
    add(s, 1000, 9, 500);
    add(s, 900, 9, 700);
    assert_near(summary(s).samples, 1);
    assert_nan(summary(s).cpu_cores.avg);
}

static void test_missing_figures(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");
    struct resource_sample a = sample(0, 100, 0), b = sample(1000, 100, 100), c = sample(2000, 300, 200);

    b.used_bytes = b.anon_bytes = b.cpu_ns = NAN;
    series_add(s, &a);
    series_add(s, &b);
    series_add(s, &c);
    struct container_result r = summary(s);
    assert_near(r.memory_bytes.used_avg, 200); /* no interval has both ends: the mean of the samples */
    assert_near(r.memory_bytes.used_peak, 300);
    assert_nan(r.cpu_cores.avg);
    assert_near(r.memory_bytes.file_avg, 10);
}

static struct resource_sample detailed(int64_t at_ms, double file, double shmem, double swap)
{
    struct resource_sample one = sample(at_ms, 300, (double)at_ms);

    one.file_bytes = file;
    one.shmem_bytes = shmem;
    one.swap_bytes = swap;
    one.nr_periods = (double)at_ms / 100;
    one.nr_throttled = (double)at_ms / 200;
    return one;
}

static void test_what_memory_consists_of(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");
    const struct resource_sample rows[] = {detailed(0, 10, 100, 0), detailed(1000, 70, 300, 5),
                                           detailed(2000, 30, 100, 2)};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        series_add(s, &rows[i]);
    struct container_result r = summary(s);
    assert_near(r.memory_bytes.file_peak, 70);
    assert_near(r.memory_bytes.shmem_avg, 200);
    assert_near(r.memory_bytes.shmem_peak, 300);
    assert_near(r.memory_bytes.swap_peak, 5);
    assert_near(r.memory_bytes.headroom, 1000 - 300);
    assert_near(r.cpu_periods, 20);
    assert_near(r.cpu_throttled_periods, 10);
    series_restarted(s); /* a new cgroup counts its periods from zero */
    struct resource_sample again = detailed(200, 1, 1, 1);
    again.at_ns = 5000 * MS;
    series_add(s, &again);
    assert_near(summary(s).cpu_periods, 22);
    assert_near(summary(s).cpu_throttled_periods, 11);
}

static void test_what_is_not_measured_stays_so(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");
    struct resource_sample one = detailed(0, NAN, NAN, NAN);

    one.limit_bytes = INFINITY;
    one.nr_periods = one.nr_throttled = NAN;
    series_add(s, &one);
    one.at_ns = 1000 * MS;
    series_add(s, &one);
    struct container_result r = summary(s);
    assert_nan(r.memory_bytes.file_peak);
    assert_nan(r.memory_bytes.shmem_avg);
    assert_nan(r.memory_bytes.shmem_peak);
    assert_nan(r.memory_bytes.swap_peak);
    assert_nan(r.memory_bytes.headroom); /* there is no limit */
    assert_nan(r.cpu_periods);
    assert_nan(r.cpu_throttled_periods);
}

/* --- the kernel's high-water mark --- */

static void add_peak(struct resource_series *s, int64_t at_ms, double usage, double peak)
{
    struct resource_sample one = sample(at_ms, usage - 10, 0);

    one.peak_bytes = peak;
    series_add(s, &one);
}

static void test_kernel_peak(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_peak(s, 0, 100, 700);
    add_peak(s, 100, 100, 800);
    assert_near(summary(s).memory_bytes.peak, 800);
    assert_string_equal(summary(s).memory_bytes.peak_source, "kernel");
}

static void test_peak_from_before_the_window(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_peak(s, 0, 100, 700);
    series_window(s, 50 * MS);
    add_peak(s, 100, 150, 700); /* could not be begun anew: 700 may be older than the window */
    assert_near(summary(s).memory_bytes.peak, 150);
    assert_string_equal(summary(s).memory_bytes.peak_source, "sampled");
    add_peak(s, 200, 200, 900); /* this one is surely not */
    assert_near(summary(s).memory_bytes.peak, 900);
    assert_string_equal(summary(s).memory_bytes.peak_source, "kernel");
}

static void test_peak_begun_anew(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_peak(s, 0, 100, 700);
    series_window(s, 50 * MS);
    add_peak(s, 51, 100, 101);
    add_peak(s, 100, 100, 300);
    assert_near(summary(s).memory_bytes.peak, 300);
    assert_string_equal(summary(s).memory_bytes.peak_source, "kernel");
}

static void test_peak_of_the_highest_life(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_peak(s, 0, 100, 700);
    series_window(s, 50 * MS);
    series_restarted(s);
    add_peak(s, 100, 100, 400); /* a new cgroup: its mark is of this life */
    series_restarted(s);
    add_peak(s, 200, 100, 300);
    assert_near(summary(s).memory_bytes.peak, 400);
    assert_string_equal(summary(s).memory_bytes.peak_source, "kernel");
}

static void test_peak_never_below_what_was_seen(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_peak(s, 0, 100, 700);
    series_window(s, 50 * MS);
    add_peak(s, 100, 650, 700); /* of unknown age */
    series_restarted(s);
    add_peak(s, 200, 100, 300);
    assert_near(summary(s).memory_bytes.peak, 650);
    assert_string_equal(summary(s).memory_bytes.peak_source, "sampled");
}

/* --- shortly before the end --- */

static void add_last(struct resource_series *s, int64_t at_ms, double used, double pids, double kills)
{
    struct resource_sample one = sample(at_ms, used, 10);

    one.pids = pids;
    one.oom_kills = kills;
    series_add(s, &one);
}

static void test_what_it_had_before_it_was_killed(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    assert_nan(series_recent_usage(s, 0));
    for (int i = 0; i < 40; i++)
        add_last(s, 1000 + i * 100, 10 * i, 3, 0);
    assert_near(series_recent_usage(s, 0), 400);
    add_last(s, 5000, 250, 3, 1); /* the kernel has killed */
    add_last(s, 5010, 120, 3, 1); /* it gives back what it had */
    assert_near(series_recent_usage(s, 0), 400);
    add_last(s, 5100, 2, 0, 1); /* nobody is left */
    assert_near(series_recent_usage(s, 0), 400);
    assert_near(series_recent_usage(s, 5005 * MS), 130); /* of a life that began only then */
    assert_nan(series_recent_usage(s, 6000 * MS));
}

/* A child was killed, and its parent goes on: what it has half a second later is its own. */
static void test_usage_after_a_childs_end(void **state)
{
    (void)state;
    CLEANUP(series_free) struct resource_series *s = series_new("app");

    add_last(s, 1000, 900, 3, 0);
    add_last(s, 1100, 400, 2, 1);
    add_last(s, 1400, 100, 2, 1);
    assert_near(series_recent_usage(s, 0), 910);
    add_last(s, 1600, 100, 2, 1);
    assert_near(series_recent_usage(s, 0), 110);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test(test_weighted_by_time),
        cmocka_unit_test(test_cpu_peak_is_the_busiest_second),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_restart),
        cmocka_unit_test(test_counter_that_goes_back),
        cmocka_unit_test(test_time_that_does_not_move),
        cmocka_unit_test(test_missing_figures),
        cmocka_unit_test(test_what_memory_consists_of),
        cmocka_unit_test(test_what_is_not_measured_stays_so),
        cmocka_unit_test(test_kernel_peak),
        cmocka_unit_test(test_peak_from_before_the_window),
        cmocka_unit_test(test_peak_begun_anew),
        cmocka_unit_test(test_peak_of_the_highest_life),
        cmocka_unit_test(test_peak_never_below_what_was_seen),
        cmocka_unit_test(test_what_it_had_before_it_was_killed),
        cmocka_unit_test(test_usage_after_a_childs_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
