/* SPDX-License-Identifier: MIT */
/* Bytes → struct matrix, step by step; each step is a file of its own. */
#include <errno.h>
#include <limits.h>

#include "benchctl/base/fs.h"
#include "benchctl/base/units.h"
#include "matrix_internal.h"

static const struct matrix_options plain_options = {.seed = SCHEMA_ABSENT};

int builder_problem(struct builder *b, const struct error *err)
{
    if (!b->problems++)
        b->first = *err;
    if (!b->options->report)
        return -1;
    b->options->report(err, b->options->report_data);
    return 0;
}

static void report_to_builder(const struct error *err, void *data)
{
    struct builder *b = data;

    (void)builder_problem(b, err);
}

int builder_fill_key(struct builder *b, const char *key, const struct node *value, const struct node **ret,
                     struct error *err)
{
    bool later = strcmp(key, "axes") == 0 || strcmp(key, "include") == 0; /* what becomes part of settings */
    struct filling f = {.a = b->m->arena, .names = {.m = b->m, .run_time = later}, .final = !later};
    int result = fill_tree(&f, value, ret, err);

    filling_release(&f);
    return result;
}

/* Of overrides only the conditions: what they set is the scenarios' matter. */
static int fill_overrides(struct builder *b, const struct node *list, const struct node **ret,
                          struct error *err)
{
    struct arena *a = b->m->arena;

    *ret = list;
    if (list->kind != NODE_LIST || !list->refers)
        return 0;
    struct node *copy = arena_copy(a, list, sizeof(*list));
    copy->items = arena_array(a, const struct node *, list->len);
    for (size_t i = 0; i < list->len; i++) {
        const struct node *item = list->items[i], *when = node_get(item, "when"), *filled = NULL;
        copy->items[i] = item;
        if (!when || !when->refers)
            continue;
        if (builder_fill_key(b, "overrides", when, &filled, err) < 0)
            return -1;
        struct node *own = arena_copy(a, item, sizeof(*item));
        own->items = arena_array(a, const struct node *, item->len);
        for (size_t k = 0; k < item->len; k++)
            own->items[k] = item->items[k] == when ? filled : item->items[k];
        copy->items[i] = own;
    }
    *ret = copy;
    return 0;
}

/* A stand-in for a required key, so that one missing key does not hide what else is wrong. */
static const struct node *stand_in(struct builder *b, const char *key)
{
    b->missing[b->missing_count++] = key;
    return node_new_text(b->m->arena, "1", b->m->root->at);
}

static int fill_top(struct builder *b, struct error *err)
{
    const struct node *root = b->m->root;
    struct arena *a = b->m->arena;
    struct node *top = node_new(a, NODE_MAP, root->at);

    top->keys = arena_array(a, const struct node *, root->len + 2);
    top->items = arena_array(a, const struct node *, root->len + 2);
    for (size_t i = 0; i < root->len; i++) {
        const char *key = root->keys[i]->text;
        const struct node *value = root->items[i], *filled = value;
        int result = 0;
        if (strcmp(key, "overrides") == 0)
            result = fill_overrides(b, value, &filled, err);
        else if (strcmp(key, "canary") == 0)
            result = builder_fill_canary(b, value, &filled, err);
        else if (strcmp(key, "vars") != 0 && is_matrix_key(key))
            result = builder_fill_key(b, key, value, &filled, err);
        if (result < 0 && builder_problem(b, err) < 0)
            return -1;
        if (result < 0 && value->kind != NODE_SCALAR)
            continue; /* said; go on without it */
        if (result < 0)
            filled = node_new_text(a, "1", value->at); /* or with any text that is valid */
        top->keys[top->len] = root->keys[i];
        top->items[top->len++] = filled;
    }
    for (const char *const *key = (const char *const[]){"benchctl", "name", NULL}; *key; key++) {
        if (node_get(root, *key))
            continue;
        top->keys[top->len] = node_new_text(a, *key, root->at);
        top->items[top->len++] = stand_in(b, *key);
    }
    b->top = top;
    return 0;
}

struct name_list {
    VEC(const char *) names;
    struct name_index seen;
};

static void add_services(struct name_list *l, const struct node *services)
{
    bool fresh;

    for (size_t i = 0; services && services->kind == NODE_MAP && i < services->len; i++) {
        const char *name = services->keys[i]->text;
        (void)name_index_put(&l->seen, name, 0, &fresh);
        if (fresh && !text_starts(name, "x-"))
            vec_push(&l->names, name);
    }
}

/* Names that `${...}` may begin with, before anything is filled in. */
static int read_service_names(struct builder *b, struct error *err)
{
    const struct node *root = b->m->root, *overrides = node_get(root, "overrides");
    struct text_list *services = &b->m->services;
    struct name_list l = {0};

    (void)err;
    add_services(&l, node_get(root, "services"));
    add_services(&l, node_get(node_get(node_get(root, "canary"), "set"), "services"));
    for (size_t i = 0; overrides && overrides->kind == NODE_LIST && i < overrides->len; i++)
        add_services(&l, node_get(node_get(overrides->items[i], "set"), "services"));
    services->items = arena_copy(b->m->arena, l.names.items, l.names.len * sizeof(*l.names.items));
    services->len = l.names.len;
    vec_release(&l.names);
    name_index_release(&l.seen);
    return 0;
}

int builder_read_top(struct builder *b, struct error *err)
{
    struct matrix *m = b->m;
    const struct schema_options o = {
        .dir = m->dir, .report = b->options->report ? report_to_builder : NULL, .data = b};

    if (fill_top(b, err) < 0)
        return -1;
    if (schema_read_with(&matrix_schema, b->top, &o, m->arena, &b->file, err) < 0 && !b->options->report)
        return builder_problem(b, err);
    m->name = b->file.name;
    m->title = b->file.title;
    m->trials = b->options->trials > 0 ? b->options->trials : b->file.trials;
    m->seed = b->options->seed != SCHEMA_ABSENT ? b->options->seed : b->file.order.seed;
    m->order = b->file.order.mode;
    m->host = b->file.host;
    m->notify = b->file.notify;
    m->canary = b->file.canary;
    m->controls = b->file.controls;
    m->parity = b->file.parity;
    return 0;
}

/* Could a scenario have this section? Nothing is missing as long as some override may bring it. */
static bool is_set_somewhere(const struct matrix *m, const char *key)
{
    for (size_t i = 0; i < m->override_count; i++) {
        if (node_get(m->overrides[i].set, key))
            return true;
    }
    return node_get(m->base, key) != NULL;
}

int builder_read_base(struct builder *b, struct error *err)
{
    struct matrix *m = b->m;
    const struct node *root = m->root;
    struct node *base = node_new(m->arena, NODE_MAP, root->at);
    struct error ignored = ERROR_INIT;

    base->keys = arena_array(m->arena, const struct node *, root->len);
    base->items = arena_array(m->arena, const struct node *, root->len);
    for (size_t i = 0; i < root->len; i++) {
        if (!is_settings_key(root->keys[i]->text))
            continue;
        base->keys[base->len] = root->keys[i];
        base->items[base->len++] = root->items[i];
        base->refers |= root->items[i]->refers;
    }
    m->base = base;
    const struct node *retry = node_get(base, "retry");
    if (!retry || integer_parse(retry->text, &m->retry, &ignored) < 0)
        m->retry = 1; /* a wrong one is said when scenarios are read */
    for (const char *const *key = (const char *const[]){"app", "load", NULL}; *key; key++) {
        if (!is_set_somewhere(m, *key))
            b->missing[b->missing_count++] = *key;
    }
    for (size_t i = 0; i < b->missing_count; i++) {
        node_error(err, root, "'%s' is missing in the matrix", b->missing[i]);
        if (strcmp(b->missing[i], "benchctl") == 0)
            error_hint(err, "begin with benchctl: 1, the version of the matrix language");
        if (builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}

/* The directory of the file, absolute. */
static const char *absolute_dir(struct arena *a, const char *file)
{
    CLEANUP_FREE char *dir = path_dirname(file);
    CLEANUP_FREE char *real = realpath(dir, NULL);
    CLEANUP_FREE char *here = real ? NULL : realpath(".", NULL);
    CLEANUP_FREE char *joined = real ? NULL : path_join(here ? here : "/", dir);

    return arena_strdup(a, real ? real : joined);
}

static int run_steps(struct builder *b, struct error *err)
{
    static int (*const steps[])(struct builder *, struct error *) = {
        read_service_names,     builder_read_vars,     builder_read_top,      builder_read_axes,
        builder_read_zip,       builder_read_includes, builder_read_excludes, builder_read_overrides,
        builder_read_contrasts, builder_read_base,
    };

    if (b->m->root->kind != NODE_MAP)
        return node_error(err, b->m->root, "a matrix must be a map, not a %s",
                          b->m->root->kind == NODE_LIST ? "list" : "text");
    if (builder_apply_sets(b, err) < 0)
        return -1;
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        if (steps[i](b, err) < 0)
            return -1;
    }
    if (!b->problems)
        return 0;
    if (b->options->report)
        matrix_check_settings(b->m, b->options->report, b->options->report_data);
    *err = b->first;
    return -1;
}

static void builder_release(struct builder *b)
{
    for (size_t i = 0; b->value_index && i < b->m->axis_count; i++)
        name_index_release(&b->value_index[i]);
    free(b->value_index);
}

int matrix_parse(const char *bytes, size_t len, const char *file, const struct matrix_options *options,
                 struct matrix **ret, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct builder b = {.m = arena_new_of(a, struct matrix), .options = options ? options : &plain_options};

    b.m->arena = a;
    b.m->file = arena_strdup(a, file);
    b.m->dir = absolute_dir(a, file);
    b.m->env = b.options->env;
    if (tree_parse(bytes, len, file, a, &b.m->root, err) < 0) {
        (void)builder_problem(&b, err);
        return -1;
    }
    int result = run_steps(&b, err);
    if (result < 0 && !b.problems)
        (void)builder_problem(&b, err);
    builder_release(&b);
    if (result < 0)
        return -1;
    *ret = b.m;
    (void)TAKE(a);
    return 0;
}

int matrix_read(const char *path, const struct matrix_options *options, struct matrix **ret,
                struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = TREE_MAX_BYTES + 1};

    if (fs_read(path, TREE_MAX_BYTES, &text, err) < 0) {
        err->kind = ERROR_USAGE; /* the command line named it */
        return -1;
    }
    return matrix_parse(strbuf_text(&text), text.len, path, options, ret, err);
}

void matrix_free(struct matrix *m)
{
    if (m)
        arena_free(m->arena);
}
