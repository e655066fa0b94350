/* SPDX-License-Identifier: MIT */
/* What an edit changed: two plans compared scenario by scenario, in memory that does not grow with settings.
 */
#include <string.h>

#include "secrets.h"

struct change_list {
    struct arena *a;
    struct strbuf path;
    struct secrets secrets; /* of both sides */
    VEC(struct plan_setting) found;
};

/* One side of a setting: its value, and the node it was read from where the tree has one at the same place.
 */
struct side {
    const struct json *value;
    const struct node *node;
};

static struct side member(struct side s, const char *key)
{
    return (struct side){.value = json_get(s.value, key),
                         .node = s.node && s.node->kind == NODE_MAP ? node_get(s.node, key) : NULL};
}

static struct side item(struct side s, size_t i)
{
    return (struct side){.value = json_at(s.value, i),
                         .node = s.node && s.node->kind == NODE_LIST && i < s.node->len ? s.node->items[i]
                                                                                        : NULL};
}

static const char *hidden(struct change_list *c, const char *text)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf out = STRBUF_INIT;

    secrets_hide(&c->secrets, text, &out);
    return arena_strdup(c->a, strbuf_text(&out));
}

/* For people: a number as the matrix spells it (256m), where it does. Texts come from the JSON, where secrets
 * are masked. */
static const char *side_text(struct change_list *c, struct side s)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (!s.value)
        return NULL;
    if (json_text(s.value))
        return hidden(c, json_text(s.value));
    if (json_type_of(s.value) == JSON_TYPE_NUMBER && s.node && s.node->kind == NODE_SCALAR)
        return s.node->text;
    CLEANUP(json_free) struct json *shown = secrets_hide_json(&c->secrets, s.value);
    json_write(shown, JSON_STYLE_COMPACT, &text);
    return arena_strdup(c->a, strbuf_text(&text));
}

static bool is_object(const struct json *j)
{
    return j && json_type_of(j) == JSON_TYPE_OBJECT;
}

static bool is_object_list(const struct json *j)
{
    return j && json_type_of(j) == JSON_TYPE_ARRAY && is_object(json_at(j, 0));
}

static void compare(struct change_list *c, struct side before, struct side now);

static void compare_member(struct change_list *c, const char *key, struct side before, struct side now)
{
    size_t len = c->path.len;

    strbuf_addf(&c->path, "%s%s", len ? "." : "", key);
    compare(c, before, now);
    c->path.len = len;
}

static void compare_objects(struct change_list *c, struct side before, struct side now)
{
    for (void *it = json_iter(now.value); it; it = json_iter_next(now.value, it)) {
        const char *key = json_iter_key(it);
        compare_member(c, key, member(before, key), member(now, key));
    }
    for (void *it = json_iter(before.value); it; it = json_iter_next(before.value, it)) {
        const char *key = json_iter_key(it);
        if (!json_get(now.value, key))
            compare_member(c, key, member(before, key), (struct side){0});
    }
}

static void compare_lists(struct change_list *c, struct side before, struct side now)
{
    size_t len = json_len(before.value) > json_len(now.value) ? json_len(before.value) : json_len(now.value);
    char index[32];

    for (size_t i = 0; i < len; i++) {
        (void)snprintf(index, sizeof(index), "%zu", i);
        compare_member(c, index, item(before, i), item(now, i));
    }
}

static void compare(struct change_list *c, struct side before, struct side now)
{
    const struct json *b = before.value, *n = now.value;

    if (b && n && json_same(b, n))
        return;
    if ((is_object(b) || !b) && (is_object(n) || !n)) {
        compare_objects(c, (struct side){b, before.node}, (struct side){n, now.node});
    } else if ((is_object_list(b) || !b) && (is_object_list(n) || !n)) {
        compare_lists(c, before, now);
    } else {
        struct plan_setting s = {.path = arena_strdup(c->a, strbuf_text(&c->path)),
                                 .before = side_text(c, before),
                                 .after = side_text(c, now)};
        vec_push(&c->found, s);
    }
}

struct differ {
    const struct plan *now, *before;
    struct arena *a; /* reset for each scenario */
    struct arena *kept;
    struct name_index
        digests;   /* of scenarios of `before` whose id is gone → their index, the first of equal ones */
    bool *matched; /* per scenario of `before` */
    size_t same;
    plan_diff_fn *visit;
    void *data;
};

static const char *scenario_id(const struct plan *p, size_t i, struct arena *a)
{
    struct scenario s;

    plan_scenario(p, i, a, &s);
    return s.id;
}

static int compare_scenario(struct differ *d, size_t now_index, size_t before_index, struct error *err)
{
    struct resolved now, before;

    if (plan_resolve(d->now, now_index, d->a, &now, err) < 0 ||
        plan_resolve(d->before, before_index, d->a, &before, err) < 0)
        return -1;
    if (strcmp(now.digest, before.digest) == 0) {
        d->same++;
        return 0;
    }
    CLEANUP(json_free) struct json *j = plan_settings_json(d->now->m, &now.settings, true, d->a);
    CLEANUP(json_free) struct json *k = plan_settings_json(d->before->m, &before.settings, true, d->a);
    struct change_list c = {.a = d->a};
    secrets_add(&c.secrets, d->now, now_index, now.tree, d->a);
    secrets_add(&c.secrets, d->before, before_index, before.tree, d->a);
    compare(&c, (struct side){k, before.tree}, (struct side){j, now.tree});
    struct plan_difference difference = {.change = PLAN_CHANGED,
                                         .id = scenario_id(d->now, now_index, d->a),
                                         .settings = c.found.items,
                                         .setting_count = c.found.len};
    int result = d->visit(&difference, d->data, err);
    secrets_release(&c.secrets);
    vec_release(&c.found);
    strbuf_release(&c.path);
    return result;
}

/* Marks what has kept its id and collects the digests of what has not, if anything could be a new name for
 * it. */
static int find_matches(struct differ *d, struct error *err)
{
    size_t found = 0, index;

    for (size_t i = 0; i < d->now->counts.scenarios; i++) {
        if (plan_find(d->before, scenario_id(d->now, i, d->a), &index) == 0) {
            d->matched[index] = true;
            found++;
        }
        arena_reset(d->a);
    }
    if (found == d->now->counts.scenarios)
        return 0;
    for (size_t i = 0; i < d->before->counts.scenarios; i++) {
        struct resolved r;
        bool is_new;
        if (d->matched[i])
            continue;
        if (plan_resolve(d->before, i, d->a, &r, err) < 0)
            return -1;
        if (!name_index_get(&d->digests, r.digest))
            (void)name_index_put(&d->digests, arena_strdup(d->kept, r.digest), i, &is_new);
        arena_reset(d->a);
    }
    return 0;
}

static int report_new(struct differ *d, size_t now_index, struct error *err)
{
    struct resolved r;
    struct plan_difference difference = {.change = PLAN_ADDED, .id = scenario_id(d->now, now_index, d->a)};

    if (plan_resolve(d->now, now_index, d->a, &r, err) < 0)
        return -1;
    const size_t *gone = name_index_get(&d->digests, r.digest);
    if (gone && !d->matched[*gone]) {
        d->matched[*gone] = true;
        difference.change = PLAN_RENAMED;
        difference.old_id = scenario_id(d->before, *gone, d->a);
    }
    return d->visit(&difference, d->data, err);
}

static int report_all(struct differ *d, struct error *err)
{
    size_t index;
    int result = find_matches(d, err);

    for (size_t i = 0; i < d->now->counts.scenarios && result == 0; i++) {
        bool known = plan_find(d->before, scenario_id(d->now, i, d->a), &index) == 0;
        result = known ? compare_scenario(d, i, index, err) : report_new(d, i, err);
        arena_reset(d->a);
    }
    for (size_t i = 0; i < d->before->counts.scenarios && result == 0; i++) {
        if (d->matched[i])
            continue;
        struct plan_difference gone = {.change = PLAN_REMOVED, .id = scenario_id(d->before, i, d->a)};
        result = d->visit(&gone, d->data, err);
        arena_reset(d->a);
    }
    return result;
}

int plan_diff(const struct plan *now, const struct plan *before, plan_diff_fn *visit, void *data,
              size_t *ret_same, struct error *err)
{
    struct differ d = {.now = now, .before = before, .visit = visit, .data = data};

    d.a = arena_new();
    d.kept = arena_new();
    d.matched = xcalloc(before->counts.scenarios + 1, sizeof(*d.matched));
    int result = report_all(&d, err);
    if (result == 0)
        *ret_same = d.same;
    name_index_release(&d.digests);
    free(d.matched);
    arena_free(d.a);
    arena_free(d.kept);
    return result;
}
