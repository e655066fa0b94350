/* SPDX-License-Identifier: MIT */
#include "benchctl/base/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/strbuf.h"

extern char **environ;

struct process {
    struct loop *loop;
    struct loop_child *child;
    pid_t pid; /* also the group's id */
    bool done;
    int status;
    int64_t cpu_ns;
};

/* --- environment and processors --- */

/* Ours, with `added` in place of what has the same name. The strings are borrowed. */
static char **merged_environment(const char *const *added)
{
    VEC(char *) all = {0};

    for (char **e = environ; *e; e++) {
        size_t name = strcspn(*e, "=") + 1;
        bool replaced = false;
        for (size_t i = 0; added && added[i]; i++)
            replaced |= strncmp(added[i], *e, name) == 0;
        if (!replaced)
            vec_push(&all, *e);
    }
    for (size_t i = 0; added && added[i]; i++)
        vec_push(&all, (char *)(uintptr_t)added[i]);
    vec_push(&all, NULL);
    return all.items;
}

/* "0,2-3" */
static int parse_cpus(const char *text, cpu_set_t *ret, struct error *err)
{
    const char *p = text;

    CPU_ZERO(ret);
    while (*p) {
        char *end;
        unsigned long low = strtoul(p, &end, 10), high = low;
        if (end == p)
            break;
        if (*end == '-') {
            p = end + 1;
            high = strtoul(p, &end, 10);
            if (end == p)
                break;
        }
        for (unsigned long c = low; c <= high && c < CPU_SETSIZE; c++)
            CPU_SET((int)c, ret);
        p = end + (*end == ',');
        if (*end && *end != ',')
            break;
    }
    if (*p || !CPU_COUNT(ret))
        return error_set(err, ERROR_INVALID, "'%s' is not a list of processors", text);
    return 0;
}

int process_cpuset_size(const char *cpuset)
{
    struct error ignored = ERROR_INIT;
    cpu_set_t cpus;

    return parse_cpus(cpuset, &cpus, &ignored) < 0 ? 0 : CPU_COUNT(&cpus);
}

/* --- the child's side --- */

struct spawn {
    const char *program, *cwd;
    char *const *argv, *const *env;
    const cpu_set_t *cpus;
    int stdout_fd, stderr_fd, report_fd;
    pid_t parent;
};

static int place_fd(int fd, int target, int null_fd)
{
    return dup2(fd >= 0 ? fd : null_fd, target) < 0 ? -1 : 0;
}

/* Between fork and exec: only async-signal-safe calls. errno goes to the parent through report_fd. */
__attribute__((noreturn)) static void run_child(const struct spawn *s)
{
    sigset_t none;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    (void)setpgid(0, 0);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    /* It ends with us however we end, also by KILL; the parent may have gone before this took effect. */
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != s->parent)
        _exit(127);
    bool ready = null_fd >= 0 && place_fd(-1, STDIN_FILENO, null_fd) == 0 &&
                 place_fd(s->stdout_fd, STDOUT_FILENO, null_fd) == 0 &&
                 place_fd(s->stderr_fd, STDERR_FILENO, null_fd) == 0 && (!s->cwd || chdir(s->cwd) == 0) &&
                 (!s->cpus || sched_setaffinity(0, sizeof(*s->cpus), s->cpus) == 0);
    if (ready) /* nothing of ours goes along: sockets to the application would stay open in the generator */
        (void)close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    if (ready)
        (void)execve(s->program, s->argv, s->env);
    int e = errno;
    (void)!write(s->report_fd, &e, sizeof(e));
    _exit(127);
}

/* --- the parent's side --- */

static void child_done(pid_t pid, int status, void *data)
{
    struct process *p = data;
    struct rusage usage;

    (void)pid;
    p->child = NULL;
    p->done = true;
    p->status = status;
    /* RUSAGE_CHILDREN grows by exactly this child: children are started and reaped one after another per
     * measurement. */
    if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
        p->cpu_ns += (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
                     (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

/* Reads the errno that a failed exec left in the pipe; 0 when exec went well. */
static int exec_failure(int fd)
{
    int e = 0;
    ssize_t n;

    do
        n = read(fd, &e, sizeof(e));
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof(e) ? e : 0;
}

static int64_t children_cpu_ns(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NS_PER_S +
           (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NS_PER_US;
}

static int fork_and_exec(const struct spawn *template, pid_t *ret_pid, struct error *err)
{
    int pipe_fds[2];

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make a pipe");
    CLEANUP_CLOSE int reading = pipe_fds[0];
    CLEANUP_CLOSE int writing = pipe_fds[1];
    struct spawn s = *template;
    s.report_fd = writing;
    s.parent = getpid();
    pid_t pid = fork();
    if (pid < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot start '%s'", s.program);
    if (pid == 0)
        run_child(&s);
    (void)setpgid(pid, pid); /* both sides, so that neither order of events leaves a gap */
    (void)close(writing);
    writing = -1;
    int failed = exec_failure(reading);
    if (failed) {
        (void)waitpid(pid, NULL, 0);
        return error_errno(err, ERROR_ENVIRONMENT, failed, "cannot run '%s'", s.program);
    }
    *ret_pid = pid;
    return 0;
}

int process_start(struct loop *l, const struct process_options *o, struct process **ret, struct error *err)
{
    cpu_set_t cpus;
    pid_t pid = -1;

    CLEANUP_FREE char *program = fs_find_program(o->argv[0]);
    if (!program) {
        (void)error_set(err, ERROR_ENVIRONMENT, "no program '%s' on PATH", o->argv[0]);
        return error_hint(err, "install it, or give the full path");
    }
    if (o->cpuset && parse_cpus(o->cpuset, &cpus, err) < 0)
        return -1;
    CLEANUP_FREE char **env = merged_environment(o->env);
    struct spawn s = {
        .program = program,
        .cwd = o->cwd,
        .argv = (char *const *)(uintptr_t)o->argv,
        .env = env,
        .cpus = o->cpuset ? &cpus : NULL,
        .stdout_fd = o->stdout_fd,
        .stderr_fd = o->stderr_fd,
    };
    int64_t cpu_before = children_cpu_ns();
    if (fork_and_exec(&s, &pid, err) < 0)
        return -1;
    struct process *p = xcalloc(1, sizeof(*p));
    *p = (struct process){.loop = l, .pid = pid, .cpu_ns = -cpu_before};
    p->child = loop_add_child(l, pid, child_done, p);
    *ret = p;
    return 0;
}

bool process_done(const struct process *p)
{
    return p->done;
}

const bool *process_done_flag(const struct process *p)
{
    return &p->done;
}

int process_status(const struct process *p)
{
    assert(p->done);
    return p->status;
}

pid_t process_pid(const struct process *p)
{
    return p->pid;
}

int64_t process_cpu_ns(const struct process *p)
{
    return p->cpu_ns;
}

static bool group_alive(pid_t group)
{
    return kill(-group, 0) == 0 || errno == EPERM;
}

/* Waits until the leader is reaped and no member of the group is left. */
static int wait_for_group(struct process *p, int64_t deadline_ns, struct error *err)
{
    while (!p->done || group_alive(p->pid)) {
        int64_t soon = clock_now_ns() + 10 * NS_PER_MS;
        if (clock_now_ns() >= deadline_ns)
            return error_set(err, ERROR_TIMEOUT, "process group %d is still alive", (int)p->pid);
        struct error ignored = ERROR_INIT;
        if (p->done ? loop_sleep_until(p->loop, soon, &ignored)
                    : loop_wait_until(p->loop, &p->done, deadline_ns, &ignored))
            if (ignored.kind == ERROR_INTERRUPTED) {
                *err = ignored;
                return -1;
            }
    }
    return 0;
}

int process_stop(struct process *p, int64_t grace_ns, struct error *err)
{
    struct error first = ERROR_INIT;
    int rc = 0;

    assert(p->pid > 1);
    if (p->done && !group_alive(p->pid))
        return 0;
    loop_shield(p->loop, +1);
    (void)kill(-p->pid, SIGTERM);
    if (wait_for_group(p, clock_now_ns() + grace_ns, &first) < 0) {
        (void)kill(-p->pid, SIGKILL);
        rc = wait_for_group(p, clock_now_ns() + 10 * NS_PER_S, err);
    }
    loop_shield(p->loop, -1);
    return rc;
}

void process_free(struct process *p)
{
    if (!p)
        return;
    if (!p->done || group_alive(p->pid))
        (void)kill(-p->pid, SIGKILL);
    if (!p->done) {
        loop_remove_child(p->child);
        (void)waitpid(p->pid, NULL, 0);
    }
    free(p);
}

/* --- capture --- */

#define CAPTURE_MAX ((size_t)1 << 20)

/* An unlinked temporary file: no pipe to drain, so a talkative program cannot block. */
static int temporary_fd(struct error *err)
{
    char name[] = "/tmp/benchctl-XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot make a temporary file '%s'", name);
    (void)unlink(name);
    return fd;
}

static char *read_back(int fd, size_t *ret_len)
{
    struct strbuf b = {.max = CAPTURE_MAX};
    char chunk[8192];
    off_t at = 0;
    ssize_t n;

    while ((n = pread(fd, chunk, sizeof(chunk), at)) > 0 && !b.overflow) {
        strbuf_add(&b, chunk, (size_t)n);
        at += n;
    }
    if (ret_len)
        *ret_len = b.len;
    return strbuf_detach(&b);
}

int process_capture(struct loop *l, const struct process_options *options, int64_t deadline_ns,
                    struct process_output *ret, struct error *err)
{
    struct process_options o = *options;
    CLEANUP(process_free) struct process *p = NULL;
    CLEANUP_CLOSE int out = temporary_fd(err);
    if (out < 0)
        return -1;
    CLEANUP_CLOSE int errors = temporary_fd(err);
    if (errors < 0)
        return -1;
    o.stdout_fd = out;
    o.stderr_fd = errors;
    if (process_start(l, &o, &p, err) < 0)
        return -1;
    if (loop_wait_until(l, &p->done, deadline_ns, err) < 0)
        return error_wrap(err, "'%s'", o.argv[0]);
    *ret = (struct process_output){.status = p->status};
    ret->out = read_back(out, &ret->out_len);
    ret->err_text = read_back(errors, NULL);
    return 0;
}

void process_output_release(struct process_output *o)
{
    free(o->out);
    free(o->err_text);
    *o = (struct process_output){0};
}

const char *process_status_text(int status, char *buf)
{
    if (WIFSIGNALED(status))
        (void)snprintf(buf, 64, "killed by signal %d (%s)", WTERMSIG(status),
                       sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        (void)snprintf(buf, 64, "exit status %d", WEXITSTATUS(status));
    return buf;
}
