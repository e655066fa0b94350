/* SPDX-License-Identifier: MIT */
/* This machine and the one that made the bundle. */
#include "rerun_open.h"

#include <signal.h>

#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"
#include "benchctl/base/version.h"
#include "benchctl/host.h"
#include "benchctl/load.h"
#include "benchctl/run.h"
#include "record_inputs.h"

#define VERSION_TIMEOUT_NS (10 * NS_PER_S) /* as before a run */
#define HASH_SHOWN 12

static void on_signal(int signo, void *data)
{
    (void)signo;
    loop_interrupt(data);
}

static int open_engine(struct rerun *r, struct error *err)
{
    return loop_new(&r->loop, err) < 0 || loop_catch_signals(r->loop, on_signal, r->loop, err) < 0 ||
                   http_new(r->loop, &r->http, err) < 0 ||
                   engine_open(r->loop, r->http, r->options->engine_url, &r->engine, err) < 0
               ? -1
               : 0;
}

/* --- generators --- */

/* Its own words; NULL when it does not say. */
static char *program_version(struct rerun *r, const struct load_adapter *ad)
{
    CLEANUP_VALUE(process_output_release) struct process_output out = {0};
    CLEANUP_VALUE(strbuf_release) struct strbuf both = STRBUF_INIT;
    struct text_list argv = {0};
    struct error ignored = ERROR_INIT;

    if (load_adapter_version_command(ad, r->arena, &argv, &ignored) < 0 || !argv.len)
        return NULL;
    const char **terminated = arena_array(r->arena, const char *, argv.len + 1);
    memcpy(terminated, argv.items, argv.len * sizeof(*terminated));
    const struct process_options o = {.argv = terminated, .stdout_fd = -1, .stderr_fd = -1};
    if (process_capture(r->loop, &o, clock_now_ns() + VERSION_TIMEOUT_NS, &out, &ignored) < 0)
        return NULL;
    strbuf_addf(&both, "%s\n%s", out.out, out.err_text);
    const char *version = load_adapter_read_version(ad, strbuf_text(&both), r->arena);
    return version ? xstrdup(version) : NULL;
}

struct generator_need {
    const char *name;
    bool here; /* some scenario runs it outside of a container */
};

static int look_for_generator(struct rerun *r, const struct generator_need *need, struct json *list,
                              struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *ad = NULL;
    CLEANUP_FREE char *found = NULL, *version = NULL;

    if (load_adapter_read(need->name, r->matrix->dir, &ad, err) < 0)
        return -1;
    const char *program = load_adapter_program(ad), *package = load_adapter_package(ad);
    if (program && need->here) {
        found = fs_find_program(program);
        if (!found)
            rerun_miss(r, "load generator '%s' is not on PATH%s%s", program,
                       package ? "; the package that has it: " : "", package ? package : "");
        else
            version = program_version(r, ad);
    }
    struct json *j = json_new_object();
    json_set_text(j, "name", need->name);
    json_set_text(j, "version", version);
    json_append(list, j);
    return 0;
}

struct generator_needs {
    VEC(struct generator_need) all;
};

static void needs_release(struct generator_needs *n)
{
    vec_release(&n->all);
}

static int need_generator(struct rerun *r, size_t scenario, struct generator_needs *n, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    struct settings s;

    if (plan_settings(r->plan, scenario, a, &s, err) < 0)
        return -1;
    vec_each (need, &n->all) {
        if (strcmp(need->name, s.load.adapter) == 0) {
            need->here |= !s.load.image;
            return 0;
        }
    }
    vec_push(&n->all, ((struct generator_need){arena_strdup(r->arena, s.load.adapter), !s.load.image}));
    return 0;
}

static int look_for_generators(struct rerun *r, struct json *list, struct error *err)
{
    CLEANUP_VALUE(needs_release) struct generator_needs needs = {0};

    for (size_t i = 0; i < plan_counts(r->plan)->scenarios; i++)
        if (need_generator(r, i, &needs, err) < 0)
            return -1;
    if (plan_counts(r->plan)->canaries && need_generator(r, PLAN_CANARY, &needs, err) < 0)
        return -1;
    vec_each (need, &needs.all)
        if (look_for_generator(r, need, list, err) < 0)
            return -1;
    return 0;
}

/* --- adapters: the file that is used here against the one that was --- */

static struct json *adapters_then(const struct rerun *r)
{
    struct json *j = json_new_object();

    for (size_t i = 0; i < r->inputs.adapter_count; i++) {
        const struct rerun_adapter *x = &r->inputs.adapters[i];
        CLEANUP_FREE char *label = xasprintf("%s %s", x->kind, x->name);
        CLEANUP_FREE char *hash = xstrndup(x->file, strcspn(x->file, "-"));
        json_set_text(j, label, hash);
    }
    return j;
}

static struct json *adapters_now(const struct rerun *r)
{
    struct json *j = json_new_object();

    for (size_t i = 0; i < r->inputs.adapter_count; i++) {
        const struct rerun_adapter *x = &r->inputs.adapters[i];
        CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
        struct error ignored = ERROR_INIT;
        bool own;
        CLEANUP_FREE char *file = adapter_file_of(r->matrix->dir, x->kind, x->name, &own);
        CLEANUP_FREE char *label = xasprintf("%s %s", x->kind, x->name);
        char hash[SHA256_HEX_SIZE];
        if (!file || fs_read(file, TREE_MAX_BYTES, &text, &ignored) < 0)
            continue;
        sha256_hex(strbuf_text(&text), text.len, hash);
        hash[HASH_SHOWN] = '\0';
        json_set_text(j, label, hash);
    }
    return j;
}

int rerun_compare_machines(struct rerun *r, struct error *err)
{
    CLEANUP(json_free) struct json *now = json_new_object(), *then = json_clone(r->then->info);
    struct json *generators = json_new_array();

    json_set(now, "generators", generators);
    if (open_engine(r, err) < 0 || look_for_generators(r, generators, err) < 0)
        return -1;
    json_set_text(now, "benchctl", BENCHCTL_VERSION);
    json_set(now, "host", host_facts());
    json_set(now, "engine", run_engine_facts(r->engine));
    json_set(now, "adapters", adapters_now(r));
    json_set(then, "adapters", adapters_then(r));
    rerun_environment(then, now, r->arena, &r->environment);
    json_set(r->record->json, "environment", rerun_environment_json(&r->environment));
    return 0;
}
