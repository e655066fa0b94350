/* SPDX-License-Identifier: MIT */
/*
 * What the adapters read from scrapes of the laboratory's applications (tests/fixtures/metrics), by the exact
 * figures. All were taken with four connections in use and two requests that waited for one.
 */
#include "metrics_test.h"

struct wanted {
    const char *name;
    double last; /* as in the file: sums of its series, times a unit */
};

#define WANTED_MAX 16
struct scrape {
    const char *adapter, *file;
    struct wanted wanted[WANTED_MAX];
};

static const struct scrape scrapes[] = {
    {"micrometer",
     "micronaut-imperative",
     {{"heap_used_bytes", 2222800 + 418048 + 11854096},
      {"non_heap_used_bytes", 1436288 + 1618176 + 8027776 + 6328336 + 38594360},
      {"gc_pauses", 2 + 24},
      {"gc_pause_total_ms", 99 + 136},
      {"gc_pause_avg_ms", (99 + 136) / 26.0},
      {"gc_pause_max_ms", 72},
      {"threads_live", 22},
      {"threads_peak", 22},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_max", 4},
      {"pool_pending_max", 2},
      {"pool_acquires", 4349},
      {"pool_acquire_avg_ms", 184.089974 / 4349},
      {"process_cpu_seconds", 11.77}}},
    {"micrometer",
     "micronaut-reactive",
     {{"heap_used_bytes", 4310840 + 195616 + 13119792},
      {"non_heap_used_bytes", 1481856 + 1717888 + 7450496 + 6920712 + 41573552},
      {"gc_pauses", 1 + 11},
      {"gc_pause_total_ms", 30 + 34},
      {"gc_pause_avg_ms", (30 + 34) / 12.0},
      {"gc_pause_max_ms", 30},
      {"threads_live", 17},
      {"threads_peak", 17},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_max", 4},
      {"pool_pending_max", 2},
      {"process_cpu_seconds", 11.9}}},
    {"micrometer",
     "springboot-imperative",
     {{"heap_used_bytes", 28123184 + 3001544 + 19051320},
      {"non_heap_used_bytes", 1468928 + 1693312 + 7434368 + 6096792 + 47367632},
      {"gc_pauses", 1},
      {"gc_pause_total_ms", 32},
      {"gc_pause_avg_ms", 32},
      {"gc_pause_max_ms", 32},
      {"threads_live", 25},
      {"threads_peak", 25},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_max", 4},
      {"pool_pending_max", 2},
      {"pool_acquires", 391},
      {"pool_acquire_avg_ms", 2952.17869 / 391},
      {"process_cpu_seconds", 10.79}}},
    {"micrometer",
     "springboot-reactive",
     {{"heap_used_bytes", 19517048 + 3442312 + 20406408},
      {"non_heap_used_bytes", 1497984 + 1834624 + 7658112 + 7076552 + 52106232},
      {"gc_pauses", 2},
      {"gc_pause_total_ms", 62},
      {"gc_pause_avg_ms", 31},
      {"gc_pause_max_ms", 50},
      {"threads_live", 19},
      {"threads_peak", 19},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_max", 4},
      {"pool_pending_max", 2},
      {"process_cpu_seconds", 13.27}}},
    {"quarkus",
     "quarkus-imperative",
     {{"heap_used_bytes", 3490456 + 2903200 + 7590232},
      {"non_heap_used_bytes", 1449344 + 1016064 + 4295040 + 4274112 + 33653248},
      {"gc_pauses", 1 + 1},
      {"gc_pause_total_ms", 79 + 18},
      {"gc_pause_avg_ms", (79 + 18) / 2.0},
      {"gc_pause_max_ms", 79},
      {"threads_live", 21},
      {"threads_peak", 21},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_pending_max", 2},
      {"pool_acquires", 273},
      {"pool_acquire_avg_ms", 4802.0 / 273},
      {"process_cpu_seconds", 5.64}}},
    {"quarkus",
     "quarkus-reactive",
     {{"heap_used_bytes", 33066800 + 0 + 6273504},
      {"non_heap_used_bytes", 1450496 + 752000 + 3558656 + 4209264 + 31775960},
      {"gc_pauses", 1},
      {"gc_pause_total_ms", 115},
      {"gc_pause_avg_ms", 115},
      {"gc_pause_max_ms", 115},
      {"threads_live", 12},
      {"threads_peak", 12},
      {"pool_active", 4},
      {"pool_idle", 0},
      {"pool_pending_max", 2},
      {"pool_acquires", 12},
      {"pool_acquire_avg_ms", 8377.741846 / 12},
      {"process_cpu_seconds", 4.26}}},
};

/* The parts that the two pools need, named one by one, read the same. */
static const struct scrape by_parts[] = {
    {"hikari", "micronaut-imperative", {{"pool_active", 4}, {"pool_pending_max", 2}, {"pool_max", 4}}},
    {"r2dbc-pool", "micronaut-reactive", {{"pool_active", 4}, {"pool_pending_max", 2}, {"pool_max", 4}}},
    {"jvm", "micronaut-reactive", {{"gc_pauses", 12}, {"threads_live", 17}}},
    {"agroal", "quarkus-imperative", {{"pool_active", 4}, {"pool_pending_max", 2}}},
    {"vertx-pool", "quarkus-reactive", {{"pool_active", 4}, {"pool_pending_max", 2}}},
    {"micrometer", "quarkus-imperative", {{"pool_active", 4}, {"gc_pauses", 2}}},
    {"micrometer", "quarkus-reactive", {{"pool_active", 4}, {"gc_pauses", 1}}},
};

static void check_scrape(const struct scrape *s)
{
    CLEANUP_FREE char *path = xasprintf(TESTS_DIR "/fixtures/metrics/%s.prom", s->file);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = read_whole(path);
    const char *texts[] = {strbuf_text(&text)};
    RESULT r = apply(shipped(s->adapter), texts, 1);

    for (const struct wanted *w = s->wanted; w < s->wanted + WANTED_MAX && w->name; w++) {
        const struct metric_value *v = value_of(&r, w->name);
        if (!v || fabs(v->last - w->last) > 1e-9 * fabs(w->last))
            fail_msg("%s of %s: %s is %.10g, not %.10g", s->adapter, s->file, w->name,
                     v ? v->last : (double)NAN, w->last);
    }
}

static void test_every_metric_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(scrapes); i++)
        check_scrape(&scrapes[i]);
}

static void test_parts_read_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(by_parts); i++)
        check_scrape(&by_parts[i]);
}

/* A pool's adapter finds nothing in an application with another pool: absent, not 0. */
static void test_another_pool_is_absent(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release)
    struct strbuf text = read_whole(TESTS_DIR "/fixtures/metrics/micronaut-reactive.prom");
    const char *texts[] = {strbuf_text(&text)};
    static const char *const others[] = {"hikari", "agroal", "vertx-pool", "jdbc"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        RESULT r = apply(shipped(others[i]), texts, 1);
        assert_int_equal(r.len, 0);
    }
}

/* Names of other versions and libraries, one line each: old Micrometer, SmallRye, OpenTelemetry, Prometheus'
 * client, HikariCP's own, Vert.x 4 and 5. */
static void test_other_versions(void **state)
{
    (void)state;
    static const struct {
        const char *adapter, *scrape, *metric;
        double last;
    } lines[] = {
        {"jvm", "jvm_threads_live 7\n", "threads_live", 7},
        {"jvm", "base_memory_usedHeap_bytes 5.0\n", "heap_used_bytes", 5},
        {"jvm", "vendor_memory_usedNonHeap_bytes 6\n", "non_heap_used_bytes", 6},
        {"jvm", "jvm_memory_used_bytes{jvm_memory_type=\"heap\",jvm_memory_pool_name=\"x\"} 8\n",
         "heap_used_bytes", 8},
        {"jvm", "jvm_memory_bytes_used{area=\"nonheap\"} 9\n", "non_heap_used_bytes", 9},
        {"jvm", "jvm_gc_collection_seconds_count{gc=\"a\"} 3\njvm_gc_collection_seconds_sum{gc=\"a\"} 0.6\n",
         "gc_pause_avg_ms", 200},
        {"jvm", "process_files_open 11\n", "open_files", 11},
        {"hikari", "hikaricp_pending_threads{pool=\"a\"} 2\nhikaricp_pending_threads{pool=\"b\"} 5\n",
         "pool_pending_max", 5},
        {"hikari", "hikaricp_active_connections{pool=\"a\"} 2\nhikaricp_active_connections{pool=\"b\"} 5\n",
         "pool_active", 7},
        {"agroal", "vendor_agroal_awaiting_count{datasource=\"default\"} 2\n", "pool_pending_max", 2},
        {"r2dbc-pool", "r2dbc_pool_pending_connections{name=\"a\"} 4\n", "pool_pending_max", 4},
        {"vertx-pool", "sql_pool_queue_size{pool_name=\"a\",pool_type=\"sql\"} 4\n", "pool_pending_max", 4},
        {"vertx-pool", "vertx_pool_in_use{pool_type=\"worker\"} 9\nvertx_pool_in_use{pool_type=\"sql\"} 3\n",
         "pool_active", 3},
        {"vertx-pool", "vertx_pool_queue_pending{pool_type=\"sql\"} 6\n", "pool_pending_max", 6},
        {"vertx-pool", "vertx_pool_queue_size{pool_type=\"sql\"} 6\n", "pool_pending_max", 6},
        {"jdbc", "jdbc_connections_active{name=\"default\"} 6\n", "pool_active", 6},
    };

    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        RESULT r = apply(shipped(lines[i].adapter), &lines[i].scrape, 1);
        assert_near(must(&r, lines[i].metric)->last, lines[i].last);
    }
}

/* A native image of a version without pools by area, and without collections: absent, never 0. */
static void test_native_image(void **state)
{
    (void)state;
    static const char *const scrape[] = {
        "jvm_memory_used_bytes{area=\"nonheap\",id=\"runtime code cache (code and data)\"} 0.0\n"
        "jvm_threads_live_threads 9.0\nprocess_uptime_seconds 3.5\n"};
    RESULT r = apply(shipped("micrometer"), scrape, 1);

    assert_near(must(&r, "non_heap_used_bytes")->last, 0);
    assert_near(must(&r, "threads_live")->last, 9);
    assert_null(value_of(&r, "heap_used_bytes"));
    assert_null(value_of(&r, "gc_pauses"));
    assert_null(value_of(&r, "gc_pause_avg_ms"));
    assert_null(value_of(&r, "pool_active"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_metric_is_read),   cmocka_unit_test(test_parts_read_the_same),
        cmocka_unit_test(test_another_pool_is_absent), cmocka_unit_test(test_other_versions),
        cmocka_unit_test(test_native_image),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
