/* SPDX-License-Identifier: MIT */
/* `exclude` and `overrides`: conditions on axes. */
#include "matrix_internal.h"

/* The index of a value, which may be one that only an include brings. */
static int find_value(const struct builder *b, const char *rule, size_t axis, const struct node *n,
                      uint32_t *ret, struct error *err)
{
    const struct axis *x = &b->m->axes[axis];
    char shown[SHOWN_SIZE], name[AXIS_NAME_SIZE];

    if (n->kind != NODE_SCALAR) {
        node_error(err, n, "%s: a value of axis '%s' is named by its text", rule, x->name);
        return error_hint(err, "a value, or a list of values, any of which matches");
    }
    const size_t *index = name_index_get(&b->value_index[axis], axis_value_name(x, n->text, name));
    if (index) {
        *ret = (uint32_t)*index;
        return 0;
    }
    CLEANUP_FREE const char **names = xcalloc(x->len + 1, sizeof(*names));
    for (size_t i = 0; i < x->len; i++)
        names[i] = x->values[i].text;
    node_error(err, n, "%s: axis '%s' has no value '%s'", rule, x->name, text_shown(n->text, shown));
    const char *near = nearest_name(n->text, names, x->len);
    return near ? error_hint(err, "did you mean '%s'?", near) : error_hint(err, "the rule would never match");
}

static int read_term(const struct builder *b, const char *rule, const struct node *key,
                     const struct node *value, struct condition_term *ret, struct error *err)
{
    bool list = value->kind == NODE_LIST;
    size_t len = list ? value->len : 1;
    uint32_t *values = arena_array(b->m->arena, uint32_t, len);

    if (builder_axis(b, key, rule, &ret->axis, err) < 0)
        return -1;
    if (!len)
        return node_error(err, value, "%s: an empty list of values matches nothing", rule);
    for (size_t i = 0; i < len; i++) {
        if (find_value(b, rule, ret->axis, list ? value->items[i] : value, &values[i], err) < 0)
            return -1;
    }
    ret->values = values;
    ret->len = len;
    return 0;
}

static int read_condition(struct builder *b, const char *rule, const struct node *map, struct condition *ret,
                          struct error *err)
{
    *ret = (struct condition){.at = map->at};
    if (map->kind != NODE_MAP)
        return node_error(err, map, "%s: a condition must be a map of axes and values", rule);
    ret->terms = arena_array(b->m->arena, struct condition_term, map->len);
    for (size_t i = 0; i < map->len; i++) {
        if (text_starts(map->keys[i]->text, "x-"))
            continue;
        if (read_term(b, rule, map->keys[i], map->items[i], &ret->terms[ret->len], err) < 0)
            return -1;
        ret->len++;
    }
    return 0;
}

int builder_read_excludes(struct builder *b, struct error *err)
{
    const struct node *list = b->file.exclude;
    struct matrix *m = b->m;

    if (!list)
        return 0;
    if (list->kind != NODE_LIST) {
        node_error(err, list, "'exclude' must be a list of maps");
        return builder_problem(b, err);
    }
    m->excludes = arena_array(m->arena, struct condition, list->len);
    for (size_t i = 0; i < list->len; i++) {
        struct condition *c = &m->excludes[m->exclude_count];
        int result = read_condition(b, "exclude", list->items[i], c, err);
        if (result == 0 && !c->len)
            result =
                node_error(err, list->items[i], "exclude: an item without axes would exclude everything");
        if (result == 0)
            m->exclude_count++;
        else if (builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}

int rule_set(const struct node *set, const char *who, struct error *err)
{
    const char *names[64];
    size_t count = 0;
    char shown[SHOWN_SIZE];

    if (set->kind != NODE_MAP)
        return node_error(err, set, "'set' must be a map of settings");
    for (size_t i = 0; i < set->len; i++) {
        const struct node *key = set->keys[i];
        if (is_settings_key(key->text) || text_starts(key->text, "x-"))
            continue;
        for (; count < settings_schema.field_count && count < ARRAY_LEN(names); count++)
            names[count] = settings_schema.fields[count].key;
        node_error(err, key, "%s cannot set '%s'", who, text_shown(key->text, shown));
        const char *near = nearest_name(key->text, names, count);
        return near ? error_hint(err, "did you mean '%s'?", near)
                    : error_hint(err, "what a scenario does can be set: app, services, database, load, ...");
    }
    return 0;
}

static int read_override(struct builder *b, const struct node *item, struct override_rule *rule,
                         struct error *err)
{
    static const char *const known[] = {"when", "set"};
    const struct node *when = node_get(item, "when"), *set = node_get(item, "set");
    char shown[SHOWN_SIZE];

    if (item->kind != NODE_MAP)
        return node_error(err, item, "overrides: an item must be a map of 'when' and 'set'");
    for (size_t i = 0; i < item->len; i++) {
        const char *key = item->keys[i]->text;
        if (strcmp(key, "when") == 0 || strcmp(key, "set") == 0 || text_starts(key, "x-"))
            continue;
        node_error(err, item->keys[i], "unknown key '%s' in an override", text_shown(key, shown));
        const char *near = nearest_name(key, known, ARRAY_LEN(known));
        return near ? error_hint(err, "did you mean '%s'?", near)
                    : error_hint(err, "known here: when or set");
    }
    if (!set)
        return node_error(err, item, "'set' is missing in an override");
    if (when && read_condition(b, "overrides", when, &rule->when, err) < 0)
        return -1;
    rule->when.at = item->at;
    rule->set = set;
    return rule_set(set, "overrides", err);
}

int builder_read_overrides(struct builder *b, struct error *err)
{
    const struct node *list = b->file.overrides;
    struct matrix *m = b->m;

    if (!list)
        return 0;
    if (list->kind != NODE_LIST) {
        node_error(err, list, "'overrides' must be a list of maps");
        return builder_problem(b, err);
    }
    m->overrides = arena_array(m->arena, struct override_rule, list->len);
    for (size_t i = 0; i < list->len; i++) {
        if (read_override(b, list->items[i], &m->overrides[m->override_count], err) == 0)
            m->override_count++;
        else if (builder_problem(b, err) < 0)
            return -1;
    }
    return 0;
}
