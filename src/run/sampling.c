/* SPDX-License-Identifier: MIT */
/* The sampling step: every container's resources, and the application's own numbers, from here on. */
#include "run_internal.h"

#include "benchctl/base/clock.h"

static int sampler_begin(struct trial_run *t, struct error *err)
{
    const struct sample_settings *sample = &t->settings->sample;
    bool local = engine_facts(t->sweep->engine)->local;
    const struct sampler_options o = {
        .period_ns = sample->engine_ns > 0 ? sample->engine_ns
                     : local               ? 100 * NS_PER_MS
                                           : NS_PER_S,
        .host_period_ns = sample->host_ns > 0 ? sample->host_ns : NS_PER_S,
        .csv_fd = t->samples_fd,
        .origin_ns = t->begin_ns,
    };

    return sampler_new(t->sweep->loop, &o, &t->sampler, err);
}

struct stats_target {
    struct trial_run *trial;
    const char *role;
};

static void on_stats(const struct json *stats, void *data)
{
    struct stats_target *target = data;

    sampler_feed(target->trial->sampler, target->role, stats);
}

/* By cgroup files where they can be read, by the engine's stats stream otherwise. */
static int watch_resources(struct trial_run *t, struct unit *u, struct error *err)
{
    struct error e = ERROR_INIT;

    if (engine_facts(t->sweep->engine)->local && u->pid > 0) {
        if (sampler_add(t->sampler, u->role, u->pid, &e) == 0) {
            const struct resource_sample *first = sampler_last(t->sampler, u->role);
            u->cgroup_kills_before = u->reused && first && first->oom_kills > 0 ? first->oom_kills : 0;
            return 0;
        }
        if (e.kind != ERROR_NOT_FOUND) {
            *err = e;
            return -1;
        }
    }
    if (u->ledger.terminal)
        return 0;
    struct stats_target *target = arena_new_of(t->arena, struct stats_target);
    *target = (struct stats_target){.trial = t, .role = u->role};
    return engine_stats_open(t->sweep->engine, u->id, on_stats, target, &u->stats, err);
}

static int start_scraper(struct trial_run *t, struct error *err)
{
    const struct metrics_settings *m = t->settings->app.metrics;
    struct metric_adapter *adapter = NULL;

    if (!m)
        return 0;
    char **dirs = adapter_directories(t->sweep->matrix->dir);
    int rc = m->adapters.len ? metric_adapter_read_all(&m->adapters, dirs, &adapter, err) : 0;
    adapter_directories_free(dirs);
    if (rc < 0)
        return -1;
    t->metric_adapter = adapter;
    const struct scraper_options o = {
        .url = arena_printf(t->arena, "http://%s:%lld%s",
                            t->app->address && t->settings->network == NETWORK_BRIDGE ? t->app->address
                                                                                      : "127.0.0.1",
                            (long long)(m->port > 0 ? m->port : t->app->port), m->path),
        .dir = arena_printf(t->arena, "%s/metrics", t->dir),
        .every_ns = m->every_ns > 0 ? m->every_ns : 2 * NS_PER_S,
        .adapter = adapter,
        .origin_ns = t->begin_ns,
    };
    return scraper_new(t->sweep->http, t->sweep->loop, &o, &t->scraper, err);
}

/* From here on everything of this trial is sampled. */
int step_sampling(struct trial_run *t, struct error *err)
{
    struct sweep_run *s = t->sweep;

    if (sampler_begin(t, err) < 0)
        return -1;
    for (size_t i = 0; i < s->units.len; i++)
        if (trial_has(t, s->units.items[i]) && watch_resources(t, s->units.items[i], err) < 0)
            return error_wrap(err, "sampling '%s'", s->units.items[i]->role);
    jvm_look(t);
    return start_scraper(t, err);
}

void tell_scrapes(struct trial_run *t)
{
    struct scraper_counts c;

    scraper_counts(t->scraper, &c);
    t->record.has_scrapes = true;
    t->record.scrapes = (struct scrape_result){.count = (double)c.scrapes,
                                               .failed = (double)c.failed,
                                               .mean_ms = c.mean_ms,
                                               .p99_ms = c.p99_ms,
                                               .mean_bytes = c.mean_bytes};
}

void copy_kernel_limits(struct trial_run *t, const struct unit *u, struct kernel_limits *ret)
{
    struct effective e;

    if (!t->sampler || !sampler_limits(t->sampler, u->role, &e))
        return;
    *ret = (struct kernel_limits){
        .memory_bytes = e.memory_bytes,
        .swap_bytes = e.swap_bytes,
        .cpus = e.cpus,
        .pids = e.pids,
        .cpuset = arena_strdup(t->arena, e.cpuset),
    };
}

/* CPU time of a generator that is a process of this machine and no container; NAN: unknown. */
static double generator_cpu_ms(const struct trial_run *t)
{
    if (t->settings->load.image || !t->adapter || !load_adapter_program(t->adapter->adapter))
        return 0; /* its container is sampled as any other, or it runs nothing */
    return t->record.has_load ? t->record.load.cpu_ms : NAN;
}

/* The witness of restarts beside the engine: what counts from its process' beginning began again. */
static void cross_check_counters(struct trial_run *t)
{
    struct scraper_counts c;

    if (!t->scraper)
        return;
    scraper_counts(t->scraper, &c);
    if (c.resets && t->record.app.restarts == 0)
        trial_finding(
            t,
            &(struct trial_happening){.id = "counters-restarted", .role = "app", .count = (double)c.resets},
            "the application's own counters began again %zu times although its container was not "
            "restarted: a process within it was replaced",
            c.resets);
}

void tell_host(struct trial_run *t)
{
    struct host_result *h = &t->record.host;
    bool local = engine_facts(t->sweep->engine)->local;

    cross_check_counters(t);
    if (t->sampler) {
        sampler_host(t->sampler, h);
        h->foreign_cpu_cores = sampler_foreign_cores(t->sampler, local, generator_cpu_ms(t));
    }
    if (isnan(h->load1))
        h->load1 = host_load1();
}

void undo_sampling(struct trial_run *t)
{
    vec_each (u, &t->sweep->units) {
        engine_stream_close((*u)->stats);
        (*u)->stats = NULL;
    }
}
