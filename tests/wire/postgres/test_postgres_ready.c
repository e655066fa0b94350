/* SPDX-License-Identifier: MIT */
/* When is a database ready, and what is never waited for. */
#include <arpa/inet.h>
#include <sys/wait.h>
#include "fixture.h"

/* --- the stand-in */

static pid_t fake_start(int port, const char *mode)
{
    char text[16];

    (void)snprintf(text, sizeof(text), "%d", port);
    if (system("python3 -c 'pass' 2>/dev/null") != 0) {
        print_message("skipped: no python3\n");
        skip();
    }
    pid_t pid = fork();
    if (pid == 0) {
        execlp("python3", "python3", TESTS_DIR "/cases/C03/fake_pg.py", text, mode, (char *)NULL);
        _exit(127);
    }
    return pid;
}

static void fake_stop(pid_t pid)
{
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int connect_to(int port, int64_t wait_ns, struct error *err)
{
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = port,
                                       .user = "someone",
                                       .password = "hunter2",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + wait_ns};
    struct postgres *p = NULL;
    int r = postgres_connect(loop, &o, &p, err);

    postgres_close(p);
    assert_null(strstr(err->message, "hunter2"));
    assert_null(strstr(err->hint, "hunter2"));
    return r;
}

/* Waits until somebody listens, so that "refused" comes from what the mode does and not from a slow start. */
static void await_listener(int port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int64_t deadline = clock_now_ns() + 20 * NS_PER_S;

    for (;;) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int r = connect(fd, (struct sockaddr *)&a, sizeof(a));
        (void)close(fd);
        if (r == 0)
            return;
        assert_true(clock_now_ns() < deadline);
        (void)usleep(10000);
    }
}

/* Each time in vain, and at last the server has said this: how soon is not tested. */
static void ends_with(int port, int64_t window_ns, const char *part)
{
    int64_t deadline = clock_now_ns() + 120 * NS_PER_S;

    for (;;) {
        struct error err = ERROR_INIT;
        assert_int_equal(connect_to(port, window_ns, &err), -1);
        if (err.kind != ERROR_TIMEOUT)
            fail_msg("kind '%s': %s", error_kind_name(err.kind), err.message);
        if (strstr(err.message, part))
            return;
        if (clock_now_ns() > deadline)
            fail_msg("'%s' never says '%s'", err.message, part);
    }
}

static void starting_up_is_waited_for(void **state)
{
    int port = free_port();
    pid_t fake = fake_start(port, "starting");
    int64_t start = clock_now_ns();

    (void)state;
    await_listener(port);
    ends_with(port, NS_PER_S, "57P03");
    ends_with(port, 4 * NS_PER_S, "refused"); /* the port closes after 3 s */
    assert_true(clock_now_ns() - start > 3 * NS_PER_S);
    fake_stop(fake);
}

static void flapping_is_never_ready(void **state)
{
    int port = free_port();
    pid_t fake = fake_start(port, "flap");

    (void)state;
    await_listener(port);
    ends_with(port, 4 * NS_PER_S, "57P03"); /* gone from 1 s to 3 s, then back */
    fake_stop(fake);
}

static void an_administrators_stop_is_waited_for(void **state)
{
    int port = free_port();
    pid_t fake = fake_start(port, "admin_stop");

    (void)state;
    await_listener(port);
    ends_with(port, NS_PER_S / 2, "57P01");
    fake_stop(fake);
}

static void used_up_slots_are_told_at_once(void **state)
{
    int port = free_port();
    pid_t fake = fake_start(port, "slots");
    int64_t start = clock_now_ns();

    (void)state;
    await_listener(port);
    fails(connect_to(port, 60 * NS_PER_S, &err), ERROR_ENVIRONMENT, "connection slots used up");
    fails(connect_to(port, 60 * NS_PER_S, &err), ERROR_ENVIRONMENT, "53300");
    assert_true(clock_now_ns() - start < 30 * NS_PER_S);
    fake_stop(fake);
}

static void channel_binding_trouble_is_told_at_once(void **state)
{
    int port = free_port();
    pid_t fake = fake_start(port, "plus_only");
    int64_t start = clock_now_ns();
    struct error err = ERROR_INIT;

    (void)state;
    await_listener(port);
    assert_int_equal(connect_to(port, 60 * NS_PER_S, &err), -1);
    assert_int_equal(err.kind, ERROR_ENVIRONMENT);
    assert_has(err.message, "SCRAM-SHA-256-PLUS");
    assert_has(err.message, "configuration: ");
    assert_has(err.hint, "waiting does not help");
    assert_true(clock_now_ns() - start < 30 * NS_PER_S);
    fake_stop(fake);
}

/* --- nobody there, nobody speaking */

static void nobody_there_is_a_timeout(void **state)
{
    (void)state;
    ends_with(free_port(), NS_PER_S / 5, "refused");
}

static void silence_is_a_timeout(void **state)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_true(bind(fd, (struct sockaddr *)&a, len) == 0 && listen(fd, 5) == 0 &&
                getsockname(fd, (struct sockaddr *)&a, &len) == 0);
    fails(connect_to(ntohs(a.sin_port), NS_PER_S / 2, &err), ERROR_TIMEOUT, "no answer");
    (void)close(fd);
}

static void raise_flag(void *data)
{
    *(bool *)data = true;
}

static void interrupt(void *data)
{
    (void)data;
    loop_interrupt(loop);
}

static void a_dead_container_ends_the_wait(void **state)
{
    bool dead = false;
    struct loop_timer *t = loop_add_timer(loop, clock_now_ns() + NS_PER_S / 5, 0, raise_flag, &dead);
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = free_port(),
                                       .user = "u",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S,
                                       .give_up = &dead};
    struct postgres *p = NULL;

    (void)state;
    fails(postgres_connect(loop, &o, &p, &err), ERROR_ENVIRONMENT, "database ended while it was waited for");
    assert_null(p);
    loop_remove_timer(t);
}

static void an_interruption_ends_the_wait(void **state)
{
    struct loop *mine = loop, *other = NULL;

    (void)state;
    ok(loop_new(&other, &err)); /* an interrupted loop stays so */
    loop = other;
    struct loop_timer *t = loop_add_timer(loop, clock_now_ns() + NS_PER_S / 5, 0, interrupt, NULL);
    fails(connect_to(free_port(), 60 * NS_PER_S, &err), ERROR_INTERRUPTED, "interrupted");
    loop_remove_timer(t);
    loop_free(other);
    loop = mine;
}

/* --- a real server */

static void a_starting_server_becomes_ready(void **state)
{
    (void)state;
    need_server();
    cluster_stop(&server, SIGINT);
    cluster_start_slowly(&server);
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    assert_non_null(p);
}

struct restart {
    bool stopped, restarted;
    struct loop_child *child;
};

static void stop_server(void *data)
{
    struct restart *r = data;

    r->stopped = true;
    (void)kill(server.pid, SIGINT);
}

static void server_ended(pid_t pid, int status, void *data)
{
    struct restart *r = data;

    (void)pid;
    (void)status;
    r->restarted = true;
    cluster_start_slowly(&server);
}

/* What an image does that starts a server for its init scripts: it answers, stops, and comes back as another.
 */
static void a_temporary_server_is_not_taken_for_ready(void **state)
{
    struct restart r = {0};

    (void)state;
    need_server();
    r.child = loop_add_child(loop, server.pid, server_ended, &r);
    struct loop_timer *t = loop_add_timer(loop, clock_now_ns() + 25 * NS_PER_MS, 0, stop_server, &r);
    postgres_close(cluster_connect(&server, loop, "bench"));
    assert_true(r.stopped);
    assert_true(r.restarted); /* three answers take longer than the first server lived */
    loop_remove_timer(t);
}

static int connect_url(const char *url, const char *name, struct error *err)
{
    const struct postgres_options o = {
        .url = url, .name = name, .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    struct postgres *p = NULL;
    int r = postgres_connect(loop, &o, &p, err);

    postgres_close(p);
    assert_null(strstr(err->message, "wrong-one"));
    assert_null(strstr(err->hint, "wrong-one"));
    assert_null(strstr(err->message, "postgresql://"));
    return r;
}

#define URL(format, ...)                                                                                     \
    CLEANUP_FREE char *url = xasprintf(format, __VA_ARGS__);                                                 \
    int64_t start = clock_now_ns()
#define at_once() assert_true(clock_now_ns() - start < 30 * NS_PER_S)

static void a_wrong_password_is_told_at_once(void **state)
{
    (void)state;
    need_server();
    run_sql("postgres", "SET password_encryption = 'scram-sha-256'; DROP ROLE IF EXISTS guarded;"
                        "CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'right-one'");
    CLEANUP_FREE char *hba = xasprintf("%s/data/pg_hba.conf", server.dir);
    FILE *f = fopen(hba, "w");
    assert_non_null(f);
    assert_true(
        fputs("host all guarded all scram-sha-256\nhost all all all trust\nlocal all all trust\n", f) > 0);
    assert_int_equal(fclose(f), 0);
    run_sql("postgres", "SELECT pg_reload_conf()");
    int64_t deadline = clock_now_ns() + 20 * NS_PER_S;
    for (;;) { /* until the reload has reached the postmaster */
        struct error seen = ERROR_INIT;
        URL("postgresql://guarded:wrong-one@127.0.0.1:%d/postgres", server.port);
        if (connect_url(url, "bench", &seen) < 0) {
            assert_has(seen.message, "28P01");
            at_once();
            break;
        }
        assert_true(clock_now_ns() < deadline);
    }
    URL("postgresql://guarded@127.0.0.1:%d/postgres", server.port);
    fails(connect_url(url, "bench", &err), ERROR_ENVIRONMENT, "no password supplied");
    at_once();
    CLEANUP_FREE char *right = xasprintf("postgresql://guarded:right-one@127.0.0.1:%d/postgres", server.port);
    ok(connect_url(right, "bench", &err));
}

static void a_missing_database_is_told_at_once(void **state)
{
    (void)state;
    need_server();
    URL("postgresql://postgres@127.0.0.1:%d/nosuch", server.port);
    struct error err = ERROR_INIT;
    assert_int_equal(connect_url(url, "bench", &err), -1);
    assert_has(err.message, "3D000");
    assert_has(err.hint, "'nosuch'");
    at_once();
}

static void tls_that_is_not_there_is_told_at_once(void **state)
{
    (void)state;
    need_server();
    URL("postgresql://postgres@127.0.0.1:%d/postgres?sslmode=require", server.port);
    fails(connect_url(url, "bench", &err), ERROR_ENVIRONMENT, "SSL");
    at_once();
}

static void a_socket_file_will_do(void **state)
{
    (void)state;
    need_server();
    CLEANUP_FREE char *url = xasprintf("host=%s port=%d user=postgres", server.dir, server.port);
    ok(connect_url(url, "bench", &err));
}

static void names_of_the_server_are_refused(void **state)
{
    char longest[80];

    (void)state;
    memset(longest, 'x', sizeof(longest));
    longest[64] = '\0';
    fails(connect_url("postgresql://u@127.0.0.1/postgres", NULL, &err), ERROR_INVALID,
          "belongs to the server");
    fails(connect_url("postgresql://u@127.0.0.1/x", "template1", &err), ERROR_INVALID,
          "belongs to the server");
    fails(connect_url("postgresql://u@127.0.0.1", NULL, &err), ERROR_INVALID, "1 to 63 bytes");
    fails(connect_url("postgresql://u@127.0.0.1/x", longest, &err), ERROR_INVALID, "1 to 63 bytes");
}

static void facts_are_recorded(void **state)
{
    (void)state;
    need_server();
    run_sql("postgres", "ALTER SYSTEM SET archive_command = 'scp %p secret@host'");
    run_sql("postgres", "SELECT pg_reload_conf()");
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    const struct postgres_facts *f = postgres_facts(p);
    assert_int_equal(f->version_num / 10000, 15);
    assert_int_equal(strncmp(f->version, "15.", 3), 0);
    assert_int_equal(f->max_connections, 30);
    assert_int_equal(f->superuser_reserved, 3);
    assert_null(f->collation_warning);
    assert_string_equal(json_get_text(f->settings, "fsync"), "off");
    assert_string_equal(json_get_text(f->settings, "max_connections"), "30");
    assert_null(json_get_text(f->settings, "archive_command"));   /* may hold anything */
    assert_null(json_get_text(f->settings, "statement_timeout")); /* ours, of this session only */
    assert_string_equal(postgres_database_name(p), "bench");
}

/* A collation version that the system no longer has: recorded, and a clone of template1 would fail. */
static void another_collation_version_is_recorded(void **state)
{
    static const char *const icu[] = {"--locale-provider=icu", "--icu-locale=en", "--locale=C", NULL};
    CLEANUP_FREE char *text = case_text("C04/collation.sql");
    struct cluster other;
    char *failing, *rest;

    (void)state;
    if (!cluster_make(&other, icu))
        skip();
    cluster_start(&other, NULL);
    failing = strstr(text, "CREATE DATABASE case_a");
    assert_non_null(failing);
    failing[-1] = '\0';
    free(cluster_sql(&other, "postgres", text)); /* only the change of the recorded version */
    PGconn *session = cluster_session(&other, "postgres");
    PGresult *r = PQexec(session, "CREATE DATABASE case_a");
    assert_int_equal(PQresultStatus(r), PGRES_FATAL_ERROR);
    PQclear(r);
    PQfinish(session);
    rest = strstr(failing, "CREATE DATABASE case_b");
    assert_non_null(rest);

    struct postgres *p = cluster_connect(&other, loop, "bench");
    struct postgres_reset_result result;
    assert_non_null(postgres_facts(p)->collation_warning);
    assert_has(postgres_facts(p)->collation_warning, "'template1' was made with collation version 1.0");
    ok(postgres_seed(p, NULL, 0, "c04", &err)); /* from template0, so it works */
    ok(postgres_reset(p, RESET_TEMPLATE, &result, &err));
    postgres_close(p);
    CLEANUP_FREE char *locale =
        cluster_sql(&other, "postgres",
                    "SELECT concat_ws(' ', datcollate, datlocprovider, "
                    "pg_encoding_to_char(encoding)) FROM pg_database WHERE datname = 'bench'");
    assert_string_equal(locale, "C c UTF8");
    cluster_remove(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starting_up_is_waited_for),
        cmocka_unit_test(flapping_is_never_ready),
        cmocka_unit_test(an_administrators_stop_is_waited_for),
        cmocka_unit_test(used_up_slots_are_told_at_once),
        cmocka_unit_test(channel_binding_trouble_is_told_at_once),
        cmocka_unit_test(nobody_there_is_a_timeout),
        cmocka_unit_test(silence_is_a_timeout),
        cmocka_unit_test(a_dead_container_ends_the_wait),
        cmocka_unit_test(an_interruption_ends_the_wait),
        cmocka_unit_test(a_starting_server_becomes_ready),
        cmocka_unit_test(a_temporary_server_is_not_taken_for_ready),
        cmocka_unit_test(a_wrong_password_is_told_at_once),
        cmocka_unit_test(a_missing_database_is_told_at_once),
        cmocka_unit_test(tls_that_is_not_there_is_told_at_once),
        cmocka_unit_test(a_socket_file_will_do),
        cmocka_unit_test(names_of_the_server_are_refused),
        cmocka_unit_test(facts_are_recorded),
        cmocka_unit_test(another_collation_version_is_recorded),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
