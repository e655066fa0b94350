/* SPDX-License-Identifier: MIT */
/* Why it ended, and what is said of a start that failed. */
#include "benchctl/base/json.h"
#include "ledger_fixture.h"
#include "unit/check.h"

/* The states of case A13, in order, with the words that are wanted for them. */
static void claims_are_graded(void **state)
{
    static const char *const wanted[] = {"clean exit",
                                         "exit 1",
                                         "oom",
                                         "sigkill, cause unknown",
                                         "killed by benchctl",
                                         "crashed (SIGSEGV)",
                                         "stopped by benchctl",
                                         "sigterm from elsewhere",
                                         "command not found",
                                         "start failed"};
    CLEANUP(json_free) struct json *list = NULL;
    struct error err = ERROR_INIT;

    (void)state;
    assert_int_equal(json_read_file(TESTS_DIR "/cases/A13/states.json", 1 << 20, &list, &err), 0);
    assert_int_equal(json_len(list), ARRAY_LEN(wanted));
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        const struct json *s = json_get(json_at(list, i), "State");
        LEDGER l = {.ours_to_end = text_equal(json_get_text(json_at(list, i), "signal_sent_by"), "benchctl")};
        INSPECT(&l, json_get_text(s, "Status"), 1000, 5000, 0, (int)json_get_int(s, "ExitCode"),
                json_get_bool(s, "OOMKilled"), json_get_text(s, "Error"));
        assert_cause(&l, 0, wanted[i]);
        assert_int_equal(l.exits.items[0].code, json_get_int(s, "ExitCode"));
    }
}

static void dies(struct ledger *l, int code, bool oom_event, bool flag)
{
    event(l, "start", 1000, 0);
    if (oom_event)
        event(l, "oom", 5000, 0);
    event(l, "die", 5026, code);
    INSPECT(l, "exited", 999, 5000, 0, code, flag);
}

/* Any one of the three witnesses is enough, and what the others say is in the evidence. */
static void one_witness_is_enough(void **state)
{
    LEDGER by_event = {0}, by_flag = {0}, by_kernel = {0};
    struct death_facts f = no_facts;

    (void)state;
    dies(&by_event, 137, true, false);
    assert_explained(&by_event, 0, NULL, "oom", "1 oom event, the last 0.00 s before; OOMKilled not seen");
    dies(&by_flag, 137, false, true);
    assert_explained(&by_flag, 0, NULL, "oom", "no oom event; OOMKilled true");
    dies(&by_kernel, 137, false, false);
    f.kernel_kills = 1;
    assert_explained(&by_kernel, 0, &f, "oom",
                     "no oom event; OOMKilled not seen; oom_kill of its cgroup rose by 1");
}

/* Under the smallest limits neither the engine nor a sampler may see it: the kernel's log does. */
static void the_kernels_log_is_enough(void **state)
{
    LEDGER l = {0};
    struct death_facts f = no_facts;

    (void)state;
    dies(&l, 137, false, false);
    f.in_kernel_log = true;
    assert_explained(&l, 0, &f, "oom",
                     "no oom event; OOMKilled not seen; the kernel's log tells of the kill");
}

static void the_kernels_counter_of_a_child_explains_no_other_death(void **state)
{
    LEDGER l = {0};
    struct death_facts f = no_facts;

    (void)state;
    dies(&l, 0, false, true);
    f.kernel_kills = 1;
    assert_explained(&l, 0, &f, "clean exit", "oom_kill of its cgroup rose by 1");
}

static void the_host_ran_out_of_memory(void **state)
{
    LEDGER l = {0}, own = {0};
    struct death_facts f = no_facts;

    (void)state;
    f.host_kills = 1;
    f.kernel_kills = 0;
    dies(&l, 137, false, false);
    assert_explained(&l, 0, &f, "host out of memory", "none by this container's limit");
    dies(&own, 137, true, true); /* its own limit is the nearer explanation */
    assert_explained(&own, 0, &f, "oom", NULL);
}

/* Codes of programs that end by themselves, as high as they may be. */
static void a_code_without_a_signal(void **state)
{
    static const int codes[] = {1, 125, 126, 127, 128, 160, 165, 192, 193, 255};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        LEDGER l = {0};
        CLEANUP_FREE char *cause = xasprintf("exit %d", codes[i]);
        CLEANUP_FREE char *evidence = xasprintf("exit code %d", codes[i]);
        dies(&l, codes[i], false, false);
        assert_explained(&l, 0, NULL, cause, evidence);
        assert_int_equal(exit_code_signal(codes[i]), 0);
    }
    assert_int_equal(exit_code_signal(137), 9);
    assert_int_equal(exit_code_signal(-1), 0);
}

static void a_full_heap(void **state)
{
    static const int codes[] = {3, 1, 134};
    struct death_facts f = no_facts;

    (void)state;
    f.heap_line = "java.lang.OutOfMemoryError: Java heap space";
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        LEDGER l = {0};
        dies(&l, codes[i], false, false);
        assert_explained(&l, 0, &f, "java heap exhausted", "OutOfMemoryError");
    }
    LEDGER killed = {0}, clean = {0}, told = {0}, crashed = {0};
    dies(&killed, 137, true, true);
    assert_explained(&killed, 0, &f, "oom", NULL);
    dies(&told, 143, false, false); /* it lived on without room, until somebody ended it */
    assert_explained(&told, 0, &f, "sigterm from elsewhere", "OutOfMemoryError");
    dies(&crashed, 139, false, false);
    assert_explained(&crashed, 0, &f, "crashed (SIGSEGV)", NULL);
    dies(&clean, 0, false, false);
    assert_explained(&clean, 0, &f, "clean exit", NULL);
}

/* --- it could not be started --- */

static void assert_class(int code, const char *text, const char *class, bool application)
{
    bool is_application = !application;
    const char *found = start_failure_class(code, text, &is_application);

    if (!class) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, class);
    assert_int_equal(is_application, application);
}

/* The engine's own words, of Docker 20.10. */
static void starts_that_fail(void **state)
{
    (void)state;
    assert_class(127,
                 "failed to create shim task: OCI runtime create failed: runc create failed: unable to start "
                 "container process: exec: \"/nothing\": stat /nothing: no such file or directory: unknown",
                 "no such program", true);
    assert_class(127, "exec: \"serve\": executable file not found in $PATH: unknown", "no such program",
                 true);
    assert_class(
        126,
        "runc create failed: unable to start container process: exec: \"/etc\": permission denied: unknown",
        "cannot be executed", true);
    assert_class(126, "exec /bad: exec format error", "cannot be executed", true);
    assert_class(
        128,
        "driver failed programming external connectivity on endpoint x: Bind for 0.0.0.0:8080 failed: "
        "port is already allocated",
        "port taken", false);
    assert_class(128, "listen tcp4 0.0.0.0:80: bind: address already in use", "port taken", false);
    assert_class(128, "could not find bridge docker0", "start failed", false);
    assert_class(
        127,
        "OCI runtime create failed: error mounting \"/x\" to rootfs at \"/y\": not a directory: Are you "
        "trying to mount a directory onto a file",
        "start failed", false);
    assert_class(127, "", NULL, false);
    assert_class(127, NULL, NULL, false);
    assert_class(3, "something else", NULL, false);
}

static void words_of_an_init(void **state)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    static const char tini[] = "[FATAL tini (7)] exec /nope failed: No such file or directory";
    struct death_facts f = no_facts;
    LEDGER l = {0}, bad = {0};

    (void)state;
    assert_string_equal(
        start_failure_line("hello\n[FATAL tini (7)] exec /nope failed: No such file or directory\n", a),
        tini);
    assert_string_equal(start_failure_line("exec /bad: exec format error", a),
                        "exec /bad: exec format error");
    assert_null(start_failure_line("", a));
    assert_null(start_failure_line("exec of the job failed: no such job\nit failed to exec\n", a));
    assert_class(127, tini, "no such program", true);
    assert_class(126, "[FATAL tini (7)] exec /etc failed: Permission denied", "cannot be executed", true);
    f.start_line = tini;
    dies(&l, 127, false, false);
    assert_explained(&l, 0, &f, "command not found", "its log said '[FATAL tini (7)] exec /nope failed");
    f.start_line = "exec /bad: exec format error"; /* runc itself says so, and ends with 1 */
    dies(&bad, 1, false, false);
    assert_explained(&bad, 0, &f, "cannot be executed", NULL);
}

/* --- the kernel's log --- */

static void kills_in_the_kernels_log(void **state)
{
    static const char id[] = "4aba6e2c1a5f4c2e8a3fe2c8a3d4b5c6d7e8f90123456789abcdef0123456789";
    CLEANUP_FREE char *v1 =
        xasprintf("oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=%s,mems_allowed=0,"
                  "oom_memcg=/docker/%s,task_memcg=/docker/%s,task=fail,pid=4711,uid=0",
                  id, id, id);
    CLEANUP_FREE char *v2 =
        xasprintf("oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,"
                  "task_memcg=/system.slice/docker-%s.scope,task=java,pid=12,uid=999",
                  id);
    struct oom_line o;

    (void)state;
    assert_true(oom_line_parse(v1, &o));
    assert_string_equal(o.process, "fail");
    assert_string_equal(o.container, id);
    assert_true(o.pid == 4711 && !o.host);
    assert_true(oom_line_parse(v2, &o));
    assert_string_equal(o.process, "java");
    assert_string_equal(o.container, id);
    assert_true(o.host);
    assert_true(oom_line_parse("oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/user.slice,pid=", &o));
    assert_string_equal(o.container, "");
    assert_string_equal(o.process, "");
    assert_false(oom_line_parse("Memory cgroup out of memory: Killed process 4711 (fail)", &o));
    assert_false(oom_line_parse("", &o));
}

static void hostile_lines_stay_within_bounds(void **state)
{
    CLEANUP_FREE char *digits = xcalloc(1, 5000);
    struct oom_line o;

    (void)state;
    memset(digits, 'a', 4999);
    CLEANUP_FREE char *line =
        xasprintf("oom-kill:constraint=X,task_memcg=/%s,task=%s,pid=%s", digits, digits, digits);
    assert_true(oom_line_parse(line, &o));
    assert_string_equal(o.container, "");
    assert_int_equal(strlen(o.process), sizeof(o.process) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claims_are_graded),
        cmocka_unit_test(one_witness_is_enough),
        cmocka_unit_test(the_kernels_log_is_enough),
        cmocka_unit_test(the_kernels_counter_of_a_child_explains_no_other_death),
        cmocka_unit_test(the_host_ran_out_of_memory),
        cmocka_unit_test(a_code_without_a_signal),
        cmocka_unit_test(a_full_heap),
        cmocka_unit_test(starts_that_fail),
        cmocka_unit_test(words_of_an_init),
        cmocka_unit_test(kills_in_the_kernels_log),
        cmocka_unit_test(hostile_lines_stay_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
