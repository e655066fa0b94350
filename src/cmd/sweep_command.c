/* SPDX-License-Identifier: MIT */
#include "sweep_command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include "benchctl/base/clock.h"
#include "benchctl/report.h"
#include "progress.h"

#define RUN_ID_DIGITS 24

struct sweep_state {
    struct rundir *dir;
    struct display display;
    struct loop *loop;
    struct json *outcomes; /* counts for status.json */
    uint64_t executed[OUTCOMES];
    enum outcome last;       /* of the trial just sealed */
    int64_t status_ns;       /* when status.json was last written */
    const char *status_step; /* and in which step */
    char started_at[CLOCK_STAMP_SIZE];
    char run_id[RUN_ID_DIGITS + 1];
    const struct sweep_options *options;
};

int sweep_plan(const struct sweep_options *o, struct matrix **ret_matrix, struct plan **ret_plan,
               struct error *err)
{
    const struct matrix_options mo = {
        .sets = o->sets.items, .set_count = o->sets.len, .trials = o->trials, .seed = o->seed};
    const struct plan_options po = {.filters = o->filters.items, .filter_count = o->filters.len};
    CLEANUP(matrix_free) struct matrix *m = NULL;

    if (matrix_read(o->matrix_path, &mo, &m, err) < 0 || plan_make(m, &po, ret_plan, err) < 0)
        return -1;
    *ret_matrix = TAKE(m);
    return 0;
}

/* --- a new run directory --- */

static int add_input(const char *path, void *data, struct error *err)
{
    CLEANUP_FREE char *name = NULL;

    return rundir_add_input(data, path, &name, err);
}

static int add_inputs(struct rundir *dir, const struct plan *p, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();

    for (size_t i = 0; i < plan_counts(p)->scenarios; i++) {
        struct resolved r = {0};
        arena_reset(a);
        if (plan_resolve(p, i, a, &r, err) < 0 ||
            matrix_each_input(plan_matrix(p), &r.settings, add_input, dir, err) < 0)
            return -1;
    }
    return 0;
}

static int write_plan(struct rundir *dir, const struct plan *p, struct error *err)
{
    CLEANUP_FREE char *path = path_join(rundir_path(dir), "plan.json");
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    return plan_write_json(p, fd, true, err);
}

static struct json *text_array(const struct option_list *l)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < l->len; i++)
        json_append(j, json_new_text(l->items[i]));
    return j;
}

/* `--set` values under a key that looks secret are not kept: resume asks for them again. */
static struct json *set_array(const struct option_list *l)
{
    struct json *j = json_new_array();

    for (size_t i = 0; i < l->len; i++) {
        CLEANUP_FREE char *path = xstrndup(l->items[i], strcspn(l->items[i], "="));
        const char *dot = strrchr(path, '.');
        CLEANUP_FREE char *masked = xasprintf("%s=" SECRET_MASK, path);
        json_append(j, json_new_text(text_is_secret_key(dot ? dot + 1 : path) ? masked : l->items[i]));
    }
    return j;
}

/* How it was called, for resume: the same matrix, sets, filters, trials and seed. */
static int write_invocation(struct rundir *dir, const struct sweep_options *o, const char *run_id,
                            struct error *err)
{
    CLEANUP_FREE char *absolute = realpath(o->matrix_path, NULL);
    struct json *j = json_new_object();

    json_set_text(j, "matrix", absolute ? absolute : o->matrix_path);
    json_set_text(j, "run_id", run_id);
    json_set(j, "sets", set_array(&o->sets));
    json_set(j, "filters", text_array(&o->filters));
    json_set_int(j, "trials", o->trials);
    json_set(j, "seed", o->seed == SCHEMA_ABSENT ? json_new_null() : json_new_int(o->seed));
    json_set_bool(j, "no_parity", o->no_parity);
    return rundir_journal(dir, "begin", j, true, err);
}

int sweep_record_inputs(struct rundir *dir, const struct sweep_options *o, const struct plan *p,
                        struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_VALUE(strbuf_release) struct strbuf kept = STRBUF_INIT;

    if (fs_read(o->matrix_path, TREE_MAX_BYTES, &text, err) < 0 ||
        tree_mask_secrets(strbuf_text(&text), text.len, o->matrix_path, &kept, err) < 0 ||
        rundir_write(dir, "matrix.yaml", strbuf_text(&kept), kept.len, err) < 0 ||
        write_plan(dir, p, err) < 0 || add_inputs(dir, p, err) < 0)
        return -1;
    return 0;
}

/* --- callbacks --- */

static void write_status(struct sweep_state *s, const struct progress *p)
{
    CLEANUP(json_free) struct json *j = json_new_object();
    struct json *outcomes = json_new_object();
    struct error ignored = ERROR_INIT;

    for (int o = 0; o < OUTCOMES; o++)
        if (s->executed[o])
            json_set_int(outcomes, outcome_name((enum outcome)o), (int64_t)s->executed[o]);
    json_set_int(j, "trial", (int64_t)p->trial);
    json_set_int(j, "trials", (int64_t)p->trials);
    json_set_text(j, "scenario", p->scenario);
    json_set_text(j, "step", p->step);
    json_set_text(j, "started_at", s->started_at);
    json_set_number(j, "elapsed_s", (double)p->elapsed_ns / 1e9);
    json_set(j, "eta_s", p->eta_ns < 0 ? json_new_null() : json_new_int(p->eta_ns / NS_PER_S));
    json_set_int(j, "pid", getpid());
    json_set(j, "outcomes", outcomes);
    (void)!rundir_write_json(s->dir, "status.json", j, &ignored); /* only a view: losing one is no loss */
}

static void on_progress(const struct progress *p, void *data)
{
    struct sweep_state *s = data;
    int64_t now = clock_now_ns();

    display_progress(&s->display, p);
    if (p->finished || p->step != s->status_step || now - s->status_ns > 5 * NS_PER_S) {
        s->status_ns = now;
        s->status_step = p->step;
        write_status(s, p);
    }
}

static int on_trial_begin(const char *scenario, int trial, char **ret_dir, void *data, struct error *err)
{
    struct sweep_state *s = data;

    return rundir_trial_begin(s->dir, scenario, trial, ret_dir, err);
}

static int on_trial_done(const struct trial *t, void *data, struct error *err)
{
    struct sweep_state *s = data;

    if (t->attempt > 1)
        s->executed[s->last]--; /* the attempt before counts no more */
    s->executed[t->outcome]++;
    s->last = t->outcome;
    return rundir_trial_seal(s->dir, t, err);
}

static int on_info(const struct json *info, void *data, struct error *err)
{
    struct sweep_state *s = data;

    return rundir_write_json(s->dir, "sweep.json", info, err);
}

static bool on_sealed(const char *scenario, int trial, const char *digest, void *data)
{
    struct sweep_state *s = data;

    return rundir_trial_sealed(s->dir, scenario, trial, digest) &&
           !rundir_trial_failed(s->dir, scenario, trial);
}

static void on_signal(int signo, void *data)
{
    struct sweep_state *s = data;

    if (signo == SIGHUP && !isatty(STDERR_FILENO))
        return; /* an unattended sweep outlives the terminal it was started from */
    if (!loop_interrupted(s->loop))
        fprintf(stderr, "benchctl: interrupted, cleaning up\n");
    loop_interrupt(s->loop);
}

/* --- the end --- */

static int write_report(const struct report *r, enum report_format f, const char *dir, const char *name,
                        struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    CLEANUP_FREE char *path = path_join(dir, name);

    report_render(r, f, &text);
    return fs_write_atomic(path, strbuf_text(&text), text.len, err);
}

static bool has_failed_gate(const struct trial *t)
{
    for (size_t i = 0; i < t->check_count; i++)
        if (t->checks[i].gated && !t->checks[i].passed)
            return true;
    return false;
}

/* The exit code, from all trials of the sweep: those kept from an earlier run count, too. */
static int verdict(const struct sweep *sweep, bool strict)
{
    for (size_t i = 0; i < sweep->trial_count; i++) {
        const struct trial *t = &sweep->trials[i];
        if (t->outcome == OUTCOME_ERROR || t->outcome == OUTCOME_INVALID || has_failed_gate(t) ||
            (strict && t->outcome != OUTCOME_OK))
            return 1;
    }
    return 0;
}

/* Report files and the bundle, from what is in the directory: the same that `report` would show. */
static int write_results(const char *dir, bool strict, int *ret_code, struct error *err)
{
    CLEANUP(sweep_free) struct sweep *sweep = NULL;
    CLEANUP(report_free) struct report *report = NULL;
    CLEANUP_FREE char *bundle = xasprintf("%s.tar.zst", dir);
    const struct report_options o = {0};

    if (sweep_load(dir, &sweep, err) < 0 || report_build(sweep, &o, &report, err) < 0 ||
        write_report(report, REPORT_HTML, dir, "report.html", err) < 0 ||
        write_report(report, REPORT_MARKDOWN, dir, "report.md", err) < 0 ||
        write_report(report, REPORT_CSV, dir, "summary.csv", err) < 0)
        return -1;
    if (bundle_write(dir, bundle, err) < 0)
        return error_wrap(err, "writing the bundle");
    fprintf(stderr, "bundle: %s\n", bundle);
    *ret_code = verdict(sweep, strict);
    return 0;
}

static void tell_summary(const struct run_summary *r, const char *dir)
{
    fprintf(stderr, "%" PRIu64 " trial%s executed", r->executed, r->executed == 1 ? "" : "s");
    if (r->kept)
        fprintf(stderr, ", %" PRIu64 " kept from before", r->kept);
    for (int o = 0; o < OUTCOMES; o++)
        if (r->by_outcome[o])
            fprintf(stderr, ", %" PRIu64 " %s", r->by_outcome[o], outcome_name((enum outcome)o));
    fprintf(stderr, "\nresults: %s\n", dir);
}

/* --- all of it --- */

static void make_run_id(char *ret)
{
    unsigned char raw[RUN_ID_DIGITS / 2];

    if (getrandom(raw, sizeof(raw), 0) != (ssize_t)sizeof(raw)) {
        uint64_t seed = (uint64_t)clock_wall_ns() ^ ((uint64_t)getpid() << 32);
        memcpy(raw, &seed, sizeof(seed));
    }
    for (size_t i = 0; i < sizeof(raw); i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", raw[i]);
}

/* A sweep that stopped before its first trial leaves no directory behind; one that has measured can go on. */
static int tell_failure(const struct sweep_state *s, const char *path, bool measured, const struct error *err)
{
    CLEANUP_FREE char *trials = path_join(path, "trials");
    struct error ignored = ERROR_INIT;
    int code = report_error(err);

    if (s->options->fresh && !measured && err->kind != ERROR_INTERRUPTED && !fs_exists(trials))
        (void)!fs_remove_tree(path, &ignored);
    else
        fprintf(stderr, "what was measured is kept; go on with: benchctl resume %s\n", path);
    return code;
}

static int end_sweep(struct sweep_state *s, struct rundir **dir, int rc, bool measured, struct error *err)
{
    CLEANUP_FREE char *path = xstrdup(rundir_path(*dir));
    struct json *j = json_new_object();
    struct error e = ERROR_INIT;

    json_set_text(j, "why", rc == 0 ? "complete" : err->message);
    if (rundir_journal(*dir, rc == 0 ? "end" : "stopped", j, true, &e) < 0 && rc == 0) {
        *err = e;
        rc = -1;
    }
    rundir_close(*dir);
    *dir = NULL;
    if (rc < 0)
        return tell_failure(s, path, measured, err);
    int code;
    if (write_results(path, s->options->strict, &code, err) < 0)
        return report_error(err);
    return code;
}

int sweep_execute(struct rundir **dir, const struct sweep_options *o, const struct plan *p)
{
    struct sweep_state s = {.dir = *dir, .options = o};
    struct error err = ERROR_INIT;
    struct run_summary summary = {0};
    CLEANUP(loop_free) struct loop *loop = NULL;
    const struct run_callbacks cb = {
        .progress = on_progress,
        .trial_begin = on_trial_begin,
        .trial_done = on_trial_done,
        .info = on_info,
        .trial_sealed = on_sealed,
        .data = &s,
    };

    make_run_id(s.run_id);
    (void)clock_rfc3339(clock_wall_ns(), s.started_at);
    if (loop_new(&loop, &err) < 0 || loop_catch_signals(loop, on_signal, &s, &err) < 0 ||
        write_invocation(*dir, o, s.run_id, &err) < 0)
        return report_error(&err);
    s.loop = loop;
    const struct run_options ro = {
        .engine_url = o->engine_url,
        .run_id = s.run_id,
        .run_dir = rundir_path(*dir),
        .keep = o->keep,
        .no_parity = o->no_parity,
        .budget_ns = o->budget_ns,
    };
    display_open(&s.display);
    int rc = run_sweep(loop, p, &ro, &cb, &summary, &err);
    display_close(&s.display);
    if (rc == 0 || summary.executed)
        tell_summary(&summary, rundir_path(*dir));
    return end_sweep(&s, dir, rc, summary.executed || summary.kept, &err);
}
