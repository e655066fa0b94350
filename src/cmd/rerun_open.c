/* SPDX-License-Identifier: MIT */
#include "rerun_open.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#define INPUTS_MAX ((size_t)64 << 20)

/* --- a signal before the loop that takes them --- */

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
static char *volatile work_to_remove; /* a path; NULL: none */

/* Only what a handler may do: another program removes the directory. */
static void on_ending(int signo)
{
    static char rm[] = "rm", how[] = "-rf", end[] = "--";
    char *const args[] = {rm, how, end, work_to_remove, NULL};
    int status;
    pid_t pid = work_to_remove ? fork() : -1;

    if (pid == 0) {
        (void)execv("/bin/rm", args);
        _exit(127);
    }
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    (void)raise(signo); /* as it would have ended; SA_RESETHAND */
}

static void remove_at_signals(char *path)
{
    struct sigaction act = {.sa_handler = on_ending, .sa_flags = (int)SA_RESETHAND}, is;

    work_to_remove = path;
    for (size_t i = 0; i < ARRAY_LEN(ending_signals); i++) {
        bool ours = sigaction(ending_signals[i], NULL, &is) == 0 && is.sa_handler == on_ending;
        if (path && is.sa_handler == SIG_DFL)
            (void)sigaction(ending_signals[i], &act, NULL);
        else if (!path && ours)
            (void)signal(ending_signals[i], SIG_DFL);
    }
}

int rerun_remove_work(struct rerun *r, struct error *err)
{
    if (r->work && fs_remove_tree(r->work, err) < 0)
        return -1;
    remove_at_signals(NULL);
    return 0;
}

void rerun_release(struct rerun *r)
{
    struct error ignored = ERROR_INIT;

    rerun_environment_release(&r->environment);
    rerun_reasons_release(&r->reasons);
    plan_free(r->plan);
    matrix_free(r->matrix);
    rerun_record_free(r->record);
    option_list_release(&r->sweep.filters);
    option_list_release(&r->sweep.sets);
    rerun_tree_release(&r->tree);
    invocation_release(&r->invocation);
    sweep_free(r->then);
    engine_close(r->engine);
    http_free(r->http);
    loop_free(r->loop);
    vec_each (w, &r->warnings)
        free(*w);
    vec_each (m, &r->missing)
        free(*m);
    vec_release(&r->warnings);
    vec_release(&r->missing);
    arena_free(r->arena);
    (void)!rerun_remove_work(r, &ignored);
    free(r->work);
    free(r->extracted);
}

static char *format_text(const char *fmt, va_list args) __attribute__((format(printf, 1, 0)));

static char *format_text(const char *fmt, va_list args)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_vaddf(&text, fmt, args);
    return strbuf_detach(&text);
}

void rerun_warn(struct rerun *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vec_push(&r->warnings, format_text(fmt, args));
    va_end(args);
}

void rerun_miss(struct rerun *r, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    CLEANUP_FREE char *text = format_text(fmt, args);
    va_end(args);
    vec_each (m, &r->missing)
        if (strcmp(*m, text) == 0)
            return;
    vec_push(&r->missing, TAKE(text));
}

/* --- the bundle --- */

static int hash_bundle(struct rerun *r, struct error *err)
{
    CLEANUP(sha256_free) struct sha256 *h = sha256_new();
    CLEANUP_CLOSE int fd = open(r->options->bundle, O_RDONLY | O_CLOEXEC);
    char chunk[65536];
    ssize_t n = fd < 0 ? -1 : 1;

    while (fd >= 0 && (n = read(fd, chunk, sizeof(chunk))) > 0)
        sha256_update(h, chunk, (size_t)n);
    if (n < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", r->options->bundle);
    sha256_final(h, r->sha256);
    return 0;
}

/* Bundles may hold images, which is more than what fits into a file system in memory. */
static int make_work(struct rerun *r, struct error *err)
{
    const char *tmp = getenv("TMPDIR");

    r->work = path_join(tmp && *tmp ? tmp : "/var/tmp", "benchctl-rerun-XXXXXX");
    if (!mkdtemp(r->work)) {
        int e = errno;
        char *name = TAKE(r->work); /* nothing to remove */
        (void)error_errno(err, ERROR_ENVIRONMENT, e, "cannot make a directory like '%s'", name);
        free(name);
        return error_hint(err, "TMPDIR says where the bundle is unpacked to");
    }
    remove_at_signals(r->work);
    r->extracted = path_join(r->work, "bundle");
    return 0;
}

static int read_inputs(struct rerun *r, struct error *err)
{
    CLEANUP_FREE char *path = path_join(r->extracted, RERUN_INPUTS_FILE);
    CLEANUP(json_free) struct json *j = NULL;

    if (!fs_exists(path)) {
        (void)error_set(err, ERROR_INVALID, "'%s' does not say which input the matrix has where (no %s)",
                        r->options->bundle, RERUN_INPUTS_FILE);
        return error_hint(
            err, "an older benchctl made it: its matrix.yaml and inputs/ can be put in place by hand "
                 "and run with `benchctl run`");
    }
    if (json_read_file(path, INPUTS_MAX, &j, err) < 0 || rerun_inputs_read(j, r->arena, &r->inputs, err) < 0)
        return -1;
    return 0;
}

int rerun_open(struct rerun *r, struct error *err)
{
    r->arena = arena_new();
    if (fs_is_dir(r->options->bundle)) {
        (void)error_set(err, ERROR_USAGE, "'%s' is a directory, not a bundle", r->options->bundle);
        return error_hint(err, "`benchctl bundle create DIR` makes a bundle of a run directory");
    }
    if (make_work(r, err) < 0 || bundle_extract(r->options->bundle, r->extracted, err) < 0 ||
        hash_bundle(r, err) < 0 || sweep_load(r->extracted, &r->then, err) < 0 ||
        invocation_read(r->extracted, &r->invocation, err) < 0)
        return -1;
    if (!r->then->complete)
        rerun_warn(r, "the bundle's sweep did not come to its end: %zu trials are there to compare with",
                   r->then->trial_count);
    CLEANUP_FREE char *root = path_join(r->work, RERUN_TREE);
    const struct rerun_restore restore = {.inputs = &r->inputs, .bundle = r->extracted, .root = root};
    if (read_inputs(r, err) < 0 || rerun_restore(&restore, &r->tree, err) < 0)
        return error_wrap(err, "'%s'", r->options->bundle);
    return 0;
}
