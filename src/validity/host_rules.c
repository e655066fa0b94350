/* SPDX-License-Identifier: MIT */
/* Was the machine this sweep's own, had it anything left to give, and did its clocks go on? */
#include "trial_rules.h"
#include "thresholds.h"

#include "benchctl/base/strbuf.h"
#include "benchctl/base/units.h"

#define BUSY_SHARE 0.95
#define PRESSURE_PCT 20.0 /* a load that is worth measuring makes its own threads wait now and then */
#define STEAL_PCT 1.0
#define CLOCK_TOLERANCE_S 0.1

/* Of the whole trial's containers, generator and this program. */
static double own_cores(const struct validity_facts *f)
{
    const struct trial *t = f->trial;
    double sum = 0, generator = t->load.cpu_ms / t->load.window_ms;

    if (!isnan(t->app.cpu_cores.avg))
        sum += t->app.cpu_cores.avg;
    for (size_t i = 0; i < t->service_count; i++)
        if (!isnan(t->services[i].cpu_cores.avg))
            sum += t->services[i].cpu_cores.avg;
    if (is_amount(generator))
        sum += generator;
    if (!isnan(t->host.benchctl_cpu_cores))
        sum += t->host.benchctl_cpu_cores;
    return sum;
}

void rule_host_quiet(const struct validity_facts *f, struct judgement *j)
{
    const struct host_result *h = &f->trial->host;
    bool loaded = f->load1_before > f->load1_allowed;
    double foreign = isnan(h->foreign_cpu_cores) ? h->cpu_busy - own_cores(f) : h->foreign_cpu_cores;
    bool known = f->local && isfinite(foreign);

    if (loaded)
        say(j, WARN, "load average was %.2f at the start, allowed %.2f", f->load1_before, f->load1_allowed);
    if (known && foreign > FOREIGN_CORES)
        say(j, WARN, "others than this sweep used about %.1f cores during the load", foreign);
    else if (known && !loaded)
        say(j, PASS, "others than this sweep used about %.2f cores during the load", fmax(0, foreign));
}

static bool is_saturated(const struct validity_facts *f)
{
    return f->trial->host.cpu_busy > BUSY_SHARE * f->host_cores;
}

void rule_host_saturated(const struct validity_facts *f, struct judgement *j)
{
    double busy = f->trial->host.cpu_busy, cores = f->host_cores;

    if (!f->local || !is_amount(busy) || !(cores > 0))
        return;
    if (is_saturated(f))
        say(j, WARN,
            "all %.0f processors were busy during the load: app, database and generator took from each other",
            cores);
    else
        say(j, PASS, "%.2f of %.0f processors were busy during the load", busy, cores);
}

void rule_cpu_pressure(const struct validity_facts *f, struct judgement *j)
{
    double some = f->trial->host.psi_cpu_some;

    if (!f->local || !is_amount(some))
        return;
    if (is_saturated(f)) /* host-saturated says it */
        say(j, PASS, "for %.3g %% of the time some task waited for a processor, and all of them were busy",
            some);
    else
        say(j, some > PRESSURE_PCT ? WARN : PASS, "for %.3g %% of the time some task waited for a processor",
            some);
}

void rule_steal(const struct validity_facts *f, struct judgement *j)
{
    double steal = f->trial->host.steal_pct;

    if (f->local && is_amount(steal))
        say(j, steal > STEAL_PCT ? WARN : PASS, "the hypervisor took %.2g %% of the CPU time", steal);
}

void rule_swapped(const struct validity_facts *f, struct judgement *j)
{
    double pages = f->trial->host.swapped_pages;
    bool known = f->local && is_amount(pages), swapped = known && pages > 0;
    char size[32];

    if (swapped)
        say(j, WARN, "the host swapped %.0f pages during the load", pages);
    for (size_t i = 0; i < f->container_count; i++) {
        const struct container_result *c = f->containers[i].result;
        if (!is_amount(c->memory_bytes.swap_peak))
            continue;
        known = true;
        if (!(c->memory_bytes.swap_peak > 0))
            continue;
        swapped = true;
        say(j, WARN, "%s of '%s' were in swap", size_human(c->memory_bytes.swap_peak, size),
            c->role ? c->role : "?");
    }
    if (known && !swapped)
        say(j, PASS, "nothing was swapped");
}

void rule_thermal(const struct validity_facts *f, struct judgement *j)
{
    double events = f->trial->host.throttled;

    if (!f->local || !is_amount(events))
        return;
    if (events > 0)
        say(j, WARN, "processors were slowed down by heat %.0f time%s during the load", events, s_of(events));
    else
        say(j, PASS, "no processor was slowed down by heat");
}

void rule_kernel_messages(const struct validity_facts *f, struct judgement *j)
{
    double lines = f->trial->host.kernel_messages;

    if (!f->local || !is_amount(lines))
        return;
    if (lines > 0)
        say(j, WARN,
            "the kernel's log got %.0f line%s about memory, machine checks, throttling or hung tasks", lines,
            s_of(lines));
    else
        say(j, PASS, "the kernel had nothing to say");
}

/* Durations are taken from the monotonic clock and stay right; wall clock stamps are labels. While a machine
 * sleeps it measures nothing. */
void rule_clock(const struct validity_facts *f, struct judgement *j)
{
    bool inside = f->suspended_in_window_s > CLOCK_TOLERANCE_S;
    bool outside = !inside && f->suspended_s > CLOCK_TOLERANCE_S;
    bool stepped = fabs(f->clock_step_s) > CLOCK_TOLERANCE_S;

    if (inside)
        say(j, FAIL, "the machine was suspended for %.1f s during the measured window",
            f->suspended_in_window_s);
    if (outside)
        say(j, WARN, "the machine was suspended for %.1f s during the trial, outside of the measured window",
            f->suspended_s);
    if (stepped && !inside && !outside) /* what slept is behind: its step is no news */
        say(j, WARN, "the wall clock was stepped by %.1f s during the trial", f->clock_step_s);
    if (!inside && !outside && !stepped && isfinite(f->clock_step_s))
        say(j, PASS, "wall clock and monotonic clock went on together");
}
