/* SPDX-License-Identifier: MIT */
/* The end of a map while reading: every key once, and what `<<` brings in. */
#include "tree_internal.h"

/* The keys of a map being closed, and which were written in it rather than merged into it. */
struct map_end {
    const struct child *children;
    size_t count, room; /* room: with what comes by merging */
    struct name_index names;
    const struct node **keys, **items;
    size_t len;
};

static int duplicate_key(const struct node *key, const struct node *first, struct error *err)
{
    char shown[SHOWN_SIZE];

    node_error(err, key, "duplicate key '%s', first given on line %d", text_shown(key->text, shown),
               first->at.line);
    return error_hint(err, "remove one of the two");
}

static int check_merge_source(const struct node *key, const struct node *source, struct error *err)
{
    if (source->kind == NODE_MAP)
        return 0;
    return node_error(err, source->at.line ? source : key, "'<<' takes a map or a list of maps");
}

/* Every key once; merge sources are maps; how much room merging can need. */
static int check_keys(struct map_end *m, struct error *err)
{
    const struct node *merge = NULL;
    bool fresh;

    for (size_t i = 0; i < m->count; i++) {
        const struct child *c = &m->children[i];
        if (!c->merge) {
            size_t first = *name_index_put(&m->names, c->key->text, i, &fresh);
            if (!fresh)
                return duplicate_key(c->key, m->children[first].key, err);
            m->room++;
            continue;
        }
        if (merge)
            return duplicate_key(c->key, merge, err);
        merge = c->key;
        bool list = c->value->kind == NODE_LIST;
        for (size_t k = 0; k < (list ? c->value->len : 1); k++) {
            const struct node *source = list ? c->value->items[k] : c->value;
            if (check_merge_source(c->key, source, err) < 0)
                return -1;
            m->room += source->len;
        }
    }
    return 0;
}

static void merge_in(struct map_end *m, const struct node *source)
{
    bool fresh;

    for (size_t i = 0; i < source->len; i++) {
        (void)name_index_put(&m->names, source->keys[i]->text, 0, &fresh);
        if (!fresh)
            continue;
        m->keys[m->len] = source->keys[i];
        m->items[m->len++] = source->items[i];
    }
}

int tree_build_map(struct arena *a, struct node *n, const struct child *children, size_t count,
                   struct error *err)
{
    struct map_end m = {.children = children, .count = count};
    int result = check_keys(&m, err);

    if (result == 0) {
        m.keys = arena_array(a, const struct node *, m.room);
        m.items = arena_array(a, const struct node *, m.room);
        for (size_t i = 0; i < count; i++) {
            const struct child *c = &children[i];
            if (!c->merge) {
                m.keys[m.len] = c->key;
                m.items[m.len++] = c->value;
            } else if (c->value->kind == NODE_MAP) {
                merge_in(&m, c->value);
            } else {
                for (size_t k = 0; k < c->value->len; k++)
                    merge_in(&m, c->value->items[k]);
            }
        }
        n->keys = m.keys;
        n->items = m.items;
        n->len = m.len;
    }
    name_index_release(&m.names);
    return result;
}
