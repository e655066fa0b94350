/* SPDX-License-Identifier: MIT */
/* Open descriptors and one fixed buffer: a sample is a handful of pread() calls and no allocation. */
#include "benchctl/sample.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "cgroup_place.h"
#include "figures.h"

enum file {
    FILE_USAGE,
    FILE_STAT,
    FILE_PEAK,
    FILE_EVENTS,
    FILE_CPU,
    FILE_THROTTLE,
    FILE_PIDS,
    FILE_SWAP,
    FILE_NET,
    FILES
};

static const struct {
    enum controller controller;
    const char *v1, *v2; /* NULL: the figure is in another file */
} files[FILES] = {
    [FILE_USAGE] = {CONTROLLER_MEMORY, "memory.usage_in_bytes", "memory.current"},
    [FILE_STAT] = {CONTROLLER_MEMORY, "memory.stat", "memory.stat"},
    [FILE_PEAK] = {CONTROLLER_MEMORY, "memory.max_usage_in_bytes", "memory.peak"},
    [FILE_EVENTS] = {CONTROLLER_MEMORY, "memory.oom_control", "memory.events"},
    [FILE_CPU] = {CONTROLLER_CPUACCT, "cpuacct.usage", "cpu.stat"},
    [FILE_THROTTLE] = {CONTROLLER_CPU, "cpu.stat", NULL},
    [FILE_PIDS] = {CONTROLLER_PIDS, "pids.current", "pids.current"},
    [FILE_SWAP] = {CONTROLLER_MEMORY, NULL, "memory.swap.current"},
};

struct cgroup_reader {
    struct cgroup_place place;
    int fd[FILES];
    bool peak_writable;
    double limit_bytes;
    char cpuset[256];
    char text[8192]; /* the file read last */
};

void cgroup_close(struct cgroup_reader *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < FILES; i++)
        if (c->fd[i] >= 0)
            (void)close(c->fd[i]);
    cgroup_place_release(&c->place);
    free(c);
}

int cgroup_version(const struct cgroup_reader *c)
{
    enum controller which = c->place.dir[CONTROLLER_MEMORY] ? CONTROLLER_MEMORY : CONTROLLER_CPUACCT;

    return c->place.version[which];
}

static int version_of(const struct cgroup_reader *c, enum file f)
{
    return c->place.version[files[f].controller];
}

static int open_file(struct cgroup_reader *c, enum file f)
{
    const char *dir = c->place.dir[files[f].controller];
    const char *name = version_of(c, f) == 1 ? files[f].v1 : files[f].v2;

    if (!dir || !name)
        return -1;
    CLEANUP_FREE char *path = path_join(dir, name);
    int fd = f == FILE_PEAK ? open(path, O_RDWR | O_CLOEXEC) : -1;
    c->peak_writable |= fd >= 0;
    return fd >= 0 ? fd : open(path, O_RDONLY | O_CLOEXEC);
}

/* The network namespace's counters through the process; none when it is our own, that is, the host's. */
static int open_net(const struct cgroup_roots *roots, int64_t pid)
{
    const char *proc = roots && roots->proc ? roots->proc : "/proc";
    CLEANUP_FREE char *theirs = xasprintf("%s/%lld/ns/net", proc, (long long)pid);
    CLEANUP_FREE char *ours = xasprintf("%s/self/ns/net", proc);
    CLEANUP_FREE char *dev = xasprintf("%s/%lld/net/dev", proc, (long long)pid);
    char a[64], b[64];
    ssize_t a_len = readlink(theirs, a, sizeof(a)), b_len = readlink(ours, b, sizeof(b));

    if (a_len <= 0 || b_len <= 0 || (a_len == b_len && memcmp(a, b, (size_t)a_len) == 0))
        return -1;
    return open(dev, O_RDONLY | O_CLOEXEC);
}

/* A small file of the cgroup into c->text, once. False when there is none. */
static bool read_once(struct cgroup_reader *c, enum controller which, const char *name)
{
    if (!c->place.dir[which])
        return false;
    CLEANUP_FREE char *path = path_join(c->place.dir[which], name);
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, c->text, sizeof(c->text) - 1, 0);

    if (n < 0)
        return false;
    c->text[n] = '\0';
    return true;
}

static double read_limit(struct cgroup_reader *c, enum controller which, const char *v1, const char *v2)
{
    return read_once(c, which, c->place.version[which] == 1 ? v1 : v2) ? limit_figure(c->text) : NAN;
}

int cgroup_open(const struct cgroup_roots *roots, int64_t pid, struct cgroup_reader **ret, struct error *err)
{
    CLEANUP(cgroup_close) struct cgroup_reader *c = xcalloc(1, sizeof(*c));

    for (size_t i = 0; i < FILES; i++)
        c->fd[i] = -1;
    if (cgroup_place_find(roots, pid, &c->place, err) < 0)
        return -1;
    for (size_t i = 0; i < FILE_NET; i++)
        c->fd[i] = open_file(c, (enum file)i);
    c->fd[FILE_NET] = open_net(roots, pid);
    if (c->fd[FILE_USAGE] < 0 && c->fd[FILE_CPU] < 0)
        return error_set(err, ERROR_NOT_FOUND, "the cgroup of process %lld has neither memory nor cpu files",
                         (long long)pid);
    c->limit_bytes = read_limit(c, CONTROLLER_MEMORY, "memory.limit_in_bytes", "memory.max");
    *ret = TAKE(c);
    return 0;
}

/* 1 with c->text filled, 0 when this figure is not to be had, -1 when the cgroup has gone. */
static int read_file(struct cgroup_reader *c, enum file f)
{
    ssize_t n;

    if (c->fd[f] < 0)
        return 0;
    do
        n = pread(c->fd[f], c->text, sizeof(c->text) - 1, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == ENODEV || errno == ENOENT || errno == ESRCH ? -1 : 0;
    c->text[n] = '\0';
    return 1;
}

static int read_memory(struct cgroup_reader *c, struct resource_sample *s)
{
    static const char *const v1[] = {"total_rss", "total_cache", "total_shmem", "total_inactive_file",
                                     "total_swap"};
    static const char *const v2[] = {"anon", "file", "shmem", "inactive_file"};
    static const char *const kills[] = {"oom_kill"};
    double stat[ARRAY_LEN(v1)] = {NAN, NAN, NAN, NAN, NAN};
    bool old = version_of(c, FILE_STAT) == 1;
    int got;

    if ((got = read_file(c, FILE_USAGE)) > 0)
        s->usage_bytes = first_figure(c->text);
    if (got >= 0 && (got = read_file(c, FILE_STAT)) > 0)
        keyed_figures(c->text, old ? v1 : v2, old ? ARRAY_LEN(v1) : ARRAY_LEN(v2), stat);
    if (got >= 0 && (got = read_file(c, FILE_PEAK)) > 0)
        s->peak_bytes = first_figure(c->text);
    if (got >= 0 && (got = read_file(c, FILE_EVENTS)) > 0)
        keyed_figures(c->text, kills, 1, &s->oom_kills);
    if (got >= 0 && (got = read_file(c, FILE_SWAP)) > 0)
        stat[4] = first_figure(c->text);
    s->anon_bytes = stat[0];
    s->file_bytes = stat[1];
    s->shmem_bytes = stat[2];
    s->used_bytes = used_bytes(s->usage_bytes, stat[3]);
    s->swap_bytes = stat[4];
    return got;
}

static int read_cpu(struct cgroup_reader *c, struct resource_sample *s)
{
    static const char *const v1[] = {"nr_periods", "nr_throttled", "throttled_time"};
    static const char *const v2[] = {"nr_periods", "nr_throttled", "throttled_usec", "usage_usec"};
    double stat[ARRAY_LEN(v2)] = {NAN, NAN, NAN, NAN};
    bool old = version_of(c, FILE_CPU) == 1;
    int got;

    s->at_ns = clock_now_ns();
    if ((got = read_file(c, FILE_CPU)) > 0) {
        if (old)
            s->cpu_ns = first_figure(c->text);
        else
            keyed_figures(c->text, v2, ARRAY_LEN(v2), stat);
    }
    if (!old) {
        s->cpu_ns = stat[3] * 1e3;
        stat[2] *= 1e3;
    }
    if (got >= 0 && (got = read_file(c, FILE_THROTTLE)) > 0)
        keyed_figures(c->text, v1, ARRAY_LEN(v1), stat);
    s->nr_periods = stat[0];
    s->nr_throttled = stat[1];
    s->throttled_ns = stat[2];
    return got;
}

int cgroup_read(struct cgroup_reader *c, struct resource_sample *ret, struct error *err)
{
    struct resource_sample s = resource_sample_none();
    int pids = -1;

    s.limit_bytes = c->limit_bytes;
    if (read_memory(c, &s) < 0 || read_cpu(c, &s) < 0 || (pids = read_file(c, FILE_PIDS)) < 0)
        return error_set(err, ERROR_NOT_FOUND, "the cgroup has gone: its container ended or was restarted");
    if (pids > 0)
        s.pids = first_figure(c->text);
    if (read_file(c, FILE_NET) > 0)
        network_figures(c->text, &s);
    *ret = s;
    return 0;
}

int cgroup_reset_peak(struct cgroup_reader *c, struct error *err)
{
    if (c->fd[FILE_PEAK] < 0)
        return error_set(err, ERROR_NOT_FOUND, "the kernel keeps no peak of this cgroup's memory");
    if (!c->peak_writable)
        return error_set(err, ERROR_ENVIRONMENT, "the kernel's memory peak cannot be reset here");
    if (pwrite(c->fd[FILE_PEAK], "0", 1, 0) != 1)
        return error_errno(err, errno == ENODEV ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot reset the kernel's memory peak");
    return 0;
}

/* Cores by the CPU controller's quota: INFINITY without one. */
static double quota_cores(struct cgroup_reader *c)
{
    if (c->place.version[CONTROLLER_CPU] == 2)
        return read_once(c, CONTROLLER_CPU, "cpu.max") ? quota_figure(c->text) : NAN;
    if (!read_once(c, CONTROLLER_CPU, "cpu.cfs_quota_us"))
        return NAN;
    if (c->text[0] == '-')
        return INFINITY;
    double quota = first_figure(c->text);
    return read_once(c, CONTROLLER_CPU, "cpu.cfs_period_us") ? quota / first_figure(c->text) : NAN;
}

void cgroup_limits(struct cgroup_reader *c, struct effective *ret)
{
    bool old = c->place.version[CONTROLLER_MEMORY] == 1;
    double swap = read_limit(c, CONTROLLER_MEMORY, "memory.memsw.limit_in_bytes", "memory.swap.max");

    ret->memory_bytes = c->limit_bytes;
    ret->swap_bytes = old && isfinite(swap) ? swap - c->limit_bytes : swap; /* version 1 limits the sum */
    ret->cpus = quota_cores(c);
    ret->pids = read_limit(c, CONTROLLER_PIDS, "pids.max", "pids.max");
    bool got = c->place.version[CONTROLLER_CPUSET] == 2
                   ? read_once(c, CONTROLLER_CPUSET, "cpuset.cpus.effective")
                   : read_once(c, CONTROLLER_CPUSET, "cpuset.effective_cpus") ||
                         read_once(c, CONTROLLER_CPUSET, "cpuset.cpus");
    (void)snprintf(c->cpuset, sizeof(c->cpuset), "%.*s", got ? (int)strcspn(c->text, "\n") : 0, c->text);
    ret->cpuset = c->cpuset[0] ? c->cpuset : NULL;
}
