/* SPDX-License-Identifier: MIT */
/* Which figures a sweep has: the built-in ones, one set per service, metric and check, and those asked for.
 */
#include "report_internal.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/tree.h"

/* Names in a table; what a made-up bundle has beyond is counted, not tabulated. */
enum { ROLES_MAX = 16, METRICS_MAX = 64, CHECKS_MAX = 32, BUILD_MAX = 32 };

/* --- services --- */

static const struct {
    const char *key, *name, *measure, *heading;
    enum unit unit;
    enum show show;
    size_t offset;
} service_figures[] = {
    {"cpu_cores.avg", "CPU", "cores", "average CPU", UNIT_NUMBER, SHOW_MEASURED,
     offsetof(struct container_result, cpu_cores.avg)},
    {"memory_bytes.used_peak", "memory", "MiB", "peak of used memory", UNIT_MIB, SHOW_MEASURED,
     offsetof(struct container_result, memory_bytes.used_peak)},
    {"cpu_throttled_ms", "throttled", "ms", "time held back by the CPU limit", UNIT_NUMBER, SHOW_NONZERO,
     offsetof(struct container_result, cpu_throttled_ms)},
    {"restarts", "restarts", "", "restarts", UNIT_COUNT, SHOW_NONZERO,
     offsetof(struct container_result, restarts)},
    {"oom_kills", "OOM", "kills", "OOM kills", UNIT_COUNT, SHOW_NONZERO,
     offsetof(struct container_result, oom_kills)},
};

const char *service_figure_path(size_t i, const char **ret_heading)
{
    if (i >= ARRAY_LEN(service_figures))
        return NULL;
    *ret_heading = service_figures[i].heading;
    return service_figures[i].key;
}

static void add_service(struct report *r, const char *role)
{
    for (size_t i = 0; i < ARRAY_LEN(service_figures); i++)
        vec_push(&r->figures,
                 (struct figure){
                     .key = arena_printf(r->arena, "services.%s.%s", role, service_figures[i].key),
                     .name = arena_printf(r->arena, "%s %s", role, service_figures[i].name),
                     .measure = service_figures[i].measure,
                     .heading = arena_printf(r->arena, "%s: %s", role, service_figures[i].heading),
                     .unit = service_figures[i].unit,
                     .tables = TABLE_SERVICES,
                     .show = service_figures[i].show,
                     .finding = service_figures[i].unit == UNIT_COUNT,
                     .source = SOURCE_SERVICE,
                     .offset = service_figures[i].offset,
                     .of = role,
                 });
}

/* --- metrics --- */

/* A metric of the sweep: its most telling value is decided by all its trials. */
struct metric_kind {
    const char *name;
    bool counts; /* has an increase */
};

/* "heap_used" of "heap_used_bytes": the unit stands apart. */
static const char *without_unit(struct report *r, const char *name)
{
    static const char *const units[] = {"_bytes", "_ms", "_seconds"};

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (text_ends(name, units[i]) && strlen(name) > strlen(units[i]))
            return arena_strndup(r->arena, name, strlen(name) - strlen(units[i]));
    return name;
}

/* Counters: how much was added; means: the mean; levels: the highest, which is what a limit is hit by. */
static void add_metric(struct report *r, const struct metric_kind *m)
{
    bool mean = strstr(m->name, "avg") || strstr(m->name, "mean");
    const char *field = m->counts ? "increase" : mean ? "avg" : "max";
    struct figure f = {
        .key = arena_printf(r->arena, "metrics.%s.%s", m->name, field),
        .name = without_unit(r, m->name),
        .heading = arena_printf(r->arena, "%s (%s)", m->name, field),
        .tables = TABLE_METRICS,
        .source = SOURCE_METRIC,
        .offset = m->counts ? offsetof(struct metric_value, increase)
                  : mean    ? offsetof(struct metric_value, avg)
                            : offsetof(struct metric_value, max),
        .of = m->name,
    };

    f.unit = unit_of_name(m->name, &f.measure);
    if (f.unit == UNIT_NUMBER && !f.measure[0])
        f.unit = UNIT_COUNT;
    vec_push(&r->figures, f);
}

static void add_check(struct report *r, const char *name)
{
    vec_push(&r->figures, (struct figure){
                              .key = arena_printf(r->arena, "checks.%s", name),
                              .name = name,
                              .measure = "",
                              .heading = arena_printf(r->arena, "Check: %s", name),
                              .unit = UNIT_COUNT,
                              .tables = TABLE_CHECKS,
                              .finding = true,
                              .source = SOURCE_CHECK,
                              .of = name,
                          });
}

/* A step's time, or (`count` is not NULL) a number that its output told. */
static void add_build(struct report *r, const char *step, const char *count)
{
    const char *what = count ? arena_printf(r->arena, "counts.%s", count) : "duration_ms";
    const char *name = count ? arena_printf(r->arena, "%s %s", step, count) : step;

    vec_push(&r->figures, (struct figure){
                              .key = arena_printf(r->arena, "build.%s.%s", step, what),
                              .name = name,
                              .measure = count ? "" : "s",
                              .heading = arena_printf(r->arena, "Build: %s", name),
                              .unit = count ? UNIT_COUNT : UNIT_SECONDS,
                              .tables = TABLE_BUILD,
                              .source = SOURCE_BUILD,
                              .of = step,
                              .path = count,
                          });
}

/* --- what the trials have --- */

struct discovery {
    struct report *r;
    struct name_index roles, metrics, checks, build;
    VEC(struct metric_kind) kinds;
};

/* New, and not one too many. */
static bool is_new(struct discovery *d, struct name_index *x, const char *name, size_t max)
{
    bool new;
    size_t at = *name_index_put(x, name, x->len, &new);

    d->r->dropped += new &&at >= max;
    return new &&at < max;
}

static void discover_build(struct discovery *d, const struct build_result *b)
{
    for (size_t i = 0; i < b->step_count; i++) {
        const struct build_step *s = &b->steps[i];
        if (s->name && is_new(d, &d->build, s->name, BUILD_MAX))
            add_build(d->r, s->name, NULL);
        for (size_t k = 0; s->name && k < s->count_count; k++) {
            const char *key = arena_printf(d->r->arena, "%s\n%s", s->name, s->counts[k].name);
            if (is_new(d, &d->build, key, BUILD_MAX))
                add_build(d->r, s->name, s->counts[k].name);
        }
    }
}

static void discover(struct discovery *d, const struct trial *t)
{
    discover_build(d, &t->build);
    for (size_t i = 0; i < t->service_count; i++)
        if (t->services[i].role && is_new(d, &d->roles, t->services[i].role, ROLES_MAX))
            add_service(d->r, t->services[i].role);
    for (size_t i = 0; i < t->metric_count; i++) {
        const struct metric_value *m = &t->metrics[i];
        if (!m->name)
            continue;
        if (is_new(d, &d->metrics, m->name, METRICS_MAX))
            vec_push(&d->kinds, (struct metric_kind){.name = m->name});
        size_t at = *name_index_get(&d->metrics, m->name);
        if (at < METRICS_MAX)
            d->kinds.items[at].counts |= !isnan(m->increase);
    }
    for (size_t i = 0; i < t->check_count; i++) {
        const struct check_result *c = &t->checks[i];
        /* a gate on the trial's own numbers is called by what it says, and its figure is there already */
        if (c->name && (c->value || c->message) && !text_equal(c->name, c->expect) &&
            is_new(d, &d->checks, c->name, CHECKS_MAX))
            add_check(d->r, c->name);
    }
}

static void discover_all(struct report *r)
{
    struct discovery d = {.r = r};

    for (size_t t = 0; t < r->sweep->trial_count; t++)
        discover(&d, &r->sweep->trials[t]);
    for (size_t i = 0; i < d.kinds.len; i++)
        add_metric(r, &d.kinds.items[i]);
    name_index_release(&d.roles);
    name_index_release(&d.metrics);
    name_index_release(&d.checks);
    name_index_release(&d.build);
    vec_release(&d.kinds);
}

/* --- those asked for --- */

bool figure_of_part(const struct figure *f)
{
    return f->source == SOURCE_PHASE || f->source == SOURCE_REQUEST;
}

/* The figure with this name, or the first whose name ends with it ("p90" is "load.latency_ms.p90"), or whose
 * column is called so ("p99.9"). */
static size_t find_figure(const struct report *r, const char *name)
{
    size_t len = strlen(name);

    for (size_t i = 0; i < r->figures.len; i++)
        if (strcmp(r->figures.items[i].key, name) == 0)
            return i;
    for (size_t i = 0; i < r->figures.len && len; i++) {
        const char *key = r->figures.items[i].key;
        if (!figure_of_part(&r->figures.items[i]) && strlen(key) > len && text_ends(key, name) &&
            key[strlen(key) - len - 1] == '.')
            return i;
    }
    for (size_t i = 0; i < builtin_figure_count; i++)
        if (strcmp(r->figures.items[i].name, name) == 0)
            return i;
    if (strcmp(name, "used") == 0) /* its column beside an axis "memory" */
        return FIGURE_MEMORY;
    return r->figures.len;
}

static int unknown_figure(const struct report *r, const char *name, struct error *err)
{
    CLEANUP_FREE const char **names = xcalloc(2 * r->figures.len, sizeof(*names));
    size_t n = 0;

    for (size_t i = 0; i < r->figures.len; i++) {
        const char *key = r->figures.items[i].key, *last = strrchr(key, '.');
        names[n++] = key;
        if (last)
            names[n++] = last + 1;
    }
    const char *near = nearest_name(name, names, n);
    (void)error_set(err, ERROR_USAGE, "there is no figure '%s'", name);
    if (near)
        return error_hint(err, "did you mean '%s'?", near);
    return error_hint(err, "figures are named as in trial.json, for instance load.latency_ms.p90");
}

static int ask_for(struct report *r, const char *name, struct error *err)
{
    size_t at = find_figure(r, name);
    double ignored;

    if (at == r->figures.len)
        at = find_part_figure(r, name);
    if (at == r->figures.len) {
        if (unknown_part_figure(r, name, err) < 0)
            return -1;
        if (trial_number(NULL, name, &ignored) < 0)
            return unknown_figure(r, name, err);
        const char *key = arena_strdup(r->arena, name);
        struct figure f = {.key = key, .name = key, .heading = key, .source = SOURCE_NAMED};
        f.unit = unit_of_name(name, &f.measure);
        vec_push(&r->figures, f);
    }
    for (size_t i = 0; i < r->asked.len; i++)
        if (r->asked.items[i] == at)
            return 0;
    vec_push(&r->asked, at);
    return 0;
}

int report_figures(struct report *r, const struct report_options *o, struct error *err)
{
    for (size_t i = 0; i < builtin_figure_count; i++)
        vec_push(&r->figures, builtin_figures[i]);
    discover_all(r);
    add_part_figures(r);
    for (size_t i = 0; i < o->figure_count; i++)
        if (ask_for(r, o->figures[i], err) < 0)
            return -1;
    return 0;
}
