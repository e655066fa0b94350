/* SPDX-License-Identifier: MIT */
/* Which lines of the kernel's log speak of the machine, and how they are counted. */
#include <fcntl.h>
#include "kernel_log.h"
#include "sample_test.h"
#include "support/scratch.h"

static const char *kind(const char *line)
{
    return kernel_line_kind(line, strlen(line));
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *line, *kind;
    } cases[] = {
        {"Out of memory: Killed process 4711 (java) total-vm:9388608kB", "out of memory"},
        {"node: page allocation failure: order:4, mode:0x40dc0", "out of memory"},
        {"mce: [Hardware Error]: Machine check events logged", "machine check"},
        {"EDAC MC0: 1 CE memory read error on CPU_SrcID#0", "machine check"},
        {"mce: CPU3: Core temperature above threshold, cpu clock throttled (total events = 1)", "throttling"},
        {"thermal thermal_zone0: critical temperature reached (105 C)", "throttling"},
        {"INFO: task postgres:812 blocked for more than 120 seconds.", "hung task"},
        {"watchdog: BUG: soft lockup - CPU#1 stuck for 22s! [kworker/1:2:99]", "hung task"},
        {"rcu: INFO: rcu_preempt self-detected stall on CPU", "hung task"},
        {"rcu: INFO: rcu_sched detected stalls on CPUs/tasks:", "hung task"},
        {"e1000e 0000:00:1f.6 eno1: NIC Link is Down", "link down"},
        {"bond0: (slave eth1): link status definitely down, disabling slave", "link down"},
        {"nf_conntrack: nf_conntrack: table full, dropping packet", "network table full"},
        {"TCP: request_sock_TCP: Possible SYN flooding on port 8080. Sending cookies.", "network table full"},
        {"blk_update_request: I/O error, dev sda, sector 2048", "disk error"},
        {"clocksource: Marking clocksource 'tsc' as unstable because the skew is too large", "clock"},
        {"EXT4-fs error (device sda1): ext4_lookup:1785: inode #2: comm ls: deleted inode", "disk error"},
        {"nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0xffff", "disk error"},
        {"nvme nvme0: I/O 21 QID 4 timeout, aborting", "disk error"},
        {"NETDEV WATCHDOG: eth0 (e1000e): transmit queue 0 timed out", "link down"},
        {"perf: interrupt took too long (2504 > 2500), lowering kernel.perf_event_max_sample_rate to 79000",
         "slow interrupts"},
        {"EXT4-fs (sda1): mounted filesystem with ordered data mode", NULL},
        {"nvme nvme0: 8/0/0 default/read/poll queues", NULL},
        /* a container at its own limit, and what engines do all day */
        {"Memory cgroup out of memory: Killed process 99 (app) total-vm:100kB", NULL},
        {"app invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0", NULL},
        {"oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=abc,mems_allowed=0", NULL},
        {"docker0: port 1(veth27e8646) entered disabled state", NULL},
        {"IPv6: ADDRCONF(NETDEV_UP): veth1: link is not ready", NULL},
        {"mce: CPU3: Core temperature/speed normal", NULL},
        {"e1000e: eno1 NIC Link is Up 1000 Mbps Full Duplex", NULL},
        {"", NULL},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *got = kind(cases[i].line);
        if (cases[i].kind ? !text_equal(got, cases[i].kind) : got != NULL)
            fail_msg("'%s' is '%s'", cases[i].line, got ? got : "nothing");
    }
    assert_null(kernel_line_kind("Out of memory: Killed", 5)); /* the length counts, not a NUL */
}

static void append(const char *dir, const char *name, const char *text)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_APPEND);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void test_between_two_moments(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "kmsg");

    put(*state, "kmsg", "6,1,100,-;Out of memory: Killed process 1 (old)\n");
    struct kernel_log *k = kernel_log_open(path);
    assert_non_null(k);
    kernel_log_skip(k);
    append(*state, "kmsg",
           "6,2,200,-;veth1: renamed from eth0\n SUBSYSTEM=net\n DEVICE=+net:Out of memory\n"
           "3,3,300,-;Out of memory: Killed process 2 (java)\n"
           "30,4,400,-;Out of memory: somebody else's word\n" /* facility 3: a daemon */
           "4,5,500,-;e1000e eno1: NIC Link is Down\n"
           "nonsense\n;\n4\n99999999999999999999,1,1,-;Out of memory\n");
    assert_near(kernel_log_count(k), 2);
    assert_near(kernel_log_count(k), 0); /* each line once */
    kernel_log_free(k);
}

static void test_from_a_moment_on(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "kmsg");

    put(*state, "kmsg",
        "6,1,100,-;Out of memory: Killed process 1 (old)\n"
        "6,2,7000,-;Out of memory: Killed process 2 (new)\n"
        "6,3,x;Out of memory\n6;Out of memory\n6,4;,9000,Out of memory\n");
    struct kernel_log *k = kernel_log_open(path);
    assert_non_null(k);
    kernel_log_from(k, 6999 * 1000);
    assert_near(kernel_log_count(k), 1);
    kernel_log_free(k);
}

static void test_unreadable(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "none");

    assert_null(kernel_log_open(path));
    kernel_log_skip(NULL);
    assert_nan(kernel_log_count(NULL));
    kernel_log_free(NULL);
    struct kernel_log *k = kernel_log_open(*state); /* a directory opens, and cannot be read */
    assert_non_null(k);
    assert_nan(kernel_log_count(k));
    kernel_log_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test_setup_teardown(test_between_two_moments, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_from_a_moment_on, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_unreadable, scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
