/* SPDX-License-Identifier: MIT */
/* A JVM's performance data: recorded, made to order, and hostile. */
#include "jvm_test.h"

enum { FILE_MAX = 8192 };

static void test_recorded(void **state)
{
    (void)state;
    CLEANUP_VALUE(strbuf_release) struct strbuf bytes = read_case("g1-17.hsperfdata");
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    assert_int_equal(jvm_read_perf(bytes.data, bytes.len, a, &f, &err), 0);
    assert_text(f.version, "17.0.15+6-Debian-1deb12u1");
    assert_text(f.collector, "G1");
    assert_number(f.heap_max_bytes, 200 << 20);      /* the file says 8 bytes more */
    assert_text(f.options, "-XX:+UseG1GC -Xmx200m"); /* -Dtoken=... is nobody's business */
    assert_number(f.cpus, NAN);
}

static void check(bool little, const char *policy, const char *pauses, const char *arguments, int64_t young,
                  int64_t old, const char *collector, double heap)
{
    unsigned char bytes[FILE_MAX];
    struct made_entry e[8] = {{"sun.rt.something", NULL, -5},
                              {"java.property.java.vm.version", "25.0.1+8-LTS", 0},
                              {"java.rt.vmArgs", arguments, 0}};
    size_t n = 3;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    if (policy)
        e[n++] = (struct made_entry){"sun.gc.policy.name", policy, 0};
    if (pauses)
        e[n++] = (struct made_entry){"sun.gc.collector.0.name", pauses, 0};
    if (young >= 0)
        e[n++] = (struct made_entry){"sun.gc.generation.0.maxCapacity", NULL, young};
    e[n++] = (struct made_entry){"sun.gc.generation.1.maxCapacity", NULL, old};
    size_t len = make_perf(e, n, little, bytes);
    if (jvm_read_perf(bytes, len, a, &f, &err) < 0)
        fail_msg("%s", err.message);
    assert_text(f.version, "25.0.1+8-LTS");
    assert_text(f.collector, collector);
    assert_number(f.heap_max_bytes, heap);
}

/* As JVMs 17 and 25 write them. */
static void test_collectors(void **state)
{
    (void)state;
    int64_t mib = 1 << 20;

    for (int little = 0; little <= 1; little++) {
        check(little, "Copy:MSC", "Serial young collection pauses", "", 67 * mib, 133 * mib, "Serial",
              200 << 20);
        check(little, "ParScav:MSC", "Parallel young collection pauses", "", 67 * mib, 133 * mib, "Parallel",
              200 << 20);
        check(little, "GarbageFirst", "G1 young collection pauses", "", 200 * mib + 24, 200 * mib + 8, "G1",
              200 << 20);
        check(little, NULL, "ZGC minor collection pauses", "", 200 * mib, 200 * mib, "Z", 200 << 20);
        check(little, NULL, "Shenandoah partial", "", 0, 200 * mib, "Shenandoah", 200 << 20);
        check(little, NULL, NULL, "-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC", -1, 200 * mib,
              "Epsilon", 200 << 20);
        check(little, "ParNew:CMS", NULL, "", 67 * mib, 133 * mib, "CMS", 200 << 20);
        check(little, "of next year", NULL, "", -1, 200 * mib, NULL, 200 << 20);
    }
    check(true, "Copy:MSC", NULL, "", -1, 5, "Serial", NAN); /* half of it is missing */
    check(true, "GarbageFirst", NULL, "", 0, 0, "G1", NAN);
    check(true, "GarbageFirst", NULL, "", 0, -1, "G1", NAN);
    check(true, "GarbageFirst", NULL, "", 0, INT64_MAX, "G1", NAN);
}

static void test_version_8(void **state)
{
    (void)state;
    unsigned char bytes[FILE_MAX];
    static const struct made_entry e[] = {{"java.property.java.vm.version", "25.392-b08", 0},
                                          {"java.property.java.vm.specification.version", "1.8", 0},
                                          {"java.property.java.version", "1.8.0_392", 0}};
    size_t len = make_perf(e, ARRAY_LEN(e), true, bytes);
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    assert_int_equal(jvm_read_perf(bytes, len, a, &f, &err), 0);
    assert_text(f.version, "1.8.0_392"); /* not 25 */
}

static void refuse(const unsigned char *bytes, size_t len)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    assert_int_equal(jvm_read_perf(bytes, len, a, &f, &err), -1);
    assert_int_equal(err.kind, ERROR_INVALID);
}

/* On the heap and of the exact length, so that a read past the end is seen. */
static int read_exactly(const unsigned char *bytes, size_t len)
{
    CLEANUP_FREE unsigned char *copy = xmalloc(len ? len : 1);
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f;
    struct error err = ERROR_INIT;

    memcpy(copy, bytes, len);
    int rc = jvm_read_perf(copy, len, a, &f, &err);
    if (rc == 0)
        for (const char *p = f.version; *p; p++)
            assert_true((unsigned char)*p >= ' ');
    return rc;
}

static void test_hostile(void **state)
{
    (void)state;
    unsigned char bytes[FILE_MAX], worse[FILE_MAX];
    static const struct made_entry e[] = {{"java.property.java.vm.version", "1\n\033[31m2", 0},
                                          {"sun.gc.policy.name", "Copy:MSC", 0},
                                          {"sun.gc.generation.0.maxCapacity", NULL, 1}};
    size_t len = make_perf(e, ARRAY_LEN(e), true, bytes);
    static const uint32_t values[] = {0, 1, 19, 20, 21, 0x7fffffff, 0x80000000, 0xffffffff, 0xffffffe0, 40};

    assert_int_equal(read_exactly(bytes, len), 0);
    for (size_t cut = 0; cut < len; cut++) /* every cut: an error or the entries that are whole */
        (void)read_exactly(bytes, cut);
    for (size_t at = 4; at + 4 <= len; at++) /* every word wrong */
        for (size_t v = 0; v < ARRAY_LEN(values); v++) {
            memcpy(worse, bytes, len);
            put_number(worse + at, values[v], 4, true);
            (void)read_exactly(worse, len);
        }
    refuse((const unsigned char *)"", 0);
    refuse((const unsigned char *)"root:x:0:0:root:/root:/bin/sh\nand so on for a while\n", 52);
    memcpy(worse, bytes, len);
    worse[7] = 0; /* not accessible yet */
    refuse(worse, len);
    worse[7] = 1;
    worse[5] = 3; /* of a later version */
    refuse(worse, len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),
        cmocka_unit_test(test_collectors),
        cmocka_unit_test(test_version_8),
        cmocka_unit_test(test_hostile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
