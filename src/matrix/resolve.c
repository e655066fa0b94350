/* SPDX-License-Identifier: MIT */
/* One combination → its settings. */
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
    return tree;
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

int matrix_resolve(const struct matrix *m, const struct matrix_combination *c, struct arena *a,
                   struct settings *ret, const struct node **ret_tree, struct error *err)
{
    struct filling f = {.a = a, .names = {.m = m, .combination = c, .run_time = true}};
    const struct schema_options o = {.dir = m->dir, .report = c->report, .data = c->report_data};
    const struct node *merged = merge_overrides(&f, m, c), *tree = NULL;
    struct settings s;
    int result = fill_settings(&f, merged, &tree, err);
    bool reported = false;

    if (result == 0) {
        result = schema_read_with(&settings_schema, tree, &o, a, &s, err);
        reported = result < 0;
    }
    if (result == 0)
        result = workload_of_load(node_get(tree, "load"), m->dir, a, &s.load, err);
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
