/* SPDX-License-Identifier: MIT */
/* What a JVM prints when it is asked: recorded from 17 and 25, and in the forms of 8 and 11. */
#include "jvm_test.h"

static void test_versions(void **state)
{
    (void)state;
    static const struct {
        const char *file, *version, *collector;
        double heap, cpus;
    } cases[] = {
        {"answer-8.txt", "1.8.0_392-b08", "Parallel", 134217728, 2},
        {"answer-11.txt", "11.0.21+9", "Serial", 536870912, 1},
        {"answer-17.txt", "17.0.15+6-Debian-1deb12u1", "G1", 6320816128, 2},
        {"answer-25.txt", "25.0.3+9-LTS", "Z", 314572800, 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CLEANUP_VALUE(strbuf_release) struct strbuf text = read_case(cases[i].file);
        CLEANUP(arena_free) struct arena *a = arena_new();
        struct jvm_facts f;
        assert_true(jvm_read_answer(text.data, text.len, a, &f));
        assert_text(f.version, cases[i].version);
        assert_text(f.collector, cases[i].collector);
        assert_number(f.heap_max_bytes, cases[i].heap);
        assert_number(f.cpus, cases[i].cpus);
        assert_null(f.source);
    }
}

static struct jvm_facts answer(const char *text, struct arena *a)
{
    struct jvm_facts f;

    assert_true(jvm_read_answer(text, strlen(text), a, &f));
    return f;
}

static void test_which_cpus(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();
#define HEAP "size_t MaxHeapSize = 5 {product}\n"

    assert_number(answer(HEAP, a).cpus, NAN);
    assert_number(answer("OSContainer::active_processor_count: 3\n" HEAP, a).cpus, 3);
    assert_number(
        answer("OSContainer::active_processor_count: 3\n[gc,init] CPUs: 8 total, 2 available\n" HEAP, a).cpus,
        2);
    assert_number(
        answer("[gc,init] CPUs: 8 total, 2 available\n" HEAP "int ActiveProcessorCount = 7 {product}\n", a)
            .cpus,
        7);
    assert_number(answer(HEAP "int ActiveProcessorCount = -1 {product}", a).cpus, NAN);
}

static void test_no_answer(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_facts f = {.cpus = 4711};
    static const char *const texts[] = {
        "",
        "\n\n",
        "Unrecognized option: -Xlog:gc+init\nError: Could not create the Java Virtual Machine.\n",
        "exec: \"java\": executable file not found in $PATH",
        "openjdk version \"25\"\nOpenJDK Runtime Environment (build 25)\n",
        "MaxHeapSize = 5",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(jvm_read_answer(texts[i], strlen(texts[i]), a, &f));
    assert_number(f.cpus, 4711); /* untouched */
    char *junk = xmalloc(100000);
    for (size_t i = 0; i < 100000; i++)
        junk[i] = (char)(i * 7919 % 251);
    assert_false(jvm_read_answer(junk, 100000, a, &f));
    memset(junk, 'x', 100000); /* one line, longer than any */
    memcpy(junk, "size_t MaxHeapSize = 5 ", 23);
    assert_true(jvm_read_answer(junk, 100000, a, &f));
    free(junk);
}

static void test_adding_up(void **state)
{
    (void)state;
    struct jvm_facts f = jvm_facts_none(), more = {"25", "G1", "-Xmx1m", 5, 2, "asked"};

    f.collector = "Serial";
    jvm_facts_add(&f, &more);
    assert_text(f.collector, "Serial"); /* what is known stays */
    assert_text(f.version, "25");
    assert_number(f.heap_max_bytes, 5);
    assert_number(f.cpus, 2);
    assert_text(f.options, "-Xmx1m");
    assert_text(f.source, "asked");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_which_cpus),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_adding_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
