/* SPDX-License-Identifier: MIT */
/* From the generator's output to the record: its figures, and what speaks against them. */
#include <ctype.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"
#include "benchctl/histogram.h"
#include "generation.h"
#include "validity_load.h"

#define HISTOGRAM_FILE "histogram.hlog"

/* --- what speaks against them --- */

/* What the generator could use: of our own, no more than a core for each of its processes. */
static double cores_for(const struct trial_run *t)
{
    const struct load_settings *l = &t->settings->load;
    double cores = l->cpuset ? (double)process_cpuset_size(l->cpuset) : (double)sysconf(_SC_NPROCESSORS_ONLN);
    double processes = l->workload && l->workload->processes > 0 ? (double)l->workload->processes : INFINITY;

    return fmin(cores, processes);
}

struct merging {
    struct histogram *all;
};

static int merge_interval(const struct histogram_interval *i, const struct histogram *h, void *data,
                          struct error *err)
{
    struct merging *m = data;

    (void)err;
    if (!i->tag || !text_ends(i->tag, "!service")) /* that is another quantity */
        histogram_merge(m->all, h);
    return 0;
}

/* Of a closed load whose clients send again as soon as they have an answer and have thought: p99 had they
 * not waited while the server stalled. */
static double corrected_p99_ms(const struct generation *g)
{
    const struct load_settings *l = &g->trial->settings->load;
    const struct load_result *r = &g->trial->record.load;
    CLEANUP_FREE char *path = path_join(g->dir, HISTOGRAM_FILE);
    CLEANUP(histogram_free) struct histogram *measured = histogram_new(), *corrected = histogram_new();
    struct merging m = {.all = measured};
    struct error ignored = ERROR_INIT;
    double think_ms = l->workload ? (double)(l->workload->think.min_ns + l->workload->think.max_ns) / 2e6 : 0;

    if (!text_equal(r->model, "closed") || !fs_exists(path) ||
        histogram_log_read(path, 1, merge_interval, &m, &ignored) < 0)
        return NAN;
    double cycle_ms = histogram_quantile_ms(measured, 0.5) + think_ms;
    if (!(cycle_ms > 0))
        return NAN;
    histogram_add_corrected(corrected, measured, (int64_t)(cycle_ms * 1e3 + 0.5));
    return histogram_quantile_ms(corrected, 0.99);
}

static bool said_already(const struct trial_run *t, const char *id)
{
    for (size_t i = 0; i < t->validity.len; i++)
        if (strcmp(t->validity.items[i].id, id) == 0)
            return true;
    return false;
}

static void judge(const struct generation *g, const struct load_problems *problems)
{
    struct trial_run *t = g->trial;
    struct load_ruling rulings[LOAD_RULES_MAX];

    for (size_t i = 0; i < problems->invalid_len; i++)
        trial_validity(t, problems->invalid[i].id ? problems->invalid[i].id : "load-plausible", "FAIL", "%s",
                       problems->invalid[i].sentence);
    const struct load_facts f = {
        .load = &t->record.load,
        .cores = cores_for(t),
        .corrected_p99_ms = corrected_p99_ms(g),
    };
    size_t n = load_rules_apply(&f, rulings);
    for (size_t i = 0; i < n; i++)
        if (!said_already(t, rulings[i].id))
            trial_validity(t, rulings[i].id, rulings[i].verdict, "%s", rulings[i].text);
}

/* --- the figures --- */

static double cpu_ms_of(const struct generation *g)
{
    struct trial_run *t = g->trial;
    struct container_result c;

    if (!t->settings->load.image || !t->sampler)
        return g->cpu_ms > 0 ? g->cpu_ms : NAN;
    container_result_init(&c, "load");
    return sampler_result(t->sampler, "load", &c) == 0 ? c.cpu_cores.total_ms : (double)NAN;
}

static int failed(struct trial_run *t, struct error *err)
{
    t->load_failed = true;
    return error_wrap(err, "load generator '%s'", t->adapter->name);
}

int generation_results(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    struct load_problems problems = {0};
    struct load_result *r = &t->record.load;
    struct error unfinished = ERROR_INIT;

    load_result_init(r);
    int finished = generation_finish(g, &unfinished);
    if (finished < 0)
        generation_hide_secrets(g); /* it may have ended before its second call did */
    if (finished < 0 && unfinished.kind != ERROR_TRIAL) {
        *err = unfinished;
        return -1;
    }
    int rc = load_adapter_collect(t->adapter->adapter, g->dir, &g->outcome, t->arena, r, &problems, err);
    for (size_t i = 0; i < problems.len; i++)
        trial_note(t, "%s", problems.items[i]);
    if (unfinished.kind != ERROR_NONE && (rc == 0 || g->outcome.wait_status == 0)) {
        *err = unfinished; /* without it whatever was read is of something else */
        return failed(t, err);
    }
    if (rc < 0)
        return failed(t, err);
    t->record.has_load = true;
    r->window_ms = g->outcome.window_ms;
    if (isnan(r->cpu_ms))
        r->cpu_ms = cpu_ms_of(g);
    if (!r->version)
        r->version = arena_strdup(t->arena, t->adapter->version);
    judge(g, &problems);
    return 0;
}
