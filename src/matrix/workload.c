/* SPDX-License-Identifier: MIT */
/* The load section as the built-in generator reads it. */
#include "matrix_internal.h"
#include "settings_rules.h"

/* The real one is known when the application runs. */
#define MADE_UP_TARGET "http://127.0.0.1:80"
#define MADE_UP_TLS_TARGET "https://127.0.0.1:443"

/* Keys of the load section that the generator has, too. */
static bool is_shared(const char *key)
{
    static const char *const shared[] = {"target", "path", "duration", "requests", "phases"};

    for (size_t i = 0; i < ARRAY_LEN(shared); i++)
        if (strcmp(shared[i], key) == 0)
            return true;
    return false;
}

static bool is_conductors(const char *key)
{
    for (size_t i = 0; i < load_schema.field_count; i++)
        if (load_schema.fields[i].type != SCHEMA_REST && strcmp(load_schema.fields[i].key, key) == 0)
            return !is_shared(key);
    return text_starts(key, "x-");
}

const struct node *matrix_workload_tree(const struct node *load, struct arena *a)
{
    struct node *tree = arena_copy(a, load, sizeof(*load));

    tree->keys = arena_array(a, const struct node *, load->len + 1);
    tree->items = arena_array(a, const struct node *, load->len + 1);
    tree->len = 0;
    for (size_t i = 0; i < load->len; i++) {
        const struct node *key = load->keys[i];
        if (is_conductors(key->text))
            continue;
        if (strcmp(key->text, "request_timeout") == 0)
            key = node_new_text(a, "timeout", key->at);
        tree->keys[tree->len] = key;
        tree->items[tree->len++] = load->items[i];
    }
    return tree;
}

/* Host and port may be; what is no HTTP at all is seen now. */
static bool is_known_later(const char *target)
{
    return has_reference(target) &&
           (text_starts(target, "$") || text_starts(target, "http:") || text_starts(target, "https:"));
}

/* With a target that can be checked. */
static const struct node *with_target(const struct node *tree, struct arena *a)
{
    struct node *copy = arena_copy(a, tree, sizeof(*tree));
    size_t i = 0;

    copy->keys = arena_array(a, const struct node *, tree->len + 1);
    copy->items = arena_array(a, const struct node *, tree->len + 1);
    memcpy(copy->keys, tree->keys, tree->len * sizeof(*tree->keys));
    memcpy(copy->items, tree->items, tree->len * sizeof(*tree->items));
    while (i < tree->len && strcmp(tree->keys[i]->text, "target") != 0)
        i++;
    if (i < tree->len && !is_known_later(tree->items[i]->text))
        return tree;
    bool tls = i < tree->len && text_starts(tree->items[i]->text, "https:");
    copy->keys[i] = node_new_text(a, "target", tree->at);
    copy->items[i] = node_new_text(a, tls ? MADE_UP_TLS_TARGET : MADE_UP_TARGET, tree->at);
    copy->len = i < tree->len ? tree->len : tree->len + 1;
    return copy;
}

int workload_of_load(const struct node *load, const char *dir, struct arena *a, struct load_settings *l,
                     struct error *err)
{
    if (!l->adapter || strcmp(l->adapter, BUILTIN_ADAPTER) != 0)
        return 0;
    struct workload *w = arena_new_of(a, struct workload);
    if (workload_read(with_target(matrix_workload_tree(load, a), a), dir, a, w, err) < 0)
        return -1;
    l->workload = w;
    if (l->duration_ns == SCHEMA_ABSENT)
        l->duration_ns = workload_duration_ns(w);
    return 0;
}
