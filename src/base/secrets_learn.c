/* SPDX-License-Identifier: MIT */
/* What in settings is secret, and texts of JSON that hold one. */
#include "benchctl/base/secrets.h"

#include <stdlib.h>
#include <string.h>
#include "benchctl/base/interpolate.h"
#include "benchctl/base/schema.h"

#define REFERENCE "secret:"

static void learn_passwords(const char *text, const char *source)
{
    const char *found;
    size_t len;

    while (text && (found = text_next_password(text, &len))) {
        CLEANUP_FREE char *password = xstrndup(found, len);
        secrets_learn_of(password, source);
        text = found + len;
    }
}

void secrets_learn_passwords(const char *text)
{
    learn_passwords(text, NULL);
}

static int learn_reference(const char *name, void *data, struct error *err)
{
    (void)data;
    (void)err;
    if (text_starts(name, REFERENCE))
        secrets_learn_of(getenv(name + strlen(REFERENCE)), name);
    return 0;
}

static bool stands_openly(const struct node *n, const char *value)
{
    if (n->kind == NODE_SCALAR)
        return strcmp(n->text, value) == 0;
    for (size_t i = 0; i < n->len; i++)
        if (!(n->keys && text_is_secret_key(n->keys[i]->text)) && stands_openly(n->items[i], value))
            return true;
    return false;
}

/* A tree on its way, and where in it one is: "app.env.DB_PASSWORD". */
struct learning {
    const struct node *root;
    struct strbuf path;
};

static void learn(struct learning *l, const struct node *n, bool secret)
{
    struct error ignored = ERROR_INIT;
    size_t len = l->path.len;

    if (n->kind == NODE_SCALAR) {
        (void)!each_reference(n->text, learn_reference, NULL, &ignored);
        learn_passwords(n->text, strbuf_text(&l->path));
        if (secret && !strstr(n->text, "${") && !stands_openly(l->root, n->text))
            secrets_learn_of(n->text, strbuf_text(&l->path));
    }
    for (size_t i = 0; i < n->len; i++) {
        const char *key = n->keys ? n->keys[i]->text : NULL;
        if (key)
            strbuf_addf(&l->path, "%s%s", len ? "." : "", key);
        else
            strbuf_addf(&l->path, "[%zu]", i);
        learn(l, n->items[i], secret || (key && text_is_secret_key(key)));
        l->path.data[l->path.len = len] = '\0';
    }
}

static void spare_names(const struct node *n)
{
    for (size_t i = 0; i < n->len; i++) {
        const struct node *below = n->items[i];
        const char *key = n->keys ? n->keys[i]->text : "";
        if (below->kind == NODE_SCALAR && strcmp(key, "image") == 0)
            secrets_spare(SECRET_IN_IMAGE, below->text);
        for (size_t k = 0; below->keys && strcmp(key, "services") == 0 && k < below->len; k++)
            secrets_spare(SECRET_IN_SERVICE, below->keys[k]->text);
        spare_names(below);
    }
}

void secrets_learn_tree(const struct node *n)
{
    struct learning l = {.root = n};

    if (!n)
        return;
    spare_names(n);
    learn(&l, n, false);
    strbuf_release(&l.path);
}

/* What is under these names is compared, looked for and sealed. */
static bool names_things(const char *key)
{
    static const char *const names[] = {"scenario",        "id",     "axes",   "outcome", "digest",
                                        "sha256",          "run_id", "name",   "role",    "event",
                                        "matrix_from_dir", "matrix", "filters"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

bool secrets_mask_json(struct json *j)
{
    return j && secrets_known() && json_edit_texts(j, secrets_mask, names_things);
}
