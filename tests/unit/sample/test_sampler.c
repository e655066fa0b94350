/* SPDX-License-Identifier: MIT */
/* The sampler of a trial on the loop: rows, windows, restarts, stats replies, host figures. */
#include "sample_test.h"
#include "csv.h"
#include "support/scratch.h"

#define PID 4242
#define V1_MEMORY "cgroup/memory/docker/0123456789ab/"
#define V1_CPU "cgroup/cpuacct/docker/0123456789ab/cpuacct.usage"

struct bench {
    char *dir, *cgroup, *proc, *sys;
    struct loop *loop;
    struct sampler *sampler;
    int csv_fd;
};

static void bench_release(struct bench *b)
{
    sampler_free(b->sampler);
    loop_free(b->loop);
    (void)close(b->csv_fd);
    free(b->cgroup);
    free(b->proc);
    free(b->sys);
}
#define BENCH CLEANUP_VALUE(bench_release) struct bench

/* A sampler on a copy of a fixture; `period_ms` 0: an hour, so that only what the test calls happens. */
static struct bench bench(void **state, const char *fixture, int period_ms)
{
    struct bench b = {.dir = *state};
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *csv = path_join(b.dir, "samples.csv");
    int64_t period_ns = (period_ms ? period_ms : 3600000) * NS_PER_MS;

    assert_int_equal(shell("cp -a '%s/fixtures/%s/.' '%s'", TESTS_DIR, fixture, b.dir), 0);
    b.cgroup = path_join(b.dir, "cgroup");
    b.proc = path_join(b.dir, "proc");
    b.sys = path_join(b.dir, "sys");
    b.csv_fd = open(csv, O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_true(b.csv_fd >= 0);
    assert_int_equal(loop_new(&b.loop, &err), 0);
    struct sampler_options o = {.roots = {.cgroup = b.cgroup, .proc = b.proc, .sys = b.sys},
                                .period_ns = period_ns,
                                .host_period_ns = period_ns,
                                .csv_fd = b.csv_fd,
                                .origin_ns = clock_now_ns()};
    if (sampler_new(b.loop, &o, &b.sampler, &err) < 0)
        fail_msg("%s", err.message);
    return b;
}

static void add_app(struct bench *b)
{
    struct error err = ERROR_INIT;

    if (sampler_add(b->sampler, "app", PID, &err) < 0)
        fail_msg("%s", err.message);
}

static struct container_result result(const struct bench *b, const char *role)
{
    struct container_result r;

    container_result_init(&r, role);
    assert_int_equal(sampler_result(b->sampler, role, &r), 0);
    return r;
}

static void rest(struct bench *b, int ms)
{
    struct error err = ERROR_INIT;

    assert_int_equal(loop_sleep_until(b->loop, clock_now_ns() + ms * NS_PER_MS, &err), 0);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;

    for (const char *p = text; (p = strstr(p, part)); p += strlen(part))
        n++;
    return n;
}

static void test_rows(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 5);
    struct error err = ERROR_INIT;

    add_app(&b);
    rest(&b, 100);
    sampler_window_end(b.sampler);
    assert_int_equal(sampler_flush(b.sampler, &err), 0);
    CLEANUP_FREE char *csv = get(b.dir, "samples.csv");
    assert_true(text_starts(csv, CSV_HEADER));
    assert_int_equal(count_of(csv, CSV_HEADER), 1);
    /* the first sample has no CPU */
    assert_has(
        csv,
        ",app,104857600,83886080,52428800,41943040,157286400,,750.0,17,124456,656321,8388608,3145728,25,2\n");
    assert_has(csv, ",app,104857600,83886080,52428800,41943040,157286400,0.0000,750.0,17,124456,656321,"
                    "8388608,3145728,25,2\n");
    assert_has(csv, ",(host),,,,,,");
    assert_has(csv, ",(benchctl),8192000,8192000,,,,");
    assert_true(count_of(csv, ",app,") >= 3);
    for (const char *line = csv; *line; line = strchr(line, '\n') + 1) {
        size_t commas = 0;
        for (const char *p = line; *p != '\n'; p++)
            commas += *p == ',';
        assert_int_equal(commas, 15);
    }
    size_t rows = count_of(csv, ",app,");
    rest(&b, 50);
    assert_int_equal(sampler_flush(b.sampler, &err), 0);
    CLEANUP_FREE char *later = get(b.dir, "samples.csv");
    assert_int_equal(count_of(later, ",app,"), rows); /* none after the window's end */
}

static void test_result(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);
    struct effective e = {0};
    struct error err = ERROR_INIT;

    add_app(&b);
    sampler_window_begin(b.sampler);
    put(b.dir, V1_MEMORY "memory.usage_in_bytes", "209715200\n");
    put(b.dir, V1_MEMORY "memory.max_usage_in_bytes", "230000000\n");
    put(b.dir, V1_CPU, "2600000000\n");
    sampler_window_end(b.sampler);
    struct container_result r = result(&b, "app");
    assert_near(r.memory_bytes.used_peak, 180 << 20);
    assert_near(r.memory_bytes.limit, 256 << 20);
    assert_near(r.memory_bytes.peak, 230000000);
    assert_string_equal(r.memory_bytes.peak_source, "kernel");
    assert_near(r.cpu_cores.total_ms, 100);
    assert_string_equal(r.sample_source, "cgroup v1");
    assert_near(sampler_oom_kills(b.sampler, "app"), 2);
    assert_near(sampler_last(b.sampler, "app")->usage_bytes, 209715200);
    assert_true(sampler_limits(b.sampler, "app", &e));
    assert_string_equal(e.cpuset, "0-1");
    assert_near(e.cpus, 1.5);
    /* names that nobody added */
    assert_int_equal(sampler_result(b.sampler, "db", &r), -1);
    assert_null(sampler_last(b.sampler, "db"));
    assert_nan(sampler_oom_kills(b.sampler, "db"));
    assert_false(sampler_limits(b.sampler, "db", &e));
    sampler_restarted(b.sampler, "db", PID);
    assert_int_equal(sampler_add(b.sampler, "app", PID, &err), -1);
    assert_int_equal(err.kind, ERROR_CONFLICT);
    assert_int_equal(sampler_add(b.sampler, "db", 1, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

static void test_restart(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);

    add_app(&b);
    sampler_window_begin(b.sampler);
    sampler_restarted(b.sampler, "app", 1); /* gone again before we looked */
    sampler_window_begin(b.sampler);        /* nothing to sample is no trouble */
    put(b.dir, V1_MEMORY "memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    put(b.dir, V1_MEMORY "memory.limit_in_bytes", "1000000000\n");
    sampler_restarted(b.sampler, "app", PID);
    sampler_window_end(b.sampler);
    struct container_result r = result(&b, "app");
    struct effective e = {0};
    assert_near(r.oom_kills, 2 + 3);
    assert_near(r.restarts, 2);
    assert_near(r.cpu_cores.total_ms, 2500); /* what the new life had used already */
    assert_true(sampler_limits(b.sampler, "app", &e));
    assert_near(e.memory_bytes, 1e9);
}

/* What the kernel counted before the cgroup goes is not lost, and stays known after it. */
static void test_look(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);

    add_app(&b);
    sampler_window_begin(b.sampler);
    put(b.dir, V1_MEMORY "memory.usage_in_bytes", "268435456\n");
    sampler_look(b.sampler, "app");
    sampler_look(b.sampler, "nobody");
    put(b.dir, V1_MEMORY "memory.oom_control", "oom_kill 3\n"); /* counted a moment after it was told */
    rest(&b, 30);
    assert_near(sampler_oom_kills(b.sampler, "app"), 3);
    sampler_restarted(b.sampler, "app", 0); /* gone, and nobody knows yet whether it comes back */
    assert_near(sampler_last(b.sampler, "app")->usage_bytes, 268435456);
    assert_near(sampler_oom_kills(b.sampler, "app"), 3);
    sampler_look(b.sampler, "app");
    rest(&b, 10);
    sampler_window_end(b.sampler);
    sampler_look(b.sampler, "app");
    struct container_result r = result(&b, "app");
    assert_near(r.oom_kills, 3);
    assert_near(r.memory_bytes.used_peak, 236 << 20);
    assert_near(r.memory_bytes.headroom, 20 << 20);
}

static void feed(struct bench *b, int second, int64_t cpu_ns, int64_t usage)
{
    CLEANUP_FREE char *text =
        xasprintf("{\"read\":\"2026-01-02T03:04:%02d.5Z\",\"memory_stats\":{\"usage\":%lld,\"stats\":{"
                  "\"inactive_file\":100}},"
                  "\"cpu_stats\":{\"cpu_usage\":{\"total_usage\":%lld}},\"pids_stats\":{\"current\":4}}",
                  second, (long long)usage, (long long)cpu_ns);
    CLEANUP(json_free) struct json *j = parse_json(text, strlen(text));

    sampler_feed(b->sampler, "db", j);
}

static void test_stats_replies(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);
    struct effective e;

    feed(&b, 5, 1000000000, 1100);
    feed(&b, 6, 1500000000, 2100);
    feed(&b, 6, 1500000000, 9999); /* the same reply twice */
    sampler_feed(b.sampler, "db", NULL);
    feed(&b, 8, 2500000000, 2100);
    struct container_result r = result(&b, "db");
    assert_near(r.samples, 3);
    assert_near(r.cpu_cores.avg, 0.5); /* by the engine's own clock, however fast the replies came */
    assert_near(r.memory_bytes.used_peak, 2000);
    assert_string_equal(r.sample_source, "stats api");
    assert_false(sampler_limits(b.sampler, "db", &e));
    sampler_restarted(b.sampler, "db", 99);
    feed(&b, 9, 100000000, 1100);
    feed(&b, 10, 200000000, 1100);
    r = result(&b, "db");
    assert_near(r.restarts, 1);
    assert_near(r.cpu_cores.total_ms, 1500 + 100 + 100);
}

static void test_replies_do_not_mix_with_files(void **state)
{
    BENCH b = bench(state, "cgroup-v2", 0);
    struct error err = ERROR_INIT;

    assert_int_equal(sampler_add(b.sampler, "db", PID, &err), 0);
    feed(&b, 5, 1000000000, 1100);
    struct container_result r = result(&b, "db");
    assert_near(r.samples, 1);
    assert_string_equal(r.sample_source, "cgroup v2");
}

static void test_clock_set_back(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);

    feed(&b, 50, 1000000000, 1100);
    rest(&b, 2);
    feed(&b, 5, 1001000000, 1100);
    rest(&b, 2);
    feed(&b, 6, 1501000000, 1100);
    assert_near(result(&b, "db").samples, 3);
}

static void test_host(void **state)
{
    BENCH b = bench(state, "cgroup-v2", 0);
    struct host_result h = {0};

    sampler_window_begin(b.sampler);
    rest(&b, 20);
    put(b.dir, "proc/stat", "cpu  1010 100 500 8030 200 10 90 110 50 0\n");
    put(b.dir, "proc/loadavg", "1.25 0.50 0.25 1/200 12345\n");
    put(b.dir, "proc/pressure/cpu", "some avg10=1.00 avg60=0.50 avg300=0.10 total=1002000\n");
    put(b.dir, "proc/vmstat", "nr_free_pages 1000\npswpin 42\npswpout 65\noom_kill 8\n");
    put(b.dir, "proc/self/statm", "5000 3000 900 100 0 800 0\n");
    put(b.dir, "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "9\n");
    put(b.dir, "sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "8\n");
    sampler_window_end(b.sampler);
    sampler_host(b.sampler, &h);
    assert_near(h.oom_kills, 5);
    assert_near(h.swapped_pages, 7);
    assert_near(h.throttled, 4 + 1); /* the package is counted once */
    assert_near(h.steal_pct, 20);
    assert_near(h.load1, 1);
    assert_near(h.benchctl_rss_bytes, 3000.0 * (double)sysconf(_SC_PAGESIZE));
    assert_true(h.cpu_busy > 0 && h.cpu_busy <= 10 / 0.02 / (double)sysconf(_SC_CLK_TCK));
    assert_true(h.psi_cpu_some > 0 && h.psi_cpu_some <= 10);
    assert_true(h.benchctl_cpu_cores >= 0);
}

/* What processes outside the sweep used: interrupts are nobody's, and the sampled containers' share goes. */
static void test_foreign(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);
    double hz = (double)sysconf(_SC_CLK_TCK);

    add_app(&b);
    put(b.dir, "proc/stat", "cpu  1000 100 500 8000 200 10 90 100 50 0\n");
    put(b.dir, V1_CPU, "2000000000\n");
    sampler_window_begin(b.sampler);
    rest(&b, 20);
    put(b.dir, "proc/stat", "cpu  7000 100 500 8000 200 5010 9090 100 50 0\n");
    put(b.dir, V1_CPU, "7000000000\n");
    assert_nan(sampler_foreign_cores(b.sampler, true, 0)); /* the window is open */
    int64_t before_ns = clock_now_ns();
    sampler_window_end(b.sampler);
    double span_s = 0.02 + (double)(clock_now_ns() - before_ns) / 1e9;
    double all = sampler_foreign_cores(b.sampler, false, 0);
    double less = sampler_foreign_cores(b.sampler, true, 0);
    double least = sampler_foreign_cores(b.sampler, true, 6000 / hz * 1e3);
    assert_true(all > 0 && all <= 6000 / hz / 0.02);
    assert_true(less < all && less > 0); /* 5 s of the container's */
    assert_true(fabs((all - less) / all - 5 / (6000 / hz)) < 0.01 + 1 / span_s / 1e3);
    assert_near(least, 0);
    assert_nan(sampler_foreign_cores(b.sampler, true, NAN));
}

static void test_host_that_tells_nothing(void **state)
{
    BENCH b = bench(state, "cgroup-v1", 0);
    struct host_result h = {0};

    assert_int_equal(shell("cd '%s/proc' && rm vmstat pressure/cpu", b.dir), 0);
    sampler_free(b.sampler);
    b.sampler = NULL;
    struct sampler_options o = {.roots = {.cgroup = b.cgroup, .proc = b.proc, .sys = b.sys}, .csv_fd = -1};
    struct error err = ERROR_INIT;
    assert_int_equal(sampler_new(b.loop, &o, &b.sampler, &err), 0);
    add_app(&b);
    rest(&b, 5);
    sampler_window_end(b.sampler);
    sampler_host(b.sampler, &h);
    assert_nan(h.oom_kills);
    assert_nan(h.swapped_pages);
    assert_nan(h.psi_cpu_some);
    assert_nan(h.throttled); /* no thermal counters, as in a virtual machine */
}

static void test_csv_that_cannot_be_written(void **state)
{
    struct error err = ERROR_INIT;
    int full = open("/dev/full", O_WRONLY);
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(sampler_free) struct sampler *s = NULL;
    struct sampler_options o = {.csv_fd = full};

    (void)state;
    assert_int_equal(loop_new(&l, &err), 0);
    assert_int_equal(sampler_new(l, &o, &s, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "samples.csv");
    (void)close(full);
}

#define fixture_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(test_rows),
        fixture_test(test_result),
        fixture_test(test_restart),
        fixture_test(test_look),
        fixture_test(test_stats_replies),
        fixture_test(test_replies_do_not_mix_with_files),
        fixture_test(test_clock_set_back),
        fixture_test(test_host),
        fixture_test(test_foreign),
        fixture_test(test_host_that_tells_nothing),
        cmocka_unit_test(test_csv_that_cannot_be_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
