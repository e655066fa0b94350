/* SPDX-License-Identifier: MIT */
/* The load generator: beside benchctl in a process group of its own, or in a container on the sweep's
 * network. */
#include "run_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/process.h"

#define OUTPUT_IN_CONTAINER "/benchctl/out"
#define SCRIPT_IN_CONTAINER "/benchctl/script"
#define GRACE_NS (2 * NS_PER_S)
#define OUTPUT_MAX (INT64_C(256) << 20)

/* One run of the generator: warm-up or measurement. */
struct generation {
    struct trial_run *trial;
    struct load_call call;
    struct load_command command;
    const char *dir; /* where its output goes on this machine */
    int64_t duration_ns, deadline_ns;
    bool measured;
    struct load_outcome outcome;
    double cpu_ms;
    int stdout_fd, stderr_fd;
};

static void generation_release(struct generation *g)
{
    if (g->stdout_fd >= 0)
        (void)close(g->stdout_fd);
    if (g->stderr_fd >= 0)
        (void)close(g->stderr_fd);
}

static int open_output(const char *dir, const char *name, int *ret, struct error *err)
{
    if (!name)
        return 0;
    CLEANUP_FREE char *path = path_join(dir, name);
    *ret = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (*ret < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    return 0;
}

static int expand_call(struct trial_run *t, struct load_call *call, struct error *err)
{
    const struct load_settings *l = &t->settings->load;
    const char *target = l->target ? l->target : "${app.url}";

    if (run_expand(t, target, &call->target, err) < 0 ||
        run_expand(t, l->path ? l->path : "/", &call->path, err) < 0)
        return -1;
    return 0;
}

static int make_command(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct load_settings *l = &t->settings->load;

    g->call = (struct load_call){
        .duration_ns = g->duration_ns,
        .options = l->options,
        .script = l->script,
        .output_dir = g->dir,
        .warmup = !g->measured,
    };
    if (load_adapter_program(t->adapter->adapter) && expand_call(t, &g->call, err) < 0)
        return -1; /* what runs nothing needs no target, and the app perhaps has no port */
    if (l->image) {
        g->call.output_dir = OUTPUT_IN_CONTAINER;
        if (l->script)
            g->call.script = arena_printf(t->arena, "%s/%s", SCRIPT_IN_CONTAINER, path_basename(l->script));
    }
    if (load_adapter_command(t->adapter->adapter, &g->call, t->arena, &g->command, err) < 0)
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

/* --- as a process --- */

static const char *const *environment(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct text_map *own = &g->command.env, *user = &t->settings->load.env;
    const char **env = arena_array(t->arena, const char *, own->len + user->len + 1);
    size_t n = 0;

    for (size_t i = 0; i < own->len; i++)
        env[n++] = arena_printf(t->arena, "%s=%s", own->items[i].key, own->items[i].value);
    for (size_t i = 0; i < user->len; i++) {
        const char *value;
        if (run_expand(t, user->items[i].value, &value, err) < 0)
            return NULL;
        env[n++] = arena_printf(t->arena, "%s=%s", user->items[i].key, value);
    }
    return env;
}

/* Until the generator has ended, its time is up, or there is nothing left to measure. */
static int wait_for_generator(struct generation *g, const bool *done, struct error *err)
{
    struct trial_run *t = g->trial;
    int64_t deadline_ns = g->deadline_ns;

    while (!*done) {
        if (t->app && t->app->ledger.terminal && !t->app_ended) {
            t->app_ended = true; /* a second more, so that the generator can notice and write its report */
            int64_t soon = clock_now_ns() + NS_PER_S;
            deadline_ns = soon < deadline_ns ? soon : deadline_ns;
        }
        if (sweep_wait(t->sweep, done, deadline_ns, err) < 0)
            return -1;
    }
    return 0;
}

static int run_process(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    CLEANUP(process_free) struct process *p = NULL;
    const char **argv = arena_array(t->arena, const char *, g->command.argv.len + 1);
    struct error waiting = ERROR_INIT;

    memcpy(argv, g->command.argv.items, g->command.argv.len * sizeof(*argv));
    const char *const *env = environment(g, err);
    if (!env)
        return -1;
    const struct process_options o = {
        .argv = argv,
        .env = env,
        .cwd = g->dir,
        .cpuset = t->settings->load.cpuset,
        .stdout_fd = g->stdout_fd,
        .stderr_fd = g->stderr_fd,
    };
    if (process_start(t->sweep->loop, &o, &p, err) < 0)
        return error_wrap(err, "load generator");
    int rc = wait_for_generator(g, process_done_flag(p), &waiting);
    g->outcome.ran = rc == 0;
    if (process_stop(p, GRACE_NS, err) < 0)
        return error_wrap(err, "stopping the load generator");
    g->outcome.wait_status = process_status(p);
    g->cpu_ms = (double)process_cpu_ns(p) / (double)NS_PER_MS;
    if (rc == 0 || (waiting.kind == ERROR_TIMEOUT && t->app_ended))
        return 0;
    *err = waiting;
    return error_wrap(err, "load generator");
}

/* --- in a container --- */

static int run_container(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    struct sweep_run *s = t->sweep;
    const struct load_settings *l = &t->settings->load;
    const char *binds[2];
    struct text_list bind_list = {.items = binds};
    CLEANUP_FREE char *script_dir = l->script ? path_dirname(l->script) : NULL;
    struct container_settings *c = arena_new_of(t->arena, struct container_settings);

    if (!engine_facts(s->engine)->local)
        return error_set(err, ERROR_ENVIRONMENT,
                         "a load generator in a container needs a local engine: its output is a bind mount");
    binds[bind_list.len++] = arena_printf(t->arena, "%s:%s", g->dir, OUTPUT_IN_CONTAINER);
    if (script_dir)
        binds[bind_list.len++] = arena_printf(t->arena, "%s:%s:ro", script_dir, SCRIPT_IN_CONTAINER);
    *c = (struct container_settings){
        .name = "load",
        .image = l->image,
        /* the program itself, whatever the image would run; its files belong to who runs benchctl */
        .entrypoint = {.items = g->command.argv.items, .len = 1},
        .command = {.items = g->command.argv.items + 1, .len = g->command.argv.len - 1},
        .user = arena_printf(t->arena, "%u:%u", (unsigned)getuid(), (unsigned)getgid()),
        .env = g->command.env,
        .memory_bytes = l->memory_bytes,
        .swap_bytes = 0,
        .cpus = NAN,
        .cpuset = l->cpuset,
        .pids = SCHEMA_ABSENT,
        .shm_bytes = SCHEMA_ABSENT,
        .restart_max = SCHEMA_ABSENT,
        .port = SCHEMA_ABSENT,
        .init = true,
        .scope = SCOPE_TRIAL,
    };
    struct unit *u = t->generator = unit_new(s, c, "load");
    const struct unit_options o = {
        .settings = t->settings,
        .scenario = t->scenario.id,
        .trial = t->record.trial,
        .image_id = image_for(s, c),
        .binds = &bind_list,
        .extra_env = &l->env,
    };
    struct error waiting = ERROR_INIT;
    if (unit_create(s, u, &o, err) < 0 || unit_start(s, u, err) < 0)
        return -1;
    int rc = wait_for_generator(g, &u->ledger.terminal, &waiting);
    g->outcome.ran = rc == 0;
    g->outcome.wait_status = rc == 0 ? W_EXITCODE(u->ledger.last_code & 0xff, 0) : W_EXITCODE(0, SIGKILL);
    struct error ignored = ERROR_INIT;
    const struct engine_log_options log_options = {
        .stdout_fd = g->stdout_fd, .stderr_fd = g->stderr_fd, .max_bytes = OUTPUT_MAX};
    if (engine_logs_save(s->engine, u->id, &log_options, &ignored) < 0)
        trial_note(t, "the load generator's output could not be read: %s", ignored.message);
    t->generator = NULL;
    unit_discard(s, u);
    if (rc == 0 || (waiting.kind == ERROR_TIMEOUT && t->app_ended))
        return 0;
    *err = waiting;
    return error_wrap(err, "load generator");
}

/* --- both --- */

/* A generator that runs nothing (idle): the time passes while everything else goes on. */
static int run_idle(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    static const bool never;
    int64_t end = clock_now_ns() + g->duration_ns;
    struct error e = ERROR_INIT;

    while (clock_now_ns() < end && !(t->app && t->app->ledger.terminal)) {
        e = (struct error)ERROR_INIT;
        if (sweep_wait(t->sweep, &never, end, &e) < 0 && e.kind != ERROR_TIMEOUT) {
            *err = e;
            return -1;
        }
        if (e.kind == ERROR_TIMEOUT && trial_time_is_up(t->sweep)) {
            *err = e;
            return -1;
        }
    }
    t->app_ended = t->app && t->app->ledger.terminal;
    g->outcome.ran = true;
    return 0;
}

static int generate(struct generation *g, struct error *err)
{
    const struct load_settings *l = &g->trial->settings->load;

    if (fs_mkdirs(g->dir, err) < 0 || make_command(g, err) < 0 ||
        open_output(g->dir, g->command.stdout_name, &g->stdout_fd, err) < 0 ||
        open_output(g->dir, g->command.stderr_name, &g->stderr_fd, err) < 0)
        return -1;
    g->deadline_ns = clock_now_ns() + g->duration_ns + (l->timeout_ns > 0 ? l->timeout_ns : 30 * NS_PER_S);
    g->outcome.started_wall_ns = clock_wall_ns();
    int64_t begin = clock_now_ns();
    int rc = !g->command.argv.len ? run_idle(g, err) : l->image ? run_container(g, err) : run_process(g, err);
    g->outcome.window_ms = clock_ms_since(begin);
    return rc;
}

int step_warmup(struct trial_run *t, struct error *err)
{
    const struct warmup_settings *w = t->settings->load.warmup;
    int64_t begin = clock_now_ns();

    if (!w || w->duration_ns <= 0)
        return 0;
    CLEANUP_VALUE(generation_release)
    struct generation g = {
        .trial = t,
        .dir = arena_printf(t->arena, "%s/load/warmup", t->dir),
        .duration_ns = w->duration_ns,
        .stdout_fd = -1,
        .stderr_fd = -1,
    };
    int rc = generate(&g, err);
    t->warmup_ms = clock_ms_since(begin);
    if (rc < 0)
        return -1;
    if (t->app_ended)
        return 0;
    return fs_remove_tree(g.dir, err); /* same generator, results thrown away */
}

/* The window opens: peaks and counters start from here. */
static int window_begin(struct trial_run *t, struct error *err)
{
    if (sweep_attend(t->sweep, err) < 0 || database_window_begin(t, err) < 0)
        return -1;
    if (t->scraper)
        scraper_window_begin(t->scraper);
    sampler_window_begin(t->sampler);
    t->load_begin_ns = clock_now_ns();
    trial_event(t, "load begin", "load", NULL);
    return 0;
}

static void finish_scrapes(struct trial_run *t)
{
    struct error e = ERROR_INIT;
    struct text_list notes = {0};

    if (!t->scraper)
        return;
    if (scraper_finish(t->scraper, t->arena, &t->record.metrics, &t->record.metric_count, &e) < 0)
        trial_note(t, "metrics: %s", e.message);
    scraper_notes(t->scraper, t->arena, &notes);
    for (size_t i = 0; i < notes.len; i++)
        trial_note(t, "metrics: %s", notes.items[i]);
}

/* The window closes: the last readings of everything, whatever has happened. */
static void window_end(struct trial_run *t)
{
    t->load_end_ns = clock_now_ns();
    sampler_window_end(t->sampler);
    trial_event(t, "load end", "load", NULL);
    loop_shield(t->sweep->loop, +1);
    finish_scrapes(t);
    database_window_end(t);
    loop_shield(t->sweep->loop, -1);
}

static int read_results(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    struct load_problems problems = {0};
    struct load_result *r = &t->record.load;

    load_result_init(r);
    int rc = load_adapter_collect(t->adapter->adapter, g->dir, &g->outcome, t->arena, r, &problems, err);
    for (size_t i = 0; i < problems.len; i++)
        trial_note(t, "%s", problems.items[i]);
    if (rc < 0) {
        t->load_failed = true;
        return error_wrap(err, "load generator '%s'", t->adapter->name);
    }
    t->record.has_load = true;
    r->window_ms = g->outcome.window_ms;
    if (g->cpu_ms > 0)
        r->cpu_ms = g->cpu_ms;
    if (!r->version)
        r->version = arena_strdup(t->arena, t->adapter->version);
    return 0;
}

/*
 * The warm-up may have killed it, or may be killing it at this moment: a generator that finds nobody
 * listening at its start gives up. One good answer more before the window opens; nothing loads it meanwhile.
 */
static int ready_again(struct trial_run *t, struct error *err)
{
    int64_t timeout = ready_timeout_ns(&t->settings->app);
    enum ready_result r;

    if (t->warmup_ms <= 0)
        return 0;
    if (unit_wait_ready(t->sweep, t->app, clock_now_ns() + timeout, &r, err) < 0)
        return -1;
    return r == READY_YES ? 0 : app_not_ready(t, r, timeout, err);
}

int step_load(struct trial_run *t, struct error *err)
{
    CLEANUP_VALUE(generation_release)
    struct generation g = {
        .trial = t,
        .dir = arena_printf(t->arena, "%s/load", t->dir),
        .duration_ns = t->settings->load.duration_ns,
        .measured = true,
        .stdout_fd = -1,
        .stderr_fd = -1,
    };

    if (t->app_ended)
        return 0; /* it did not survive the warm-up: a finding, told by its ledger */
    if (ready_again(t, err) < 0)
        return -1;
    memory_trim();
    if (window_begin(t, err) < 0)
        return -1;
    int rc = generate(&g, err);
    window_end(t);
    if (rc < 0)
        return -1;
    return read_results(&g, err);
}
