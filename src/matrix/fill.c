/* SPDX-License-Identifier: MIT */
/* Trees with `${...}` → trees without. */
#include "matrix_internal.h"

#define FILL_MAX_BYTES ((size_t)16 << 20)

int fill_place_error(const struct node *n, struct error *err)
{
    struct error inner = *err;

    node_error(err, n, "%s", inner.message);
    err->kind = inner.kind;
    return inner.hint[0] ? error_hint(err, "%s", inner.hint) : -1;
}

/* 0 to go on with the text as it is. */
static int fill_problem(struct filling *f, const struct error *err)
{
    if (!f->report)
        return -1;
    f->failed = true;
    f->report(err, f->data);
    return 0;
}

static int fill_scalar(struct filling *f, const struct node *n, const struct node **ret, struct error *err)
{
    const struct node *whole = names_structure(&f->names, n->text);
    int result;

    if (whole) {
        *ret = whole;
        return 0;
    }
    f->at = n->at;
    f->text.max = TREE_MAX_SCALAR;
    strbuf_clear(&f->text);
    if (f->final)
        result = interpolate(n->text, names_lookup, f, &f->text, err);
    else
        result = interpolate_partly(n->text, names_lookup, f, &f->text, err);
    if (result < 0) {
        *ret = n;
        (void)fill_place_error(n, err);
        return fill_problem(f, err);
    }
    f->bytes += f->text.len;
    if (f->bytes > FILL_MAX_BYTES)
        return node_error(err, n, "more than %zu MiB of text when references are filled in",
                          FILL_MAX_BYTES >> 20);
    struct node *filled = arena_new_of(f->a, struct node);
    *filled = (struct node){.kind = NODE_SCALAR, .at = n->at};
    filled->text = arena_strndup(f->a, strbuf_text(&f->text), f->text.len);
    filled->refers = strstr(filled->text, "${") != NULL;
    *ret = filled;
    return 0;
}

int fill_tree(struct filling *f, const struct node *n, const struct node **ret, struct error *err)
{
    char shown[SHOWN_SIZE];

    if (!n->refers) {
        *ret = n;
        return 0;
    }
    if (n->kind == NODE_SCALAR)
        return fill_scalar(f, n, ret, err);
    struct node *copy = arena_new_of(f->a, struct node);
    *copy = *n;
    copy->refers = false;
    copy->items = arena_array(f->a, const struct node *, n->len);
    for (size_t i = 0; i < n->len; i++) {
        if (n->keys && n->keys[i]->refers) {
            node_error(err, n->keys[i], "a key cannot hold a reference: '%s'",
                       text_shown(n->keys[i]->text, shown));
            if (fill_problem(f, err) < 0)
                return -1;
        }
        if (fill_tree(f, n->items[i], &copy->items[i], err) < 0)
            return -1;
        copy->refers |= copy->items[i]->refers;
    }
    *ret = copy;
    return 0;
}

const struct node *fill_structures(struct filling *f, const struct node *n)
{
    struct node *copy = NULL;

    if (!n->refers)
        return n;
    if (n->kind == NODE_SCALAR) {
        const struct node *whole = names_structure(&f->names, n->text);
        return whole ? whole : n;
    }
    for (size_t i = 0; i < n->len; i++) {
        const struct node *item = fill_structures(f, n->items[i]);
        if (item == n->items[i])
            continue;
        if (!copy) {
            copy = arena_copy(f->a, n, sizeof(*n));
            copy->items = arena_array(f->a, const struct node *, n->len);
            for (size_t k = 0; k < n->len; k++)
                copy->items[k] = n->items[k];
        }
        copy->items[i] = item;
    }
    return copy ? copy : n;
}

void filling_release(struct filling *f)
{
    strbuf_release(&f->text);
    vec_release(&f->names.uses);
}
