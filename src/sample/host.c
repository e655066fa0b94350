/* SPDX-License-Identifier: MIT */
#include "host.h"

#include <fcntl.h>
#include <math.h>
#include <time.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "figures.h"

enum probe_file { PROBE_STAT, PROBE_LOAD, PROBE_STATM, PROBE_PRESSURE, PROBE_VMSTAT, PROBE_FILES };

static const char *const probe_names[PROBE_FILES] = {"stat", "loadavg", "self/statm", "pressure/cpu",
                                                     "vmstat"};

struct host_probe {
    int fd[PROBE_FILES];
    char *cpu_dir; /* sysfs' directory of CPUs */
    char text[16384];
};

struct host_probe *host_probe_new(const struct cgroup_roots *roots)
{
    struct host_probe *p = xcalloc(1, sizeof(*p));

    for (size_t i = 0; i < PROBE_FILES; i++) {
        CLEANUP_FREE char *path = path_join(roots->proc ? roots->proc : "/proc", probe_names[i]);
        p->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
    }
    p->cpu_dir = path_join(roots->sys ? roots->sys : "/sys", "devices/system/cpu");
    return p;
}

void host_probe_free(struct host_probe *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < PROBE_FILES; i++)
        if (p->fd[i] >= 0)
            (void)close(p->fd[i]);
    free(p->cpu_dir);
    free(p);
}

static bool read_probe(struct host_probe *p, enum probe_file f)
{
    ssize_t n = p->fd[f] < 0 ? -1 : pread(p->fd[f], p->text, sizeof(p->text) - 1, 0);

    if (n < 0)
        return false;
    p->text[n] = '\0';
    return true;
}

/* "cpu  user nice system idle iowait irq softirq steal ..."; guest time is within user and nice already. */
static void parse_stat(const char *text, struct host_mark *ret)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    double field[FIELDS];
    const char *p = text + strcspn(text, " ");

    for (int i = 0; i < FIELDS; i++) {
        p += strspn(p, " ");
        field[i] = first_figure(p);
        p += strspn(p, "0123456789");
    }
    ret->process_ticks = field[USER] + field[NICE] + field[SYSTEM];
    ret->busy_ticks = ret->process_ticks + field[IRQ] + field[SOFTIRQ];
    ret->steal_ticks = field[STEAL];
    ret->all_ticks = ret->busy_ticks + field[IDLE] + field[IOWAIT] + field[STEAL];
}

static double own_cpu_ns(void)
{
    struct timespec ts;

    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0)
        return NAN;
    return (double)ts.tv_sec * (double)NS_PER_S + (double)ts.tv_nsec;
}

void host_probe_sample(struct host_probe *p, struct host_mark *ret)
{
    *ret = (struct host_mark){.at_ns = clock_now_ns(),
                              .busy_ticks = NAN,
                              .steal_ticks = NAN,
                              .all_ticks = NAN,
                              .stalled_us = NAN,
                              .throttle_events = NAN,
                              .oom_kills = NAN,
                              .own_cpu_ns = own_cpu_ns(),
                              .own_rss_bytes = NAN,
                              .load1 = NAN,
                              .process_ticks = NAN,
                              .swapped_pages = NAN};
    if (read_probe(p, PROBE_STAT))
        parse_stat(p->text, ret);
    if (read_probe(p, PROBE_LOAD) && number_scan(p->text, strcspn(p->text, " "), &ret->load1) == 0)
        ret->load1 = NAN;
    if (read_probe(p, PROBE_STATM)) /* "size resident ..." in pages */
        ret->own_rss_bytes =
            first_figure(p->text + strspn(p->text, "0123456789") + 1) * (double)sysconf(_SC_PAGESIZE);
}

/* One file of a CPU's thermal_throttle directory; NAN when the hardware has none (virtual machines). */
static double throttle_count(struct host_probe *p, const char *cpu, const char *name)
{
    CLEANUP_FREE char *path = xasprintf("%s/%s/thermal_throttle/%s", p->cpu_dir, cpu, name);
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, p->text, sizeof(p->text) - 1, 0);

    if (n < 0)
        return NAN;
    p->text[n] = '\0';
    return first_figure(p->text);
}

/* Every CPU's own events, and the package's (which each of its CPUs repeats) once. */
static double throttle_events(struct host_probe *p)
{
    CLEANUP(closedir) DIR *dir = opendir(p->cpu_dir);
    double cores = NAN, package = NAN;

    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, "cpu", 3) != 0 || e->d_name[3] < '0' || e->d_name[3] > '9')
            continue;
        double own = throttle_count(p, e->d_name, "core_throttle_count");
        if (isnan(own))
            continue;
        cores = isnan(cores) ? own : cores + own;
        package = fmax(package, throttle_count(p, e->d_name, "package_throttle_count"));
    }
    return isnan(package) ? cores : cores + package;
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345" in microseconds. */
static double stalled_us(const char *text)
{
    const char *total = strstr(text, "total=");

    return strncmp(text, "some ", 5) == 0 && total ? first_figure(total + strlen("total=")) : (double)NAN;
}

void host_probe_mark(struct host_probe *p, struct host_mark *ret)
{
    static const char *const counters[] = {"oom_kill", "pswpin", "pswpout"};
    double counted[ARRAY_LEN(counters)] = {NAN, NAN, NAN};

    host_probe_sample(p, ret);
    if (read_probe(p, PROBE_PRESSURE))
        ret->stalled_us = stalled_us(p->text);
    if (read_probe(p, PROBE_VMSTAT))
        keyed_figures(p->text, counters, ARRAY_LEN(counters), counted);
    ret->oom_kills = counted[0];
    ret->swapped_pages = counted[1] + counted[2];
    ret->throttle_events = throttle_events(p);
}

double host_oom_kills(void)
{
    static const char *const counter[] = {"oom_kill"};
    struct host_probe *p = host_probe_new(&(const struct cgroup_roots){0});
    double kills = NAN;

    if (read_probe(p, PROBE_VMSTAT))
        keyed_figures(p->text, counter, ARRAY_LEN(counter), &kills);
    host_probe_free(p);
    return kills;
}

double host_busy_cores(const struct host_mark *from, const struct host_mark *to)
{
    double span_s = (double)(to->at_ns - from->at_ns) / (double)NS_PER_S;

    return span_s > 0 ? (to->busy_ticks - from->busy_ticks) / (double)sysconf(_SC_CLK_TCK) / span_s
                      : (double)NAN;
}

double host_own_cores(const struct host_mark *from, const struct host_mark *to)
{
    double span_ns = (double)(to->at_ns - from->at_ns);

    return span_ns > 0 ? (to->own_cpu_ns - from->own_cpu_ns) / span_ns : (double)NAN;
}
