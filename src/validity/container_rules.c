/* SPDX-License-Identifier: MIT */
/* Were the containers there all the time, under the limits that were asked for? */
#include "trial_rules.h"

#include <stdio.h>
#include "benchctl/base/strbuf.h"
#include "benchctl/base/units.h"

#define THROTTLED_MAX 0.01   /* of the window */
#define CPUS_TOLERANCE 0.005 /* quotas are written in whole microseconds of a period */
/* A thread's stack, where the JVM is not told otherwise. Only what it touches is memory, but it may touch
 * all. */
#define STACK_BYTES (1024.0 * 1024)
#define CPUSET_MAX 4096 /* processors that a cpuset may name */

static const char *role_of(const struct validity_container *c)
{
    return c->result->role ? c->result->role : "?";
}

/* --- V15 --- */

void rule_crash_contamination(const struct validity_facts *f, struct judgement *j)
{
    const struct trial *t = f->trial;
    const struct container_result *a = &t->app;
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (!t->has_load || !is_amount(a->restarts) || !is_amount(a->uptime_pct))
        return;
    if (a->restarts > 0)
        strbuf_addf(&text, ", %.0f restart%s", a->restarts, s_of(a->restarts));
    if (a->oom_kills > 0)
        strbuf_addf(&text, ", %.0f OOM kill%s", a->oom_kills, s_of(a->oom_kills));
    if (a->down_ms > 0)
        strbuf_addf(&text, ", %.1f s down", a->down_ms / 1e3);
    if (a->unresponsive_ms > 0)
        strbuf_addf(&text, ", %.1f s without an answer", a->unresponsive_ms / 1e3);
    double away_ms = (a->down_ms > 0 ? a->down_ms : 0) + (a->unresponsive_ms > 0 ? a->unresponsive_ms : 0);
    double available = t->load.window_ms > 0 && !isnan(a->down_ms)
                           ? 100 * fmax(0, 1 - away_ms / t->load.window_ms)
                           : a->uptime_pct;
    if (text.len)
        say(j, WARN, "available for %.3g %% of the window%s: the figures hold its failures", available,
            strbuf_text(&text));
    else
        say(j, PASS, "available for %.3g %% of the window", available);
}

void rule_restarts_agree(const struct validity_facts *f, struct judgement *j)
{
    bool agree = f->container_count > 0;

    for (size_t i = 0; i < f->container_count; i++)
        if (f->containers[i].restarts_uncertain) {
            agree = false;
            say(j, WARN,
                "'%s': engine events and inspect disagree about the restarts; the larger number (%.0f) is "
                "shown",
                role_of(&f->containers[i]), f->containers[i].result->restarts);
        }
    if (agree)
        say(j, PASS, "the engine's events and its inspect replies agree");
}

void rule_address_kept(const struct validity_facts *f, struct judgement *j)
{
    bool kept = f->container_count > 0;

    for (size_t i = 0; i < f->container_count; i++)
        if (f->containers[i].address_changed) {
            kept = false;
            say(j, FAIL,
                "'%s' came back with another address after a restart: the generator could not reach it",
                role_of(&f->containers[i]));
        }
    if (kept)
        say(j, PASS, "every container kept its address");
}

/* --- V16 --- */

/* "0-2,5" as one flag a processor; false when it is not that. */
static bool cpuset_read(const char *text, bool set[CPUSET_MAX])
{
    unsigned first, last;
    int n;

    memset(set, 0, CPUSET_MAX * sizeof(*set));
    for (const char *at = text; *at;) {
        if (sscanf(at, "%5u%n", &first, &n) < 1)
            return false;
        at += n;
        last = first;
        if (*at == '-') {
            if (sscanf(at + 1, "%5u%n", &last, &n) < 1)
                return false;
            at += n + 1;
        }
        if (last < first || last >= CPUSET_MAX || (*at && *at != ','))
            return false;
        for (unsigned i = first; i <= last; i++)
            set[i] = true;
        at += *at == ',';
    }
    return true;
}

static bool cpusets_differ(const char *a, const char *b)
{
    bool x[CPUSET_MAX], y[CPUSET_MAX];

    return a && b && cpuset_read(a, x) && cpuset_read(b, y) && memcmp(x, y, sizeof(x)) != 0;
}

/* Both known, and not the same. */
static bool differ(double a, double b, double tolerance)
{
    if (isnan(a) || isnan(b))
        return false;
    if (isinf(a) || isinf(b))
        return a != b;
    return fabs(a - b) > tolerance;
}

static const char *size_text(double bytes, char *buf)
{
    if (isinf(bytes))
        return "no limit";
    return size_human(bytes, buf);
}

/* As a matrix has it. */
static const char *asked_text(double bytes, char *buf)
{
    return bytes >= 0 && bytes < 0x1p62 ? size_format((int64_t)bytes, buf) : "no limit";
}

static const char *number_text(double x, char buf[32])
{
    if (isinf(x))
        return "no limit";
    (void)snprintf(buf, 32, "%.6g", x);
    return buf;
}

static bool memory_is_real(const struct validity_container *c, struct judgement *j)
{
    const struct effective *e = &c->result->effective;
    char asked[32], applied[32];
    bool engine = !differ(c->asked.memory_bytes, e->memory_bytes, 0);
    /* the kernel counts in pages */
    bool kernel =
        !(isfinite(e->kernel.memory_bytes) && differ(e->memory_bytes, e->kernel.memory_bytes, 65535));

    if (!engine)
        say(j, FAIL, "'%s' was to have %s of memory, the engine applied %s", role_of(c),
            asked_text(c->asked.memory_bytes, asked), size_text(e->memory_bytes, applied));
    if (!kernel)
        say(j, FAIL, "'%s': the engine says %s of memory, the kernel applies %s", role_of(c),
            size_text(e->memory_bytes, asked), size_text(e->kernel.memory_bytes, applied));
    return engine && kernel;
}

static bool cpus_are_real(const struct validity_container *c, struct judgement *j)
{
    const struct effective *e = &c->result->effective;
    char asked[32], applied[32];
    bool none = isfinite(c->asked.cpus) && isnan(e->cpus) && !isnan(e->memory_bytes);
    bool engine = !none && !differ(c->asked.cpus, e->cpus, CPUS_TOLERANCE);
    bool kernel = !(isfinite(c->asked.cpus) && differ(c->asked.cpus, e->kernel.cpus, CPUS_TOLERANCE));

    if (!engine || !kernel)
        say(j, FAIL, "'%s' was to have %s CPUs, the %s applied %s", role_of(c),
            number_text(c->asked.cpus, asked), engine ? "kernel" : "engine",
            number_text(engine ? e->kernel.cpus
                        : none ? INFINITY
                               : e->cpus,
                        applied));
    return engine && kernel;
}

static bool pids_are_real(const struct validity_container *c, struct judgement *j)
{
    const struct effective *e = &c->result->effective;
    char asked[32], applied[32];
    bool engine = !differ(c->asked.pids, e->pids, 0);
    bool kernel = !(isfinite(c->asked.pids) && differ(c->asked.pids, e->kernel.pids, 0));

    if (!engine || !kernel)
        say(j, FAIL, "'%s' was to have at most %s processes, the %s applied %s", role_of(c),
            number_text(c->asked.pids, asked), engine ? "kernel" : "engine",
            number_text(engine ? e->kernel.pids : e->pids, applied));
    return engine && kernel;
}

static bool cpuset_is_real(const struct validity_container *c, struct judgement *j)
{
    const struct effective *e = &c->result->effective;
    bool engine = !cpusets_differ(c->asked.cpuset, e->cpuset);
    bool kernel = !cpusets_differ(c->asked.cpuset, e->kernel.cpuset);

    if (!engine || !kernel)
        say(j, FAIL, "'%s' was to run on the processors %s, the %s applied %s", role_of(c), c->asked.cpuset,
            engine ? "kernel" : "engine", engine ? e->kernel.cpuset : e->cpuset);
    return engine && kernel;
}

static bool swap_is_real(const struct validity_container *c, struct judgement *j)
{
    const struct effective *e = &c->result->effective;

    if (!isfinite(c->asked.memory_bytes) || !(c->asked.swap_bytes == 0) ||
        !(e->swap_bytes > 0 || (isfinite(e->memory_bytes) && e->kernel.swap_bytes > 0)))
        return true;
    say(j, WARN, "'%s': swap is not off", role_of(c));
    return false;
}

static bool engine_did_not_warn(const struct validity_container *c, struct judgement *j)
{
    if (c->result->effective.warnings)
        say(j, WARN, "'%s': the engine warned: %s", role_of(c), c->result->effective.warnings);
    return !c->result->effective.warnings;
}

/* Then the kernel's killer comes before the JVM's own OutOfMemoryError. */
static bool heap_fits(const struct validity_container *c, struct judgement *j)
{
    const struct container_result *r = c->result;
    double limit = r->effective.memory_bytes, heap = r->jvm.heap_max_bytes;
    double stacks = r->pids_peak > 0 ? r->pids_peak * STACK_BYTES : 0;
    char a[32], b[32];

    if (!r->has_jvm || !(limit > 0) || !isfinite(limit) || !(heap > 0) || heap + stacks <= limit)
        return true;
    if (heap > limit)
        say(j, WARN, "'%s': the JVM's heap may grow to %s, beyond the memory limit of %s", role_of(c),
            size_human(heap, a), size_human(limit, b));
    else
        say(j, WARN,
            "'%s': the JVM's heap (up to %s) and the stacks of %.0f threads (up to 1 MiB each) are more than "
            "the memory limit of %s",
            role_of(c), size_human(heap, a), r->pids_peak, size_human(limit, b));
    return false;
}

void rule_limits_real(const struct validity_facts *f, struct judgement *j)
{
    bool real = true;

    for (size_t i = 0; i < f->container_count; i++) {
        const struct validity_container *c = &f->containers[i];
        bool (*const checks[])(const struct validity_container *, struct judgement *) = {
            memory_is_real, cpus_are_real,       pids_are_real, cpuset_is_real,
            swap_is_real,   engine_did_not_warn, heap_fits,
        };
        for (size_t k = 0; k < sizeof(checks) / sizeof(*checks); k++)
            real = checks[k](c, j) && real;
    }
    if (real && f->container_count)
        say(j, PASS, "engine and kernel apply the limits that were asked for");
}

/* --- V17 --- */

void rule_throttled(const struct validity_facts *f, struct judgement *j)
{
    double window = f->trial->load.window_ms;
    bool known = false, held_back = false;

    for (size_t i = 0; window > 0 && i < f->container_count; i++) {
        const struct container_result *c = f->containers[i].result;
        double share = c->cpu_throttled_ms / window;
        if (!isfinite(c->effective.cpus) || !is_amount(share))
            continue; /* without a quota nothing can be throttled */
        known = true;
        if (share <= THROTTLED_MAX)
            continue;
        held_back = true;
        if (c->cpu_periods > 0 && is_amount(c->cpu_throttled_periods))
            say(j, WARN,
                "'%s' was held back by its quota of %.3g CPUs: %.3g %% of the window, in %.0f of %.0f "
                "periods",
                role_of(&f->containers[i]), c->effective.cpus, 100 * share, c->cpu_throttled_periods,
                c->cpu_periods);
        else
            say(j, WARN, "'%s' was held back by its quota of %.3g CPUs: %.3g %% of the window",
                role_of(&f->containers[i]), c->effective.cpus, 100 * share);
    }
    if (known && !held_back)
        say(j, PASS, "no CPU quota held a container back for more than 1 %% of the window");
}
