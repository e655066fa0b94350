/* SPDX-License-Identifier: MIT */
/* What the rules over a trial need to know and its record does not hold; their verdicts for the record. */
#include "run_internal.h"

#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"
#include "benchctl/validity.h"

/* --- the load --- */

static double machine_cores(void)
{
    return (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static double cores_of(const char *cpuset)
{
    return cpuset ? (double)process_cpuset_size(cpuset) : machine_cores();
}

/* What the generator could use: of our own, no more than a core for each of its processes. */
static double generator_cores(const struct trial_run *t)
{
    const struct load_settings *l = &t->settings->load;
    double processes = l->workload && l->workload->processes > 0 ? (double)l->workload->processes : INFINITY;

    return fmin(cores_of(l->cpuset), processes);
}

static void count_phase(bool ramps, struct validity_facts *f)
{
    if (ramps)
        f->ramping_phases++;
    else
        f->constant_phases++;
}

/* "30s:50": the number of users goes there in this time; a stage that stays where it is is constant. */
static void count_stages(const struct node *stages, struct validity_facts *f)
{
    double before = NAN, target;

    for (size_t i = 0; stages && stages->kind == NODE_LIST && i < stages->len; i++) {
        const char *colon =
            stages->items[i]->kind == NODE_SCALAR ? strchr(stages->items[i]->text, ':') : NULL;
        if (!colon || number_scan(colon + 1, strlen(colon + 1), &target) == 0)
            continue;
        count_phase(!(target == before), f);
        before = target;
    }
}

static void tell_phases(const struct trial_run *t, struct validity_facts *f)
{
    const struct load_settings *l = &t->settings->load;
    const struct workload_phase *phases = l->workload ? l->workload->phases.items : NULL;

    for (size_t i = 0; phases && i < l->workload->phases.len; i++)
        if (!phases[i].warmup)
            count_phase(phases[i].executor == EXECUTOR_RAMPING_VUS ||
                            phases[i].executor == EXECUTOR_RAMPING_ARRIVAL_RATE,
                        f);
    if (!phases && l->options)
        count_stages(node_get(l->options, "stages"), f);
}

/* --- containers --- */

static double asked_size(int64_t bytes)
{
    return bytes == SCHEMA_ABSENT ? NAN : bytes == SIZE_UNLIMITED ? INFINITY : (double)bytes;
}

static struct container_result *result_of(struct trial_run *t, const struct unit *u)
{
    struct trial *r = &t->record;

    if (u == t->app)
        return &r->app;
    for (size_t i = 0; i < r->service_count; i++)
        if (text_equal(r->services[i].role, u->role))
            return &r->services[i];
    return NULL;
}

static void tell_container(struct trial_run *t, const struct unit *u, struct validity_container *ret)
{
    const struct container_settings *c = u->settings;
    struct container_result *r = result_of(t, u);

    r->effective.kernel = (struct kernel_limits){NAN, NAN, NAN, NAN, NULL};
    copy_kernel_limits(t, u, &r->effective.kernel);
    *ret = (struct validity_container){
        .result = r,
        .asked = {.memory_bytes = asked_size(c->memory_bytes),
                  .swap_bytes = asked_size(c->swap_bytes),
                  .cpus = c->cpus,
                  .pids = asked_size(c->pids),
                  .cpuset = c->cpuset},
        .address_changed = u->address_changed,
    };
    (void)ledger_restarts(&u->ledger, &ret->restarts_uncertain);
}

/* Quota, cpuset, machine: whichever is the least. */
static double could_use(const struct container_result *c)
{
    double cores = cores_of(c->effective.cpuset);

    return c->effective.cpus > 0 && c->effective.cpus < cores ? c->effective.cpus : cores;
}

/* The engine has told what it applied; before that there is nothing to judge. */
static bool is_known(const struct unit *u)
{
    return u && u->effective.image_id;
}

static void tell_containers(struct trial_run *t, struct validity_facts *f)
{
    struct sweep_run *s = t->sweep;
    struct validity_container *all = arena_array(t->arena, struct validity_container, s->units.len + 2);

    if (is_known(t->app))
        tell_container(t, t->app, &all[f->container_count++]);
    vec_each (p, &s->units)
        if (*p != t->app && trial_has(t, *p) && is_known(*p) && result_of(t, *p))
            tell_container(t, *p, &all[f->container_count++]);
    f->containers = all;
    if (is_known(t->app))
        f->app_cores = could_use(&t->record.app);
    for (size_t i = 0; i < f->container_count; i++)
        if (text_equal(all[i].result->role, "database"))
            f->database_cores = could_use(all[i].result);
}

/* --- the rest --- */

static double pool_pending(const struct trial *r)
{
    for (size_t i = 0; i < r->metric_count; i++)
        if (text_equal(r->metrics[i].name, "pool_pending_max"))
            return r->metrics[i].max;
    return NAN;
}

void clocks_at_window(struct trial_run *t, bool begin)
{
    int64_t suspended_ns = clock_boottime_ns() - clock_now_ns();

    control_window(t, begin);
    if (begin)
        t->suspended_at_load_ns = suspended_ns;
    else
        t->suspended_in_load_ns = suspended_ns - t->suspended_at_load_ns;
}

static void tell_clocks(const struct trial_run *t, struct validity_facts *f)
{
    int64_t step = clock_wall_ns() - clock_now_ns() - t->wall_minus_mono_ns;
    int64_t suspended = clock_boottime_ns() - clock_now_ns() - t->suspended_before_ns;

    f->clock_step_s = (double)step / 1e9;
    f->suspended_s = (double)suspended / 1e9;
    f->suspended_in_window_s = (double)t->suspended_in_load_ns / 1e9;
}

static void tell_said(const struct trial_run *t, struct validity_facts *f)
{
    struct validity_said *said = arena_array(t->arena, struct validity_said, t->validity.len + 1);

    for (size_t i = 0; i < t->validity.len; i++)
        said[i] = (struct validity_said){.id = t->validity.items[i].id,
                                         .verdict = t->validity.items[i].verdict,
                                         .message = t->validity.items[i].message};
    f->said = said;
    f->said_count = t->validity.len;
}

/* Before the outcome is decided; whatever has become of the trial. */
void trial_judge(struct trial_run *t)
{
    struct trial *r = &t->record;
    struct validity_facts f;

    validity_facts_init(&f, r);
    control_judge(t);
    tell_said(t, &f);
    tell_containers(t, &f);
    tell_phases(t, &f);
    tell_clocks(t, &f);
    f.generator_cores = generator_cores(t);
    f.host_cores = machine_cores();
    f.local = engine_facts(t->sweep->engine)->local;
    f.pool_pending = pool_pending(r);
    f.metrics_known = t->metric_adapter ? (double)metric_adapter_count(t->metric_adapter) : NAN;
    f.commits_per_request = t->settings->database ? t->settings->database->commits_per_request : NAN;
    f.load1_before = t->load1_before;
    f.load1_allowed = t->sweep->matrix->host.max_load;
    validity_judge_trial(&f, t->arena, &r->validity, &r->validity_count);
}
