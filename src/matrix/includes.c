/* SPDX-License-Identifier: MIT */
/* `include`: whole scenarios. */
#include "matrix_internal.h"

/* A key that is no axis becomes a variable. */
static int check_extra(const struct node *key, const struct node *value, struct error *err)
{
    char shown[SHOWN_SIZE];

    if (value->kind == NODE_SCALAR)
        return 0;
    return node_error(err, value, "include: variable '%s' must be text", text_shown(key->text, shown));
}

static int missing_axis(const struct builder *b, const struct node *item, const struct axis *axis,
                        struct error *err)
{
    CLEANUP_FREE const char **extra = xcalloc(item->len + 1, sizeof(*extra));
    size_t count = 0;

    for (size_t i = 0; i < item->len; i++) {
        if (builder_find_axis(b, item->keys[i]->text) == b->m->axis_count)
            extra[count++] = item->keys[i]->text;
    }
    node_error(err, item, "include: no value for axis '%s'", axis->name);
    const char *near = nearest_name(axis->name, extra, count);
    if (near)
        return error_hint(err, "is '%s' meant to be '%s'?", near, axis->name);
    return error_hint(
        err, "include adds whole scenarios and names every axis; overrides change scenarios that are there");
}

/* The item's keys beyond the axes, as a map of their own. */
static int read_extra(struct builder *b, const struct node *item, struct include_rule *rule,
                      struct error *err)
{
    struct arena *a = b->m->arena;
    struct node *extra = node_new(a, NODE_MAP, item->at);

    extra->keys = arena_array(a, const struct node *, item->len);
    extra->items = arena_array(a, const struct node *, item->len);
    for (size_t i = 0; i < item->len; i++) {
        if (text_starts(item->keys[i]->text, "x-") ||
            builder_find_axis(b, item->keys[i]->text) < b->m->axis_count)
            continue;
        if (check_extra(item->keys[i], item->items[i], err) < 0)
            return -1;
        extra->keys[extra->len] = item->keys[i];
        extra->items[extra->len++] = item->items[i];
    }
    rule->extra = extra->len ? extra : NULL;
    return 0;
}

static int read_include(struct builder *b, const struct node *item, struct include_rule *rule,
                        struct error *err)
{
    struct matrix *m = b->m;
    bool fresh;

    if (item->kind != NODE_MAP)
        return node_error(err, item, "include: an item must be a map of axes and values");
    *rule = (struct include_rule){.item = item, .at = item->at};
    rule->values = arena_array(m->arena, const char *, m->axis_count);
    for (size_t i = 0; i < m->axis_count; i++) {
        const struct node *value = node_get(item, m->axes[i].name);
        if (!value)
            return missing_axis(b, item, &m->axes[i], err);
        for (size_t k = 0; k < value->len; k++)
            m->has_structures |= value->items[k]->kind == NODE_LIST || value->items[k]->kind == NODE_MAP;
        char name[AXIS_NAME_SIZE];
        if (axis_value_text(value, m->axes[i].name, &rule->values[i], err) < 0)
            return -1;
        if (m->axes[i].search)
            rule->values[i] = arena_strdup(m->arena, axis_value_name(&m->axes[i], rule->values[i], name));
    }
    for (size_t i = 0; i < m->axis_count; i++)
        (void)name_index_put(&b->value_index[i], rule->values[i], b->value_index[i].len, &fresh);
    return read_extra(b, item, rule, err);
}

/* All names that some include brings, each once: a reference to one is no misspelling. */
static void collect_extras(struct builder *b)
{
    struct matrix *m = b->m;
    CLEANUP_VALUE(name_index_release) struct name_index seen = NAME_INDEX_INIT;
    VEC(const char *) names = {0};
    bool fresh;

    for (size_t i = 0; i < m->include_count; i++) {
        const struct node *extra = m->includes[i].extra;
        for (size_t k = 0; extra && k < extra->len; k++) {
            (void)name_index_put(&seen, extra->keys[k]->text, 0, &fresh);
            if (fresh)
                vec_push(&names, extra->keys[k]->text);
        }
    }
    m->extras.items = arena_copy(m->arena, names.items, names.len * sizeof(*names.items));
    m->extras.len = names.len;
    vec_release(&names);
}

int builder_read_includes(struct builder *b, struct error *err)
{
    const struct node *list = b->file.include;
    struct matrix *m = b->m;

    if (!list)
        return 0;
    if (list->kind != NODE_LIST) {
        node_error(err, list, "'include' must be a list of maps");
        return builder_problem(b, err);
    }
    m->includes = arena_array(m->arena, struct include_rule, list->len);
    for (size_t i = 0; i < list->len; i++) {
        if (read_include(b, list->items[i], &m->includes[m->include_count], err) == 0)
            m->include_count++;
        else if (builder_problem(b, err) < 0)
            return -1;
    }
    collect_extras(b);
    return 0;
}
