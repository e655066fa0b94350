/* SPDX-License-Identifier: MIT */
/* One combination → its settings. */
#include "benchctl/base/units.h"
#include "matrix_internal.h"

/* The settings part with what applies to this combination merged in. */
static const struct node *merge_overrides(struct filling *f, const struct matrix *m,
                                          const struct matrix_combination *c)
{
    const struct node *tree = m->base;

    for (size_t i = 0; c->overrides && i < m->override_count; i++) {
        if (!c->overrides[i])
            continue;
        if (m->has_structures)
            tree = fill_structures(f, tree);
        tree = node_merge(f->a, tree, m->overrides[i].set);
    }
    if (c->set && m->has_structures)
        tree = fill_structures(f, tree);
    return c->set ? node_merge(f->a, tree, c->set) : tree;
}

/* In checks and gates the trial's own numbers are names too. */
static int fill_settings(struct filling *f, const struct node *tree, const struct node **ret,
                         struct error *err)
{
    if (!tree->refers) {
        *ret = tree;
        return 0;
    }
    struct node *copy = arena_copy(f->a, tree, sizeof(*tree));
    copy->items = arena_array(f->a, const struct node *, tree->len);
    for (size_t i = 0; i < tree->len; i++) {
        const char *key = tree->keys[i]->text;
        f->names.numbers = strcmp(key, "checks") == 0 || strcmp(key, "expect") == 0;
        if (fill_tree(f, tree->items[i], &copy->items[i], err) < 0)
            return -1;
    }
    *ret = copy;
    return 0;
}

static const struct container_settings *find_container(const struct settings *s, const char *name)
{
    const struct container_settings *services = s->services.items;

    if (strcmp(name, "app") == 0)
        return &s->app;
    for (size_t i = 0; i < s->services.len; i++) {
        if (strcmp(services[i].name, name) == 0)
            return &services[i];
    }
    return NULL;
}

/* What references need is there: the container, and its port. */
static int check_uses(const struct filling *f, const struct settings *s, struct error *err)
{
    for (size_t i = 0; i < f->names.uses.len; i++) {
        const struct container_use *use = &f->names.uses.items[i];
        if (strcmp(use->container, "database") == 0) {
            if (s->database)
                continue;
            return position_error(err, use->at, "this scenario has no database section");
        }
        const struct container_settings *c = find_container(s, use->container);
        if (!c)
            return position_error(err, use->at, "this scenario has no service '%s'", use->container);
        if (use->port && c->port == SCHEMA_ABSENT) {
            position_error(err, use->at, "'%s' has no 'port' that this could refer to", use->container);
            return error_hint(err, "say which port it listens on: port: 8080");
        }
    }
    return 0;
}

/* How long warm-up and load take; 0 where iterations say it, which may take any time. */
static int64_t load_time_ns(const struct load_settings *l)
{
    int64_t ns = l->workload ? workload_duration_ns(l->workload) : l->duration_ns;
    const struct workload_phase *phases = l->workload ? l->workload->phases.items : NULL;

    for (size_t i = 0; l->workload && i < l->workload->phases.len; i++) {
        if (phases[i].executor == EXECUTOR_PER_VU_ITERATIONS ||
            phases[i].executor == EXECUTOR_SHARED_ITERATIONS)
            return 0;
    }
    return ns > 0 ? ns + (l->warmup ? l->warmup->duration_ns : 0) : 0;
}

/* No trial can be longer than its limit: a load that takes longer never comes to its end. */
static int check_time(const struct node *tree, const struct settings *s, struct error *err)
{
    const struct node *own = node_get(tree, "timeout"), *load = node_get(tree, "load");
    char limit[32], takes[32];
    int64_t ns = load_time_ns(&s->load);

    if (s->timeout_ns <= 0 || ns < s->timeout_ns)
        return 0;
    node_error(err, own ? own : load,
               "'timeout': %s, the limit of a whole trial, is %s the load, which takes %s%s",
               duration_format(s->timeout_ns, limit), ns > s->timeout_ns ? "shorter than" : "no longer than",
               duration_format(ns, takes), s->load.warmup ? " with its warm-up" : "");
    return error_hint(err,
                      "give it time for start, warm-up, load and checks, or leave it at 30m where that is "
                      "enough; how long a generator may overrun is 'timeout' of the load");
}

void matrix_check_settings(const struct matrix *m, void (*report)(const struct error *err, void *data),
                           void *data)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct node *base = m->base, *load;
    struct schema_options o = {.dir = m->dir, .report = report, .data = data, .unfilled = true};
    struct error err = ERROR_INIT;
    struct settings s;

    if (matrix_choose_adapter(a, m->base, &base, &err) < 0)
        report(&err, data);
    load = node_get(base, "load");
    o.part = m->override_count || node_get(m->root, "overrides") || !node_get(base, "app") || !load;
    if (schema_read_with(&settings_schema, base, &o, a, &s, &err) == 0 && !o.part && !load->refers &&
        workload_of_load(load, m->dir, a, &s.load, &err) < 0)
        report(&err, data);
    o.part = true;
    for (size_t i = 0; i < m->override_count; i++)
        (void)!schema_read_with(&settings_schema, m->overrides[i].set, &o, a, &s, &err);
    if (m->canary && m->canary->set)
        (void)!schema_read_with(&settings_schema, m->canary->set, &o, a, &s, &err);
}

int matrix_resolve(const struct matrix *m, const struct matrix_combination *c, struct arena *a,
                   struct settings *ret, const struct node **ret_tree, struct error *err)
{
    struct filling f = {.a = a,
                        .names = {.m = m, .combination = c, .run_time = true},
                        .report = c->report,
                        .data = c->report_data};
    struct schema_options o = {.dir = m->dir, .report = c->report, .data = c->report_data};
    const struct node *merged = merge_overrides(&f, m, c), *tree = NULL;
    struct settings s;
    int result = fill_settings(&f, merged, &tree, err);
    bool reported = false;

    if (result == 0)
        result = matrix_choose_adapter(a, tree, &tree, err);
    if (result == 0) {
        o.unfilled = f.failed; /* said; what is wrong beside it is still looked for */
        result = schema_read_with(&settings_schema, tree, &o, a, &s, err) < 0 || f.failed ? -1 : 0;
        reported = result < 0;
    }
    if (result == 0)
        result = workload_of_load(node_get(tree, "load"), m->dir, a, &s.load, err);
    if (result == 0)
        result = check_time(tree, &s, err);
    if (result == 0)
        result = check_uses(&f, &s, err);
    filling_release(&f);
    if (result < 0) {
        if (c->report && !reported)
            c->report(err, c->report_data);
        return -1;
    }
    *ret = s;
    if (ret_tree)
        *ret_tree = tree;
    return 0;
}
