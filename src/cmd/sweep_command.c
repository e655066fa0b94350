/* SPDX-License-Identifier: MIT */
#include "rerun_record.h"
#include "sweep_command.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/random.h>
#include "benchctl/base/clock.h"
#include "search_print.h"
#include "sweep_watch.h"

#define RUN_ID_DIGITS 24
#define UNFINISHED_S 5 /* what the report of a sweep that stopped may take: who stopped it waits */

struct sweep_state {
    struct rundir *dir;
    const struct plan *plan;
    struct display display;
    struct attendant attendant;
    struct watch *watch;
    char run_id[RUN_ID_DIGITS + 1];
    const struct sweep_options *options;
};

/* --- callbacks --- */

static void on_progress(const struct progress *p, void *data)
{
    struct sweep_state *s = data;

    display_progress(&s->display, p);
    attendant_look(&s->attendant, p);
    sweep_watch_progress(s->watch, p);
}

static int on_trial_begin(const char *scenario, int trial, char **ret_dir, void *data, struct error *err)
{
    struct sweep_state *s = data;

    watch_trial_begun(s->watch, scenario, trial);
    return rundir_trial_begin(s->dir, scenario, trial, ret_dir, err);
}

static int on_trial_done(const struct trial *t, void *data, struct error *err)
{
    struct sweep_state *s = data;

    if (rundir_trial_seal(s->dir, t, err) < 0)
        return -1;
    if (!t->canary && !t->control)
        watch_trial(s->watch, t, search_expects_failure(s->plan, t));
    return 0;
}

static int on_info(const struct json *info, void *data, struct error *err)
{
    struct sweep_state *s = data;
    const struct rerun_record *rerun = s->options->rerun;
    CLEANUP(json_free) struct json *with = rerun ? rerun_record_info(rerun, info) : NULL;

    return rundir_write_json(s->dir, "sweep.json", with ? with : info, err);
}

/* After `error` nothing was measured, and what was skipped was only put off: both are done again. */
static bool on_sealed(const struct sealed_query *q, enum outcome *ret_outcome, void *data)
{
    struct sweep_state *s = data;

    if (!rundir_trial_sealed(s->dir, q->scenario, q->trial, q->digest) ||
        !rundir_trial_outcome(s->dir, q->scenario, q->trial, ret_outcome) || *ret_outcome == OUTCOME_ERROR ||
        *ret_outcome == OUTCOME_SKIPPED)
        return false;
    if (q->ret_duration_ms)
        *q->ret_duration_ms = rundir_trial_duration_ms(s->dir, q->scenario, q->trial);
    return true;
}

static void on_kept(const char *scenario, enum outcome o, void *data)
{
    if (!text_equal(scenario, PLAN_CANARY_ID) && !text_equal(scenario, PLAN_AA_ID) &&
        !text_equal(scenario, PLAN_HANDICAP_ID))
        watch_kept(((struct sweep_state *)data)->watch, o);
}

/* --- the end --- */

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
        const uint64_t seeds[] = {(uint64_t)clock_wall_ns() ^ ((uint64_t)getpid() << 32),
                                  (uint64_t)clock_now_ns()};
        memcpy(raw, seeds, sizeof(raw));
    }
    for (size_t i = 0; i < sizeof(raw); i++)
        (void)snprintf(ret + 2 * i, 3, "%02x", raw[i]);
}

/* A sweep that stopped before its first trial leaves no directory behind; one that has measured can go on. */
static int tell_failure(const struct sweep_state *s, struct rundir **dir, bool measured,
                        const struct error *err)
{
    const char *path = rundir_path(*dir);
    CLEANUP_FREE char *trials = path_join(path, "trials");
    int code = report_error(err);

    if (s->options->fresh && !measured && err->kind != ERROR_INTERRUPTED && !fs_exists(trials))
        rundir_discard(TAKE(*dir));
    else
        fprintf(stderr, "what was measured is kept; go on with: benchctl resume %s\n", path);
    return code;
}

static enum watch_state state_at_end(int rc, const struct error *err)
{
    return rc == 0 ? WATCH_COMPLETE : err->kind == ERROR_INTERRUPTED ? WATCH_INTERRUPTED : WATCH_FAILED;
}

/* How the process ends when a signal comes while files are written; NULL: as always. */
struct last_words {
    const char *text;
    int code;
};
static const struct last_words *last_words;

/* All that is measured is kept and each file put in place whole: whatever is on its way is given up. */
__attribute__((noreturn)) static void end_at_once(int signo)
{
    (void)signo;
    (void)!write(STDERR_FILENO, last_words->text, strlen(last_words->text));
    _exit(last_words->code);
}

/* No loop runs while the results are written, which may take long: a signal ends it there and then. */
static void let_signals_end(const struct last_words *words)
{
    const int signals[] = {SIGINT, SIGTERM, SIGALRM};
    struct sigaction act = {.sa_handler = words ? end_at_once : SIG_DFL};
    sigset_t set;

    (void)sigemptyset(&set);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaddset(&set, signals[i]);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    last_words = words;
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        (void)sigaction(signals[i], &act, NULL);
    if (words)
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Of a sweep that stopped in the middle: what there is, and that it is not all. */
static void report_unfinished(const char *dir, int code)
{
    const struct last_words words = {"benchctl: the report of what was measured is given up; "
                                     "`benchctl report` makes it\n",
                                     code};
    struct error err = ERROR_INIT;

    let_signals_end(&words);
    (void)alarm(UNFINISHED_S);
    int rc = sweep_write_unfinished(dir, &err);
    (void)alarm(0);
    let_signals_end(NULL);
    if (rc < 0)
        (void)report_error(&err);
    else
        fprintf(stderr, "report of what was measured, not complete: %s/report.html\n", dir);
}

/* What is left of the sweep, told; the exit code. */
static int leave_results(const struct sweep_state *s, struct rundir **dir, int rc,
                         const struct sweep_ending *how, struct error *err)
{
    const struct last_words words = {"benchctl: interrupted while report and bundle are written; "
                                     "`benchctl resume` writes them\n",
                                     error_exit_code(ERROR_INTERRUPTED)};
    int code;

    if (rc < 0) {
        code = tell_failure(s, dir, how->measured, err);
        if (*dir && how->measured)
            report_unfinished(rundir_path(*dir), code);
        return code;
    }
    let_signals_end(&words);
    int written = sweep_write_results(rundir_path(*dir), how, &code, err);
    let_signals_end(NULL);
    return written < 0 ? report_error(err) : code;
}

static int end_sweep(struct sweep_state *s, struct rundir **dir, int rc, const struct sweep_ending *how,
                     struct error *err)
{
    CLEANUP_FREE char *report = path_join(rundir_path(*dir), "report.html");
    struct json *j = json_new_object();
    struct error e = ERROR_INIT;

    json_set_text(j, "why", rc == 0 ? "complete" : err->message);
    if (rundir_journal(*dir, rc == 0 ? "end" : "stopped", j, true, &e) < 0 && rc == 0) {
        *err = e;
        rc = -1;
    }
    const struct watch_ending ending = {.state = state_at_end(rc, err),
                                        .reason = rc == 0 ? NULL : err->message};
    watch_end(s->watch, &ending);
    int code = leave_results(s, dir, rc, how, err);
    rundir_close(TAKE(*dir)); /* held until all is written */
    watch_report(s->watch, code, rc == 0 && fs_exists(report) ? report : NULL);
    return code;
}

static int run(struct sweep_state *s, struct run_summary *ret, struct error *err)
{
    const struct sweep_options *o = s->options;
    const struct run_callbacks cb = {
        .progress = on_progress,
        .trial_begin = on_trial_begin,
        .trial_done = on_trial_done,
        .info = on_info,
        .trial_sealed = on_sealed,
        .trial_kept = on_kept,
        .data = s,
    };
    const struct run_options ro = {
        .engine_url = o->engine_url,
        .run_id = s->run_id,
        .run_dir = rundir_path(s->dir),
        .run_ids_before = o->run_ids_before,
        .keep = o->keep,
        .images = o->rerun ? rerun_record_images(o->rerun) : NULL,
        .no_parity = o->no_parity,
        .budget_ns = o->budget_ns,
        .control = &s->attendant.control,
    };

    display_open(&s->display);
    attendant_sit_down(&s->attendant);
    int rc = run_sweep(s->attendant.loop, s->plan, &ro, &cb, ret, err);
    attendant_leave(&s->attendant);
    display_close(&s->display);
    return rc;
}

int sweep_execute(struct rundir **dir, const struct sweep_options *o, const struct plan *p)
{
    CLEANUP(loop_free) struct loop *loop = NULL;
    CLEANUP(watch_close) struct watch *watch = NULL;
    struct sweep_state s = {.dir = *dir, .options = o, .plan = p};
    struct error err = ERROR_INIT;
    struct run_summary summary = {0};

    make_run_id(s.run_id);
    if (loop_new(&loop, &err) < 0)
        return report_error(&err);
    s.attendant = (struct attendant){.loop = loop, .display = &s.display};
    if (attendant_catch(&s.attendant, &err) < 0 ||
        sweep_watch_open(loop, *dir, plan_matrix(p), &watch, &err) < 0 ||
        sweep_write_invocation(*dir, o, s.run_id, &err) < 0) {
        return tell_failure(&s, dir, false, &err);
    }
    s.watch = s.attendant.watch = watch;
    int rc = run(&s, &summary, &err);
    if (rc == 0 || summary.executed)
        tell_summary(&summary, rundir_path(*dir));
    const struct sweep_ending how = {.plan = p,
                                     .measured = summary.executed || summary.kept,
                                     .strict = o->strict,
                                     .with_images = o->with_images,
                                     .engine_url = o->engine_url};
    return end_sweep(&s, dir, rc, &how, &err);
}
