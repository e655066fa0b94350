/* SPDX-License-Identifier: MIT */
/* Whose kill was it: a container's of the trial, somebody else's by a limit of his own, or the machine's? */
#include "run_internal.h"

#include "unit/check.h"

static const char line_own[] =
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/docker/"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,task=own,pid=7,uid=0";
static const char line_other[] =
    "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/docker/"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,task=x,pid=8,uid=0";
static const char line_host[] = "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),global_oom,task_memcg=/"
                                "user.slice,task=stress,pid=9,uid=0";

static double kills(double own, double counter, const char *a, const char *b)
{
    struct trial_run t = {.host_kills = counter};
    struct oom_line kill;

    if (a && oom_line_parse(a, &kill))
        vec_push(&t.kills, kill);
    if (b && oom_line_parse(b, &kill))
        vec_push(&t.kills, kill);
    double n = kills_of_host(&t, own);
    vec_release(&t.kills);
    return n;
}

static void a_rise_without_a_container_is_the_machines(void **state)
{
    (void)state;
    assert_true(kills(0, 0, NULL, NULL) == 0);
    assert_true(kills(0, 2, NULL, NULL) == 2);
    assert_true(kills(1, 2, NULL, NULL) == 0); /* a burst counts once, and its victims each */
    assert_true(kills(0, NAN, NULL, NULL) == 0);
}

static void the_log_tells_them_apart(void **state)
{
    (void)state;
    assert_true(kills(0, 1, line_other, NULL) == 0); /* another container's own limit */
    assert_true(kills(1, 2, line_own, line_other) == 0);
    assert_true(kills(0, 1, line_host, NULL) == 1);
    assert_true(kills(1, 2, line_own, line_host) == 1); /* even beside one of our own */
    assert_true(kills(0, NAN, line_host, NULL) == 1);
}

/* When there are many kills the kernel leaves out who they were, but never that they were. */
static void a_kill_without_its_victim(void **state)
{
    struct trial_run t = {.host_kills = 3};

    (void)state;
    t.kills_told[oom_reason_parse(
        "Memory cgroup out of memory: Killed process 20500 (python3) total-vm:1kB")]++;
    assert_true(kills_of_host(&t, 0) == 0);
    t.kills_told[oom_reason_parse("Out of memory: Killed process 7 (stress) total-vm:1kB, anon-rss:1kB")]++;
    assert_true(kills_of_host(&t, 0) == 1);
    assert_int_equal(oom_reason_parse("oom_reaper: reaped process 7 (stress)"), OOM_NONE);
    assert_int_equal(oom_reason_parse(line_host), OOM_NONE);
    assert_int_equal(oom_reason_parse(""), OOM_NONE);
}

static void victims_are_found_by_their_container(void **state)
{
    static const char a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    struct trial_run t = {0};
    struct oom_line kill;

    (void)state;
    assert_null(kernel_log_kill(&t, a));
    assert_true(oom_line_parse(line_own, &kill));
    vec_push(&t.kills, kill);
    assert_true(oom_line_parse(line_other, &kill));
    vec_push(&t.kills, kill);
    assert_string_equal(kernel_log_kill(&t, a)->process, "own");
    assert_null(kernel_log_kill(&t, "cc"));
    assert_null(kernel_log_kill(&t, NULL));
    vec_release(&t.kills);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rise_without_a_container_is_the_machines),
        cmocka_unit_test(the_log_tells_them_apart),
        cmocka_unit_test(a_kill_without_its_victim),
        cmocka_unit_test(victims_are_found_by_their_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
