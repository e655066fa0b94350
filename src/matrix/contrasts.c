/* SPDX-License-Identifier: MIT */
/*
 * `contrasts`: the questions that a sweep is to answer, said before it runs. Each is an axis whose values are
 * compared while all other axes are equal, "stack within framework, runtime, memory"; "stack x memory" asks
 * whether what the first makes of it changes along the second.
 */
#include "matrix_internal.h"

#define WITHIN " within "
#define BY " x "

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

/* A name up to `end`, without blanks around it. */
static struct node *name_node(struct arena *a, const char *from, const char *end, struct position at)
{
    from = skip_blanks(from);
    while (end > from && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return node_new_text(a, arena_strndup(a, from, (size_t)(end - from)), at);
}

static int two_values(const struct matrix *m, const struct node *n, size_t axis, struct error *err)
{
    if (m->axes[axis].len >= 2 || m->include_count)
        return 0;
    return node_error(err, n, "contrasts: axis '%s' has one value only: there is nothing to compare it with",
                      m->axes[axis].name);
}

/* What differs otherwise would be compared as well: every other axis is named, or none. */
static int check_within(struct builder *b, const struct node *n, const char *list, const struct contrast *c,
                        struct error *err)
{
    const struct matrix *m = b->m;
    CLEANUP_FREE bool *named = xcalloc(m->axis_count + 1, sizeof(*named));
    size_t other;

    named[c->axis] = true;
    if (c->by != SIZE_MAX)
        named[c->by] = true;
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        const char *end = p + strcspn(p, ",");
        const struct node *name = name_node(m->arena, p, end, n->at);
        if (builder_axis(b, name, "contrasts", &other, err) < 0)
            return -1;
        if (named[other])
            return node_error(err, n, "contrasts: axis '%s' is named twice", name->text);
        named[other] = true;
    }
    for (size_t i = 0; i < m->axis_count; i++) {
        if (named[i])
            continue;
        node_error(err, n, "contrasts: nothing is said of axis '%s'", m->axes[i].name);
        return error_hint(
            err,
            "all axes but the compared one stand behind 'within': scenarios that differ in another as well "
            "answer another question");
    }
    return 0;
}

static int read_contrast(struct builder *b, const struct node *n, struct contrast *ret, struct error *err)
{
    if (n->kind != NODE_SCALAR) {
        node_error(err, n, "a contrast is a text");
        return error_hint(err, "for instance: stack within framework, runtime, memory; or stack x memory");
    }
    struct arena *a = b->m->arena;
    const char *within = strstr(n->text, WITHIN), *end = within ? within : n->text + strlen(n->text);
    const char *by = strstr(n->text, BY);
    if (by && by >= end)
        by = NULL;
    ret->text = n->text;
    ret->by = SIZE_MAX;
    if (builder_axis(b, name_node(a, n->text, by ? by : end, n->at), "contrasts", &ret->axis, err) < 0 ||
        two_values(b->m, n, ret->axis, err) < 0)
        return -1;
    if (by && (builder_axis(b, name_node(a, by + strlen(BY), end, n->at), "contrasts", &ret->by, err) < 0 ||
               two_values(b->m, n, ret->by, err) < 0))
        return -1;
    if (ret->by == ret->axis)
        return node_error(err, n, "contrasts: axis '%s' stands on both sides of the x",
                          b->m->axes[ret->axis].name);
    return within ? check_within(b, n, within + strlen(WITHIN), ret, err) : 0;
}

int builder_read_contrasts(struct builder *b, struct error *err)
{
    const struct node *list = b->file.contrasts;
    struct matrix *m = b->m;

    if (!list || list->kind == NODE_NULL)
        return 0;
    if (list->kind != NODE_LIST) {
        node_error(err, list, "'contrasts' is a list");
        (void)error_hint(err, "for instance [\"stack within framework, memory\"]");
        return builder_problem(b, err);
    }
    m->contrasts = arena_array(m->arena, struct contrast, list->len + 1);
    for (size_t i = 0; i < list->len; i++) {
        struct contrast c = {0};
        bool twice = false;
        if (read_contrast(b, list->items[i], &c, err) < 0) {
            if (builder_problem(b, err) < 0)
                return -1;
            continue;
        }
        for (size_t k = 0; k < m->contrast_count; k++)
            twice |= m->contrasts[k].axis == c.axis && m->contrasts[k].by == c.by;
        if (twice &&
            node_error(err, list->items[i], "contrasts: axis '%s' is compared twice", m->axes[c.axis].name) &&
            builder_problem(b, err) < 0)
            return -1;
        if (!twice)
            m->contrasts[m->contrast_count++] = c;
    }
    return 0;
}
