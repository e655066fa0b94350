/* SPDX-License-Identifier: MIT */
/*
 * h2load, ghz and artillery themselves, called as their adapters say, against servers that behave and servers
 * that do not. Those that are not here are left out, which is said. k6 is never run.
 */
#include "load_runs.h"

static bool here(const char *program)
{
    CLEANUP_FREE char *found = fs_find_program(program);

    if (!found)
        print_message("skipped: no %s here\n", program);
    return found != NULL;
}

/* Long enough for the answers of 1.3 s, where those are expected. */
static int64_t length_ns = NS_PER_S;

/* One run against a port; *ret_err says why there is no result. */
static int go(const char *dir, const char *adapter, int port, const char *options, struct arena *arena,
              struct load_result *r, struct load_problems *p, struct error *ret_err)
{
    static int count;
    CLEANUP_FREE char *own =
        xasprintf("%s/%d", dir, count++); /* as in a trial: h2load would go on with an old log */
    const struct attempt one = {.adapter = adapter, .options = options, .duration_ns = length_ns};

    *ret_err = (struct error)ERROR_INIT;
    put(own, "empty", "");
    return attempt(own, port, &one, arena, r, p, ret_err);
}

static struct load_result measured(const char *dir, const char *adapter, enum behaviour how,
                                   const char *options, struct arena *arena)
{
    struct load_problems p;
    struct load_result r;
    struct error err;
    struct server s = start(how);
    int rc = go(dir, adapter, s.port, options, arena, &r, &p, &err);

    stop(&s);
    if (rc < 0)
        fail_msg("%s: %s", adapter, err.message);
    print_message("%s: %.0f requests, %.0f failed, p50 %g ms\n", adapter, r.requests, r.failed,
                  r.latency_ms.p50);
    return r;
}

static void nothing(const char *dir, const char *adapter, enum behaviour how, const char *options,
                    const char *part)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r;
    struct error err;
    struct server s = start(how);
    int rc = go(dir, adapter, s.port, options, arena, &r, NULL, &err);

    stop(&s);
    if (rc == 0)
        fail_msg("%s: %.0f requests where '%s' was expected", adapter, r.requests, part);
    assert_has(err.message, part);
}

static void check_latency(const struct load_result *r)
{
    const struct latency *l = &r->latency_ms;

    assert_true(l->min <= l->p50 && l->p50 <= l->p75 && l->p75 <= l->p90 && l->p90 <= l->p95 &&
                l->p95 <= l->p99 && l->p99 <= l->p999 * 1.02 && l->p999 <= l->max * 1.02 + 0.1 &&
                l->mean <= l->max * 1.02);
}

static void check_good(const struct load_result *r)
{
    assert_true(r->requests > 10);
    check_number("failed", r->failed, 0);
    check_number("ok", r->ok, r->requests);
    if (!(r->goodput_rps > 0 && fabs(r->rps * r->duration_ms / 1000 - r->requests) <= 0.05 * r->requests + 5))
        fail_msg("%g per second over %g ms are not %g requests", r->rps, r->duration_ms, r->requests);
    check_latency(r);
}

/* A generator that was given `planned` requests to make in time makes no more than these, and fewer only
 * where the machine was too busy for it; then that is said. */
static void check_delivered(const struct load_result *r, const struct load_problems *p, double planned)
{
    assert_true(r->requests > 0 && r->requests <= planned * 1.13 + 2);
    if (r->requests < planned * 0.8) {
        assert_int_equal(p->invalid_len, 1);
        assert_string_equal(p->invalid[0].id, "load-delivered");
    }
    if (r->requests >= planned)
        assert_int_equal(p->invalid_len, 0);
}

/* ---- h2load ---- */

static void h2load_over_http_1(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();

    if (!here("h2load"))
        return; /* said already; skip() would leave without cleaning up */
    struct load_result r = measured(*state, "h2load", GOOD, "{connections: 4}", arena);
    check_good(&r);
    assert_string_equal(r.model, "closed");
    r = measured(*state, "h2load", STATUS_500, "{connections: 4, threads: 2}", arena);
    assert_true(r.requests > 10);
    check_number("5xx", error_of(&r, "status_5xx"), r.requests);
    check_number("ok", r.ok, 0);
    check_latency(&r);
    r = measured(*state, "h2load", CLOSES, "{connections: 4, request_count: 40}", arena);
    check_number("requests", r.requests, 40); /* timed, h2load 1.52 often connects again for ever */
    length_ns = 3 * NS_PER_S;
    r = measured(*state, "h2load", SLOW, "{connections: 2, log: false}", arena);
    assert_true(r.requests >= 2 && r.latency_ms.max > 1250 && isnan(r.latency_ms.p90));
    length_ns = NS_PER_S;
    nothing(*state, "h2load", SILENT, "{connections: 2}", "nothing measured: no request was finished");
    nothing(*state, "h2load", RESETS, "{connections: 2, request_count: 20}",
            "nothing measured: none of 20 requests was answered; errors: other 20");
}

static void h2load_without_a_server(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r;
    struct error err;

    if (!here("h2load"))
        return;
    assert_int_equal(go(*state, "h2load", 1, "{connections: 2}", arena, &r, NULL, &err), -1);
    assert_has(err.message, "nothing measured: no request was finished");
    assert_int_equal(go(*state, "h2load", 1, "{connections: 2, request_count: 9}", arena, &r, NULL, &err),
                     -1);
    assert_has(err.message, "nothing measured: none of 9 requests was answered; errors: other 9");
    assert_int_equal(go(*state, "h2load", 1, "{flags: [--no-such-flag]}", arena, &r, NULL, &err), -1);
    assert_has(err.message, "'h2load' ended with exit status 1: usage, or a bad target");
}

/* A rate that each connection has by itself. */
static void h2load_at_a_rate(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_problems p;
    struct load_result r;
    struct error err;

    if (!here("h2load"))
        return;
    struct server s = start(GOOD);
    int rc = go(*state, "h2load", s.port, "{connections: 4, rate_per_connection: 20}", arena, &r, &p, &err);
    stop(&s);
    assert_int_equal(rc, 0);
    check_delivered(&r, &p, 80);
    length_ns = 3 * NS_PER_S;
    s = start(SLOW);
    rc = go(*state, "h2load", s.port, "{connections: 2, rate_per_connection: 200}", arena, &r, &p, &err);
    stop(&s);
    length_ns = NS_PER_S;
    assert_int_equal(rc, 0);
    assert_int_equal(p.invalid_len, 1);
    assert_string_equal(p.invalid[0].id, "load-delivered");
}

/* A program in the background, with its output in `log`. */
static pid_t background(const char *log, const char *const *argv)
{
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    int fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    (void)dup2(fd, 1);
    (void)dup2(fd, 2);
    (void)execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

static void end(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
}

static int free_port(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(at);
    CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    return ntohs(at.sin_port);
}

static void wait_until_it_listens(int port)
{
    const struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons((uint16_t)port)};

    for (int i = 0; i < 500; i++) {
        CLEANUP_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0)
            return;
        (void)usleep(20000);
    }
    fail_msg("nobody listens on port %d", port);
}

static void h2load_over_http_2(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *www = path_join(*state, "www"), *log = path_join(*state, "nghttpd.txt");
    int port = free_port();
    struct load_problems p;
    struct load_result r;
    struct error err;

    if (!here("h2load") || !here("nghttpd"))
        return;
    put(www, "good", "ok");
    const char *argv[] = {
        "nghttpd", "--no-tls", "-a", "127.0.0.1", "-d", www, arena_printf(arena, "%d", port), NULL};
    pid_t pid = background(log, argv);
    wait_until_it_listens(port);
    int rc = go(*state, "h2load", port, "{protocol: h2, connections: 2, streams: 4}", arena, &r, &p, &err);
    if (rc == 0)
        check_good(&r);
    struct error second;
    int wrong =
        go(*state, "h2load", port, "{connections: 2}", arena, &r, &p, &second); /* HTTP/1.1 to HTTP/2 */
    end(pid);
    if (rc < 0)
        fail_msg("%s", err.message);
    assert_int_equal(wrong, -1);
    assert_has(second.message, "nothing measured");
}

/* ---- ghz ---- */

/* The server of tests/e2e/fixtures/grpc, which Go builds where its modules are. NULL: it cannot. */
static char *build_grpc(const char *dir)
{
    if (!here("ghz") || !here("go"))
        return NULL;
    CLEANUP_FREE char *program = path_join(dir, "grpc");
    if (shell("cd %s/e2e/fixtures/grpc && GOPROXY=off timeout 100 go build -o %s . >/dev/null 2>&1",
              TESTS_DIR, program) != 0) {
        print_message("skipped: the modules of the gRPC server are not here\n");
        return NULL;
    }
    return xstrdup(program);
}

static int call_grpc(const char *dir, const char *program, const char *mode, const char *options,
                     struct arena *arena, struct load_result *r, struct load_problems *p, struct error *err)
{
    CLEANUP_FREE char *log = path_join(dir, "grpc.txt");
    int port = free_port();
    const char *argv[] = {program, mode, arena_printf(arena, "127.0.0.1:%d", port), NULL};
    pid_t pid = background(log, argv);

    wait_until_it_listens(port);
    int rc = go(dir, "ghz", port, options, arena, r, p, err);
    end(pid);
    return rc;
}

#define CHECK "call: grpc.health.v1.Health/Check, concurrency: 4"

static void ghz(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    CLEANUP_FREE char *program = build_grpc(*state);
    struct load_problems p;
    struct load_result r;
    struct error err;

    if (!program)
        return;
    if (call_grpc(*state, program, "ok", "{" CHECK "}", arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_good(&r); /* also no false errors of calls on their way at the end */
    assert_int_equal(p.invalid_len, 0);
    print_message("ghz: %.0f calls, p99.9 %g ms\n", r.requests, r.latency_ms.p999);
    if (call_grpc(*state, program, "ok", "{" CHECK ", rate: 50, async: true}", arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_delivered(&r, &p, 50);
    assert_string_equal(r.model, "open");
    if (call_grpc(*state, program, "status", "{" CHECK ", request_count: 30}", arena, &r, &p, &err) < 0)
        fail_msg("%s", err.message);
    check_number("calls", r.requests, 30);
    check_number("status", error_of(&r, "status"), 30);
    check_number("ok", r.ok, 0);
    check_number("p50", r.latency_ms.p50, NAN); /* ghz measures good calls only */
    assert_int_equal(
        call_grpc(*state, program, "slow", "{" CHECK ", response_timeout: 500ms}", arena, &r, NULL, &err),
        -1);
    assert_has(err.message, "was answered; errors: timeout ");
    assert_int_equal(call_grpc(*state, program, "ok", "{call: no.such/Call}", arena, &r, NULL, &err), -1);
    assert_has(err.message,
               "'ghz' ended with exit status 1: usage, no connection, or no such service; it said: ");
}

static void ghz_without_a_server(void **state)
{
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct load_result r;
    struct error err;

    if (!here("ghz"))
        return;
    assert_int_equal(go(*state, "ghz", 1, "{" CHECK ", connect_timeout: 1s}", arena, &r, NULL, &err), -1);
    assert_has(err.message, "'ghz' ended with exit status 1");
    assert_has(err.message, "connection refused");
    nothing(*state, "ghz", GOOD, "{" CHECK ", connect_timeout: 1s}",
            "'ghz' ended with exit status 1"); /* no gRPC */
}

/* ---- artillery ---- */

/* artillery takes some ten seconds more than the load: several at a time. */
struct pending {
    const char *what, *options, *script;
    enum behaviour how;
    bool dead; /* nobody listens */
    struct server server;
    char *dir;
    struct load_call call;
    struct load_command command;
    int64_t began_ns, began_wall_ns;
    pid_t pid;
};

static void begin(struct pending *p, const struct load_adapter *a, const char *dir, struct arena *arena)
{
    struct error err = ERROR_INIT;

    p->dir = arena_printf(arena, "%s/%s", dir, p->what);
    if (!p->dead)
        p->server = start(p->how);
    p->call =
        (struct load_call){.target = arena_printf(arena, "http://127.0.0.1:%d", p->dead ? 1 : p->server.port),
                           .path = "/good",
                           .script = p->script,
                           .duration_ns = NS_PER_S,
                           .output_dir = p->dir};
    assert_int_equal(tree_parse(p->options, strlen(p->options), "options", arena, &p->call.options, &err), 0);
    assert_int_equal(load_adapter_command(a, &p->call, arena, &p->command, &err), 0);
    for (size_t i = 0; i < p->command.files.len; i++)
        put(p->dir, p->command.files.items[i].key, p->command.files.items[i].value);
    for (size_t i = 0; i < p->command.env.len; i++)
        assert_int_equal(setenv(p->command.env.items[i].key, p->command.env.items[i].value, 1), 0);
    p->began_ns = clock_now_ns();
    p->began_wall_ns = clock_wall_ns();
    p->pid = background(arena_printf(arena, "%s/%s", p->dir, p->command.stdout_name), p->command.argv.items);
}

static int collect(struct pending *p, const struct load_adapter *a, struct arena *arena,
                   struct load_result *r, struct error *err)
{
    struct load_outcome o = {.ran = true, .started_wall_ns = p->began_wall_ns, .call = &p->call};

    assert_int_equal(waitpid(p->pid, &o.wait_status, 0), p->pid);
    o.window_ms = clock_ms_since(p->began_ns);
    if (!p->dead)
        stop(&p->server);
    return load_adapter_collect(a, p->dir, &o, arena, r, NULL, err);
}

static void artillery(void **state)
{
    CLEANUP(load_adapter_free) struct load_adapter *a = adapter_of("artillery");
    CLEANUP(arena_free) struct arena *arena = arena_new();
    struct pending runs[] = {
        {.what = "good", .how = GOOD, .options = "{arrival_rate: 20}"},
        {.what = "500", .how = STATUS_500, .options = "{arrival_rate: 20}"},
        {.what = "closes", .how = CLOSES, .options = "{arrival_rate: 20}"},
        {.what = "resets", .how = RESETS, .options = "{arrival_rate: 20}"},
        {.what = "dead", .dead = true, .options = "{arrival_rate: 20}"},
        /* of the user, with its own phases and a time-out that answers miss */
        {.what = "slow",
         .how = SLOW,
         .options = "{}",
         .script = arena_printf(arena, "%s/s.yml", (char *)*state)},
    };
    struct load_result r[ARRAY_LEN(runs)];
    struct error err[ARRAY_LEN(runs)];
    int rc[ARRAY_LEN(runs)];

    if (!here("artillery"))
        return;
    put(*state, "s.yml",
        "config:\n  target: http://127.0.0.1:1\n  timeout: 1\n  phases: [{duration: 1, arrivalCount: 6}]\n"
        "scenarios: [{flow: [{get: {url: /good}}]}]\n");
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        begin(&runs[i], a, *state, arena);
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        err[i] = (struct error)ERROR_INIT;
        rc[i] = collect(&runs[i], a, arena, &r[i], &err[i]);
        if ((rc[i] == 0) != (i < 3))
            fail_msg("%s: %s", runs[i].what, rc[i] < 0 ? err[i].message : "a result");
    }
    check_number("requests", r[0].requests, 20);
    check_number("failed", r[0].failed, 0);
    check_latency(&r[0]);
    assert_string_equal(r[0].model, "open");
    assert_true(r[0].duration_ms < 8000 && r[0].goodput_rps > 2); /* by its own clock, not by ours */
    check_number("5xx", error_of(&r[1], "status_5xx"), 20);
    check_number("ok", r[1].ok, 0);
    check_number("ok", r[2].ok, 20);
    assert_has(err[3].message, "nothing measured: none of 20 requests was answered; errors: ");
    assert_has(err[4].message, "nothing measured: none of 20 requests was answered; errors: connect 20");
    assert_has(err[5].message, "nothing measured: none of 6 requests was answered; errors: timeout 6");
}

static void add_directory(const char *dir)
{
    CLEANUP_FREE char *path = xasprintf("%s:%s", dir, getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin");

    assert_int_equal(setenv("PATH", path, 1), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(h2load_over_http_1),
        IN_SCRATCH(h2load_without_a_server),
        IN_SCRATCH(h2load_at_a_rate),
        IN_SCRATCH(h2load_over_http_2),
        IN_SCRATCH(ghz),
        IN_SCRATCH(ghz_without_a_server),
        IN_SCRATCH(artillery),
    };

    add_directory(SOURCE_DIR "/build/generators/bin"); /* where scripts/install-generators puts them */
    if (getenv("BENCHCTL_GENERATORS"))
        add_directory(getenv("BENCHCTL_GENERATORS"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
