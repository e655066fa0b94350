/* SPDX-License-Identifier: MIT */
/* What speaks against a trial's numbers: rules about its containers, the host and the clocks. */
#include "benchctl/base/clock.h"
#include "run_internal.h"

#define FOREIGN_CORES                                                                                        \
    0.25 /* used by nobody of this sweep: more than the engine's daemons and the kernel's own work */
#define BUSY_SHARE 0.95
#define CLOCK_TOLERANCE_NS (100 * NS_PER_MS)

/* --- a container --- */

typedef void unit_rule(struct trial_run *t, const struct unit *u, const struct container_result *c);

static void restarts_agree(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    bool uncertain = false;

    (void)ledger_restarts(&u->ledger, &uncertain);
    if (uncertain)
        trial_validity(
            t, "restarts-agree", "WARN",
            "'%s': engine events and inspect disagree about the restarts; the larger number (%.0f) is shown",
            u->role, c->restarts);
}

static void address_kept(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    (void)c;
    if (u->address_changed)
        trial_validity(
            t, "address-kept", "FAIL",
            "'%s' came back with another address after a restart: the generator could not reach it", u->role);
}

static void engine_did_not_warn(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    (void)c;
    if (u->effective.warnings)
        trial_validity(t, "limits-real", "WARN", "'%s': the engine warned: %s", u->role,
                       u->effective.warnings);
}

/* What was asked for, what the engine says it applied, what the kernel has. */
static void limits_real(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    int64_t wanted = u->settings->memory_bytes;
    char asked[32], applied[32];
    struct effective kernel;

    (void)c;
    if (wanted <= 0)
        return;
    if (u->effective.memory_bytes != (double)wanted)
        trial_validity(t, "limits-real", "FAIL", "'%s' was to have %s of memory, the engine applied %s",
                       u->role, size_format(wanted, asked), size_human(u->effective.memory_bytes, applied));
    if (t->sampler && sampler_limits(t->sampler, u->role, &kernel) && isfinite(kernel.memory_bytes) &&
        kernel.memory_bytes != u->effective.memory_bytes)
        trial_validity(t, "limits-real", "FAIL", "'%s': the engine says %s of memory, the kernel applies %s",
                       u->role, size_human(u->effective.memory_bytes, asked),
                       size_human(kernel.memory_bytes, applied));
    if (u->settings->swap_bytes <= 0 && u->effective.swap_bytes > 0)
        trial_validity(t, "limits-real", "WARN", "'%s': swap is not off", u->role);
}

void validity_of_unit(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    static unit_rule *const rules[] = {restarts_agree, address_kept, engine_did_not_warn, limits_real};

    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        rules[i](t, u, c);
}

/* --- the host --- */

static double own_cores(const struct trial_run *t)
{
    const struct trial *r = &t->record;
    double window_ms = (double)(t->load_end_ns - t->load_begin_ns) / (double)NS_PER_MS, sum = 0;

    if (!isnan(r->app.cpu_cores.avg))
        sum += r->app.cpu_cores.avg;
    for (size_t i = 0; i < r->service_count; i++)
        if (!isnan(r->services[i].cpu_cores.avg))
            sum += r->services[i].cpu_cores.avg;
    if (!isnan(r->load.cpu_ms) && window_ms > 0)
        sum += r->load.cpu_ms / window_ms;
    if (!isnan(r->host.benchctl_cpu_cores))
        sum += r->host.benchctl_cpu_cores;
    return sum;
}

/* Was the machine this sweep's own, and did it have anything left to give? */
void validity_of_host(struct trial_run *t)
{
    const struct host_result *h = &t->record.host;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (isnan(h->cpu_busy) || t->load_end_ns <= t->load_begin_ns || !engine_facts(t->sweep->engine)->local)
        return;
    double foreign = h->cpu_busy - own_cores(t);
    if (foreign > FOREIGN_CORES)
        trial_validity(t, "host-quiet", "WARN",
                       "others than this sweep used about %.1f cores during the load", foreign);
    if (h->cpu_busy > BUSY_SHARE * (double)cpus)
        trial_validity(
            t, "host-saturated", "WARN",
            "all %ld processors were busy during the load: app, database and generator took from each other",
            cpus);
}

/* --- the clocks --- */

/* The wall clock must have gone as fast as the monotonic one, and the machine must not have slept. */
void validity_of_clocks(struct trial_run *t)
{
    int64_t drift = clock_wall_ns() - clock_now_ns() - t->wall_minus_mono_ns;
    int64_t suspended = clock_boottime_ns() - clock_now_ns() - t->suspended_before_ns;

    if (suspended > CLOCK_TOLERANCE_NS)
        trial_validity(t, "clock", "FAIL", "the machine was suspended for %.1f s during the trial",
                       (double)suspended / 1e9);
    else if (llabs(drift) > CLOCK_TOLERANCE_NS)
        trial_validity(t, "clock", "WARN", "the wall clock was stepped by %.1f s during the trial",
                       (double)drift / 1e9);
}
