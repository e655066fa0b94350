/* SPDX-License-Identifier: MIT */
/* The machine itself, line by line. What it does not show is said once, in the last line. */
#include "doctor.h"

#include <stdio.h>
#include "benchctl/base/clock.h"

/* The kernel counts a cgroup's limit as memory of its own, and a busy disk needs pages: below this share of
 * all memory a host begins to reclaim. */
#define MEMORY_SHARE_MIN 0.1
#define LOAD_PER_PROCESSOR 0.25 /* at rest; a load worth measuring makes more */
#define PRESSURE_PCT 10.0       /* of a minute; a quiet host has none to speak of */
#define STEAL_PCT 1.0           /* as the rule `steal` has it */
#define WARM_C 80.0             /* most processors slow down from 95 to 105 on: a load adds 15 and more */
#define CLOCK_OFFSET_MS 100.0   /* between stamps of two machines; durations do not suffer */
#define DISK_MIN_BYTES (1 << 30)
#define INODES_MIN 10000.0  /* a trial leaves some twenty files */
#define OPEN_FILES_MIN 4096 /* a generator's connections, each a descriptor */
#define PORTS_MIN 20000.0   /* of 60 s in TIME_WAIT: some 300 new connections a second */
#define TABLE_SHARE 0.5     /* of the connections that can be tracked */
#define BUSY_SHARE 0.1      /* of one processor: what a process may take before it is named */
#define BUSY_SHOWN 3
#define LOG_WINDOW_NS (3600 * NS_PER_S)

/* What cannot be seen here. */
struct unseen {
    struct strbuf names;
};

static bool seen(struct unseen *u, const char *name, bool is)
{
    if (!is)
        strbuf_addf(&u->names, "%s%s", u->names.len ? ", " : "", name);
    return is;
}

static void look_at_processor(struct doctor *d, struct unseen *u)
{
    const struct host_view *v = &d->view;
    bool steady = v->governor && strcmp(v->governor, "performance") == 0;

    if (seen(u, "governor", v->governor))
        doctor_say(d, steady ? FITNESS_OK : FITNESS_WARN, "governor",
                   "`cpupower frequency-set -g performance`", "%s%s%s%s%s", v->governor,
                   v->driver ? " (" : "", v->driver ? v->driver : "", v->driver ? ")" : "",
                   steady ? "" : ": the frequency follows the load");
    if (seen(u, "turbo", v->turbo))
        doctor_say(
            d, strcmp(v->turbo, "on") == 0 ? FITNESS_WARN : FITNESS_OK, "turbo",
            "write 1 into /sys/devices/system/cpu/intel_pstate/no_turbo, or 0 into cpufreq/boost there",
            strcmp(v->turbo, "on") == 0 ? "on: speed depends on temperature and on how many cores are busy"
                                        : "off");
    if (seen(u, "smt", v->smt))
        doctor_say(d, strcmp(v->smt, "on") == 0 ? FITNESS_WARN : FITNESS_OK, "smt",
                   "give the app and the generator different cores with cpuset",
                   strcmp(v->smt, "on") == 0 ? "on: two threads share a core" : "off");
    if (v->hypervisor)
        doctor_say(d, FITNESS_OK, "machine", NULL,
                   "%.0f processors, virtual%s%s%s: its host's load is not seen", v->cpus,
                   strcmp(v->hypervisor, "yes") == 0 ? "" : " (",
                   strcmp(v->hypervisor, "yes") == 0 ? "" : v->hypervisor,
                   strcmp(v->hypervisor, "yes") == 0 ? "" : ")");
    else
        doctor_say(d, FITNESS_OK, "machine", NULL, "%.0f processors", v->cpus);
    if (v->steal_pct > 0 || v->hypervisor)
        doctor_say(d, v->steal_pct > STEAL_PCT ? FITNESS_WARN : FITNESS_OK, "steal",
                   "use a machine with processors of its own", "the hypervisor takes %.1f%% just now",
                   v->steal_pct);
}

static void look_at_heat(struct doctor *d, struct unseen *u)
{
    const struct host_view *v = &d->view;

    if (seen(u, "temperature", !isnan(v->temperature_c)))
        doctor_say(d, v->temperature_c > WARM_C ? FITNESS_WARN : FITNESS_OK, "temperature",
                   "let it cool down: see cooldown.temperature of the matrix", "%.0f °C%s", v->temperature_c,
                   v->temperature_c > WARM_C ? " before any load" : "");
    if (seen(u, "throttling", !isnan(v->throttle_events)))
        doctor_say(d, v->throttled > 0 ? FITNESS_WARN : FITNESS_OK, "throttling", "look after the cooling",
                   "%.0f times by heat since the start%s", v->throttle_events,
                   v->throttled > 0 ? ", and just now" : "");
}

static void look_at_memory(struct doctor *d, struct unseen *u)
{
    const struct host_view *v = &d->view;
    char total[32], available[32], used[32];

    if (seen(u, "memory", !isnan(v->memory_available_bytes)))
        doctor_say(d,
                   v->memory_available_bytes < MEMORY_SHARE_MIN * v->memory_bytes ? FITNESS_WARN : FITNESS_OK,
                   "memory", "stop what is not needed", "%s of %s available",
                   size_human(v->memory_available_bytes, available), size_human(v->memory_bytes, total));
    if (!seen(u, "swap", !isnan(v->swap_bytes)))
        return;
    if (v->swap_bytes > 0)
        doctor_say(d, FITNESS_WARN, "swap", "`swapoff -a` while you measure",
                   "on%s, %s of %s in use: a busy host may page", v->swap_compressed ? " (zram)" : "",
                   size_human(v->swap_used_bytes, used), size_human(v->swap_bytes, total));
    else
        doctor_say(d, FITNESS_OK, "swap", NULL, "off");
}

static void look_at_pressure(struct doctor *d, struct unseen *u)
{
    const struct host_view *v = &d->view;
    double most = fmax(v->psi_cpu, fmax(v->psi_memory, v->psi_io));

    if (seen(u, "load", !isnan(v->load1)))
        doctor_say(d, v->load1 > LOAD_PER_PROCESSOR * v->cpus ? FITNESS_WARN : FITNESS_OK, "load",
                   "wait until the host is quiet", "load average %.2f on %.0f processors", v->load1, v->cpus);
    if (!seen(u, "pressure", !isnan(most)))
        return;
    doctor_say(d, most > PRESSURE_PCT ? FITNESS_WARN : FITNESS_OK, "pressure", "find out what runs: `top`",
               "tasks waited for a processor %.0f%%, for memory %.0f%%, for a disk %.0f%% of the last minute",
               fmax(v->psi_cpu, 0), fmax(v->psi_memory, 0), fmax(v->psi_io, 0));
}

static void look_at_processes(struct doctor *d)
{
    struct host_process top[BUSY_SHOWN + 1];
    CLEANUP_VALUE(strbuf_release) struct strbuf names = STRBUF_INIT;

    size_t n = host_processes_busiest(&d->processes_before, &d->processes, top, ARRAY_LEN(top)), shown = 0;
    double per_processor = (double)sysconf(_SC_CLK_TCK) * d->processes_s; /* its ticks between the looks */
    for (size_t i = 0; i < n && shown < BUSY_SHOWN; i++) {
        if (top[i].pid == getpid() || top[i].ticks < BUSY_SHARE * per_processor)
            continue;
        strbuf_addf(&names, "%s%s (%lld) %.0f%%", shown++ ? ", " : "", top[i].name, (long long)top[i].pid,
                    100 * top[i].ticks / per_processor);
    }
    if (shown)
        doctor_say(d, FITNESS_WARN, "processes", "stop them while you measure", "busy just now: %s",
                   strbuf_text(&names));
    else
        doctor_say(d, FITNESS_OK, "processes", NULL, "none is busy");
}

static void look_at_clock(struct doctor *d, struct unseen *u)
{
    const struct host_view *v = &d->view;
    bool far = fabs(v->clock_offset_ms) > CLOCK_OFFSET_MS;
    bool known = seen(u, "clock", v->clock_synchronised >= 0);

    if (known && (!v->clock_synchronised || far))
        doctor_say(d, FITNESS_WARN, "clock", "run an NTP client; durations are monotonic and do not suffer",
                   far ? "synchronised, and %.0f ms off" : "not synchronised", v->clock_offset_ms);
    else if (known)
        doctor_say(d, FITNESS_OK, "clock", NULL, "synchronised");
    if (v->clocksource && strcmp(v->clocksource, "tsc") != 0 &&
        strcmp(v->clocksource, "arch_sys_counter") != 0 && strcmp(v->clocksource, "kvm-clock") != 0 &&
        strcmp(v->clocksource, "hyperv_clocksource_tsc_page") != 0)
        doctor_say(d, FITNESS_WARN, "clocksource", "the kernel's log says why: `dmesg | grep -i clocksource`",
                   "%s: each look at the clock is a slow one", v->clocksource);
    if (v->aslr < 2)
        doctor_say(d, FITNESS_WARN, "aslr", "`sysctl kernel.randomize_va_space=2`",
                   "not in full: all trials share one memory layout, good or bad");
}

static void look_at_network(struct doctor *d)
{
    const struct host_view *v = &d->view;
    double ports = host_local_ports(), count, max;

    host_connections(&count, &max);
    if (!isnan(ports))
        doctor_say(d, ports < PORTS_MIN || v->time_wait > TABLE_SHARE * ports ? FITNESS_WARN : FITNESS_OK,
                   "ports", "`sysctl net.ipv4.ip_local_port_range='10000 65535'`, or wait a minute",
                   "%.0f local ports, %.0f kept by closed connections", ports, fmax(v->time_wait, 0));
    if (!isnan(count) && !isnan(max))
        doctor_say(d, count > TABLE_SHARE * max ? FITNESS_WARN : FITNESS_OK, "connections",
                   "`sysctl net.netfilter.nf_conntrack_max=262144`", "%.0f of %.0f that can be tracked",
                   count, max);
    if (v->open_files < OPEN_FILES_MIN)
        doctor_say(d, FITNESS_WARN, "open files", "`ulimit -n 65536`",
                   "%.0f at most: a generator needs one for each connection", v->open_files);
}

static void look_at_disk(struct doctor *d)
{
    const char *dir = d->options->dir ? d->options->dir : ".";
    int64_t bytes;
    char size[32];
    struct error err = ERROR_INIT;

    if (fs_free_bytes(dir, &bytes, &err) < 0)
        doctor_say(d, FITNESS_WARN, "disk", NULL, "%s", err.message);
    else if (bytes < DISK_MIN_BYTES)
        doctor_say(d, FITNESS_FAIL, "disk", "free some space or choose another --out", "%s free at '%s'",
                   size_human((double)bytes, size), dir);
    else if (d->view.disk_inodes < INODES_MIN)
        doctor_say(d, FITNESS_FAIL, "disk", "remove files or choose another --out",
                   "%s but only %.0f files are free at '%s'", size_human((double)bytes, size),
                   d->view.disk_inodes, dir);
    else
        doctor_say(d, FITNESS_OK, "disk", NULL, "%s free at '%s'", size_human((double)bytes, size), dir);
}

/* --- the kernel's log --- */

struct log_look {
    VEC(struct kernel_lines) kinds;
};

static void count_kind(const char *line, void *data)
{
    struct log_look *look = data;
    const char *kind = kernel_line_kind(line, strlen(line));

    vec_each (k, &look->kinds) {
        if (kind && strcmp(k->kind, kind) == 0) {
            k->count++;
            return;
        }
    }
    if (kind)
        vec_push(&look->kinds, (struct kernel_lines){.kind = kind, .count = 1});
}

static void look_at_kernel_log(struct doctor *d, struct unseen *u)
{
    CLEANUP(kernel_log_free) struct kernel_log *k = kernel_log_open(NULL);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct log_look look = {0};

    if (k)
        kernel_log_from(k, clock_now_ns() - LOG_WINDOW_NS);
    if (!seen(u, "kernel log", k && kernel_log_each(k, count_kind, &look)))
        return;
    vec_each (l, &look.kinds)
        strbuf_addf(&text, "%s%s %.0f time%s", text.len ? ", " : "", l->kind, l->count,
                    l->count == 1 ? "" : "s");
    if (text.len)
        doctor_say(d, FITNESS_WARN, "kernel log", "`dmesg -T | tail -100`", "in the last hour: %s",
                   strbuf_text(&text));
    else
        doctor_say(d, FITNESS_OK, "kernel log", NULL, "nothing of the machine in the last hour");
    vec_release(&look.kinds);
}

void doctor_look_at_host(struct doctor *d)
{
    struct unseen u = {0};

    look_at_processor(d, &u);
    look_at_heat(d, &u);
    look_at_memory(d, &u);
    look_at_pressure(d, &u);
    look_at_processes(d);
    look_at_clock(d, &u);
    look_at_network(d);
    look_at_disk(d);
    look_at_kernel_log(d, &u);
    if (u.names.len)
        doctor_say(d, FITNESS_OK, "not shown", NULL, "%s: this machine does not show %s",
                   strbuf_text(&u.names), strchr(strbuf_text(&u.names), ',') ? "them" : "it");
    strbuf_release(&u.names);
}
