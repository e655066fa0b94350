/* SPDX-License-Identifier: MIT */
/* `adapters` of the load section: what each load generator is told, so that one word changes the generator.
 */
#include "matrix_internal.h"

/* What is said once for all generators is not said again for one of them; maps may complete each other. */
static int check_twice(const struct node *load, const struct node *section, const char *adapter,
                       struct error *err)
{
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < section->len; i++) {
        const char *key = section->keys[i]->text;
        const struct node *common = node_get(load, key);
        if (strcmp(key, "adapter") == 0 || strcmp(key, "adapters") == 0)
            return node_error(err, section->keys[i], "'%s' cannot stand in the section of an adapter", key);
        if (!common || common->kind == NODE_NULL ||
            (common->kind == NODE_MAP && section->items[i]->kind == NODE_MAP))
            continue;
        node_error(err, section->keys[i], "'%s' is said twice: for the adapter '%s', and for all in line %d",
                   text_shown(key, shown), adapter, common->at.line);
        return error_hint(err, "leave one of them away, or set load.adapters.%s.%s", adapter,
                          text_shown(key, shown));
    }
    return 0;
}

/* A section that was meant and not found would leave the generator with its defaults, and nobody told. */
static int check_name(const struct node *adapters, const char *adapter, struct error *err)
{
    CLEANUP_FREE const char **names = xcalloc(adapters->len + 1, sizeof(*names));
    char shown[SHOWN_SIZE];

    for (size_t i = 0; i < adapters->len; i++)
        names[i] = adapters->keys[i]->text;
    const char *near = nearest_name(adapter, names, adapters->len);
    if (!near)
        return 0;
    for (size_t i = 0; i < adapters->len; i++) {
        if (names[i] != near)
            continue;
        node_error(err, adapters->keys[i], "section '%s' is not that of the adapter, '%s'",
                   text_shown(near, shown), adapter);
        return error_hint(err, "did you mean '%s'?", adapter);
    }
    return 0;
}

static int check_sections(const struct node *adapters, struct error *err)
{
    char shown[SHOWN_SIZE];

    if (adapters->kind != NODE_MAP) {
        node_error(err, adapters, "'adapters' must be a map");
        return error_hint(err, "for instance adapters: {builtin: {vus: 10}, k6: {script: load.js}}");
    }
    for (size_t i = 0; i < adapters->len; i++)
        if (adapters->items[i]->kind != NODE_MAP && adapters->items[i]->kind != NODE_NULL)
            return node_error(err, adapters->items[i], "'%s' must be a map, the keys for this adapter",
                              text_shown(adapters->keys[i]->text, shown));
    return 0;
}

static const struct node *with_key(struct arena *a, const struct node *map, const char *key,
                                   const struct node *value)
{
    const struct node *ret = map;
    struct error ignored = ERROR_INIT;

    (void)!node_set_path(a, map, key, value ? value : node_new(a, NODE_NULL, map->at), &ret, &ignored);
    return ret;
}

int matrix_choose_adapter(struct arena *a, const struct node *tree, const struct node **ret,
                          struct error *err)
{
    const struct node *load = node_get(tree, "load"), *name = node_get(load, "adapter");
    const struct node *adapters = node_get(load, "adapters");

    *ret = tree;
    if (!adapters || load->kind != NODE_MAP)
        return 0;
    if (adapters->kind != NODE_NULL && check_sections(adapters, err) < 0)
        return -1;
    if (name && name->refers)
        return 0; /* not filled in yet */
    const struct node *chosen = with_key(a, load, "adapters", NULL);
    if (name && name->kind == NODE_SCALAR && adapters->kind == NODE_MAP) {
        const struct node *section = node_get(adapters, name->text);
        if (!section && check_name(adapters, name->text, err) < 0)
            return -1;
        if (section && section->kind == NODE_MAP) {
            if (check_twice(load, section, name->text, err) < 0)
                return -1;
            chosen = node_merge(a, chosen, section);
        }
    }
    *ret = with_key(a, tree, "load", chosen);
    return 0;
}
