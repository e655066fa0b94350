/* SPDX-License-Identifier: MIT */
/* inputs.json, there and back. */
#include "benchctl/rerun.h"

#include <string.h>

#define ENTRIES_MAX 100000 /* inputs, adapters or variables: more is no matrix */

static struct json *map_json(const struct text_map *m)
{
    struct json *j = json_new_object();

    for (size_t i = 0; i < m->len; i++)
        json_set_text(j, m->items[i].key, m->items[i].value);
    return j;
}

struct json *rerun_inputs_json(const struct rerun_inputs *in)
{
    struct json *j = json_new_object(), *inputs = json_new_array(), *adapters = json_new_array(),
                *secrets = json_new_array();

    json_set_int(j, "schema", RERUN_INPUTS_SCHEMA);
    json_set_text(j, "matrix", in->matrix);
    for (size_t i = 0; i < in->input_count; i++) {
        struct json *one = json_new_object();
        json_set_text(one, "path", in->inputs[i].path);
        json_set_text(one, "kind", in->inputs[i].is_dir ? "directory" : "file");
        json_set_text(one, "name", in->inputs[i].name);
        json_append(inputs, one);
    }
    for (size_t i = 0; i < in->adapter_count; i++) {
        struct json *one = json_new_object();
        json_set_text(one, "kind", in->adapters[i].kind);
        json_set_text(one, "adapter", in->adapters[i].name);
        json_set_text(one, "name", in->adapters[i].file);
        json_set_bool(one, "shipped", in->adapters[i].shipped);
        json_append(adapters, one);
    }
    for (size_t i = 0; i < in->secrets.len; i++)
        json_append(secrets, json_new_text(in->secrets.items[i]));
    json_set(j, "inputs", inputs);
    json_set(j, "adapters", adapters);
    json_set(j, "env", map_json(&in->env));
    json_set(j, "secrets", secrets);
    return j;
}

size_t rerun_path_height(const char *path)
{
    size_t depth = 0, height = 0;

    for (const char *p = path; *p; p += strspn(p, "/")) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.') {
            if (depth)
                depth--;
            else
                height++;
        } else if (n && !(n == 1 && *p == '.')) {
            depth++;
        }
        p += n;
    }
    return height;
}

/* --- reading --- */

static int bad(struct error *err, const char *what, const char *text)
{
    char shown[200];

    return error_set(err, ERROR_INVALID, RERUN_INPUTS_FILE ": %s '%s'", what,
                     archive_printable(text ? text : "", shown, sizeof(shown)));
}

/* A name of a file in inputs/: one part of a path. */
static int check_name(const char *name, struct error *err)
{
    struct error e = ERROR_INIT;

    if (!name || strchr(name, '/') || archive_name_check(name, &e) < 0)
        return bad(err, "no name of an input:", name);
    return 0;
}

/* Where an input is to lie: relative, without bytes that no path has. How high it may lead is looked at when
 * it is laid out. */
static int check_path(const char *path, struct error *err)
{
    return !path || !*path || *path == '/' || strlen(path) > ARCHIVE_NAME_MAX || strstr(path, "${")
               ? bad(err, "no relative path of an input:", path)
               : 0;
}

static int read_inputs(const struct json *list, struct arena *a, struct rerun_inputs *ret, struct error *err)
{
    ret->input_count = json_len(list);
    ret->inputs = arena_array(a, struct rerun_input, ret->input_count + 1);
    for (size_t i = 0; i < ret->input_count; i++) {
        const struct json *j = json_at(list, i);
        struct rerun_input *in = &ret->inputs[i];
        const char *kind = json_get_text(j, "kind");
        in->path = arena_strdup(a, json_get_text(j, "path"));
        in->name = arena_strdup(a, json_get_text(j, "name"));
        in->is_dir = text_equal(kind, "directory");
        if (!in->is_dir && !text_equal(kind, "file"))
            return bad(err, "unknown kind of input:", kind);
        if (in->path && *in->path == '/') {
            (void)bad(err, "an absolute path:", in->path);
            return error_hint(err,
                              "a matrix that is to run on other machines names its files relative to itself");
        }
        if (check_path(in->path, err) < 0 || check_name(in->name, err) < 0)
            return -1;
    }
    return 0;
}

static int read_adapters(const struct json *list, struct arena *a, struct rerun_inputs *ret,
                         struct error *err)
{
    ret->adapter_count = json_len(list);
    ret->adapters = arena_array(a, struct rerun_adapter, ret->adapter_count + 1);
    for (size_t i = 0; i < ret->adapter_count; i++) {
        const struct json *j = json_at(list, i);
        struct rerun_adapter *x = &ret->adapters[i];
        x->kind = arena_strdup(a, json_get_text(j, "kind"));
        x->name = arena_strdup(a, json_get_text(j, "adapter"));
        x->file = arena_strdup(a, json_get_text(j, "name"));
        x->shipped = json_get_bool(j, "shipped");
        if (!text_equal(x->kind, "load") && !text_equal(x->kind, "metrics"))
            return bad(err, "unknown kind of adapter:", x->kind);
        if (check_name(x->name, err) < 0 || check_name(x->file, err) < 0)
            return -1;
    }
    return 0;
}

static int read_env(const struct json *j, struct arena *a, struct rerun_inputs *ret, struct error *err)
{
    const struct json *env = json_get(j, "env"), *secrets = json_get(j, "secrets");
    struct text_pair *pairs = arena_array(a, struct text_pair, json_len(env) + 1);
    const char **names = arena_array(a, const char *, json_len(secrets) + 1);

    for (void *it = json_type_of(env) == JSON_TYPE_OBJECT ? json_iter(env) : NULL; it;
         it = json_iter_next(env, it)) {
        const char *value = json_text(json_iter_value(it));
        if (!value)
            return bad(err, "no text for the environment variable", json_iter_key(it));
        pairs[ret->env.len++] =
            (struct text_pair){.key = arena_strdup(a, json_iter_key(it)), .value = arena_strdup(a, value)};
    }
    for (size_t i = 0; i < json_len(secrets); i++) {
        if (!json_text(json_at(secrets, i)))
            return bad(err, "no name of a secret:", NULL);
        names[ret->secrets.len++] = arena_strdup(a, json_text(json_at(secrets, i)));
    }
    ret->env.items = pairs;
    ret->secrets.items = names;
    return 0;
}

int rerun_inputs_read(const struct json *j, struct arena *a, struct rerun_inputs *ret, struct error *err)
{
    struct rerun_inputs in = {0};
    struct error e = ERROR_INIT;

    if (json_get_int(j, "schema") > RERUN_INPUTS_SCHEMA) {
        (void)error_set(err, ERROR_INVALID, RERUN_INPUTS_FILE " is of a newer version of benchctl");
        return error_hint(err, "take the version that made the bundle, or a newer one");
    }
    in.matrix = arena_strdup(a, json_get_text(j, "matrix"));
    if (json_get_int(j, "schema") != RERUN_INPUTS_SCHEMA || !in.matrix ||
        archive_name_check(in.matrix, &e) < 0)
        return bad(err, "not what benchctl writes: matrix", in.matrix);
    if (json_len(json_get(j, "inputs")) > ENTRIES_MAX || json_len(json_get(j, "adapters")) > ENTRIES_MAX ||
        json_len(json_get(j, "env")) > ENTRIES_MAX || json_len(json_get(j, "secrets")) > ENTRIES_MAX)
        return error_set(err, ERROR_INVALID, RERUN_INPUTS_FILE " has more than %d entries", ENTRIES_MAX);
    if (read_inputs(json_get(j, "inputs"), a, &in, err) < 0 ||
        read_adapters(json_get(j, "adapters"), a, &in, err) < 0 || read_env(j, a, &in, err) < 0)
        return -1;
    *ret = in;
    return 0;
}
