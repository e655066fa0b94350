/* SPDX-License-Identifier: MIT */
/* `vars:` constants, which may use each other and the environment. */
#include "matrix_internal.h"

#define VARS_MAX_DEPTH 64

enum var_state { VAR_RAW, VAR_OPEN, VAR_DONE, VAR_BAD };

struct variables {
    struct builder *b;
    const struct node *written;
    struct node *filled; /* the same keys; items become final one by one */
    struct name_index index;
    enum var_state *states;
    int depth;
    size_t bytes;
    bool placed; /* the error has a position already */
};

static int fill_variable(struct variables *v, size_t i, struct error *err);

static enum lookup_result look_up(const char *name, struct strbuf *out, void *data, struct error *err)
{
    struct variables *v = data;
    const size_t *i = name_index_get(&v->index, name);
    struct filling plain = {.names = {.m = v->b->m}};

    if (!i)
        return names_lookup(name, out, &plain, err); /* env and secret; anything else is unknown */
    if (fill_variable(v, *i, err) < 0) {
        v->placed = true;
        return LOOKUP_FAILED;
    }
    strbuf_adds(out, v->filled->items[*i]->text);
    return LOOKUP_FOUND;
}

static int check_variable(const struct node *key, const struct node *value, struct error *err)
{
    char shown[SHOWN_SIZE];

    for (const char *p = key->text; *p; p++) {
        bool word = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_';
        if (!word && (p == key->text || !((*p >= '0' && *p <= '9') || *p == '-')))
            return node_error(err, key, "'%s' cannot be the name of a variable: letters, digits, _ and -",
                              text_shown(key->text, shown));
    }
    if (value->kind == NODE_SCALAR)
        return 0;
    return node_error(err, value, "variable '%s' must be text", text_shown(key->text, shown));
}

/* The text of one that has not been seen yet, filled in after what it uses. */
static int fill_text(struct variables *v, size_t i, struct error *err)
{
    const struct node *n = v->written->items[i];
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = TREE_MAX_SCALAR};

    if (interpolate_partly(n->text, look_up, v, &text, err) < 0)
        return v->placed ? -1 : fill_place_error(n, err);
    v->bytes += text.len;
    if (v->bytes > TREE_MAX_BYTES)
        return node_error(err, n, "the variables make more than %zu MiB of text", TREE_MAX_BYTES >> 20);
    struct node *filled = node_new_text(v->b->m->arena, strbuf_text(&text), n->at);
    v->filled->items[i] = filled;
    v->filled->refers |= filled->refers;
    return 0;
}

static int fill_variable(struct variables *v, size_t i, struct error *err)
{
    const struct node *key = v->written->keys[i];
    char shown[SHOWN_SIZE];

    if (v->states[i] == VAR_DONE)
        return 0;
    if (v->states[i] == VAR_BAD)
        return node_error(err, key, "variable '%s' cannot be filled in", text_shown(key->text, shown));
    if (v->states[i] == VAR_OPEN)
        return node_error(err, key, "variable '%s' refers to itself", text_shown(key->text, shown));
    if (check_variable(key, v->written->items[i], err) < 0) {
        v->states[i] = VAR_BAD;
        return -1;
    }
    if (v->depth == VARS_MAX_DEPTH)
        return node_error(err, key, "variables refer to each other over more than %d steps", VARS_MAX_DEPTH);
    v->states[i] = VAR_OPEN;
    v->placed = false;
    v->depth++;
    int result = fill_text(v, i, err);
    v->depth--;
    v->states[i] = result < 0 ? VAR_BAD : VAR_DONE;
    return result;
}

static int fill_all(struct variables *v, struct error *err)
{
    for (size_t i = 0; i < v->written->len; i++) {
        if (v->states[i] == VAR_BAD)
            continue; /* said when it was met */
        if (fill_variable(v, i, err) < 0 && builder_problem(v->b, err) < 0)
            return -1;
    }
    return 0;
}

int builder_read_vars(struct builder *b, struct error *err)
{
    const struct node *vars = node_get(b->m->root, "vars");
    struct arena *a = b->m->arena;
    struct variables v = {.b = b, .written = vars};
    bool fresh;

    if (!vars)
        return 0;
    if (vars->kind != NODE_MAP) {
        node_error(err, vars, "'vars' must be a map of names and texts");
        return builder_problem(b, err);
    }
    v.filled = arena_copy(a, vars, sizeof(*vars));
    v.filled->refers = false;
    v.filled->items = arena_array(a, const struct node *, vars->len);
    for (size_t i = 0; i < vars->len; i++) {
        v.filled->items[i] = node_new_text(a, "", vars->items[i]->at);
        (void)name_index_put(&v.index, vars->keys[i]->text, i, &fresh);
    }
    v.states = xcalloc(vars->len + 1, sizeof(*v.states));
    b->m->vars = v.filled;
    int result = fill_all(&v, err);
    free(v.states);
    name_index_release(&v.index);
    return result;
}
