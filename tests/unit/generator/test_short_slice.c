/* SPDX-License-Identifier: MIT */
#include "../check.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "short_slice.h"

struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

static struct attributes now(void)
{
    struct attributes a = {0};

    assert_int_equal(syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0), 0);
    return a;
}

/* In a child, so that the test's own process stays as it is. */
static int in_child(int policy)
{
    const struct sched_param none = {0};
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        if (sched_setscheduler(0, policy, &none) < 0)
            _exit(9);
        struct attributes before = now();
        ask_for_short_slices();
        struct attributes after = now();
        _exit((after.runtime_ns == 100000) | (after.runtime_ns == before.runtime_ns) << 1 |
              (after.policy != before.policy || after.nice != before.nice) << 2);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void slices_become_short_where_the_kernel_knows_them(void **state)
{
    (void)state;
    if (now().runtime_ns == 0) { /* before Linux 6.12 */
        assert_int_equal(in_child(SCHED_OTHER), 2);
        skip();
    }
    assert_int_equal(in_child(SCHED_OTHER), 1);
}

static void another_policy_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(in_child(SCHED_BATCH), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_become_short_where_the_kernel_knows_them),
        cmocka_unit_test(another_policy_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
