/* SPDX-License-Identifier: MIT */
/* What the names in `${...}` mean. */
#include "matrix_internal.h"

/* Of the app and each service; the database has more. */
static const char *const container_names[] = {"host", "port", "url"};
static const char *const database_names[] = {"host", "port", "url", "name", "user"};
/* Words that begin the names of a trial's numbers, services apart. */
static const char *const number_sections[] = {"load", "app",      "database", "metrics",
                                              "host", "services", "floor",    "scrapes"};
static const char *const number_names[] = {"startup_ms",  "ready_ms", "duration_ms", "setup_ms",
                                           "overhead_ms", "trial",    "attempt"};

static bool is_one_of(const char *text, size_t len, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(list[i]) == len && memcmp(list[i], text, len) == 0)
            return true;
    }
    return false;
}

/* A value from outside is text: what looks like a reference in it is none, also for a later pass. */
static void add_outside_text(struct strbuf *out, const char *text, bool final)
{
    const char *p;

    while (!final && (p = strstr(text, "${"))) {
        strbuf_add(out, text, (size_t)(p - text));
        strbuf_adds(out, "$${");
        text = p + 2;
    }
    strbuf_adds(out, text);
}

/* The process' environment, or what stands for it. */
static const char *environment(const struct matrix *m, const char *variable)
{
    return m->env ? text_map_get(m->env, variable) : getenv(variable);
}

static enum lookup_result look_up_env(const struct filling *f, const char *name, struct strbuf *out,
                                      struct error *err)
{
    const char *fallback = strstr(name, ":-");
    size_t len = fallback ? (size_t)(fallback - name) : strlen(name);
    char *variable = xstrndup(name, len);
    const char *value = environment(f->names.m, variable);

    if (fallback && (!value || !*value))
        value = fallback + 2;
    if (value) {
        add_outside_text(out, value, f->final);
    } else {
        (void)error_set(err, ERROR_INVALID, "environment variable '%s' is not set", variable);
        (void)error_hint(err, "set it, or give a default: ${env:%s:-VALUE}", variable);
    }
    free(variable);
    return value ? LOOKUP_FOUND : LOOKUP_FAILED;
}

static size_t find_axis(const struct names *n, const char *name, size_t len)
{
    size_t i = 0;

    while (i < n->m->axis_count && !(strncmp(n->m->axes[i].name, name, len) == 0 && !n->m->axes[i].name[len]))
        i++;
    return i;
}

/* The node that `${axis.a.b}` leads to below the axis' value of this combination; NULL when there is none. */
static const struct node *axis_field(const struct names *n, size_t axis, const char *path)
{
    const struct node *node = n->combination->values[axis]->fields;
    char key[256];

    while (node && *path) {
        size_t len = strcspn(path, ".");
        if (len >= sizeof(key))
            return NULL;
        memcpy(key, path, len);
        key[len] = '\0';
        node = node_get(node, key);
        path += len + (path[len] == '.');
    }
    return node;
}

static enum lookup_result found_node(const struct node *node, const char *name, struct strbuf *out,
                                     struct error *err)
{
    if (node->kind == NODE_SCALAR) {
        strbuf_adds(out, node->text);
        return LOOKUP_FOUND;
    }
    if (node->kind == NODE_NULL)
        (void)error_set(err, ERROR_INVALID, "'${%s}' has no value", name);
    else
        (void)error_set(err, ERROR_INVALID, "'${%s}' is a %s and cannot be a part of a text", name,
                        node->kind == NODE_LIST ? "list" : "map");
    return LOOKUP_FAILED;
}

/* Axes, an include's variables, vars: what is known before anything runs. */
static enum lookup_result look_up_plain(const struct names *n, const char *name, struct strbuf *out,
                                        struct error *err)
{
    const char *dot = strchr(name, '.');
    size_t axis =
        n->combination ? find_axis(n, name, dot ? (size_t)(dot - name) : strlen(name)) : n->m->axis_count;
    const struct node *node = NULL;

    if (axis < n->m->axis_count && !dot) {
        strbuf_adds(out, n->combination->values[axis]->text);
        return LOOKUP_FOUND;
    }
    if (axis < n->m->axis_count)
        node = axis_field(n, axis, dot + 1);
    if (!dot && n->combination)
        node = node_get(n->combination->extra, name);
    if (!dot && !node)
        node = node_get(n->m->vars, name);
    return node ? found_node(node, name, out, err) : LOOKUP_UNKNOWN;
}

static bool is_service(const struct matrix *m, const char *name, size_t len)
{
    return is_one_of(name, len, m->services.items, m->services.len);
}

/* "app.host", "mock.url", "database.name": what the conductor fills in. */
static bool is_run_time_name(const struct names *n, const char *name)
{
    const char *dot = strchr(name, '.');
    size_t len = dot ? (size_t)(dot - name) : 0;

    if (!n->run_time || !dot)
        return false;
    if (len == 8 && strncmp(name, "database", 8) == 0)
        return is_one_of(dot + 1, strlen(dot + 1), database_names, ARRAY_LEN(database_names));
    if ((len == 3 && strncmp(name, "app", 3) == 0) || is_service(n->m, name, len))
        return is_one_of(dot + 1, strlen(dot + 1), container_names, ARRAY_LEN(container_names));
    return false;
}

static bool is_number_name(const struct names *n, const char *name)
{
    const char *dot = strchr(name, '.');

    if (!n->numbers)
        return false;
    if (!dot)
        return is_one_of(name, strlen(name), number_names, ARRAY_LEN(number_names));
    return is_one_of(name, (size_t)(dot - name), number_sections, ARRAY_LEN(number_sections)) ||
           is_service(n->m, name, (size_t)(dot - name));
}

/* Remembers that a container must be there, and whether it must have a port. */
static void note_use(struct filling *f, const char *name)
{
    const char *dot = strchr(name, '.');
    bool port = strcmp(dot, ".port") == 0 || strcmp(dot, ".url") == 0;

    vec_each (known, &f->names.uses) {
        if (strncmp(known->container, name, (size_t)(dot - name)) == 0 && !known->container[dot - name]) {
            if (port && !known->port)
                known->at = f->at;
            known->port |= port;
            return;
        }
    }
    vec_push(&f->names.uses,
             (struct container_use){
                 .container = arena_strndup(f->a, name, (size_t)(dot - name)), .port = port, .at = f->at});
}

typedef VEC(const char *) name_list;

static void add_run_time_names(const struct matrix *m, struct arena *a, name_list *list)
{
    for (size_t i = 0; i < ARRAY_LEN(container_names); i++) {
        vec_push(list, arena_printf(a, "app.%s", container_names[i]));
        for (size_t k = 0; k < m->services.len; k++)
            vec_push(list, arena_printf(a, "%s.%s", m->services.items[k], container_names[i]));
    }
    for (size_t i = 0; i < ARRAY_LEN(database_names); i++)
        vec_push(list, arena_printf(a, "database.%s", database_names[i]));
}

/* Says that nothing has this name, and what is near. */
static enum lookup_result unknown(const struct names *n, const char *name, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    name_list list = {0};
    char shown[SHOWN_SIZE];

    for (size_t i = 0; n->m->vars && i < n->m->vars->len; i++)
        vec_push(&list, n->m->vars->keys[i]->text);
    for (size_t i = 0; i < n->m->extras.len; i++)
        vec_push(&list, n->m->extras.items[i]);
    for (size_t i = 0; n->combination && i < n->m->axis_count; i++) {
        const struct node *fields = n->combination->values[i]->fields;
        vec_push(&list, n->m->axes[i].name);
        for (size_t k = 0; fields && k < fields->len; k++)
            vec_push(&list, arena_printf(a, "%s.%s", n->m->axes[i].name, fields->keys[k]->text));
    }
    if (n->run_time)
        add_run_time_names(n->m, a, &list);
    const char *near = nearest_name(name, list.items, list.len);
    (void)error_set(err, ERROR_INVALID, "unresolved '${%s}'", text_shown(name, shown));
    if (near)
        (void)error_hint(err, "did you mean '${%s}'?", near);
    else if (!n->combination)
        (void)error_hint(err, "vars and ${env:NAME} are known here; axes only in the settings");
    else
        (void)error_hint(
            err, "known are axes and their fields, vars, ${env:NAME} and what containers get: ${app.url}");
    vec_release(&list);
    return LOOKUP_FAILED;
}

enum lookup_result names_lookup(const char *name, struct strbuf *out, void *data, struct error *err)
{
    struct filling *f = data;
    struct names *n = &f->names;

    if (strncmp(name, "env:", 4) == 0)
        return look_up_env(f, name + 4, out, err);
    if (strncmp(name, "secret:", 7) == 0)
        return LOOKUP_KEEP;
    enum lookup_result result = look_up_plain(n, name, out, err);
    if (result != LOOKUP_UNKNOWN)
        return result;
    if (is_run_time_name(n, name)) {
        note_use(f, name);
        return LOOKUP_KEEP;
    }
    if (is_number_name(n, name))
        return LOOKUP_KEEP;
    return unknown(n, name, err);
}

const struct node *names_structure(const struct names *names, const char *text)
{
    size_t len = strlen(text);
    const char *dot = strchr(text, '.');
    char path[256];

    if (!names->combination || !dot || strncmp(text, "${", 2) != 0 || strchr(text, '}') != text + len - 1 ||
        len - 3 >= sizeof(path))
        return NULL;
    size_t axis = find_axis(names, text + 2, (size_t)(dot - text) - 2);
    if (axis == names->m->axis_count)
        return NULL;
    size_t rest = len - (size_t)(dot - text) - 2;
    memcpy(path, dot + 1, rest);
    path[rest] = '\0';
    const struct node *node = axis_field(names, axis, path);
    return node && (node->kind == NODE_LIST || node->kind == NODE_MAP) ? node : NULL;
}
