/* SPDX-License-Identifier: MIT */
/* Is this host fit to measure? Looks at what changes results most; changes nothing. */
#include "run_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/timex.h>
#include "benchctl/base/clock.h"

struct doctor {
    struct arena *arena;
    const struct doctor_options *options;
    VEC(struct doctor_line) lines;
};

static void say(struct doctor *d, enum fitness f, const char *name, const char *hint, const char *fmt, ...)
    PRINTF_LIKE(5, 6);

static void say(struct doctor *d, enum fitness f, const char *name, const char *hint, const char *fmt, ...)
{
    char text[1024];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vec_push(&d->lines, (struct doctor_line){
                            .fitness = f,
                            .name = name,
                            .text = arena_strdup(d->arena, text),
                            .hint = f == FITNESS_OK ? NULL : arena_strdup(d->arena, hint),
                        });
}

/* First line of a small file, or NULL. */
static const char *first_line(struct doctor *d, const char *path)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read(path, 1 << 20, &text, &ignored) < 0)
        return NULL;
    return arena_strndup(d->arena, strbuf_text(&text), strcspn(strbuf_text(&text), "\n"));
}

/* --- engine and leftovers --- */

static void look_at_leftovers(struct doctor *d, struct engine *e)
{
    struct clean_counts n = {0};
    struct error err = ERROR_INIT;
    const struct clean_options o = {.dry_run = true};

    if (run_clean(e, &o, NULL, NULL, &n, &err) < 0)
        say(d, FITNESS_WARN, "leftovers", NULL, "cannot be listed: %s", err.message);
    else if (n.removed)
        say(d, FITNESS_WARN, "leftovers", "`benchctl clean` removes them",
            "%d containers or networks of dead sweeps", n.removed);
    else
        say(d, FITNESS_OK, "leftovers", NULL, "none%s", n.alive ? " (a sweep is running)" : "");
}

static void look_at_engine(struct doctor *d, struct loop *l)
{
    CLEANUP(http_free) struct http *h = NULL;
    CLEANUP(engine_close) struct engine *e = NULL;
    struct error err = ERROR_INIT;

    if (http_new(l, &h, &err) < 0 || engine_open(l, h, d->options->engine_url, &e, &err) < 0) {
        say(d, FITNESS_FAIL, "engine", err.hint, "%s", err.message);
        return;
    }
    const struct engine_facts *f = engine_facts(e);
    say(d, FITNESS_OK, "engine", NULL, "%s %s, API %s, %s", f->name ? f->name : "engine", f->version,
        f->api_version, f->storage_driver);
    if (!f->memory_limit)
        say(d, FITNESS_FAIL, "cgroups", "boot with the memory controller enabled",
            "the engine cannot limit memory");
    else if (!f->swap_limit)
        say(d, FITNESS_WARN, "cgroups", "boot with swapaccount=1, or turn swap off",
            "version %d; the engine cannot limit swap", f->cgroup_version);
    else
        say(d, FITNESS_OK, "cgroups", NULL, "version %d, memory and swap limits work", f->cgroup_version);
    if (!f->local)
        say(d, FITNESS_WARN, "samples", "run benchctl on the engine's host for 10 Hz samples",
            "the engine is remote: memory and CPU come once a second");
    look_at_leftovers(d, e);
}

/* --- the host --- */

static void look_at_programs(struct doctor *d)
{
    for (size_t i = 0; d->options->programs && d->options->programs[i]; i++) {
        CLEANUP_FREE char *path = fs_find_program(d->options->programs[i]);
        if (path)
            say(d, FITNESS_OK, "generator", NULL, "%s", path);
        else
            say(d, FITNESS_WARN, "generator", "install it if a matrix uses it", "'%s' is not on PATH",
                d->options->programs[i]);
    }
}

static void look_at_processor(struct doctor *d)
{
    const char *governor = first_line(d, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    const char *no_turbo = first_line(d, "/sys/devices/system/cpu/intel_pstate/no_turbo");
    const char *boost = first_line(d, "/sys/devices/system/cpu/cpufreq/boost");
    const char *smt = first_line(d, "/sys/devices/system/cpu/smt/active");

    if (!governor)
        say(d, FITNESS_OK, "governor", NULL, "not visible (a virtual machine?)");
    else if (strcmp(governor, "performance") == 0)
        say(d, FITNESS_OK, "governor", NULL, "performance");
    else
        say(d, FITNESS_WARN, "governor", "`cpupower frequency-set -g performance`",
            "%s: the clock follows the load", governor);
    if ((no_turbo && no_turbo[0] == '0') || (boost && boost[0] == '1'))
        say(d, FITNESS_WARN, "turbo", "switch it off for steadier results",
            "on: speed depends on temperature and on how many cores are busy");
    else
        say(d, FITNESS_OK, "turbo", NULL, no_turbo || boost ? "off" : "not visible");
    if (smt && smt[0] == '1')
        say(d, FITNESS_WARN, "smt", "give the app and the generator different cores with cpuset",
            "on: two threads share a core");
    else
        say(d, FITNESS_OK, "smt", NULL, smt ? "off" : "not visible");
}

static void look_at_memory(struct doctor *d)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf swaps = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read("/proc/swaps", 1 << 16, &swaps, &ignored) == 0 &&
        strchr(strbuf_text(&swaps), '\n') != strrchr(strbuf_text(&swaps), '\n'))
        say(d, FITNESS_WARN, "swap", "`swapoff -a` while measuring", "on: a busy host may page");
    else
        say(d, FITNESS_OK, "swap", NULL, "off");
}

static void look_at_load(struct doctor *d)
{
    double load1 = host_load1();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const char *pressure = first_line(d, "/proc/pressure/cpu");

    if (isnan(load1))
        say(d, FITNESS_WARN, "load", NULL, "not visible");
    else if (load1 > 0.25 * (double)cpus)
        say(d, FITNESS_WARN, "load", "wait until the host is quiet", "load average %.2f on %ld processors",
            load1, cpus);
    else
        say(d, FITNESS_OK, "load", NULL, "load average %.2f on %ld processors", load1, cpus);
    const char *avg = pressure ? strstr(pressure, "avg60=") : NULL;
    double percent;
    if (avg && number_scan(avg + strlen("avg60="), strcspn(avg + strlen("avg60="), " "), &percent))
        say(d, percent > 10 ? FITNESS_WARN : FITNESS_OK, "pressure",
            "something waits for a processor: find out what runs",
            "tasks waited for a processor %.0f%% of the last minute", percent);
}

static void look_at_clock(struct doctor *d)
{
    struct timex t = {0};

    if (adjtimex(&t) == TIME_ERROR || (t.status & STA_UNSYNC))
        say(d, FITNESS_WARN, "clock", "run an NTP client; durations are monotonic and do not suffer",
            "not synchronised");
    else
        say(d, FITNESS_OK, "clock", NULL, "synchronised");
}

static void look_at_disk(struct doctor *d)
{
    int64_t bytes;
    char size[32];
    struct error err = ERROR_INIT;
    const char *dir = d->options->dir ? d->options->dir : ".";

    if (fs_free_bytes(dir, &bytes, &err) < 0)
        say(d, FITNESS_WARN, "disk", NULL, "%s", err.message);
    else if (bytes < INT64_C(1) << 30)
        say(d, FITNESS_FAIL, "disk", "free some space or choose another --out", "%s free at '%s'",
            size_human((double)bytes, size), dir);
    else
        say(d, FITNESS_OK, "disk", NULL, "%s free at '%s'", size_human((double)bytes, size), dir);
}

void run_doctor(struct loop *l, const struct doctor_options *o, struct arena *a, struct doctor_report *ret)
{
    struct doctor d = {.arena = a, .options = o};

    look_at_engine(&d, l);
    look_at_programs(&d);
    look_at_processor(&d);
    look_at_memory(&d);
    look_at_load(&d);
    look_at_clock(&d);
    look_at_disk(&d);
    ret->lines = arena_copy(a, d.lines.items, d.lines.len * sizeof(*d.lines.items));
    ret->len = d.lines.len;
    vec_release(&d.lines);
}
