/* SPDX-License-Identifier: MIT */
/* wrk itself, called as the adapter says, against servers that behave and servers that do not. */
#include "load_test.h"

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/process.h"

enum behaviour { GOOD, STATUS_500, CLOSES, SLOW, SILENT, RESETS };

/* Reads one request's head; false at the end of the connection. */
static bool read_request(int fd, char *buf, size_t size)
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

static void serve_connection(int fd, enum behaviour how)
{
    static const char good[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                      bad[] = "HTTP/1.1 500 Oops\r\nContent-Length: 2\r\n\r\nno",
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
        if (how == SLOW)
            (void)usleep(1300 * 1000);
        if (write(fd, answer, strlen(answer)) < 0 || how == CLOSES)
            return;
    }
}

/* A process per connection: slow, but enough. */
static void serve(int listener, enum behaviour how)
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

static struct server start(enum behaviour how)
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

static void stop(const struct server *s)
{
    (void)kill(-s->pid, SIGKILL);
    (void)waitpid(s->pid, NULL, 0);
}

/* Runs the command as the conductor does: files first, output to files, its own environment. */
static int run(const struct load_command *c, const char *dir, int64_t limit_ns)
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
    if (process_start(l, &o, &p, &err) < 0 ||
        loop_wait_until(l, process_done_flag(p), clock_now_ns() + limit_ns, &err) < 0)
        fail_msg("%s", err.message);
    return process_status(p);
}

struct attempt {
    const char *script, *options, *path;
    int64_t duration_ns;
};

/* One run from options to result. */
static int attempt(const char *dir, int port, const struct attempt *t, struct arena *arena,
                   struct load_result *r, struct error *err)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    const struct node *options = NULL;
    const char *yaml = t->options ? t->options : "{threads: 2, connections: 4}";

    assert_int_equal(tree_parse(yaml, strlen(yaml), "options", arena, &options, err), 0);
    struct load_call call = {.target = arena_printf(arena, "http://127.0.0.1:%d", port),
                             .path = t->path ? t->path : "/good",
                             .script = t->script,
                             .duration_ns = t->duration_ns ? t->duration_ns : NS_PER_S,
                             .options = options,
                             .output_dir = dir};
    struct load_command command;
    if (load_adapter_command(a, &call, arena, &command, err) < 0)
        return -1;
    struct load_outcome o = {.ran = true, .started_wall_ns = clock_wall_ns(), .call = &call};
    int64_t began = clock_now_ns();
    o.wait_status = run(&command, dir, 60 * NS_PER_S);
    o.window_ms = clock_ms_since(began);
    return load_adapter_collect(a, dir, &o, arena, r, NULL, err);
}

static void need_wrk(void)
{
    CLEANUP_FREE char *program = fs_find_program("wrk");

    if (!program) {
        print_message("skipped: no wrk here\n");
        skip();
    }
}

static double error_of(const struct load_result *r, const char *kind)
{
    for (size_t i = 0; i < r->error_count; i++)
        if (strcmp(r->errors[i].kind, kind) == 0)
            return r->errors[i].count;
    return NAN;
}

static struct load_result succeed(void **state, enum behaviour how, const struct attempt *t,
                                  struct arena *arena)
{
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    struct server s = start(how);
    int rc = attempt(*state, s.port, t, arena, &r, &err);
    stop(&s);
    if (rc < 0)
        fail_msg("%s", err.message);
    return r;
}

static void fail_with(void **state, enum behaviour how, const struct attempt *t, const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    struct server s = start(how);
    int rc = attempt(*state, s.port, t, arena, &r, &err);
    stop(&s);
    assert_int_equal(rc, -1);
    assert_has(err.message, part);
}

static void good(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, GOOD, &(struct attempt){0}, arena);
    const struct latency *l = &r.latency_ms;

    assert_true(r.requests > 10 && r.failed == 0 && r.ok == r.requests);
    assert_true(r.duration_ms > 900 && r.duration_ms < 10000);
    assert_true(fabs(r.rps * r.duration_ms / 1000 - r.requests) < 1);
    assert_true(fabs(r.goodput_rps - r.rps) < 1e-6 * r.rps);
    assert_true(l->min <= l->p50 && l->p50 <= l->p75 && l->p75 <= l->p90 && l->p90 <= l->p95 &&
                l->p95 <= l->p99 && l->p99 <= l->p999 && l->p999 <= l->max * 1.01);
    assert_true(l->mean > 0 && l->stdev >= 0 && r.received_bytes >= r.requests * 40);
    /* the text of the same run says the same */
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("wrk");
    CLEANUP_FREE char *text = path_join(*state, "stdout.txt");
    struct error err = ERROR_INIT;
    struct load_result second;
    if (parse_file(a, text, arena, &second, NULL, &err) < 0)
        fail_msg("%s", err.message);
    assert_true(second.requests == r.requests && fabs(second.rps - r.rps) < 0.02);
    assert_true(fabs(second.latency_ms.p99 - l->p99) <= 0.01 * l->p99 + 0.01);
}

static void errors(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, STATUS_500, &(struct attempt){0}, arena);

    assert_true(r.requests > 10 && r.ok == 0 && r.goodput_rps == 0 && r.rps > 0);
    assert_true(error_of(&r, "status") == r.requests && r.error_rate == 1);
}

/* A server that closes each connection as HTTP allows is slow, not broken. */
static void closes(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r = succeed(state, CLOSES, &(struct attempt){0}, arena);

    assert_true(r.requests > 1 && r.ok > 0);
}

static void slower_than_the_time_out(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    const struct attempt t = {.options = "{threads: 1, connections: 2, response_timeout: 1s}",
                              .duration_ns = 3 * NS_PER_S};
    struct load_result r = succeed(state, SLOW, &t, arena);

    assert_true(r.requests >= 2 && error_of(&r, "timeout") == r.requests && r.ok == 0);
}

static void no_server(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct error err = ERROR_INIT;
    struct load_result r;

    need_wrk();
    assert_int_equal(attempt(*state, 1, &(struct attempt){0}, arena, &r, &err), -1);
    assert_has(err.message, "'wrk' ended with exit status 1: usage, unknown host, or server not reachable; "
                            "it said: unable to connect to 127.0.0.1:1");
    assert_int_equal(err.kind, ERROR_TRIAL);
}

static void silent(void **state)
{
    fail_with(state, SILENT, &(struct attempt){0}, "nothing measured: no request was finished");
}

static void resets(void **state)
{
    fail_with(state, RESETS, &(struct attempt){0},
              "nothing measured: no request was finished; errors: read ");
}

static void bad_arguments(void **state)
{
    fail_with(state, GOOD, &(struct attempt){.options = "{threads: 8, connections: 2}"},
              "wrk needs a connection for each of its 8 threads, not 2 in all");
}

/* The user's script works as it does under wrk alone: it chooses paths, gets its arguments, and its own
 * done() is called. */
static void script(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *path = path_join(*state, "it's mine.lua");
    const struct attempt t = {.script = path,
                              .path = "/",
                              .options = "{threads: 2, connections: 4, script_args: [/good, two words]}"};

    put(*state, "it's mine.lua",
        "local path = '/'\n"
        "function init(args) path = args[1]; if args[2] ~= 'two words' then os.exit(9) end end\n"
        "function request() return wrk.format('GET', path) end\n"
        "function done(summary, latency, requests) io.write('mine: ', summary.requests, ' ', requests.max >= "
        "0 and 'yes' or 'no', '\\n') end\n");
    struct load_result r = succeed(state, GOOD, &t, arena);
    assert_true(r.requests > 10);
    check_number("failed", r.failed, 0); /* "/" would have given 404 */
    CLEANUP_FREE char *text = get(*state, "stdout.txt");
    CLEANUP_FREE char *mine = xasprintf("mine: %.0f yes\n", r.requests);
    assert_has(text, mine);
}

/* wrk alone would go on without it and load "/". */
static void broken_script(void **state)
{
    CLEANUP_FREE char *path = path_join(*state, "bad.lua");

    put(*state, "bad.lua", "function request( return 1 end\n");
    fail_with(state, GOOD, &(struct attempt){.script = path},
              "exit status 3: the script cannot be read; it said: script: ");
    fail_with(state, GOOD, &(struct attempt){.script = "/nowhere/x.lua"}, "cannot open /nowhere/x.lua");
    put(*state, "bad.lua", "function request() error('no request today') end\n");
    fail_with(state, GOOD, &(struct attempt){.script = path}, "no request today");
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(good),      IN_SCRATCH(errors),
        IN_SCRATCH(closes),    IN_SCRATCH(slower_than_the_time_out),
        IN_SCRATCH(no_server), IN_SCRATCH(silent),
        IN_SCRATCH(resets),    IN_SCRATCH(bad_arguments),
        IN_SCRATCH(script),    IN_SCRATCH(broken_script),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
