/* SPDX-License-Identifier: MIT */
/* What follows from other keys: the one request, the one phase, names. */
#include "workload_internal.h"

#include <inttypes.h>
#include <math.h>
#include "benchctl/base/name_index.h"

#define VUS_OF_RATE_MIN 10.0
#define VUS_OF_RATE_MAX 10000.0

/* `list` is given: the keys that stand for a list of one must not be. */
static int only_one(const struct node *n, const char *list, const char *const *keys, struct error *err)
{
    for (size_t i = 0; keys[i]; i++) {
        if (!node_get(n, keys[i]))
            continue;
        node_error(err, workload_key_at(n, keys[i]), "'%s' is for a workload without '%s'", keys[i], list);
        return error_hint(err, "give it inside '%s'", list);
    }
    return 0;
}

static int empty_list(const struct node *n, const char *key, struct error *err)
{
    node_error(err, workload_at(n, key), "'%s' must be a list with at least one item", key);
    return error_hint(err, "without the key there is one, from the workload's own keys");
}

static int fill_request(const struct node *n, struct arena *a, struct workload *w, struct error *err)
{
    static const char *const keys[] = {"path", "method", "body", "body_file", NULL};

    if (node_get(n, "requests"))
        return w->requests.len ? only_one(n, "requests", keys, err) : empty_list(n, "requests", err);
    struct node *map = node_new(a, NODE_MAP, n->at);
    map->keys = arena_array(a, const struct node *, ARRAY_LEN(keys));
    map->items = arena_array(a, const struct node *, ARRAY_LEN(keys));
    for (size_t i = 0; keys[i]; i++) {
        if (!node_get(n, keys[i]))
            continue;
        map->keys[map->len] = workload_key_at(n, keys[i]);
        map->items[map->len++] = node_get(n, keys[i]);
    }
    struct workload_request *r = arena_new_of(a, struct workload_request);
    if (schema_read(&workload_request_schema, map, a, r, err) < 0)
        return -1;
    r->body_file = w->body_file; /* made absolute there */
    w->method = r->method;
    w->requests = (struct schema_list){.items = r, .len = 1};
    return 0;
}

static int check_one_phase(const struct node *n, const struct workload *w, struct error *err)
{
    static const char *const of_rate[] = {"max_vus", "arrivals"};
    bool rate = node_get(n, "rate");

    if (rate && node_get(n, "iterations")) {
        node_error(err, workload_key_at(n, "iterations"), "'rate' and 'iterations' exclude each other");
        return error_hint(err, "an open load ends by time: duration: 10s");
    }
    for (size_t i = 0; !rate && i < ARRAY_LEN(of_rate); i++) {
        if (node_get(n, of_rate[i]))
            return node_error(err, workload_key_at(n, of_rate[i]), "'%s' is for a workload with 'rate'",
                              of_rate[i]);
    }
    if (rate && !(w->rate > 0))
        return node_error(err, workload_at(n, "rate"), "'rate' must be above 0, not %g", w->rate);
    if (rate && w->rate > RATE_MAX)
        return node_error(err, workload_at(n, "rate"), "'rate' is more than 10000000 per second");
    return 0;
}

static int64_t vus_of(const struct workload *w)
{
    if (w->vus != SCHEMA_ABSENT)
        return w->vus;
    double vus = isnan(w->rate) ? 1 : fmin(fmax(ceil(w->rate), VUS_OF_RATE_MIN), VUS_OF_RATE_MAX);
    return w->max_vus == SCHEMA_ABSENT || (double)w->max_vus > vus ? (int64_t)vus : w->max_vus;
}

/* The phase without anything said, then with what the workload says. */
static int fill_phase(const struct node *n, struct arena *a, struct workload *w, struct error *err)
{
    static const char *const keys[] = {"vus", "rate", "iterations", "duration", "max_vus", "arrivals", NULL};

    if (node_get(n, "phases"))
        return w->phases.len ? only_one(n, "phases", keys, err) : empty_list(n, "phases", err);
    if (check_one_phase(n, w, err) < 0)
        return -1;
    bool counted = w->iterations != SCHEMA_ABSENT;
    struct workload_phase *p = arena_new_of(a, struct workload_phase);
    *p = (struct workload_phase){
        .executor = counted          ? EXECUTOR_SHARED_ITERATIONS
                    : isnan(w->rate) ? EXECUTOR_CONSTANT_VUS
                                     : EXECUTOR_CONSTANT_ARRIVAL_RATE,
        .vus = vus_of(w),
        .pre_allocated_vus = vus_of(w),
        .max_vus = w->max_vus == SCHEMA_ABSENT ? vus_of(w) : w->max_vus,
        .rate = w->rate,
        .arrivals = w->arrivals,
        .iterations = counted ? w->iterations : 1,
        .start_vus = 1,
        .time_unit_ns = NS_PER_S,
        .duration_ns = w->duration_ns == SCHEMA_ABSENT ? 10 * NS_PER_S : w->duration_ns,
        .max_duration_ns = w->duration_ns == SCHEMA_ABSENT ? 600 * NS_PER_S : w->duration_ns,
        .graceful_stop_ns = 30 * NS_PER_S,
        .graceful_ramp_down_ns = 30 * NS_PER_S,
        .start_time_ns = SCHEMA_ABSENT,
        .at = n->at,
    };
    if (p->max_vus < p->pre_allocated_vus)
        return node_error(err, workload_at(n, "max_vus"), "'max_vus' is below 'vus'");
    if (counted && p->iterations < p->vus)
        return node_error(err, workload_at(n, "iterations"),
                          "fewer 'iterations' than 'vus': some would do nothing");
    w->phases = (struct schema_list){.items = p, .len = 1};
    return 0;
}

/* Requests that are called by method and path alone may be several of one name. */
static void number_requests(const struct node *n, struct arena *a, const struct workload *w)
{
    struct workload_request *r = w->requests.items;
    const struct node *list = node_get(n, "requests");
    CLEANUP_VALUE(name_index_release) struct name_index names = {0}, numbers = {0};
    bool is_new;

    for (size_t i = 0; list && i < w->requests.len; i++) {
        const char *name = r[i].name;
        bool own = node_get(list->items[i], "name");
        while (!own && name_index_get(&names, r[i].name)) {
            size_t *number = name_index_put(&numbers, name, 1, &is_new);
            r[i].name = arena_printf(a, "%s (%zu)", name, ++*number);
        }
        name_index_put(&names, r[i].name, i, &is_new);
    }
}

static void name_phases(struct arena *a, const struct workload *w)
{
    struct workload_phase *p = w->phases.items;
    size_t of[EXECUTOR_SHARED_ITERATIONS + 1] = {0}, number[EXECUTOR_SHARED_ITERATIONS + 1] = {0};

    for (size_t i = 0; i < w->phases.len; i++)
        of[p[i].executor] += !p[i].name;
    for (size_t i = 0; i < w->phases.len; i++) {
        int e = p[i].executor;
        if (!p[i].name)
            p[i].name =
                of[e] > 1 ? arena_printf(a, "%s-%zu", executor_names[e], ++number[e]) : executor_names[e];
    }
}

int workload_fill(const struct node *n, struct arena *a, struct workload *w, struct error *err)
{
    if (w->requests.len > ITEMS_MAX || w->phases.len > ITEMS_MAX) {
        const char *key = w->requests.len > ITEMS_MAX ? "requests" : "phases";
        return node_error(err, workload_at(n, key), "'%s' has more than %zu items", key, ITEMS_MAX);
    }
    if (fill_request(n, a, w, err) < 0 || fill_phase(n, a, w, err) < 0)
        return -1;
    number_requests(n, a, w);
    name_phases(a, w);
    w->vus = w->vus == SCHEMA_ABSENT ? vus_of(w) : w->vus;
    return 0;
}
