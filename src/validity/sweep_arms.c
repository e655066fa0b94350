/* SPDX-License-Identifier: MIT */
/* Scenarios as what their trials' records say of them together, and which of them were loaded alike. */
#include "sweep_internal.h"

#include <math.h>
#include "benchctl/base/name_index.h"
#include "benchctl/base/process.h"

static double median_trials(const struct arm *a, double (*value)(const struct trial *t))
{
    CLEANUP_FREE double *values = xmalloc((a->n + 1) * sizeof(*values));

    for (size_t i = 0; i < a->n; i++)
        values[i] = value(a->counted[i]);
    return stats_quantile(values, a->n, 0.5);
}

double median_of(struct sweep_judge *j, const struct group *g, double (*value)(const struct arm *a))
{
    double *values = arena_array(j->arena, double, g->len + 1);

    for (size_t i = 0; i < g->len; i++)
        values[i] = value(g->arms[i]);
    return stats_quantile(values, g->len, 0.5);
}

/* --- one trial --- */

static double window_ms(const struct trial *t)
{
    double by_result = t->load.ok / t->load.goodput_rps * 1e3; /* what the figures themselves rest on */

    return t->load.window_ms > 0 ? t->load.window_ms : by_result > 0 ? by_result : NAN;
}

static double trial_goodput(const struct trial *t)
{
    return t->load.goodput_rps;
}

static double trial_delivered(const struct trial *t)
{
    return t->load.offered > 0 ? t->load.ok / t->load.offered : NAN;
}

static double trial_offered(const struct trial *t)
{
    return t->load.offered > 0 && t->load.ok > 0 ? t->load.goodput_rps * t->load.offered / t->load.ok : NAN;
}

static double trial_p50(const struct trial *t)
{
    return t->load.latency_ms.p50;
}

static double trial_concurrency(const struct trial *t)
{
    return t->load.concurrency;
}

static double trial_think(const struct trial *t)
{
    return t->load.think_ms;
}

static double trial_cores(const struct trial *t)
{
    if (!isnan(t->app.cpu_cores.avg))
        return t->app.cpu_cores.avg;
    return t->app.cpu_cores.total_ms / window_ms(t);
}

static double trial_request_cpu(const struct trial *t)
{
    double total = t->app.cpu_cores.total_ms;

    if (isnan(total))
        total = t->app.cpu_cores.avg * window_ms(t);
    return t->load.requests > 0 ? total / t->load.requests : NAN;
}

static double trial_throttled(const struct trial *t)
{
    if (t->app.cpu_periods > 0)
        return t->app.cpu_throttled_periods / t->app.cpu_periods;
    return t->app.cpu_throttled_ms / window_ms(t);
}

static double trial_memory(const struct trial *t)
{
    return isnan(t->app.memory_bytes.anon_peak) ? t->app.memory_bytes.used_peak
                                                : t->app.memory_bytes.anon_peak;
}

static double trial_floor(const struct trial *t)
{
    return t->has_floor ? t->floor.p50_ms : NAN;
}

static double trial_floor_cpu(const struct trial *t)
{
    return t->has_floor ? t->floor.cpu_ms_per_request : NAN;
}

static double trial_fastest(const struct trial *t)
{
    return t->load.latency_ms.min;
}

static double trial_generator(const struct trial *t)
{
    return t->load.cpu_ms / window_ms(t);
}

static double trial_host(const struct trial *t)
{
    return t->host.cpu_busy;
}

static double trial_steal(const struct trial *t)
{
    return t->host.steal_pct;
}

static double trial_foreign(const struct trial *t)
{
    return t->host.foreign_cpu_cores;
}

static double trial_errors(const struct trial *t)
{
    return t->load.error_rate;
}

static const struct metric_value *trial_metric(const struct trial *t, const char *name)
{
    for (size_t i = 0; i < t->metric_count; i++)
        if (text_equal(t->metrics[i].name, name))
            return &t->metrics[i];
    return NULL;
}

static double trial_pool_pending(const struct trial *t)
{
    const struct metric_value *m = trial_metric(t, "pool_pending_max");

    return m ? m->max : NAN;
}

static double trial_pool_pending_avg(const struct trial *t)
{
    const struct metric_value *m = trial_metric(t, "pool_pending_max");

    return m ? m->avg : NAN;
}

static double trial_pool_max(const struct trial *t)
{
    const struct metric_value *m = trial_metric(t, "pool_max");

    return m ? m->max : NAN;
}

static double trial_paused(const struct trial *t)
{
    const struct metric_value *m = trial_metric(t, "gc_pause_total_ms");

    return m ? m->increase / window_ms(t) : NAN;
}

static bool was_generator_late(const struct trial *t)
{
    for (size_t i = 0; i < t->validity_count; i++)
        if (text_equal(t->validity[i].verdict, "FAIL") &&
            (text_equal(t->validity[i].id, "generator-busy") ||
             text_equal(t->validity[i].id, "generator-kept-up")))
            return true;
    return false;
}

/* Of all trials: those in which it was are counted nowhere else. */
static bool generator_was_late(const struct validity_arm *of)
{
    size_t late = 0;

    for (size_t i = 0; i < of->count; i++)
        late += was_generator_late(of->trials[i]);
    return late && 2 * late >= of->count;
}

/* --- processors --- */

/* How many "0-2,5" names; NAN: none. */
static double cpuset_count(const char *text)
{
    int count = text ? process_cpuset_size(text) : 0;

    return count ? count : NAN;
}

/* The least of the quota, the set of processors and the machine. */
static double allowed_cores(const struct effective *e, double host)
{
    double allowed = e->cpus > 0 && isfinite(e->cpus) ? e->cpus : NAN;

    allowed = fmin(allowed, cpuset_count(e->cpuset)); /* fmin() leaves out a NAN */
    return fmin(allowed, host);
}

static bool is_generator(const struct container_result *c)
{
    return text_equal(c->role, "generator") || text_equal(c->role, "load");
}

/* What the queries cost is the scenario's doing as well: a database that computes is no wait. */
static void look_at_database(struct arm *a, const struct container_result *c, double allowed)
{
    const struct trial *t = a->counted[0];
    double share = c->cpu_cores.avg / allowed;
    double total = isnan(c->cpu_cores.total_ms) ? c->cpu_cores.avg * window_ms(t) : c->cpu_cores.total_ms;

    if (c->cpu_throttled_periods / c->cpu_periods >= THROTTLED_BUSY)
        share = 1;
    a->database_cores = c->cpu_cores.avg;
    a->database_share = share;
    a->database_cpu_ms = t->load.requests > 0 ? total / t->load.requests : NAN;
}

static void look_at_services(struct arm *a, const struct trial *t, double host)
{
    for (size_t i = 0; i < t->service_count; i++) {
        const struct container_result *c = &t->services[i];
        if (!a->upstream && !is_generator(c) && !text_equal(c->role, "database"))
            a->upstream = c->role;
        double allowed = allowed_cores(&c->effective, host), share = c->cpu_cores.avg / allowed;
        if (text_equal(c->role, "database"))
            look_at_database(a, c, allowed);
        if (is_generator(c)) {
            a->generator_allowed = fmin(a->generator_allowed, allowed);
            if (isnan(a->generator_cores))
                a->generator_cores = c->cpu_cores.avg;
        } else if (!isnan(share) && !(share <= a->service_share)) {
            a->service = c->role ? c->role : "?";
            a->service_share = share;
        }
    }
}

double busy_share(const struct arm *a)
{
    return a->cores / a->allowed;
}

double own_share(const struct arm *a)
{
    double cpu = isnan(a->lone_cpu_ms) ? a->request_cpu_ms : a->lone_cpu_ms;

    if (a->database_cpu_ms > 0)
        cpu += a->database_cpu_ms;
    return cpu / (isnan(a->lone_ms) ? a->p50 : a->lone_ms);
}

/* --- the arm --- */

static bool disturbed(const struct trial *t)
{
    return t->outcome == OUTCOME_CRASHED || t->app.restarts > 0 || t->app.oom_kills > 0;
}

/* Only the generator's lateness speaks against it, and it made the load that was asked for: what such figures
 * hold is too much noise to call scenarios different, and enough to call them alike. */
static bool was_only_late(const struct trial *t)
{
    size_t late = 0;

    for (size_t i = 0; i < t->validity_count; i++) {
        if (!text_equal(t->validity[i].verdict, "FAIL"))
            continue;
        if (!text_equal(t->validity[i].id, "generator-kept-up"))
            return false;
        late++;
    }
    return late && t->outcome == OUTCOME_INVALID && t->has_load && t->load.goodput_rps > 0 &&
           !(trial_delivered(t) < DELIVERED) && !(t->load.dropped > 0);
}

static void pick_late_trials(struct arm *a, const struct validity_arm *of)
{
    for (size_t i = 0; i < of->count; i++)
        if (was_only_late(of->trials[i]))
            a->counted[a->n++] = of->trials[i];
    a->late = a->n > 0;
}

static void pick_trials(struct sweep_judge *j, struct arm *a, const struct validity_arm *of)
{
    size_t bad = 0;

    a->counted = arena_array(j->arena, const struct trial *, of->count + 1);
    for (size_t i = 0; i < of->count; i++) {
        const struct trial *t = of->trials[i];
        bad += disturbed(t);
        if ((t->outcome == OUTCOME_OK || t->outcome == OUTCOME_DEGRADED) && t->has_load &&
            t->load.goodput_rps > 0)
            a->counted[a->n++] = t;
    }
    if (!a->n && !bad)
        pick_late_trials(a, of);
    if (bad)
        a->out = arena_printf(j->arena, "%zu of %zu", bad, of->count);
}

static void fill_arm(struct sweep_judge *j, struct arm *a)
{
    double host = j->facts->host_cores;

    a->model = a->n ? a->counted[0]->load.model : NULL;
    a->goodput = median_trials(a, trial_goodput);
    a->offered = median_trials(a, trial_offered);
    a->delivered = median_trials(a, trial_delivered);
    a->p50 = median_trials(a, trial_p50);
    a->concurrency = median_trials(a, trial_concurrency);
    a->think_ms = median_trials(a, trial_think);
    a->cores = median_trials(a, trial_cores);
    a->throttled = median_trials(a, trial_throttled);
    a->request_cpu_ms = median_trials(a, trial_request_cpu);
    a->memory = median_trials(a, trial_memory);
    a->lone_ms = median_trials(a, trial_floor);
    a->lone_cpu_ms = median_trials(a, trial_floor_cpu);
    a->lone_measured = !isnan(a->lone_ms);
    if (!a->lone_measured)
        a->lone_ms = median_trials(a, trial_fastest);
    a->generator_cores = median_trials(a, trial_generator);
    a->generator_allowed = host;
    a->host_cores = median_trials(a, trial_host);
    a->steal_pct = median_trials(a, trial_steal);
    a->foreign_cores = median_trials(a, trial_foreign);
    a->pool_pending = median_trials(a, trial_pool_pending);
    a->pool_pending_avg = median_trials(a, trial_pool_pending_avg);
    a->pool_max = median_trials(a, trial_pool_max);
    a->error_rate = median_trials(a, trial_errors);
    a->paused = median_trials(a, trial_paused);
    a->generator_late = generator_was_late(a->of);
    a->service_share = NAN;
    a->database_cores = a->database_share = a->database_cpu_ms = NAN;
    a->allowed = a->n ? allowed_cores(&a->counted[0]->app.effective, host) : NAN;
    if (a->n)
        look_at_services(a, a->counted[0], host);
}

/* --- which were loaded alike --- */

/* Axes that say how much load there is, where the records do not. */
static const char *const load_axes[] = {"load",        "vus",          "users", "connections",
                                        "concurrency", "rate",         "rps",   "clients",
                                        "threads",     "arrival_rate", "phase", "arrival-rate"};

static void add_load_axes(const struct trial *t, struct strbuf *key)
{
    for (size_t i = 0; i < t->axis_count; i++)
        for (size_t k = 0; k < ARRAY_LEN(load_axes); k++)
            if (text_equal(t->axes[i].axis, load_axes[k]))
                strbuf_addf(key, " %s=%s", t->axes[i].axis, t->axes[i].value);
}

static const char *load_kind(struct sweep_judge *j, const struct arm *a)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf key = STRBUF_INIT;
    const struct trial *t = a->counted[0];

    strbuf_addf(&key, "%s %s", a->model ? a->model : "?", t->load.generator ? t->load.generator : "?");
    add_load_axes(t, &key);
    return arena_strdup(j->arena, strbuf_text(&key));
}

/* Loads of one sweep differ by more, as asked for; what short or slow runs make of one load by less. */
#define SAME_AMOUNT 1.15

static double load_amount(const struct arm *a)
{
    double amount = text_equal(a->model, "open") ? a->offered : a->concurrency;

    return amount > 0 ? amount : 0;
}

/* By kind of load, then by how much. */
static int by_load(const void *left, const void *right)
{
    const struct arm *a = *(struct arm *const *)left, *b = *(struct arm *const *)right;
    double x = load_amount(a), y = load_amount(b);

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return x < y ? -1 : x > y ? 1 : a < b ? -1 : a > b;
}

/* Those with figures, ordered; `group` is the kind of load. */
static struct arm **comparable_arms(struct sweep_judge *j, size_t *ret_len)
{
    struct name_index index = NAME_INDEX_INIT;
    struct arm **arms = arena_array(j->arena, struct arm *, j->len + 1);
    size_t len = 0, kinds = 0;
    bool new;

    for (size_t i = 0; i < j->len; i++) {
        struct arm *a = &j->arms[i];
        a->group = SIZE_MAX;
        if (!a->n || a->out)
            continue;
        a->group = *name_index_put(&index, load_kind(j, a), kinds, &new);
        kinds += new;
        arms[len++] = a;
    }
    name_index_release(&index);
    if (len)
        qsort(arms, len, sizeof(struct arm *), by_load);
    *ret_len = len;
    return arms;
}

static void make_groups(struct sweep_judge *j)
{
    size_t len, begin = 0;
    struct arm **arms = comparable_arms(j, &len);

    j->groups = arena_array(j->arena, struct group, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (i < len && arms[i]->group == arms[begin]->group &&
            load_amount(arms[i]) <= load_amount(arms[i - 1]) * SAME_AMOUNT)
            continue;
        j->groups[j->group_count++] = (struct group){.arms = arms + begin, .len = i - begin};
        begin = i;
    }
}

void sweep_arms(struct sweep_judge *j)
{
    j->len = j->facts->count;
    j->arms = arena_array(j->arena, struct arm, j->len + 1);
    for (size_t i = 0; i < j->len; i++) {
        struct arm *a = &j->arms[i];
        a->of = &j->facts->arms[i];
        a->scenario = a->of->scenario ? a->of->scenario : "?";
        pick_trials(j, a, a->of);
        fill_arm(j, a);
    }
    make_groups(j);
}
