/* SPDX-License-Identifier: MIT */
/*
 * Which environment variables a matrix reads, and which of them are secret: by their own name, or because a
 * key under which they end is, also by way of a variable of the matrix.
 */
#include "record_inputs.h"

#include "benchctl/base/interpolate.h"
#include "benchctl/base/secrets.h"

struct collecting {
    struct env_names *names;
    struct arena *a;
    VEC(const char *) tainted; /* names of the matrix' own whose values are secret */
    bool secret, changed;      /* of the text that is looked at; something new was found */
};

static bool has_name(const char *const *list, size_t len, const char *name)
{
    for (size_t i = 0; i < len; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static void add_env(struct collecting *c, const char *name)
{
    const char *end = strstr(name, ":-");
    const char *variable = arena_strndup(c->a, name, end ? (size_t)(end - name) : strlen(name));

    if (c->secret || text_is_secret_key(variable)) {
        if (has_name(c->names->secret.items, c->names->secret.len, variable))
            return;
        vec_push(&c->names->secret, variable);
        c->changed = true;
    } else if (!has_name(c->names->plain.items, c->names->plain.len, variable)) {
        vec_push(&c->names->plain, variable);
    }
}

/* A secret text makes secret what it is made of. Of `${runtime.key}` that is the last word. */
static int visit(const char *name, void *data, struct error *err)
{
    struct collecting *c = data;
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;

    (void)err;
    if (strncmp(name, "env:", 4) == 0) {
        add_env(c, name + 4);
    } else if (c->secret && !has_name(c->tainted.items, c->tainted.len, last)) {
        vec_push(&c->tainted, arena_strdup(c->a, last));
        c->changed = true;
    }
    return 0;
}

static void walk(struct collecting *c, const struct node *n, bool secret)
{
    struct error ignored = ERROR_INIT;

    if (!n || !n->refers)
        return;
    c->secret = secret;
    if (n->kind == NODE_SCALAR)
        (void)!each_reference(n->text, visit, c, &ignored);
    for (size_t i = 0; i < n->len; i++) {
        const char *key = n->keys ? n->keys[i]->text : NULL;
        walk(c, n->items[i],
             secret || (key && (text_is_secret_key(key) || strcmp(key, "webhook") == 0 ||
                                has_name(c->tainted.items, c->tainted.len, key))));
    }
}

void env_names_collect(const struct matrix *m, struct arena *a, struct env_names *ret)
{
    struct collecting c = {.names = ret, .a = a};

    do { /* until no name becomes secret any more: each round adds one, or is the last */
        c.changed = false;
        walk(&c, m->root, false);
    } while (c.changed);
    size_t kept = 0;
    vec_each (name, &ret->plain)
        if (!has_name(ret->secret.items, ret->secret.len, *name))
            ret->plain.items[kept++] = *name;
    ret->plain.len = kept;
    vec_release(&c.tainted);
}

void record_learn_secrets(const struct matrix *m)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP_VALUE(env_names_release) struct env_names names = {0};

    env_names_collect(m, a, &names);
    vec_each (name, &names.secret)
        secrets_learn_of(m->env ? text_map_get(m->env, *name) : getenv(*name), *name);
    vec_each (name, &names.plain)
        secrets_learn_passwords(m->env ? text_map_get(m->env, *name) : getenv(*name));
}

void env_names_release(struct env_names *n)
{
    vec_release(&n->plain);
    vec_release(&n->secret);
}
