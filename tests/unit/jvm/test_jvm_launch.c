/* SPDX-License-Identifier: MIT */
/* Which words of a command line are the JVM's, and finding a container's JVM below a /proc made to order. */
#include <sys/stat.h>
#include "jvm_internal.h"
#include "jvm_test.h"
#include "support/scratch.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__})
#define find(a, l, ...) jvm_launch_find(WORDS(__VA_ARGS__), ARRAY_LEN(WORDS(__VA_ARGS__)), a, l)

static const char *joined(const struct text_list *l, struct arena *a)
{
    const char *text = "";

    for (size_t i = 0; i < l->len; i++)
        text = arena_printf(a, "%s%s%s", text, i ? " " : "", l->items[i]);
    return text;
}

static void test_plain(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;

    assert_true(find(a, &l, "/opt/java/bin/java", "-Xmx64m", "-cp", "-Xnot-this", "-Dpassword=s3cr3t",
                     "-server", "-XX:+UseZGC", "-Xlog:gc*:file=/x", "--add-opens",
                     "java.base/java.lang=ALL-UNNAMED", "-javaagent:/otel.jar=token=s3cr3t",
                     "-XX:OnOutOfMemoryError=kill -9 %p", "-jar", "app.jar", "-Xmx1g"));
    assert_text(l.java, "/opt/java/bin/java");
    assert_text(joined(&l.options, a), "-Xmx64m -server -XX:+UseZGC");
    assert_text(l.options_text, "-Xmx64m -server -XX:+UseZGC -Xlog:gc*:file=/x -javaagent:/otel.jar "
                                "-XX:OnOutOfMemoryError");
    assert_false(l.argument_files);
    assert_true(find(a, &l, "java", "@/app/args", "-Xss1m", "Main", "-Xmx5m"));
    assert_text(joined(&l.options, a), "-Xss1m");
    assert_true(l.argument_files);
    assert_true(find(a, &l, "java"));
    assert_int_equal(l.options.len, 0);
    assert_null(l.options_text);
}

static void test_wrapped(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;

    assert_true(find(a, &l, "/bin/sh", "-c", "exec java $JAVA_OPTS '-Xmx64m' -jar /app.jar"));
    assert_text(joined(&l.options, a), "-Xmx64m");
    assert_true(find(a, &l, "bash", "-lc", "cd /x && java -Xms1m Main"));
    assert_text(joined(&l.options, a), "-Xms1m");
    assert_true(find(a, &l, "dumb-init", "--", "java", "-Xms2m", "-m", "a/b", "-Xms3m"));
    assert_text(joined(&l.options, a), "-Xms2m");
    assert_false(find(a, &l, "/app/native"));
    assert_false(find(a, &l, "node", "java.js"));
    assert_false(find(a, &l, "sh", "-c", "./start.sh"));
    assert_false(find(a, &l, "echo", "java is nice"));
    assert_false(jvm_launch_find(NULL, 0, a, &l));
}

static void test_questions(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct text_list q;

    assert_true(find(a, &l, "java", "-Xmx64m", "-jar", "x.jar"));
    jvm_question(&l, JVM_DIALECT_9, a, &q);
    assert_text(joined(&q, a), "-Xmx64m -Xlog:gc+init=info,os+container=trace -XX:+PrintFlagsFinal -version");
    jvm_question(&l, JVM_DIALECT_8, a, &q);
    assert_text(joined(&q, a), "-Xmx64m -XX:+UnlockDiagnosticVMOptions -XX:+PrintContainerInfo "
                               "-XX:+PrintFlagsFinal -version");
}

/* --- processes --- */

static void make_process(const char *dir, int pid, const char *space, const char *exe)
{
    assert_int_equal(shell("cd '%s' && mkdir -p %d/ns && ln -sfn 'pid:[%s]' %d/ns/pid && ln -sfn '%s' %d/exe",
                           dir, pid, space, pid, exe, pid),
                     0);
}

static void test_search(void **state)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct jvm_facts f;
    unsigned char bytes[4096];
    static const struct made_entry e[] = {{"java.property.java.vm.version", "25.0.1", 0},
                                          {"sun.gc.policy.name", "GarbageFirst", 0}};
    struct error err = ERROR_INIT;

    make_process(dir, getpid(), "1", "/usr/bin/benchctl");
    make_process(dir, 50, "2", "/sbin/docker-init");
    make_process(dir, 60, "3", "/other/bin/java"); /* of another container */
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_NONE);
    assert_int_equal(jvm_process_find(dir, 51, a, &l, &f), JVM_UNKNOWN);
    make_process(dir, 70, "2", "/opt/jre/bin/java");
    put(dir, "70/status", "Name:\tjava\nNSpid:\t70\t7\nThreads:\t9\n");
    CLEANUP_FREE char *command = path_join(dir, "70/cmdline");
    static const char words[] = "java\0-Xmx64m\0Main\0-Xmx1g";
    assert_int_equal(fs_write(command, words, sizeof(words), &err), 0);
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
    assert_text(l.java, "/opt/jre/bin/java");
    assert_text(joined(&l.options, a), "-Xmx64m");
    assert_null(f.source); /* it publishes nothing */
    assert_text(f.options, "-Xmx64m");

    /* a link out of the container, and a pipe that nobody writes to, are not followed */
    size_t len = make_perf(e, ARRAY_LEN(e), true, bytes);
    CLEANUP_FREE char *elsewhere = path_join(dir, "elsewhere");
    assert_int_equal(fs_write(elsewhere, bytes, len, &err), 0);
    assert_int_equal(shell("cd '%s/70' && mkdir -p root/tmp/hsperfdata_a root/tmp/hsperfdata_b && "
                           "ln -s '%s' root/tmp/hsperfdata_a/7 && mkfifo root/tmp/hsperfdata_b/7",
                           dir, elsewhere),
                     0);
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
    assert_null(f.source);
    assert_int_equal(
        shell("cd '%s/70/root/tmp' && mkdir hsperfdata_c && cp '%s' hsperfdata_c/7", dir, elsewhere), 0);
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
    assert_text(f.collector, "G1");
    assert_text(f.options, "-Xmx64m");
    assert_non_null(f.source);
}

static void test_launcher_of_its_own(void **state)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct jvm_facts f;

    make_process(dir, getpid(), "1", "/usr/bin/benchctl");
    make_process(dir, 50, "2", "/opt/app/bin/app");
    put(dir, "50/maps",
        "7f0000000000-7f0000001000 r-xp 00000000 08:01 1   /opt/app/lib/runtime/lib/server/libjvm.so\n");
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
    assert_text(l.java, "/opt/app/lib/runtime/bin/java");
    put(dir, "50/maps", "7f0000000000-7f0000001000 r-xp 00000000 08:01 1   /lib/libc.so.6\n");
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_NONE);
}

/* --- argument files --- */

static const char *argument_words(const char *text, struct arena *a)
{
    struct text_list l;

    jvm_argument_words(text, strlen(text), a, &l);
    return arena_printf(a, "%zu: %s", l.len, joined(&l, a));
}

static void test_argument_words(void **state)
{
    (void)state;
    CLEANUP(arena_free) struct arena *a = arena_new();

    assert_text(argument_words("", a), "0: ");
    assert_text(argument_words(" \t\r\n# nothing\n#", a), "0: ");
    assert_text(argument_words("-Xmx70m\n-XX:+UseParallelGC # so\r\n\"-cp\" '/a b'", a),
                "4: -Xmx70m -XX:+UseParallelGC -cp /a b");
    assert_text(argument_words("-Da=\"x # y\\\\z\\tw\" c:\\d", a), "2: -Da=x # y\\z\tw c:\\d");
    assert_text(argument_words("\"one\\\n   two\" 'never closed", a), "2: onetwo never closed");
    assert_text(argument_words("\"ends in \\", a), "1: ends in \\");
    CLEANUP_FREE char *many = xcalloc(1, 10001);
    for (size_t i = 0; i < 10000; i++)
        many[i] = i % 2 ? ' ' : 'w';
    struct text_list l;
    jvm_argument_words(many, 10000, a, &l);
    assert_int_equal(l.len, 1024);
}

static void put_command(const char *dir, int pid, const char *words, size_t len)
{
    struct error err = ERROR_INIT;
    CLEANUP_FREE char *name = xasprintf("%d/cmdline", pid);
    CLEANUP_FREE char *path = path_join(dir, name);

    assert_int_equal(fs_write(path, words, len, &err), 0);
}

/* What the container has in them is read where they lie, and not by a way out of it. */
static void test_argument_files(void **state)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct jvm_facts f;
    static const char absolute[] = "java\0@/app/args\0-Xss1m\0Main\0-Xmx1g", relative[] = "java\0@args\0Main",
                      outside[] = "java\0@../secret\0-Xss2m", linked[] = "java\0@/app/link\0-Xss3m",
                      pipe[] = "java\0@/app/pipe\0Main", through[] = "java\0@/way/args\0Main",
                      literal[] = "java\0@@x\0-Xss4m";
    static const struct {
        const char *words;
        size_t len;
        const char *options;
        bool unknown;
    } all[] = {
        {absolute, sizeof(absolute), "-Xmx70m -XX:+UseParallelGC -Xss1m", false},
        {relative, sizeof(relative), "-Xmx70m -XX:+UseParallelGC", false},
        {outside, sizeof(outside), "-Xss2m", true},
        {linked, sizeof(linked), "-Xss3m", true},
        {pipe, sizeof(pipe), "", true},
        {through, sizeof(through), "", true},
        {literal, sizeof(literal), "-Xss4m", false},
    };

    make_process(dir, getpid(), "1", "/usr/bin/benchctl");
    make_process(dir, 50, "2", "/opt/jre/bin/java");
    assert_int_equal(
        shell("cd '%s/50' && mkdir -p root/app && ln -s root/app cwd && "
              "echo '-Xmx70m -XX:+UseParallelGC' > root/app/args && echo -Xmx9m > root/secret && "
              "ln -s ../secret root/app/link && mkfifo root/app/pipe && ln -s app root/way",
              dir),
        0);
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        put_command(dir, 50, all[i].words, all[i].len);
        assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
        assert_text(joined(&l.options, a), all[i].options);
        assert_int_equal(l.argument_files, all[i].unknown);
        assert_int_equal(l.running, 1);
    }
}

static void test_several(void **state)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct jvm_facts f;

    make_process(dir, getpid(), "1", "/usr/bin/benchctl");
    make_process(dir, 50, "2", "/bin/sh");
    make_process(dir, 51, "2", "/opt/a/bin/java");
    make_process(dir, 52, "2", "/opt/a/bin/java");
    make_process(dir, 53, "3", "/opt/a/bin/java");
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_FOUND);
    assert_int_equal(l.running, 2);
}

/* In the host's own namespace the other processes are not the container's. */
static void test_shared_namespace(void **state)
{
    const char *dir = *state;
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct jvm_launch l;
    struct jvm_facts f;

    make_process(dir, getpid(), "1", "/usr/bin/benchctl");
    make_process(dir, 50, "1", "/usr/bin/node");
    make_process(dir, 60, "1", "/usr/bin/java");
    assert_int_equal(jvm_process_find(dir, 50, a, &l, &f), JVM_NONE);
    assert_int_equal(jvm_process_find(dir, 60, a, &l, &f), JVM_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_questions),
        cmocka_unit_test_setup_teardown(test_search, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_launcher_of_its_own, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_argument_words),
        cmocka_unit_test_setup_teardown(test_argument_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_several, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_shared_namespace, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
