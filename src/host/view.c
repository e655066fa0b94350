/* SPDX-License-Identifier: MIT */
/* One look at everything that may change while a sweep runs, and what two looks say together. */
#include "internal.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

static void take_disk(const char *dir, struct host_view *v)
{
    struct statvfs fs;

    v->disk_bytes = v->disk_inodes = NAN;
    if (!dir || statvfs(dir, &fs) != 0)
        return;
    v->disk_bytes = (double)fs.f_bavail * (double)fs.f_frsize;
    if (fs.f_files > 0) /* some file systems do not count them */
        v->disk_inodes = (double)fs.f_favail;
}

static double file_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        return NAN;
    return files.rlim_cur == RLIM_INFINITY ? INFINITY : (double)files.rlim_cur;
}

static void take_words(struct host_view *v)
{
    v->governor = host_frequency_word("scaling_governor");
    v->driver = host_frequency_word("scaling_driver");
    v->min_khz = host_frequency_word("scaling_min_freq");
    v->max_khz = host_frequency_word("scaling_max_freq");
    v->smt = host_smt();
    v->thp = host_bracketed("/sys/kernel/mm/transparent_hugepage/enabled");
    v->clocksource = host_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    v->hypervisor = host_hypervisor();
    v->turbo = host_turbo();
    v->cgroup_version = host_cgroup_version();
}

static double known_processors(void)
{
    CLEANUP_FREE char *online = host_line("/sys/devices/system/cpu/online");
    long n = online ? host_list_count(online) : -1;

    return n > 0 ? (double)n : (double)sysconf(_SC_NPROCESSORS_ONLN);
}

void host_view_take(const struct host_view *before, const char *dir, struct host_view *ret)
{
    int64_t waiting = host_time_wait();
    struct host_view v = {
        .load1 = host_load1(),
        .temperature_c = host_temperature_c(),
        .cpus = known_processors(),
        .psi_cpu = host_pressure("cpu", false),
        .psi_memory = host_pressure("memory", false),
        .psi_io = host_pressure("io", false),
        .psi_memory_full = host_pressure("memory", true),
        .psi_io_full = host_pressure("io", true),
        .swap_bytes = host_swap_bytes(),
        .memory_bytes = host_meminfo_bytes("MemTotal"),
        .memory_available_bytes = host_meminfo_bytes("MemAvailable"),
        .throttle_events = host_throttle_events(),
        .steal_pct = NAN,
        .throttled = NAN,
        .time_wait = waiting < 0 ? NAN : (double)waiting,
        .open_files = file_limit(),
        .aslr = host_number("/proc/sys/kernel/randomize_va_space"),
        .swap_compressed = host_swap_is_compressed(),
    };

    take_words(&v);
    take_disk(dir, &v);
    v.swap_used_bytes = v.swap_bytes - host_meminfo_bytes("SwapFree");
    v.clock_synchronised = host_clock(&v.clock_offset_ms);
    host_ticks_read(&v.ticks);
    if (before) {
        double all = v.ticks.all - before->ticks.all;
        v.steal_pct = all > 0 ? 100 * (v.ticks.steal - before->ticks.steal) / all : NAN;
        v.throttled = v.throttle_events - before->throttle_events;
    }
    *ret = v;
}

void host_view_release(struct host_view *v)
{
    free(v->governor);
    free(v->driver);
    free(v->min_khz);
    free(v->max_khz);
    free(v->smt);
    free(v->thp);
    free(v->clocksource);
    free(v->hypervisor);
    *v = (struct host_view){0};
}

/* --- two looks --- */

/* What is compared, of a look; NULL: it did not see it. */
struct compared {
    const char *name, *phrase, *word;
};
enum { COMPARED = 6 };

static void compared_words(const struct host_view *v, struct compared ret[COMPARED])
{
    const struct compared all[COMPARED] = {
        {"governor", "the governor", v->governor},
        {"turbo", "turbo", v->turbo},
        {"SMT", "SMT", v->smt},
        {"lowest frequency", "the lowest allowed frequency (kHz)", v->min_khz},
        {"highest frequency", "the highest allowed frequency (kHz)", v->max_khz},
        {"clock source", "the kernel's clock source", v->clocksource},
    };

    memcpy(ret, all, sizeof(all));
}

size_t host_changes(const struct host_view *from, const struct host_view *to, struct strbuf *ret)
{
    struct compared was[COMPARED], is[COMPARED];
    size_t n = 0;

    compared_words(from, was);
    compared_words(to, is);
    for (size_t i = 0; i < COMPARED; i++) {
        if (!was[i].word || !is[i].word || strcmp(was[i].word, is[i].word) == 0)
            continue;
        strbuf_addf(ret, "%s%s went from %s to %s", ret->len ? "; " : "", was[i].phrase, was[i].word,
                    is[i].word);
        n++;
    }
    if (from->cpus != to->cpus) {
        strbuf_addf(ret, "%sprocessors went from %.0f to %.0f", ret->len ? "; " : "", from->cpus, to->cpus);
        n++;
    }
    return n;
}

size_t host_compared(const struct host_view *from, const struct host_view *to, struct strbuf *ret)
{
    struct compared was[COMPARED], is[COMPARED];
    size_t n = 1;

    compared_words(from, was);
    compared_words(to, is);
    for (size_t i = 0; i < COMPARED; i++) {
        if (!was[i].word || !is[i].word)
            continue;
        strbuf_addf(ret, "%s, ", was[i].name);
        n++;
    }
    strbuf_adds(ret, "processors");
    return n;
}
