/* SPDX-License-Identifier: MIT */
/* The load generator: beside benchctl in a process group of its own, or in a container on the sweep's
 * network. */
#include "generation.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"

#define GRACE_NS (2 * NS_PER_S)
#define OUTPUT_MAX (INT64_C(256) << 20)
#define FINISH_STDERR "finish-stderr.txt"
#define WORDS_MAX ((size_t)64 << 10)

/* One call of the program: the load itself, or the second one that makes its report. */
struct invocation {
    struct generation *g;
    const struct text_list *argv;
    int stdout_fd, stderr_fd;
    int64_t deadline_ns;
    bool load; /* it is the load: it ends early when the application has ended for good */
    bool timed_out;
    bool ran; /* to its own end */
    int wait_status;
    double cpu_ms;
};

void generation_release(struct generation *g)
{
    raw_stream_free(g->stream);
    if (g->stdout_fd >= 0)
        (void)close(g->stdout_fd);
    if (g->stderr_fd >= 0)
        (void)close(g->stderr_fd);
}

/*
 * A new file, whatever a generator has left under its name: never written through a link or into a pipe. Only
 * the pipe of the lines that are read as they come is ours, and there before anybody else could make one.
 */
static int open_output(const struct generation *g, const char *name, int *ret, struct error *err)
{
    if (!name)
        return 0;
    CLEANUP_FREE char *path = path_join(g->dir, name);
    bool ours = !g->outcome.ran && g->stream &&
                text_equal(name, load_adapter_stream_file(g->trial->adapter->adapter));
    if (!ours && unlink(path) < 0 && errno != ENOENT)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot replace '%s'", path);
    *ret = open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | (ours ? 0 : O_CREAT | O_EXCL), 0644);
    if (*ret < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    return 0;
}

/* The application has ended for good, or answers nothing any more. */
static bool nothing_left(struct trial_run *t)
{
    t->app_ended |= t->app && t->app->ledger.terminal;
    return t->app_ended || t->app_silent;
}

/* Until it has ended, its time is up, or there is nothing left to measure. */
static int wait_for_end(struct invocation *v, const bool *done, struct error *err)
{
    struct trial_run *t = v->g->trial;
    int64_t deadline_ns = v->deadline_ns;
    bool ending = false;

    while (!*done) {
        if (v->load && !ending && nothing_left(t)) {
            ending = true; /* a second more, so that the generator can notice and write its report */
            int64_t soon = clock_now_ns() + NS_PER_S;
            deadline_ns = soon < deadline_ns ? soon : deadline_ns;
        }
        if (sweep_wait(t->sweep, done, deadline_ns, err) < 0)
            return -1;
    }
    return 0;
}

/*
 * What the wait came to: that the application has ended, or answers nothing, is no error of the generator.
 * One that was asked to stop for that and made its report is as good as at its own end; its adapter knows by
 * the exit status.
 */
static int judge_wait(struct invocation *v, int rc, const struct error *waiting, struct error *err)
{
    v->timed_out = rc < 0 && waiting->kind == ERROR_TIMEOUT;
    v->ran = rc == 0 || (v->load && v->timed_out && v->g->trial->app_silent && WIFEXITED(v->wait_status));
    if (rc == 0 || (v->load && v->timed_out && (v->g->trial->app_ended || v->g->trial->app_silent)))
        return 0;
    *err = *waiting;
    return error_wrap(err, "load generator");
}

/* --- as a process --- */

static const char *const *environment(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    const struct text_map *own = &g->command.env, *user = &g->env;
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

static int run_process(struct invocation *v, struct error *err)
{
    struct trial_run *t = v->g->trial;
    CLEANUP(process_free) struct process *p = NULL;
    const char **argv = arena_array(t->arena, const char *, v->argv->len + 1);
    struct error waiting = ERROR_INIT;

    memcpy(argv, v->argv->items, v->argv->len * sizeof(*argv));
    const char *const *env = environment(v->g, err);
    if (!env)
        return -1;
    const struct process_options o = {
        .argv = argv,
        .env = env,
        .cwd = v->g->dir,
        .cpuset = t->settings->load.cpuset,
        .stdout_fd = v->stdout_fd,
        .stderr_fd = v->stderr_fd,
    };
    if (process_start(t->sweep->loop, &o, &p, err) < 0)
        return error_wrap(err, "load generator");
    int rc = wait_for_end(v, process_done_flag(p), &waiting);
    if (process_stop(p, GRACE_NS, err) < 0)
        return error_wrap(err, "stopping the load generator");
    v->wait_status = process_status(p);
    v->cpu_ms = (double)process_cpu_ns(p) / (double)NS_PER_MS;
    return judge_wait(v, rc, &waiting, err);
}

/* --- in a container --- */

static struct text_list make_binds(const struct generation *g)
{
    struct trial_run *t = g->trial;
    const char *script = t->settings->load.script;
    CLEANUP_FREE char *script_dir = script ? path_dirname(script) : NULL;
    struct text_list binds = {.items = arena_array(t->arena, const char *, g->inputs.len + 2)};

    binds.items[binds.len++] = arena_printf(t->arena, "%s:%s", g->dir, OUTPUT_IN_CONTAINER);
    if (script_dir)
        binds.items[binds.len++] = arena_printf(t->arena, "%s:%s:ro", script_dir, SCRIPT_IN_CONTAINER);
    for (size_t i = 0; i < g->inputs.len; i++)
        binds.items[binds.len++] = g->inputs.items[i];
    return binds;
}

static struct container_settings *make_container(struct invocation *v)
{
    struct trial_run *t = v->g->trial;
    const struct load_settings *l = &t->settings->load;
    struct container_settings *c = arena_new_of(t->arena, struct container_settings);

    *c = (struct container_settings){
        .name = "load",
        .image = l->image,
        /* the program itself, whatever the image would run; its files belong to who runs benchctl */
        .entrypoint = {.items = v->argv->items, .len = 1},
        .command = {.items = v->argv->items + 1, .len = v->argv->len - 1},
        .user = arena_printf(t->arena, "%u:%u", (unsigned)getuid(), (unsigned)getgid()),
        .env = v->g->command.env,
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
    return c;
}

/* Its processor time by its cgroup, where that can be read. */
static void watch_cpu(struct invocation *v, const struct unit *u)
{
    struct trial_run *t = v->g->trial;
    struct error ignored = ERROR_INIT;

    if (v->load && v->g->measured && t->sampler && u->pid > 0)
        (void)!sampler_add(t->sampler, u->role, u->pid, &ignored);
}

static int run_container(struct invocation *v, struct error *err)
{
    struct trial_run *t = v->g->trial;
    struct sweep_run *s = t->sweep;
    const struct text_list binds = make_binds(v->g);
    struct container_settings *c = make_container(v);
    struct error waiting = ERROR_INIT, ignored = ERROR_INIT;

    if (!engine_facts(s->engine)->local)
        return error_set(err, ERROR_ENVIRONMENT,
                         "a load generator in a container needs a local engine: its output is a bind mount");
    struct unit *u = t->generator = unit_new(s, c, "load");
    const struct unit_options o = {
        .settings = t->settings,
        .scenario = t->scenario.id,
        .trial = t->record.trial,
        .image_id = image_for(s, c),
        .binds = &binds,
        .extra_env = &v->g->env,
    };
    if (unit_create(s, u, &o, err) < 0 || unit_start(s, u, err) < 0)
        return -1;
    watch_cpu(v, u);
    int rc = wait_for_end(v, &u->ledger.terminal, &waiting);
    v->wait_status = rc == 0 ? W_EXITCODE(u->ledger.last_code & 0xff, 0) : W_EXITCODE(0, SIGKILL);
    const struct engine_log_options log_options = {
        .stdout_fd = v->stdout_fd, .stderr_fd = v->stderr_fd, .max_bytes = OUTPUT_MAX};
    if (engine_logs_save(s->engine, u->id, &log_options, &ignored) < 0)
        trial_note(t, "the load generator's output could not be read: %s", ignored.message);
    t->generator = NULL;
    unit_discard(s, u);
    return judge_wait(v, rc, &waiting, err);
}

/* --- both --- */

/* A generator that runs nothing (idle): the time passes while everything else goes on. */
static int run_idle(struct generation *g, struct error *err)
{
    struct trial_run *t = g->trial;
    static const bool never;
    int64_t end = clock_now_ns() + g->duration_ns;
    struct error e = ERROR_INIT;

    while (clock_now_ns() < end && !nothing_left(t)) {
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
    (void)nothing_left(t);
    g->outcome.ran = true;
    return 0;
}

static int64_t patience_ns(const struct generation *g)
{
    const struct load_settings *l = &g->trial->settings->load;

    return l->timeout_ns > 0 ? l->timeout_ns : 30 * NS_PER_S;
}

/* How long it may take by itself: graceful stops of the built-in generator included. */
static int64_t longest_ns(const struct generation *g)
{
    int64_t longest = g->part ? workload_longest_ns(g->part) : 0;

    return longest > g->duration_ns ? longest : g->duration_ns;
}

/* What must not be kept, whatever became of the run. */
static void redact(struct generation *g)
{
    struct error err = ERROR_INIT;

    if (load_adapter_redact(g->trial->adapter->adapter, g->dir, &err) < 0)
        trial_note(g->trial, "the load generator's output: %s", err.message);
}

static void tell_cut(const char *name, const char *why, void *data)
{
    trial_note(data, "load/%s: removed: %s", name, why);
}

/* Nothing that is there is opened before. Of a container no link stays: it would be followed on this machine.
 */
static int tidy(const struct generation *g, struct error *err)
{
    const struct load_tidying o = {
        .dir = g->dir,
        .links = g->trial->settings->load.image == NULL,
        .removed = tell_cut,
        .data = g->trial,
    };

    return load_output_tidy(&o, err);
}

int generation_prepare(struct generation *g, struct error *err)
{
    return fs_mkdirs(g->dir, err) < 0 || generation_call(g, err) < 0 || raw_stream_begin(g, err) < 0 ? -1 : 0;
}

int generation_run(struct generation *g, struct error *err)
{
    struct invocation v = {.g = g, .argv = &g->command.argv, .load = true};

    if (open_output(g, g->command.stdout_name, &g->stdout_fd, err) < 0 ||
        open_output(g, g->command.stderr_name, &g->stderr_fd, err) < 0)
        return -1;
    v.stdout_fd = g->stdout_fd;
    v.stderr_fd = g->stderr_fd;
    v.deadline_ns = clock_now_ns() + longest_ns(g) + patience_ns(g);
    g->outcome.started_wall_ns = clock_wall_ns();
    int64_t begin = clock_now_ns();
    life_watch_begin(g->trial, g);
    int rc = !g->command.argv.len             ? run_idle(g, err)
             : g->trial->settings->load.image ? run_container(&v, err)
                                              : run_process(&v, err);
    g->outcome.window_ms = clock_ms_since(begin);
    life_watch_end(g->trial);
    if (g->command.argv.len) {
        g->outcome.ran = rc == 0 && v.ran;
        g->outcome.wait_status = v.wait_status;
        g->cpu_ms = v.cpu_ms;
    }
    return rc;
}

int generation_clean(struct generation *g, struct error *err)
{
    raw_stream_end(g);
    if (tidy(g, err) < 0)
        return -1;
    redact(g);
    if (!g->outcome.ran || !g->measured || !g->command.finish_argv.len)
        generation_hide_secrets(g); /* a second call gets the raw results as they are */
    return 0;
}

/* The last of what it said, on one line. */
static const char *last_words(const struct generation *g)
{
    CLEANUP_FREE char *path = path_join(g->dir, FINISH_STDERR);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct error ignored = ERROR_INIT;

    if (fs_read(path, WORDS_MAX, &text, &ignored) < 0 || !text.len)
        return "";
    char *words = arena_strdup(g->trial->arena, text.len > 400 ? text.data + text.len - 400 : text.data);
    for (char *p = words; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    return arena_printf(g->trial->arena, "; it said: %s", words);
}

static int finish(struct generation *g, struct invocation *v, struct error *err)
{
    struct error untidy = ERROR_INIT;
    char text[64];
    int rc = g->trial->settings->load.image ? run_container(v, err) : run_process(v, err);

    if (tidy(g, rc < 0 ? &untidy : err) < 0)
        return -1;
    generation_hide_secrets(g); /* before it is quoted */
    if (rc < 0 && v->timed_out)
        return error_set(err, ERROR_TRIAL, "'%s' has not made its report in time%s", v->argv->items[0],
                         last_words(g));
    if (rc < 0 || v->wait_status == 0)
        return rc;
    return error_set(err, ERROR_TRIAL, "'%s' could not make its report: %s%s", v->argv->items[0],
                     process_status_text(v->wait_status, text), last_words(g));
}

int generation_finish(struct generation *g, struct error *err)
{
    CLEANUP_CLOSE int out = -1, errors = -1;
    struct invocation v = {.g = g, .argv = &g->command.finish_argv};

    if (!v.argv->len || !g->outcome.ran)
        return 0;
    if (open_output(g, g->command.finish_stdout_name, &out, err) < 0 ||
        open_output(g, FINISH_STDERR, &errors, err) < 0)
        return -1;
    v.stdout_fd = out;
    v.stderr_fd = errors;
    v.deadline_ns = clock_now_ns() + patience_ns(g);
    int rc = finish(g, &v, err);
    if (rc == 0)
        (void)unlinkat(AT_FDCWD, arena_printf(g->trial->arena, "%s/%s", g->dir, FINISH_STDERR), 0);
    return rc;
}
