/* SPDX-License-Identifier: MIT */
/* The cgroup reader on fixture trees of both versions, on a mixed one, and on a real cgroup where one can be
 * made. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include "sample_test.h"
#include "support/scratch.h"

#define PID 4242
#define V1_MEMORY "cgroup/memory/docker/0123456789ab/"
#define V2_DIR "cgroup/system.slice/docker-0123456789ab.scope/"

struct tree {
    char *dir, *cgroup, *proc;
    struct cgroup_roots roots;
};

static void tree_release(struct tree *t)
{
    free(t->cgroup);
    free(t->proc);
}
#define TREE CLEANUP_VALUE(tree_release) struct tree

/* A copy of the fixture in the test's own directory. */
static struct tree tree(void **state, const char *fixture)
{
    struct tree t = {.dir = *state};

    assert_int_equal(shell("cp -a '%s/fixtures/%s/.' '%s'", TESTS_DIR, fixture, t.dir), 0);
    t.cgroup = path_join(t.dir, "cgroup");
    t.proc = path_join(t.dir, "proc");
    t.roots = (struct cgroup_roots){.cgroup = t.cgroup, .proc = t.proc};
    return t;
}

static struct cgroup_reader *open_fixture(const struct tree *t)
{
    struct cgroup_reader *c;
    struct error err = ERROR_INIT;

    if (cgroup_open(&t->roots, PID, &c, &err) < 0)
        fail_msg("%s", err.message);
    return c;
}

static struct resource_sample read_sample(struct cgroup_reader *c)
{
    struct resource_sample s;
    struct error err = ERROR_INIT;

    if (cgroup_read(c, &s, &err) < 0)
        fail_msg("%s", err.message);
    return s;
}

/* Both fixtures hold the same figures. */
static void check_figures(const struct resource_sample *s)
{
    assert_near(s->usage_bytes, 100 << 20);
    assert_near(s->used_bytes, 80 << 20);
    assert_near(s->anon_bytes, 50 << 20);
    assert_near(s->file_bytes, 40 << 20);
    assert_near(s->shmem_bytes, 8 << 20);
    assert_near(s->swap_bytes, 3 << 20);
    assert_near(s->peak_bytes, 150 << 20);
    assert_near(s->limit_bytes, 256 << 20);
    assert_near(s->cpu_ns, 2.5e9);
    assert_near(s->throttled_ns, 0.75e9);
    assert_near(s->nr_periods, 100);
    assert_near(s->nr_throttled, 25);
    assert_near(s->pids, 17);
    assert_near(s->oom_kills, 2);
    assert_near(s->rx_bytes, 124456); /* all interfaces but lo */
    assert_near(s->tx_packets, 994);
    assert_near(s->tx_bytes, 656321);
    assert_nan(s->system_cpu_ns);
    assert_true(s->at_ns > 0);
}

static void check_limits(struct cgroup_reader *c)
{
    struct effective e = {.image_id = "kept"};

    cgroup_limits(c, &e);
    assert_near(e.memory_bytes, 256 << 20);
    assert_near(e.swap_bytes, 0);
    assert_near(e.cpus, 1.5);
    assert_near(e.pids, 512);
    assert_string_equal(e.cpuset, "0-1");
    assert_string_equal(e.image_id, "kept");
}

static void test_version_1(void **state)
{
    TREE t = tree(state, "cgroup-v1");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct resource_sample s = read_sample(c);

    assert_int_equal(cgroup_version(c), 1);
    check_figures(&s);
    check_limits(c);
    put(t.dir, V1_MEMORY "memory.usage_in_bytes", "200\n"); /* the descriptors stay open */
    s = read_sample(c);
    assert_near(s.usage_bytes, 200);
    assert_near(s.used_bytes, 200); /* the breakdown is larger than the whole */
}

static void test_version_2(void **state)
{
    TREE t = tree(state, "cgroup-v2");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct resource_sample s = read_sample(c);

    assert_int_equal(cgroup_version(c), 2);
    check_figures(&s);
    check_limits(c);
}

/* Linux 6.12 and later begin the mark anew for the descriptor that it is written to, and for no other. */
static void test_peak_keeps_its_descriptor(void **state)
{
    TREE t = tree(state, "cgroup-v2");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct error err = ERROR_INIT;

    assert_int_equal(cgroup_reset_peak(c, &err), 0);
    assert_int_equal(shell("rm '%s/" V2_DIR "memory.peak'", t.dir), 0);
    put(t.dir, V2_DIR "memory.peak", "999999999999\n");
    assert_near(read_sample(c).peak_bytes, 57286400); /* its first digit is what the reset wrote */
}

static void test_no_limits(void **state)
{
    TREE t = tree(state, "cgroup-v2");
    struct effective e = {0};

    put(t.dir, V2_DIR "memory.max", "max\n");
    put(t.dir, V2_DIR "memory.swap.max", "max\n");
    put(t.dir, V2_DIR "cpu.max", "max 100000\n");
    put(t.dir, V2_DIR "pids.max", "max\n");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    cgroup_limits(c, &e);
    assert_true(isinf(e.memory_bytes) && isinf(e.swap_bytes) && isinf(e.cpus) && isinf(e.pids));
    assert_true(isinf(read_sample(c).limit_bytes));
}

static void test_no_limits_in_version_1(void **state)
{
    TREE t = tree(state, "cgroup-v1");
    struct effective e = {0};

    put(t.dir, V1_MEMORY "memory.limit_in_bytes", "9223372036854771712\n");
    put(t.dir, V1_MEMORY "memory.memsw.limit_in_bytes", "9223372036854771712\n");
    put(t.dir, "cgroup/cpu/docker/0123456789ab/cpu.cfs_quota_us", "-1\n");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    cgroup_limits(c, &e);
    assert_true(isinf(e.memory_bytes) && isinf(e.swap_bytes) && isinf(e.cpus));
}

static void test_what_is_absent_is_not_measured(void **state)
{
    TREE t = tree(state, "cgroup-v2");
    static const char *const gone[] = {
        "memory.peak", "memory.swap.max", "memory.events",         "pids.current",       "pids.max",
        "cpu.max",     "memory.stat",     "cpuset.cpus.effective", "memory.swap.current"};
    struct effective e = {0};

    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        assert_int_equal(shell("rm '%s/" V2_DIR "%s'", t.dir, gone[i]), 0);
    put(t.dir, V2_DIR "cpu.stat", "usage_usec 7\n");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct resource_sample s = read_sample(c);
    assert_near(s.usage_bytes, 100 << 20);
    assert_near(s.used_bytes, 100 << 20);
    assert_near(s.cpu_ns, 7000);
    assert_nan(s.anon_bytes);
    assert_nan(s.peak_bytes);
    assert_nan(s.oom_kills);
    assert_nan(s.swap_bytes);
    assert_nan(s.shmem_bytes);
    assert_nan(s.pids);
    assert_nan(s.throttled_ns);
    cgroup_limits(c, &e);
    assert_nan(e.swap_bytes);
    assert_nan(e.cpus);
    assert_nan(e.pids);
    assert_null(e.cpuset);
    struct error err = ERROR_INIT;
    assert_int_equal(cgroup_reset_peak(c, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

/* Version 1 without memory there, version 2 under unified/ with it: each controller where it is. */
static void test_mixed_host(void **state)
{
    TREE t = tree(state, "cgroup-v1");
    static const char usage[] = "cgroup/unified/docker/0123456789ab/memory.current";

    put(t.dir, "proc/4242/cgroup", "5:cpu,cpuacct:/docker/0123456789ab\n0::/docker/0123456789ab\n");
    assert_int_equal(shell("cd '%s/cgroup' && mkdir cpu,cpuacct && cp -a cpu/. cpu,cpuacct/ && cp -a "
                           "cpuacct/. cpu,cpuacct/ && "
                           "rm -r cpu cpuacct",
                           t.dir),
                     0);
    put(t.dir, usage, "4096\n");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct resource_sample s = read_sample(c);
    assert_int_equal(cgroup_version(c), 2);
    assert_near(s.usage_bytes, 4096);
    assert_near(s.cpu_ns, 2.5e9);
    assert_near(s.throttled_ns, 0.75e9);
}

static void test_host_network(void **state)
{
    TREE t = tree(state, "cgroup-v1");

    assert_int_equal(shell("cd '%s/proc' && ln -sfn \"$(readlink self/ns/net)\" 4242/ns/net", t.dir), 0);
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    struct resource_sample s = read_sample(c);
    assert_nan(s.rx_bytes);
    assert_nan(s.tx_bytes);
    assert_near(s.pids, 17);
}

static void test_no_network(void **state)
{
    TREE t = tree(state, "cgroup-v1");

    put(t.dir, "proc/4242/net/dev",
        "Inter-|   Receive\n face |bytes\n    lo:  5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n");
    CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
    assert_nan(read_sample(c).rx_bytes);
}

static void check_not_found(const struct tree *t, int64_t pid, const char *message)
{
    struct cgroup_reader *c = NULL;
    struct error err = ERROR_INIT;

    assert_int_equal(cgroup_open(&t->roots, pid, &c, &err), -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
    assert_has(err.message, message);
    assert_null(c);
}

static void test_gone_or_elsewhere(void **state)
{
    TREE t = tree(state, "cgroup-v1");

    check_not_found(&t, 1, "no cgroup of process 1");
    put(t.dir, "proc/4242/cgroup", "3:memory:/docker/elsewhere\n0::/docker/elsewhere\n");
    check_not_found(&t, PID, "no cgroup directory of process 4242");
    put(t.dir, "proc/4242/cgroup", "");
    check_not_found(&t, PID, "no cgroup directory");
    put(t.dir, "proc/4242/cgroup", "nonsense\n:\n::\n1:\n\n");
    check_not_found(&t, PID, "no cgroup directory");
    put(t.dir, "proc/4242/cgroup", "3:memory:/docker/empty\n");
    assert_int_equal(shell("mkdir '%s/cgroup/memory/docker/empty'", t.dir), 0);
    check_not_found(&t, PID, "neither memory nor cpu");
}

static void test_odd_contents(void **state)
{
    TREE t = tree(state, "cgroup-v1");
    static const char *const texts[] = {
        "", "\n", "abc\n", "-5\n", "total_rss", "total_rss \ntotal_cache x\n", " 5\n"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        put(t.dir, V1_MEMORY "memory.usage_in_bytes", texts[i]);
        put(t.dir, V1_MEMORY "memory.stat", texts[i]);
        put(t.dir, V1_MEMORY "memory.limit_in_bytes", texts[i]);
        put(t.dir, "proc/4242/net/dev", texts[i]);
        CLEANUP(cgroup_close) struct cgroup_reader *c = open_fixture(&t);
        struct resource_sample s = read_sample(c);
        assert_nan(s.usage_bytes);
        assert_nan(s.anon_bytes);
        assert_nan(s.limit_bytes);
        assert_nan(s.rx_bytes);
    }
}

/* --- a real cgroup --- */

static const char *const controllers[] = {"memory", "cpuacct", "cpu", "pids"};

/* Directories of a fresh cgroup: one per controller in version 1, one in version 2. 0: not permitted here. */
static size_t make_cgroup(char *dirs[4])
{
    bool old = fs_is_dir("/sys/fs/cgroup/memory");
    size_t count = old ? 4 : 1, made = 0;

    for (; made < count; made++) {
        dirs[made] = old ? xasprintf("/sys/fs/cgroup/%s/benchctl-test-%d", controllers[made], (int)getpid())
                         : xasprintf("/sys/fs/cgroup/benchctl-test-%d", (int)getpid());
        CLEANUP_FREE char *usage = path_join(dirs[made], old ? "cgroup.procs" : "memory.current");
        if (mkdir(dirs[made], 0755) < 0 || !fs_exists(usage)) {
            (void)rmdir(dirs[made]);
            free(dirs[made]);
            break;
        }
    }
    if (made == count)
        return made;
    while (made) {
        (void)rmdir(dirs[--made]);
        free(dirs[made]);
    }
    return 0;
}

static void remove_cgroup(char *dirs[4], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int tries = 0; rmdir(dirs[i]) < 0 && errno == EBUSY && tries < 200; tries++)
            (void)usleep(10000);
        free(dirs[i]);
    }
}

/* Joins the cgroup, takes and touches memory, gives most of it back, tells, and waits for the end. */
static void child(char *dirs[4], size_t count, int tell)
{
    size_t big = (size_t)48 << 20, small = (size_t)16 << 20;

    for (size_t i = 0; i < count; i++) {
        CLEANUP_FREE char *procs = path_join(dirs[i], "cgroup.procs");
        int fd = open(procs, O_WRONLY);
        if (fd < 0 || write(fd, "0", 1) != 1)
            _exit(1);
        (void)close(fd);
    }
    char *p = mmap(NULL, big, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        _exit(1);
    memset(p, 1, big);
    (void)munmap(p + small, big - small);
    if (write(tell, "x", 1) != 1)
        _exit(1);
    for (;;)
        (void)pause();
}

static void check_real(pid_t pid)
{
    CLEANUP(cgroup_close) struct cgroup_reader *c = NULL;
    struct error err = ERROR_INIT;

    if (cgroup_open(NULL, pid, &c, &err) < 0)
        fail_msg("%s", err.message);
    struct resource_sample s = read_sample(c);
    assert_true(s.anon_bytes >= 15 << 20 && s.anon_bytes < 40 << 20);
    assert_true(s.used_bytes >= s.anon_bytes);
    assert_true(s.cpu_ns > 0);
    assert_true(s.oom_kills == 0);
    assert_nan(s.rx_bytes); /* it shares our network */
    if (!isnan(s.peak_bytes)) {
        assert_true(s.peak_bytes >= 47 << 20);
        if (cgroup_reset_peak(c, &err) == 0) {
            struct resource_sample after = read_sample(c);
            assert_true(after.peak_bytes < 40 << 20);
        }
    }
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static void test_real(void **state)
{
    char *dirs[4];
    int pipe_fd[2];
    char byte;
    size_t count = make_cgroup(dirs);

    (void)state;
    if (!count) {
        print_message("skipped: cannot make a cgroup here\n");
        skip();
    }
    assert_int_equal(pipe(pipe_fd), 0);
    pid_t pid = fork();
    if (pid == 0)
        child(dirs, count, pipe_fd[1]);
    (void)close(pipe_fd[1]);
    ssize_t told = read(pipe_fd[0], &byte, 1);
    (void)close(pipe_fd[0]);
    struct cgroup_reader *held = NULL;
    struct error err = ERROR_INIT;
    int opened = cgroup_open(NULL, pid, &held, &err);
    if (told == 1)
        check_real(pid);
    remove_cgroup(dirs, count);
    assert_int_equal(told, 1);
    assert_int_equal(opened, 0);
    struct resource_sample s;
    int again = cgroup_read(held, &s, &err); /* the held descriptors tell that it has gone */
    cgroup_close(held);
    assert_int_equal(again, -1);
    assert_int_equal(err.kind, ERROR_NOT_FOUND);
}

#define fixture_test(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(test_version_1),
        fixture_test(test_version_2),
        fixture_test(test_peak_keeps_its_descriptor),
        fixture_test(test_no_limits),
        fixture_test(test_no_limits_in_version_1),
        fixture_test(test_what_is_absent_is_not_measured),
        fixture_test(test_mixed_host),
        fixture_test(test_host_network),
        fixture_test(test_no_network),
        fixture_test(test_gone_or_elsewhere),
        fixture_test(test_odd_contents),
        cmocka_unit_test(test_real),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
