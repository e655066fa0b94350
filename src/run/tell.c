/* SPDX-License-Identifier: MIT */
/* Each container's story for the record: what it was given, what it used, how it lived and ended. */
#include "run_internal.h"

#include <math.h>
#include <signal.h>
#include "benchctl/base/clock.h"

static int64_t wall_of(const struct trial_run *t, int64_t mono_ns)
{
    return mono_ns + t->wall_minus_mono_ns;
}

/* Zero of the record's times: the load's begin, without a load that of the trial. */
static int64_t origin_of(const struct trial_run *t)
{
    return wall_of(t, t->load_begin_ns ? t->load_begin_ns : t->begin_ns);
}

static double ms_between(int64_t from_ns, int64_t to_ns)
{
    return (double)(to_ns - from_ns) / (double)NS_PER_MS;
}

/* Of a container that outlives trials: did this end belong to an earlier one? */
static bool is_of_the_past(const struct trial_run *t, const struct unit *u, int64_t end_wall_ns)
{
    return u != t->app && end_wall_ns < wall_of(t, t->begin_ns);
}

/* --- ends --- */

/* What the cgroups' counter said at the death before this one. */
static double kills_before(const struct unit *u, size_t note)
{
    return note > 0 && !isnan(u->notes.items[note - 1].kernel_kills) ? u->notes.items[note - 1].kernel_kills
                                                                     : u->cgroup_kills_before;
}

static struct death_facts facts_of(const struct unit *u, size_t exit, double host_kills)
{
    const struct ledger *l = &u->ledger;
    const struct death_note *note = unit_death_note(u, exit);
    struct death_facts f = {
        .memory_pct = NAN,
        .kernel_kills = NAN,
        .host_kills = host_kills,
        .heap_line =
            unit_heap_line(u, exit ? l->exits.items[exit - 1].wall_ns : 0, l->exits.items[exit].wall_ns),
        .start_line = u->start_line,
    };

    if (note) {
        f.memory_pct = note->memory_pct;
        f.kernel_kills = note->kernel_kills - kills_before(u, (size_t)(note - u->notes.items));
    }
    return f;
}

static void tell_exits(struct trial_run *t, const struct unit *u, double host_kills,
                       struct container_result *c)
{
    const struct ledger *l = &u->ledger;
    double untold = kernel_log_kills(t, u->id) - (ledger_oom_kills(l, NAN) - u->oom_kills_before);

    c->exits = arena_array(t->arena, struct container_exit, l->exits.len + 1);
    for (size_t i = 0; i < l->exits.len; i++) {
        const struct ledger_exit *e = &l->exits.items[i];
        struct death_facts f = facts_of(u, i, host_kills);
        if (is_of_the_past(t, u, e->wall_ns))
            continue;
        /* under the smallest limits it may die before anybody listens: the kernel's log has it */
        f.in_kernel_log =
            untold > 0 && e->code == 128 + SIGKILL && !e->oom && !e->by_us && !e->foreign_signal;
        untold -= f.in_kernel_log;
        struct container_exit *x = &c->exits[c->exit_count++];
        *x = (struct container_exit){.at_ms = ms_between(origin_of(t), e->wall_ns)};
        death_explain(l, i, &f, t->arena, x);
    }
}

/* It never ran, and yet has a code and words. */
static void tell_failed_start(struct trial_run *t, const struct unit *u, struct container_result *c)
{
    const struct ledger *l = &u->ledger;
    bool application;
    const char *class = start_failure_class(l->last_code, l->state_error, &application);

    if (!class || l->starts.len)
        return;
    c->exits[c->exit_count++] = (struct container_exit){
        .at_ms = ms_between(origin_of(t), wall_of(t, u->create_ns)),
        .code = l->last_code,
        .cause = strcmp(class, "no such program") == 0      ? "command not found"
                 : strcmp(class, "cannot be executed") == 0 ? class
                                                            : "start failed",
        .evidence = arena_printf(t->arena, "never started, exit code %d; the engine said '%s'", l->last_code,
                                 l->state_error),
    };
}

/* --- lives --- */

static void tell_lives(struct trial_run *t, const struct unit *u, struct container_result *c)
{
    struct container_life *lives;
    size_t n, past = 0;

    ledger_lives(&u->ledger, origin_of(t), t->arena, &lives, &n);
    while (past < u->ledger.exits.len && is_of_the_past(t, u, u->ledger.exits.items[past].wall_ns))
        past++;
    c->lives = lives + past;
    c->life_count = n - past;
}

/* From its first start to its first death that is not ours. */
static double time_to_failure_ms(const struct trial_run *t, const struct unit *u)
{
    const struct ledger *l = &u->ledger;
    size_t past = 0;

    while (past < l->exits.len && is_of_the_past(t, u, l->exits.items[past].wall_ns))
        past++;
    for (size_t i = past; i < l->exits.len; i++)
        if (!l->exits.items[i].by_us)
            return ms_between(l->starts.items[past].wall_ns, l->exits.items[i].wall_ns);
    return NAN;
}

/* Of the window: not running, or not ready again. A life that was never ready served nobody; where nobody
 * looks for readiness it is enough that it runs. */
static double down_ms(const struct trial_run *t, const struct container_result *c)
{
    double window_ms = ms_between(t->load_begin_ns, t->load_end_ns ? t->load_end_ns : clock_now_ns());
    double up_ms = 0;
    bool ready_is_known = false;

    for (size_t i = 0; i < c->life_count; i++)
        ready_is_known |= !isnan(c->lives[i].ready_ms);
    for (size_t i = 0; i < c->life_count; i++) {
        double from = ready_is_known ? c->lives[i].ready_ms : c->lives[i].start_ms, to = c->lives[i].end_ms;
        if (isnan(from))
            continue;
        from = from < 0 ? 0 : from;
        to = isnan(to) || to > window_ms ? window_ms : to;
        up_ms += to > from ? to - from : 0;
    }
    return window_ms > up_ms ? window_ms - up_ms : 0;
}

/* --- witnesses --- */

static void tell_witnesses(const struct unit *u, double kernel, struct container_result *c)
{
    const struct ledger *l = &u->ledger;

    c->witnesses = (struct witnesses){
        .start_events = l->start_events,
        .die_events = l->die_events,
        .oom_events = l->oom_events,
        .restart_count = (double)l->restart_count,
        .distinct_starts = l->distinct_starts,
        .oom_flag = l->oom_flag,
        .kernel_oom_kills = kernel,
    };
}

/* An OOM kill that was no death: which process it was only the kernel's log knows. */
static void find_child_kills(struct trial_run *t, const struct unit *u, const struct container_result *c)
{
    const struct oom_line *kill = kernel_log_kill(t, u->id);
    double kills = c->oom_kills;
    int64_t at_wall_ns = 0;

    for (size_t i = 0; i < c->exit_count; i++)
        kills -= c->exits[i].oom;
    if (!(kills > 0))
        return;
    vec_each (f, &u->ledger.facts)
        if (f->kind == FACT_OOM && !at_wall_ns && !is_of_the_past(t, u, f->wall_ns))
            at_wall_ns = f->wall_ns;
    const struct trial_happening h = {
        .id = "oom-child",
        .role = c->role,
        .at_ns = at_wall_ns ? at_wall_ns - t->wall_minus_mono_ns : 0,
        .count = kills,
    };
    const char *who = kill && c->oom_kills <= kills ? arena_printf(t->arena, "process '%s' (pid %lld)",
                                                                   kill->process, (long long)kill->pid)
                                                    : "a child process";
    trial_finding(
        t, &h,
        "for want of memory the kernel killed %s of '%s'%s, not its main process; %d oom event%s, "
        "OOMKilled %s, oom_kill of the cgroup %s",
        who, c->role, kills > 1 ? arena_printf(t->arena, ", %.0f kills in all", kills) : "",
        u->ledger.oom_events, u->ledger.oom_events == 1 ? "" : "s", u->ledger.oom_flag ? "true" : "not seen",
        isnan(c->witnesses.kernel_oom_kills) ? "not readable"
                                             : arena_printf(t->arena, "%.0f", c->witnesses.kernel_oom_kills));
}

/* --- one container --- */

static void copy_effective(struct trial_run *t, const struct unit *u, struct effective *ret)
{
    *ret = u->effective;
    ret->cpuset = arena_strdup(t->arena, u->effective.cpuset);
    ret->image_id = arena_strdup(t->arena, u->effective.image_id);
    ret->warnings = arena_strdup(t->arena, u->effective.warnings);
}

/* The kernel's own counter of this trial; NAN unknown. */
static double kernel_kills(const struct trial_run *t, const struct unit *u)
{
    return t->sampler ? sampler_oom_kills(t->sampler, u->role) - u->cgroup_kills_before : NAN;
}

/* As a witness: a counter that knows less than the others prove went with its cgroup before it was read. */
static double kernel_witness(const struct trial_run *t, const struct unit *u, double proven)
{
    double kernel = kernel_kills(t, u);

    return kernel < proven ? (double)NAN : kernel;
}

static double own_kills(const struct trial_run *t, const struct unit *u)
{
    double kills = ledger_oom_kills(&u->ledger, NAN) - u->oom_kills_before, kernel = kernel_kills(t, u);

    double logged = kernel_log_kills(t, u->id);

    kills = logged > kills ? logged : kills;
    return kernel > kills ? kernel : kills;
}

/* A container that died by its limit has used it up, also where its cgroup was gone before the kernel's mark
 * could be read once more. */
static void tell_peak_of_kill(const struct trial_run *t, double host_kills, struct container_result *c)
{
    double limit = c->memory_bytes.limit;

    if (!t->load_begin_ns || host_kills > 0 || !isfinite(limit) || c->memory_bytes.peak >= limit)
        return;
    for (size_t i = 0; i < c->exit_count; i++) {
        if (!c->exits[i].oom || !(c->exits[i].at_ms >= 0))
            continue;
        c->memory_bytes.peak = limit;
        c->memory_bytes.peak_source = "limit";
    }
}

static void tell_container(struct trial_run *t, struct unit *u, double host_kills, struct container_result *c)
{
    container_result_init(c, arena_strdup(t->arena, u->role));
    if (t->sampler && sampler_result(t->sampler, u->role, c) == 0)
        c->role = arena_strdup(t->arena, u->role);
    copy_effective(t, u, &c->effective);
    copy_kernel_limits(t, u, &c->effective.kernel);
    c->memory_bytes.limit = u->effective.memory_bytes;
    c->restarts = ledger_restarts(&u->ledger, NULL) - u->restarts_before;
    c->oom_kills = own_kills(t, u);
    tell_lives(t, u, c);
    if (t->load_begin_ns) {
        c->uptime_pct = ledger_uptime_pct(&u->ledger, wall_of(t, t->load_begin_ns),
                                          wall_of(t, t->load_end_ns ? t->load_end_ns : clock_now_ns()));
        c->down_ms = down_ms(t, c);
    }
    tell_exits(t, u, host_kills, c);
    tell_peak_of_kill(t, host_kills, c);
    tell_failed_start(t, u, c);
    c->time_to_failure_ms = time_to_failure_ms(t, u);
    tell_witnesses(u, kernel_witness(t, u, c->oom_kills), c);
    find_child_kills(t, u, c);
    c->address = arena_strdup(t->arena, u->address);
    c->container_id = arena_strdup(t->arena, u->id);
    if (u->address_lost && !t->interference)
        t->interference = arena_printf(t->arena, "somebody else took '%s' off the sweep's network", u->role);
}

/* The machine ran out of memory, not a container: whatever was measured meanwhile is void. */
static double judge_host_memory(struct trial_run *t)
{
    double own = 0;

    kernel_log_read(t);
    vec_each (u, &t->sweep->units)
        if (trial_has(t, *u))
            own += own_kills(t, *u);
    double kills = kills_of_host(t, own);
    if (kills > 0) {
        t->host_oom =
            arena_printf(t->arena,
                         "host out of memory: the kernel killed %.0f process%s, none of them by the "
                         "limit of a container of this trial",
                         kills, kills == 1 ? "" : "es");
        trial_finding(t, &(struct trial_happening){.id = "host-oom", .role = "host", .count = kills}, "%s",
                      t->host_oom);
    }
    return kills;
}

void tell_everybody(struct trial_run *t)
{
    struct sweep_run *s = t->sweep;
    struct trial *r = &t->record;
    double host_kills = judge_host_memory(t);

    trial_judge_gap(t);
    r->services = arena_array(t->arena, struct container_result, s->units.len + 1);
    vec_each (p, &s->units) {
        struct unit *u = *p;
        if (!trial_has(t, u))
            continue;
        struct container_result *c = u == t->app ? &r->app : &r->services[r->service_count++];
        tell_container(t, u, host_kills, c);
    }
}

void tell_first_silence(struct trial_run *t)
{
    struct container_result *a = &t->record.app;

    if (!t->app || !a->life_count || !a->silence_count)
        return;
    double after_ms = a->silences[0].from_ms - a->lives[0].start_ms;
    if (isnan(a->time_to_failure_ms) || after_ms < a->time_to_failure_ms)
        a->time_to_failure_ms = after_ms;
}
