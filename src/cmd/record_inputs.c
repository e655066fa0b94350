/* SPDX-License-Identifier: MIT */
#include "record_inputs.h"

#include "benchctl/base/name_index.h"
#include "benchctl/load.h"
#include "benchctl/rerun.h"
#include "benchctl/sample.h"

#define SCRIPT_MAX ((size_t)4 << 20) /* of a script that is looked through */
#define INCLUDES_MAX 1000            /* files that scripts include, one by way of another */

struct recording {
    struct rundir *dir;
    const struct matrix *m;
    struct arena *a;
    VEC(struct rerun_input) inputs;
    VEC(struct rerun_adapter) adapters;
    struct name_index known; /* paths and adapters that have been added */
    size_t included;
};

static void recording_release(struct recording *r)
{
    vec_release(&r->inputs);
    vec_release(&r->adapters);
    name_index_release(&r->known);
    arena_free(r->a);
}

static bool is_new(struct recording *r, const char *name)
{
    bool fresh;

    (void)name_index_put(&r->known, name, 0, &fresh);
    return fresh;
}

/* --- files and directories --- */

/* `path` is as the matrix has it: absolute, its ".." as written. */
static int add_path(struct recording *r, const char *path, struct error *err)
{
    CLEANUP_FREE char *relative = path_relative(r->m->dir, path), *name = NULL;
    const char *kept = arena_strdup(r->a, relative);

    if (!is_new(r, kept))
        return 0;
    if (rundir_add_input(r->dir, path, &name, err) < 0)
        return -1;
    vec_push(&r->inputs,
             (struct rerun_input){.path = kept, .name = arena_strdup(r->a, name), .is_dir = fs_is_dir(path)});
    return 0;
}

static int add_input(const char *path, void *data, struct error *err)
{
    return add_path(data, path, err);
}

/* What a .dockerignore leaves out of its own directory's tar, though a build needs it. */
static int add_build(struct recording *r, const struct container_settings *c, struct error *err)
{
    if (!c->build || !fs_is_dir(c->build->context))
        return 0;
    const char *dockerfile = c->build->dockerfile ? c->build->dockerfile : "Dockerfile";
    const char *const names[] = {dockerfile, ".dockerignore"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        CLEANUP_FREE char *path = path_join(c->build->context, names[i]);
        if (fs_exists(path) && !fs_is_dir(path) && add_path(r, path, err) < 0)
            return -1;
    }
    return 0;
}

/* --- files that scripts include --- */

static int add_includes(struct recording *r, const char *script, struct error *err);

static bool ends_name(char c)
{
    return !c || strchr("\"'`(),;<>| \t\r\n", c);
}

static int add_include(struct recording *r, const char *script, const char *name, struct error *err)
{
    CLEANUP_FREE char *dir = path_dirname(script), *path = path_join(dir, name);
    CLEANUP_FREE char *relative = path_relative(r->m->dir, path);

    if (!fs_exists(path) || fs_is_dir(path) || name_index_get(&r->known, relative) ||
        r->included == INCLUDES_MAX)
        return 0;
    r->included++;
    return add_path(r, path, err) < 0 ? -1 : add_includes(r, path, err);
}

/* Whatever the language: a word that begins with ./ or ../ and is the name of a file. */
static int add_includes(struct recording *r, const char *script, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = SCRIPT_MAX + 1};
    struct error ignored = ERROR_INIT;

    if (fs_read(script, SCRIPT_MAX, &text, &ignored) < 0)
        return 0; /* too large for a script, or it is missing: said elsewhere */
    const char *begin = strbuf_text(&text);
    for (const char *p = begin; (p = strstr(p, "./"));) {
        const char *from = p > begin && p[-1] == '.' ? p - 1 : p, *end = from;
        while (!ends_name(*end))
            end++;
        if (from == begin || ends_name(from[-1])) {
            CLEANUP_FREE char *name = xstrndup(from, (size_t)(end - from));
            if (add_include(r, script, name, err) < 0)
                return -1;
        }
        p = end > p ? end : p + 1;
    }
    return 0;
}

/* --- adapters --- */

static bool is_below(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

/* Is it one of the directories that a user names, and not where benchctl itself has its own? */
static bool is_users(const char *dir, const char *matrix_dir)
{
    CLEANUP_FREE char *beside = path_join(matrix_dir, "adapters");
    const char *p = getenv("BENCHCTL_ADAPTERS");

    if (strcmp(dir, beside) == 0)
        return true;
    for (; p && *p; p += strspn(p, ":")) {
        size_t n = strcspn(p, ":");
        if (strlen(dir) == n && strncmp(p, dir, n) == 0)
            return !is_below(dir, BENCHCTL_SOURCE_DATA "/adapters") &&
                   !is_below(dir, BENCHCTL_INSTALL_DATA "/adapters");
        p += n;
    }
    return false;
}

char *adapter_file_of(const char *matrix_dir, const char *kind, const char *name, bool *ret_own)
{
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(matrix_dir);

    for (size_t i = 0; dirs[i]; i++) {
        char *path = xasprintf("%s/%s/%s.yaml", dirs[i], kind, name);
        if (fs_exists(path)) {
            *ret_own = is_users(dirs[i], matrix_dir);
            return path;
        }
        free(path);
    }
    return NULL;
}

static int add_adapter(struct recording *r, const char *kind, const char *name, struct error *err)
{
    CLEANUP_FREE char *file = NULL, *kept = NULL;
    bool own = false;

    if (!name || strchr(name, '/') || !is_new(r, arena_printf(r->a, "adapter %s %s", kind, name)))
        return 0;
    file = adapter_file_of(r->m->dir, kind, name, &own);
    if (!file)
        return 0; /* the run will say so */
    if (rundir_add_input(r->dir, file, &kept, err) < 0)
        return -1;
    vec_push(&r->adapters, (struct rerun_adapter){.kind = kind,
                                                  .name = arena_strdup(r->a, name),
                                                  .file = arena_strdup(r->a, kept),
                                                  .shipped = !own});
    return 0;
}

/* --- scenarios --- */

/* Each with what it includes. */
static int add_metrics(struct recording *r, const struct text_list *names, struct error *err)
{
    CLEANUP(adapter_directories_free) char **dirs = adapter_directories(r->m->dir);
    CLEANUP(metric_adapter_free) struct metric_adapter *ad = NULL;
    CLEANUP_FREE char *joined = text_list_join(names, ",");
    struct error ignored = ERROR_INIT;

    if (!names->len || !is_new(r, arena_printf(r->a, "adapters metrics %s", joined)))
        return 0;
    if (metric_adapter_read_all(names, dirs, &ad, &ignored) < 0)
        return 0; /* the run will say so */
    for (size_t i = 0; i < metric_adapter_parts(ad); i++)
        if (add_adapter(r, "metrics", metric_adapter_part(ad, i)->name, err) < 0)
            return -1;
    return 0;
}

static int add_container(struct recording *r, const struct container_settings *c, struct error *err)
{
    return add_build(r, c, err) < 0 || (c->metrics && add_metrics(r, &c->metrics->adapters, err) < 0) ? -1
                                                                                                      : 0;
}

static int add_scenario(struct recording *r, const struct plan *p, size_t i, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const struct container_settings *services;
    struct settings s;

    if (plan_settings(p, i, a, &s, err) < 0 || matrix_each_input(r->m, &s, add_input, r, err) < 0 ||
        add_container(r, &s.app, err) < 0)
        return -1;
    services = s.services.items;
    for (size_t k = 0; k < s.services.len; k++)
        if (add_container(r, &services[k], err) < 0)
            return -1;
    if (s.database && s.database->service && add_container(r, s.database->service, err) < 0)
        return -1;
    if (s.load.script && !strstr(s.load.script, "${") && add_includes(r, s.load.script, err) < 0)
        return -1;
    return add_adapter(r, "load", s.load.adapter, err);
}

/* --- the file --- */

/* The matrix below the top of everything that it refers to: so many directories above it are kept. */
static const char *matrix_below(struct recording *r)
{
    struct error ignored = ERROR_INIT;
    size_t height = 0;

    vec_each (in, &r->inputs) {
        size_t h = rerun_path_height(in->path);
        height = h > height ? h : height;
    }
    const char *base = path_basename(r->m->file), *from = r->m->dir + strlen(r->m->dir);
    while (height && from > r->m->dir) {
        while (from > r->m->dir && from[-1] != '/')
            from--;
        height--;
        if (height && from > r->m->dir)
            from--;
    }
    const char *whole = *from ? arena_printf(r->a, "%s/%s", from, base) : base;
    return archive_name_check(whole, &ignored) == 0 ? whole : "matrix.yaml";
}

static void take_env(struct recording *r, struct rerun_inputs *in)
{
    CLEANUP_VALUE(env_names_release) struct env_names names = {0};

    env_names_collect(r->m, r->a, &names);
    struct text_pair *env = arena_array(r->a, struct text_pair, names.plain.len + 1);
    const char **secrets = arena_array(r->a, const char *, names.plain.len + names.secret.len + 1);
    in->secrets.items = secrets;
    in->env.items = env;
    vec_each (name, &names.secret)
        secrets[in->secrets.len++] = *name;
    vec_each (name, &names.plain) {
        const char *value = r->m->env ? text_map_get(r->m->env, *name) : getenv(*name);
        CLEANUP_VALUE(strbuf_release) struct strbuf masked = STRBUF_INIT;
        if (!value)
            continue; /* its default was taken */
        text_add_masked(&masked, value);
        if (strcmp(strbuf_text(&masked), value) != 0) /* a password in an address */
            secrets[in->secrets.len++] = *name;
        else
            env[in->env.len++] = (struct text_pair){.key = *name, .value = arena_strdup(r->a, value)};
    }
}

int record_inputs(struct rundir *dir, const struct plan *p, struct error *err)
{
    CLEANUP_VALUE(recording_release)
    struct recording r = {.dir = dir, .m = plan_matrix(p), .a = arena_new()};
    struct rerun_inputs in = {0};

    for (size_t i = 0; i < plan_counts(p)->scenarios; i++)
        if (add_scenario(&r, p, i, err) < 0)
            return -1;
    if (plan_counts(p)->canaries && add_scenario(&r, p, PLAN_CANARY, err) < 0)
        return -1;
    take_env(&r, &in);
    in.inputs = r.inputs.items;
    in.input_count = r.inputs.len;
    in.adapters = r.adapters.items;
    in.adapter_count = r.adapters.len;
    in.matrix = matrix_below(&r);
    CLEANUP(json_free) struct json *j = rerun_inputs_json(&in);
    return rundir_write_json(dir, BUNDLE_INPUTS_FILE, j, err);
}
