/* SPDX-License-Identifier: MIT */
/* `--set path.to.key=VALUE`: the matrix as if it had been written that way. */
#include "matrix_internal.h"

/* The value as YAML; what is not YAML by itself, such as "@x", can be quoted by the caller. */
static int read_value(struct arena *a, const char *name, const char *text, const struct node **ret,
                      struct error *err)
{
    struct position at = {.file = name};
    size_t i = strspn(text, " ");

    if (!text[i]) {
        *ret = node_new_text(a, "", at);
        return 0;
    }
    if (strcmp(text + i, "~") == 0 || strcmp(text + i, "null") == 0) {
        *ret = node_new(a, NODE_NULL, at);
        return 0;
    }
    return tree_parse(text, strlen(text), name, a, ret, err);
}

static int apply_set(struct builder *b, const char *set, struct error *err)
{
    const char *equals = strchr(set, '=');
    struct arena *a = b->m->arena;
    const struct node *value = NULL;
    char shown[SHOWN_SIZE];

    if (!equals || equals == set) {
        (void)error_set(err, ERROR_USAGE, "--set '%s' is not PATH=VALUE", text_shown(set, shown));
        return error_hint(err, "for instance --set load.duration=10s");
    }
    const char *path = arena_strndup(a, set, (size_t)(equals - set));
    const char *name = arena_printf(a, "--set %s", text_shown(path, shown));
    if (read_value(a, name, equals + 1, &value, err) < 0)
        return -1;
    if (node_set_path(a, b->m->root, path, value, &b->m->root, err) < 0)
        return error_wrap(err, "--set");
    return 0;
}

int builder_apply_sets(struct builder *b, struct error *err)
{
    for (size_t i = 0; i < b->options->set_count; i++) {
        if (apply_set(b, b->options->sets[i], err) < 0)
            return -1;
    }
    return 0;
}
