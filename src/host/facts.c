/* SPDX-License-Identifier: MIT */
/* What the machine is, for sweep.json: by an allow-list; no environment, serial numbers or addresses. */
#include "internal.h"

#include <ctype.h>
#include <math.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Parameters of the kernel that change how fast a machine is or how steady; no other is ever written down,
 * since a command line may carry keys and addresses. */
static const char *const boot_names[] = {
    "isolcpus",
    "nohz_full",
    "nohz",
    "rcu_nocbs",
    "irqaffinity",
    "mitigations",
    "nosmt",
    "maxcpus",
    "mem",
    "intel_pstate",
    "amd_pstate",
    "intel_idle.max_cstate",
    "processor.max_cstate",
    "idle",
    "cpuidle.off",
    "cpufreq.default_governor",
    "cpufreq.off",
    "transparent_hugepage",
    "hugepages",
    "hugepagesz",
    "default_hugepagesz",
    "numa_balancing",
    "numa",
    "swapaccount",
    "cgroup_enable",
    "cgroup_disable",
    "cgroup_no_v1",
    "systemd.unified_cgroup_hierarchy",
    "psi",
    "clocksource",
    "tsc",
    "preempt",
    "threadirqs",
    "nowatchdog",
    "nmi_watchdog",
    "audit",
    "pti",
    "nopti",
    "spectre_v2",
    "nospectre_v2",
    "randomize_va_space",
    "norandmaps",
    "skew_tick",
    "iommu",
    "intel_iommu",
    "amd_iommu",
    "zswap.enabled",
};
#define BOOT_VALUE_MAX 64 /* bytes; lists of processors and words fit, keys do not belong here */

/* A value of such a parameter: words, numbers and lists; anything else is not what it looks like. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("_-.,:;@^/+", text[i]))
            return false;
    return len <= BOOT_VALUE_MAX;
}

static void add_parameter(struct json *j, const char *word, size_t len)
{
    size_t name_len = 0;

    while (name_len < len && word[name_len] != '=')
        name_len++;
    const char *value = word + name_len + (name_len < len);
    size_t value_len = len - name_len - (name_len < len);
    for (size_t i = 0; i < ARRAY_LEN(boot_names); i++)
        if (strlen(boot_names[i]) == name_len && memcmp(boot_names[i], word, name_len) == 0)
            json_set(j, boot_names[i],
                     is_plain(value, value_len) ? json_new_text_n(value, value_len) : json_new_text("?"));
}

struct json *host_boot(void)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf line = STRBUF_INIT;
    struct json *j = json_new_object();

    if (host_read("/proc/cmdline", &line) < 0)
        return j;
    for (const char *p = strbuf_text(&line); *p;) {
        size_t len = strcspn(p, " \t\n");
        if (len == 2 && memcmp(p, "--", 2) == 0) /* what follows is for the first process */
            break;
        add_parameter(j, p, len);
        p += len;
        p += strspn(p, " \t\n");
    }
    return j;
}

static void set_taken(struct json *j, const char *name, char *text)
{
    json_set_text(j, name, text);
    free(text);
}

static void set_known(struct json *j, const char *name, char *text)
{
    if (text)
        json_set_text(j, name, text);
    free(text);
}

static char *os_name(void)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (host_read("/etc/os-release", &text) < 0)
        return NULL;
    for (const char *p = strbuf_text(&text); p && *p; p = strchr(p, '\n'), p += p ? 1 : 0) {
        if (!text_starts(p, "PRETTY_NAME="))
            continue;
        p += strlen("PRETTY_NAME=");
        p += *p == '"';
        size_t len = strcspn(p, "\"\n");
        return len ? xstrndup(p, len < HOST_LINE_MAX ? len : HOST_LINE_MAX) : NULL;
    }
    return NULL;
}

/* Different values of topology/NAME: 0 where nothing is visible. */
static size_t topology_count(const char *name)
{
    CLEANUP(host_names_free) char **cpus = host_names("/sys/devices/system/cpu", "cpu");
    VEC(double) seen = {0};

    for (size_t i = 0; cpus && cpus[i]; i++) {
        double package = host_numberf("/sys/devices/system/cpu/%s/topology/physical_package_id", cpus[i]);
        double id = host_numberf("/sys/devices/system/cpu/%s/topology/%s", cpus[i], name);
        double both = package * 65536 + id; /* cores are numbered within a package */
        bool known = isnan(both);
        vec_each (s, &seen)
            known |= *s == both;
        if (!known)
            vec_push(&seen, both);
    }
    size_t n = seen.len;
    vec_release(&seen);
    return n;
}

static void add_processors(struct json *j)
{
    CLEANUP_FREE char *online = host_line("/sys/devices/system/cpu/online");
    long cpus = online ? host_list_count(online) : -1;
    size_t sockets = topology_count("physical_package_id"), cores = topology_count("core_id");
    CLEANUP(host_names_free) char **nodes = host_names("/sys/devices/system/node", "node");
    size_t node_count = 0;

    for (size_t i = 0; nodes && nodes[i]; i++)
        node_count += isdigit((unsigned char)nodes[i][strlen("node")]) != 0;
    set_taken(j, "cpu", host_value("/proc/cpuinfo", "model name"));
    json_set_int(j, "cpus", cpus > 0 ? cpus : sysconf(_SC_NPROCESSORS_ONLN));
    if (sockets)
        json_set_int(j, "sockets", (int64_t)sockets);
    if (cores)
        json_set_int(j, "cores", (int64_t)cores);
    if (node_count)
        json_set_int(j, "numa_nodes", (int64_t)node_count);
    set_known(j, "microcode", host_value("/proc/cpuinfo", "microcode"));
    set_known(j, "hypervisor", host_hypervisor());
    set_known(j, "governor", host_frequency_word("scaling_governor"));
    set_known(j, "driver", host_frequency_word("scaling_driver"));
    set_known(j, "frequency_min_khz", host_frequency_word("scaling_min_freq"));
    set_known(j, "frequency_max_khz", host_frequency_word("scaling_max_freq"));
    set_known(j, "preference", host_frequency_word("energy_performance_preference"));
    if (host_turbo())
        json_set_text(j, "turbo", host_turbo());
    set_known(j, "smt", host_smt());
    set_known(j, "isolated", host_line("/sys/devices/system/cpu/isolated"));
    set_known(j, "mitigations", host_mitigations());
}

static void add_limits(struct json *j)
{
    struct rlimit files;
    double aslr = host_number("/proc/sys/kernel/randomize_va_space");

    if (getrlimit(RLIMIT_NOFILE, &files) == 0)
        json_set_number(j, "open_files", files.rlim_cur == RLIM_INFINITY ? -1.0 : (double)files.rlim_cur);
    set_known(j, "ports", host_line("/proc/sys/net/ipv4/ip_local_port_range"));
    if (!isnan(aslr))
        json_set_number(j, "aslr", aslr);
}

struct json *host_facts(void)
{
    struct json *j = json_new_object();
    struct utsname u;
    char *name = host_line("/proc/sys/kernel/hostname"), *kernel = host_line("/proc/sys/kernel/osrelease");
    double temperature = host_temperature_c();

    if (uname(&u) < 0)
        u = (struct utsname){0};
    set_taken(j, "name", name ? name : xstrdup(u.nodename));
    set_taken(j, "kernel", kernel ? kernel : xstrdup(u.release));
    json_set_text(j, "architecture", u.machine);
    set_known(j, "os", os_name());
    add_processors(j);
    set_taken(j, "memory", host_value("/proc/meminfo", "MemTotal"));
    json_set_number(j, "swap_bytes", host_swap_bytes());
    set_known(j, "thp", host_bracketed("/sys/kernel/mm/transparent_hugepage/enabled"));
    json_set_int(j, "cgroup_version", host_cgroup_version());
    set_known(j, "clocksource",
              host_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"));
    add_limits(j);
    json_set(j, "boot", host_boot());
    json_set_number(j, "load1", host_load1());
    if (!isnan(temperature))
        json_set_number(j, "temperature_c", temperature);
    return j;
}
