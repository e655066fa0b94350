/* SPDX-License-Identifier: MIT */
/* Generators as the conductor runs them, against servers that behave and servers that do not. */
#ifndef TESTS_LOAD_RUNS_H
#define TESTS_LOAD_RUNS_H

#include "load_test.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"

enum behaviour { GOOD, STATUS_500, CLOSES, SLOW, LATE, SILENT, RESETS };

/* Reads one request's head; false at the end of the connection. */
static inline bool read_request(int fd, char *buf, size_t size)
{
    size_t n = 0;

    while (n + 1 < size) {
        ssize_t got = read(fd, buf + n, size - 1 - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        buf[n] = '\0';
        if (strstr(buf, "\r\n\r\n"))
            return true;
    }
    return false;
}

static inline void serve_connection(int fd, enum behaviour how)
{
    static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok",
                      bad[] = "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nno",
                      last[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok",
                      other[] = "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno";
    char request[8192];

    while (read_request(fd, request, sizeof(request))) {
        const char *answer = how == STATUS_500                    ? bad
                             : how == CLOSES                      ? last
                             : text_starts(request, "GET /good ") ? good
                                                                  : other;
        if (how == SILENT)
            continue;
        if (how == RESETS) {
            const struct linger at_once = {.l_onoff = 1};
            (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
            return;
        }
        if (how == SLOW || how == LATE)
            (void)usleep(how == SLOW ? 1300 * 1000 : 5000 * 1000);
        if (write(fd, answer, strlen(answer)) < 0 || how == CLOSES)
            return;
    }
}

/* A process per connection: slow, but enough. */
static inline void serve(int listener, enum behaviour how)
{
    (void)signal(SIGCHLD, SIG_IGN);
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            continue;
        if (fork() == 0) {
            serve_connection(fd, how);
            (void)close(fd);
            _exit(0);
        }
        (void)close(fd);
    }
}

struct server {
    pid_t pid;
    int port;
};

static inline struct server start(enum behaviour how)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(listener >= 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 64), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &len), 0);
    struct server s = {fork(), ntohs(at.sin_port)};
    if (s.pid == 0) {
        (void)setpgid(0, 0);
        serve(listener, how);
    }
    (void)setpgid(s.pid, s.pid);
    (void)close(listener);
    return s;
}

static inline void stop(const struct server *s)
{
    (void)kill(-s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
}

#define LONGEST_RUN_NS                                                                                       \
    (60 * NS_PER_S) /* the server answers at once, or not at all: all that a run may take */

/* Runs the command as the conductor does: files first, output to files, its own environment. The status of
 * waitpid(2), or -1 when its time was up. */
static inline int run(const struct load_command *c, const char *dir, int64_t limit_ns)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    CLEANUP(loop_free) struct loop *l = NULL;
    CLEANUP(process_free) struct process *p = NULL;
    CLEANUP_FREE char *out = path_join(dir, c->stdout_name);
    CLEANUP_FREE char *problems = path_join(dir, c->stderr_name);
    struct error err = ERROR_INIT;
    const char **env = arena_array(a, const char *, c->env.len + 1);

    for (size_t i = 0; i < c->files.len; i++)
        put(dir, c->files.items[i].key, c->files.items[i].value);
    for (size_t i = 0; i < c->env.len; i++)
        env[i] = arena_printf(a, "%s=%s", c->env.items[i].key, c->env.items[i].value);
    CLEANUP_CLOSE int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    CLEANUP_CLOSE int err_fd = open(problems, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_int_equal(loop_new(&l, &err), 0);
    const struct process_options o = {
        .argv = c->argv.items, .env = env, .stdout_fd = out_fd, .stderr_fd = err_fd};
    if (process_start(l, &o, &p, &err) < 0)
        fail_msg("%s", err.message);
    if (loop_wait_until(l, process_done_flag(p), clock_now_ns() + limit_ns, &err) == 0)
        return process_status(p);
    if (err.kind != ERROR_TIMEOUT)
        fail_msg("%s", err.message);
    return -1;
}

/* Also looks where scripts/install-generators puts what it gets, and in the directories of
 * $BENCHCTL_GENERATORS. */
static inline void find_generators(void)
{
    const char *path = getenv("PATH"), *more = getenv("BENCHCTL_GENERATORS");
    CLEANUP_FREE char *all = xasprintf("%s/build/generators/bin:%s%s%s", SOURCE_DIR, more ? more : "",
                                       more ? ":" : "", path ? path : "/usr/bin:/bin");

    assert_int_equal(setenv("PATH", all, 1), 0);
}

struct attempt {
    const char *adapter, *script, *options, *path; /* adapter: NULL is wrk */
    int64_t duration_ns;
};

/* The second call of generators that report in one. */
static inline void finish(const struct load_command *c, const char *dir)
{
    struct load_command second = {
        .argv = c->finish_argv, .stdout_name = c->finish_stdout_name, .stderr_name = "finish.txt"};

    if (c->finish_argv.len)
        assert_int_equal(run(&second, dir, 30 * NS_PER_S), 0);
}

/* One run from options to result. */
static inline int attempt(const char *dir, int port, const struct attempt *t, struct arena *arena,
                          struct load_result *r, struct load_problems *problems, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of(t->adapter ? t->adapter : "wrk");
    const struct node *options = NULL;
    const char *yaml = t->options ? t->options : "{threads: 2, connections: 4}";

    assert_int_equal(tree_parse(yaml, strlen(yaml), "options", arena, &options, err), 0);
    struct load_call *call = arena_new_of(arena, struct load_call);
    *call = (struct load_call){.target = arena_printf(arena, "http://127.0.0.1:%d", port),
                               .path = t->path ? t->path : "/good",
                               .script = t->script,
                               .duration_ns = t->duration_ns ? t->duration_ns : NS_PER_S,
                               .options = options,
                               .output_dir = dir};
    struct load_command command;
    if (load_adapter_command(a, call, arena, &command, err) < 0)
        return -1;
    struct load_outcome o = {.ran = true, .started_wall_ns = clock_wall_ns(), .call = call};
    int64_t began = clock_now_ns();
    o.wait_status = run(&command, dir, t->duration_ns + LONGEST_RUN_NS);
    if (o.wait_status < 0)
        return error_set(err, ERROR_TIMEOUT, "'%s' did not end", command.argv.items[0]);
    o.window_ms = clock_ms_since(began);
    finish(&command, dir);
    return load_adapter_collect(a, dir, &o, arena, r, problems, err);
}

static inline double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

#endif
