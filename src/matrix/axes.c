/* SPDX-License-Identifier: MIT */
/* Axes, what is zipped, and the scenarios that `include` adds. */
#include "matrix_internal.h"

#include <ctype.h>

size_t builder_find_axis(const struct builder *b, const char *name)
{
    size_t i = 0;

    while (i < b->m->axis_count && strcmp(b->m->axes[i].name, name) != 0)
        i++;
    return i;
}

int builder_axis(const struct builder *b, const struct node *key, const char *rule, size_t *ret,
                 struct error *err)
{
    const struct matrix *m = b->m;
    char shown[SHOWN_SIZE];

    *ret = builder_find_axis(b, key->text);
    if (*ret < m->axis_count)
        return 0;
    CLEANUP_FREE const char **names = xcalloc(m->axis_count + 1, sizeof(*names));
    for (size_t i = 0; i < m->axis_count; i++)
        names[i] = m->axes[i].name;
    node_error(err, key, "%s: unknown axis '%s'", rule, text_shown(key->text, shown));
    const char *near = nearest_name(key->text, names, m->axis_count);
    return near ? error_hint(err, "did you mean '%s'?", near)
                : error_hint(err, "rules name axes and their values");
}

int axis_value_text(const struct node *n, const char *axis, const char **ret, struct error *err)
{
    const struct node *name = n->kind == NODE_MAP ? node_get(n, "name") : n;

    if (n->kind == NODE_LIST)
        return node_error(err, n, "a value of axis '%s' must be text or a map with a name, not a list", axis);
    if (!name) {
        node_error(err, n, "a value of axis '%s' with fields needs a 'name'", axis);
        return error_hint(err, "write {name: jvm, tag: ...}: the name stands in ids, rules and reports");
    }
    if (name->kind == NODE_NULL || (name->kind == NODE_SCALAR && !*name->text)) {
        node_error(err, name, "axis '%s' has an empty value", axis);
        return error_hint(err, "null, ~ and nothing are no values; the word null needs quotes");
    }
    if (name->kind != NODE_SCALAR)
        return node_error(err, name, "the name of a value of axis '%s' must be text", axis);
    if (has_reference(name->text))
        return node_error(err, name, "a value of axis '%s' cannot depend on what is known only later", axis);
    *ret = name->text;
    return 0;
}

static bool is_free_key(const struct node *key)
{
    return text_starts(key->text, "x-");
}

static int check_axis_name(const struct builder *b, const struct node *key, struct error *err)
{
    char shown[SHOWN_SIZE];
    bool good = isalpha((unsigned char)key->text[0]) || key->text[0] == '_';

    for (const char *p = key->text; *p; p++)
        good = good && (isalnum((unsigned char)*p) || *p == '_' || *p == '-');
    if (!good || strlen(key->text) > 63) {
        node_error(err, key, "'%s' cannot be the name of an axis", text_shown(key->text, shown));
        return error_hint(err, "letters, digits, _ and -, beginning with a letter, at most 63");
    }
    if (node_get(b->m->vars, key->text)) {
        node_error(err, key, "'%s' is both an axis and one of vars", key->text);
        return error_hint(err, "${%s} would mean two things; rename one", key->text);
    }
    return 0;
}

static int add_value(struct builder *b, size_t axis, const struct node *n, struct error *err)
{
    struct axis *x = &b->m->axes[axis];
    const char *text = "";
    char shown[SHOWN_SIZE];
    bool fresh;

    if (axis_value_text(n, x->name, &text, err) < 0)
        return -1;
    size_t first = *name_index_put(&b->value_index[axis], text, x->len, &fresh);
    if (!fresh)
        return node_error(err, n, "axis '%s' has the value '%s' twice, first on line %d", x->name,
                          text_shown(text, shown), x->values[first].at.line);
    for (size_t i = 0; i < n->len; i++)
        b->m->has_structures |= n->items[i]->kind == NODE_LIST || n->items[i]->kind == NODE_MAP;
    x->values[x->len++] =
        (struct axis_value){.text = text, .fields = n->kind == NODE_MAP ? n : NULL, .at = n->at};
    return 0;
}

/* `memory: {search: ...}`. */
static int read_searched(struct builder *b, const struct node *key, const struct node *map, struct error *err)
{
    struct matrix *m = b->m;
    struct axis x = {.name = key->text, .at = key->at};
    bool fresh;

    if (builder_read_search(b, &x, map, err) < 0)
        return -1;
    for (size_t i = 0; i < x.len; i++)
        (void)name_index_put(&b->value_index[m->axis_count], x.values[i].text, i, &fresh);
    m->axes[m->axis_count++] = x;
    return 0;
}

static int read_axis(struct builder *b, const struct node *key, const struct node *list, struct error *err)
{
    struct matrix *m = b->m;
    struct axis *x = &m->axes[m->axis_count];
    bool one = list->kind == NODE_SCALAR;

    if (check_axis_name(b, key, err) < 0)
        return -1;
    if (list->kind == NODE_MAP)
        return read_searched(b, key, list, err);
    if (!one && list->kind != NODE_LIST)
        return node_error(err, list, "axis '%s' must be a list of values", key->text);
    if (!one && !list->len) {
        node_error(err, list, "axis '%s' has no values", key->text);
        return error_hint(err, "an axis without values leaves no scenario; remove it or give it one");
    }
    *x = (struct axis){.name = key->text, .at = key->at};
    x->values = arena_array(m->arena, struct axis_value, one ? 1 : list->len);
    size_t axis = m->axis_count++;
    for (size_t i = 0; i < (one ? 1 : list->len); i++) {
        if (add_value(b, axis, one ? list : list->items[i], err) < 0 && builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}

int builder_read_axes(struct builder *b, struct error *err)
{
    const struct node *axes = b->file.axes;

    if (!axes)
        return 0;
    if (axes->kind != NODE_MAP) {
        node_error(err, axes, "'axes' must be a map of names and lists of values");
        return builder_problem(b, err);
    }
    if (axes->len > MATRIX_MAX_AXES) {
        node_error(err, axes, "more than %d axes", MATRIX_MAX_AXES);
        return builder_problem(b, err);
    }
    b->m->axes = arena_array(b->m->arena, struct axis, axes->len);
    b->value_index = xcalloc(axes->len + 1, sizeof(*b->value_index));
    for (size_t i = 0; i < axes->len; i++) {
        if (is_free_key(axes->keys[i]))
            continue;
        if (read_axis(b, axes->keys[i], axes->items[i], err) < 0 && builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}

static int read_group(struct builder *b, const struct node *list, bool *used, struct zip_group *ret,
                      struct error *err)
{
    size_t *axes = arena_array(b->m->arena, size_t, list->len);

    if (list->kind != NODE_LIST || list->len < 2) {
        node_error(err, list, "'zip' takes lists of at least two axis names");
        return error_hint(err, "write zip: [[memory, heap]]: each inner list advances together");
    }
    for (size_t i = 0; i < list->len; i++) {
        const struct node *name = list->items[i];
        if (name->kind != NODE_SCALAR)
            return node_error(err, name, "'zip' takes names of axes");
        if (builder_axis(b, name, "zip", &axes[i], err) < 0)
            return -1;
        const struct axis *x = &b->m->axes[axes[i]], *first = &b->m->axes[axes[0]];
        if (used[axes[i]])
            return node_error(err, name, "axis '%s' is zipped twice", x->name);
        used[axes[i]] = true;
        if (x->search) {
            node_error(err, name, "axis '%s' is searched and cannot be zipped", x->name);
            return error_hint(
                err, "its values are chosen while the sweep runs; let the settings follow from ${%s}",
                x->name);
        }
        if (x->len != first->len)
            return node_error(err, name, "zipped axes differ in length: '%s' has %zu values, '%s' has %zu",
                              first->name, first->len, x->name, x->len);
    }
    *ret = (struct zip_group){.axes = axes, .len = list->len};
    return 0;
}

int builder_read_zip(struct builder *b, struct error *err)
{
    const struct node *zip = b->file.zip;
    struct matrix *m = b->m;

    if (!zip)
        return 0;
    if (zip->kind != NODE_LIST) {
        node_error(err, zip, "'zip' must be a list of lists of axis names");
        return builder_problem(b, err);
    }
    CLEANUP_FREE bool *used = xcalloc(m->axis_count + 1, sizeof(*used));
    struct zip_group *groups = arena_array(m->arena, struct zip_group, zip->len);
    m->zip.items = groups;
    for (size_t i = 0; i < zip->len; i++) {
        if (read_group(b, zip->items[i], used, &groups[m->zip.len], err) == 0)
            m->zip.len++;
        else if (builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}
