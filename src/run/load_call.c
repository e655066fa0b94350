/* SPDX-License-Identifier: MIT */
/* What a generator is asked for in this trial: references filled in, files where it finds them. */
#include "benchctl/base/clock.h"
#include "benchctl/base/secrets.h"
#include "generation.h"

#define SECRET "${secret:"
#define INPUTS_MAX 256

/* A text on its way to the generator. */
struct filling {
    struct generation *g;
    bool spec;      /* it is for `${spec}`, a file that is kept */
    bool templates; /* below `requests` and the like: there secrets can stay names */
};

/* One more variable for the generator; the value may hold references. */
static void give_env(struct generation *g, const char *name, const char *value)
{
    struct text_map *env = &g->env;
    struct text_pair *items = arena_array(g->trial->arena, struct text_pair, env->len + 1);

    if (env->len)
        memcpy(items, env->items, env->len * sizeof(*items));
    items[env->len] = (struct text_pair){.key = name, .value = value};
    *env = (struct text_map){items, env->len + 1};
}

/* `${secret:NAME}` as `{{env.NAME}}`, which the generator fills in by itself. */
static const char *secrets_as_names(struct filling *f, const char *text)
{
    struct arena *a = f->g->trial->arena;
    const char *at = strstr(text, SECRET), *end = at ? strchr(at, '}') : NULL;

    if (!f->spec || !f->templates || !end || (at > text && at[-1] == '$'))
        return text;
    const char *name = arena_strndup(a, at + strlen(SECRET), (size_t)(end - at) - strlen(SECRET));
    give_env(f->g, name, arena_printf(a, "${secret:%s}", name));
    return secrets_as_names(f, arena_printf(a, "%.*s{{env.%s}}%s", (int)(at - text), text, name, end + 1));
}

/* The same for what is a secret by its key (`X-Api-Token: ...`): it must not stand in a file either. */
static const struct node *hidden(struct filling *f, const char *key, const struct node *value)
{
    struct arena *a = f->g->trial->arena;

    if (!f->spec || !f->templates || value->kind != NODE_SCALAR || !text_is_secret_key(key) ||
        strstr(value->text, "{{") || strstr(value->text, SECRET))
        return value;
    const char *name = arena_printf(a, "BENCHCTL_SECRET_%zu", f->g->env.len);
    give_env(f->g, name, value->text);
    struct node *named = arena_copy(a, value, sizeof(*value));
    named->text = arena_printf(a, "{{env.%s}}", name);
    named->refers = false;
    return named;
}

static bool holds_templates(const char *key)
{
    return strcmp(key, "requests") == 0 || strcmp(key, "headers") == 0 || strcmp(key, "body") == 0;
}

static int fill(struct filling *f, const struct node *n, const struct node **ret, struct error *err)
{
    struct trial_run *t = f->g->trial;
    const char *text;

    *ret = n;
    if (!n->refers && (!f->spec || n->kind == NODE_SCALAR))
        return 0;
    if (n->kind == NODE_SCALAR) {
        if (run_expand(t, secrets_as_names(f, n->text), &text, err) < 0)
            return error_wrap(err, "%s:%d:%d", n->at.file, n->at.line, n->at.column);
        struct node *filled = arena_copy(t->arena, n, sizeof(*n));
        filled->text = text;
        filled->refers = false;
        *ret = filled;
        return 0;
    }
    struct node *copy = arena_copy(t->arena, n, sizeof(*n));
    copy->items = arena_array(t->arena, const struct node *, n->len);
    copy->refers = false;
    for (size_t i = 0; i < n->len; i++) {
        struct filling inner = *f;
        const char *key = n->kind == NODE_MAP ? n->keys[i]->text : "";
        inner.templates |= holds_templates(key);
        if (fill(&inner, hidden(&inner, key, n->items[i]), &copy->items[i], err) < 0)
            return -1;
    }
    *ret = copy;
    return 0;
}

/* --- as JSON --- */

/* A file of the matrix by its absolute path; in a container by where it is mounted there. */
static const char *input_path(struct generation *g, const char *written)
{
    struct trial_run *t = g->trial;
    CLEANUP_FREE char *path = path_join(t->sweep->matrix->dir, written);

    if (!t->settings->load.image)
        return arena_strdup(t->arena, path);
    if (!g->inputs.items)
        g->inputs.items = arena_array(t->arena, const char *, INPUTS_MAX);
    if (g->inputs.len == INPUTS_MAX)
        return written; /* the generator will say that it is not there */
    const char *inside =
        arena_printf(t->arena, "%s/%zu/%s", INPUT_IN_CONTAINER, g->inputs.len, path_basename(path));
    g->inputs.items[g->inputs.len++] = arena_printf(t->arena, "%s:%s:ro", path, inside);
    return inside;
}

static bool is_path(const char *key)
{
    return strcmp(key, "body_file") == 0 || strcmp(key, "data") == 0 || strcmp(key, "ca_file") == 0;
}

static struct json *to_json(struct generation *g, const struct node *n, const char *key)
{
    if (n->kind == NODE_SCALAR) {
        bool yes = strcmp(n->text, "true") == 0, no = strcmp(n->text, "false") == 0;
        if (!n->quoted && (yes || no))
            return json_new_bool(yes);
        return json_new_text(g->trial->settings->load.workload && is_path(key) ? input_path(g, n->text)
                                                                               : n->text);
    }
    struct json *j = n->kind == NODE_MAP    ? json_new_object()
                     : n->kind == NODE_LIST ? json_new_array()
                                            : json_new_null();
    for (size_t i = 0; i < n->len; i++) {
        if (n->kind == NODE_LIST)
            json_append(j, to_json(g, n->items[i], ""));
        else
            json_set(j, n->keys[i]->text, to_json(g, n->items[i], n->keys[i]->text));
    }
    return j;
}

/* --- the warm-up --- */

static void set_duration(struct json *j, int64_t ns)
{
    char text[32];

    json_set_text(j, "duration", duration_format(ns, text));
}

/* The first rate that is one, in arrivals per second. */
static double first_rate(const struct workload_phase *p)
{
    const struct workload_stage *stages = p->stages.items;
    double rate = phase_rate_at(p, 0);

    for (size_t i = 0; i < p->stages.len && !(rate > 0); i++)
        rate = stages[i].target * 1e9 / (double)(p->time_unit_ns > 0 ? p->time_unit_ns : NS_PER_S);
    return rate > 0 ? rate : 1;
}

/* One phase that goes on as the workload begins: with the users, or at the rate, of its first phase. */
static struct json *warmup_phases(const struct workload *w, int64_t duration_ns)
{
    const struct workload_phase *first = w->phases.items;
    struct json *phases = json_new_array(), *j = json_new_object(), *requests = json_new_array();
    bool open = executor_is_open(first->executor);
    int64_t vus = open ? 0 : phase_vus_at(first, 0);

    json_set_text(j, "name", "warm-up");
    json_set_text(j, "executor",
                  executor_names[open ? EXECUTOR_CONSTANT_ARRIVAL_RATE : EXECUTOR_CONSTANT_VUS]);
    set_duration(j, duration_ns);
    if (open) {
        json_set_number(j, "rate", first_rate(first));
        json_set_int(j, "pre_allocated_vus", first->pre_allocated_vus);
        if (first->max_vus > 0)
            json_set_int(j, "max_vus", first->max_vus);
    } else {
        json_set_int(j, "vus", vus > 0 ? vus : 1);
    }
    json_set_text(j, "graceful_stop", "5s");
    for (size_t i = 0; i < first->requests.len; i++)
        json_append(requests, json_new_text(first->requests.items[i]));
    if (first->requests.len)
        json_set(j, "requests", requests);
    else
        json_free(requests);
    json_append(phases, j);
    return phases;
}

static void make_warmup(struct generation *g, struct json *spec)
{
    static const char *const shape[] = {"phases",     "duration", "vus",     "rate",
                                        "iterations", "max_vus",  "arrivals"};
    const struct workload *w = g->trial->settings->load.workload;

    if (!w)
        return;
    for (size_t i = 0; i < ARRAY_LEN(shape); i++)
        json_remove(spec, shape[i]);
    json_set(spec, "phases", warmup_phases(w, g->duration_ns));
}

/* Of several phases those of this run, under the names that they have in the whole. */
static void keep_phases(const struct generation *g, struct json *spec)
{
    const struct workload *w = g->trial->settings->load.workload;
    const struct workload_phase *all = w->phases.items, *part = g->part->phases.items;
    const struct json *written = json_get(spec, "phases");
    char start[32];

    if (g->part->phases.len == w->phases.len || json_len(written) != w->phases.len)
        return;
    struct json *kept = json_new_array();
    for (size_t i = 0; i < w->phases.len; i++) {
        if (all[i].warmup == g->measured)
            continue;
        struct json *j = json_clone(json_at(written, i));
        json_set_text(j, "name", part->name);
        json_remove(j, "warmup"); /* here nothing is set apart */
        json_remove(j, "startTime");
        json_remove(j, "start_time");
        if (part->start_time_ns >= 0)
            json_set_text(j, "start_time", duration_format(part->start_time_ns, start));
        json_append(kept, j);
        part++;
    }
    json_set(spec, "phases", kept);
}

/* --- the call --- */

/* Whoever may log in reads the command lines of all processes. */
static int refuse_secrets(struct generation *g, struct error *err)
{
    const struct text_list *lists[] = {&g->command.argv, &g->command.finish_argv};

    for (size_t k = 0; k < ARRAY_LEN(lists); k++)
        for (size_t i = 0; i < lists[k]->len && lists[k]->items[i]; i++) {
            if (!secrets_in(lists[k]->items[i]))
                continue;
            g->trial->hopeless = true;
            (void)error_set(err, ERROR_INVALID, "a secret would stand in the command line of '%s'",
                            lists[k]->items[0]);
            return error_hint(err, "everybody reads it in the process list: use the built-in generator, or a "
                                   "script or file that reads the environment (load.env)");
        }
    return 0;
}

static int make_spec(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    struct filling f = {.g = g, .spec = true};
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    const struct node *load = node_get(t->resolved.tree, "load"), *filled;

    if (!load || !load_adapter_takes_spec(t->adapter->adapter))
        return 0;
    if (fill(&f, matrix_workload_tree(load, t->arena), &filled, err) < 0)
        return -1;
    CLEANUP(json_free) struct json *spec = to_json(g, filled, "");
    json_set_text(spec, "target", g->call.target);
    if (!json_get(spec, "requests"))
        json_set_text(spec, "path", g->call.path);
    if (g->part)
        keep_phases(g, spec);
    else if (!g->measured)
        make_warmup(g, spec);
    json_write(spec, JSON_STYLE_INDENTED, &text);
    g->call.spec = arena_strdup(t->arena, strbuf_text(&text));
    return 0;
}

static int fill_call(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct load_settings *l = &t->settings->load;
    struct filling f = {.g = g};

    if (run_expand(t, l->target ? l->target : "${app.url}", &g->call.target, err) < 0 ||
        run_expand(t, l->path ? l->path : "/", &g->call.path, err) < 0)
        return -1;
    if (l->options && !l->workload && fill(&f, l->options, &g->call.options, err) < 0)
        return -1; /* of the built-in generator all are in the spec */
    return make_spec(g, err);
}

/* Then how long it will take nobody has asked for. */
static bool ends_by_count(const struct workload *w)
{
    const struct workload_phase *p = w->phases.items;

    for (size_t i = 0; i < w->phases.len; i++)
        if (p[i].executor == EXECUTOR_PER_VU_ITERATIONS || p[i].executor == EXECUTOR_SHARED_ITERATIONS)
            return true;
    return false;
}

int generation_call(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct load_settings *l = &t->settings->load;

    g->env = l->env;
    g->call = (struct load_call){
        .duration_ns = g->measured && g->part && ends_by_count(g->part) ? 0 : g->duration_ns,
        .options = l->options,
        .script = l->script,
        .output_dir = l->image ? OUTPUT_IN_CONTAINER : g->dir,
        .version = l->image ? NULL : t->adapter->version,
        .warmup = !g->measured,
        .in_image = l->image != NULL,
    };
    if (l->image && l->script)
        g->call.script = arena_printf(t->arena, "%s/%s", SCRIPT_IN_CONTAINER, path_basename(l->script));
    if (load_adapter_program(t->adapter->adapter) && fill_call(g, err) < 0)
        return -1; /* what runs nothing needs no target, and the app perhaps has no port */
    if (load_adapter_command(t->adapter->adapter, &g->call, t->arena, &g->command, err) < 0 ||
        refuse_secrets(g, err) < 0)
        return -1;
    g->outcome.call = &g->call;
    for (size_t i = 0; i < g->command.files.len; i++) {
        CLEANUP_FREE char *path = path_join(g->dir, g->command.files.items[i].key);
        const char *content = g->command.files.items[i].value;
        if (fs_write(path, content, strlen(content), err) < 0)
            return -1;
    }
    return 0;
}
