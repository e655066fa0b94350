/* SPDX-License-Identifier: MIT */
/* Resets by clone and by scripts, and everything that may stand in their way. */
#include <sys/wait.h>
#include "internal.h"
#include "seeded.h"

static void a_clone_restores_everything(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    struct postgres_reset_result r = reset_by(p, RESET_TEMPLATE);
    assert_string_equal(r.strategy, "file_copy");
    assert_true(r.reset_ms > 0 && r.clone_ms > 0 && r.prove_ms > 0 && r.drop_ms >= 0 && r.checkpoint_ms >= 0);
    assert_true(r.size_bytes > 1e6);
    CLEANUP_FREE char *before = cluster_sql(&server, "bench", whole_state);
    holds("bench", stable_state, STABLE);
    run_sql("bench", spoil_rows);
    run_sql("bench", spoil_tables);
    (void)reset_by(p, RESET_TEMPLATE);
    holds("bench", whole_state, before);
    holds("bench", "SELECT to_regclass('flyway') IS NULL AND to_regnamespace('other') IS NULL", "t");
    finish(p);
}

/* The clone keeps what ANALYZE knew, so there is nothing to do for autovacuum, and nothing to flush in the
 * load. */
static void a_clone_leaves_nothing_to_do(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    holds("postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE datname IN ('bench', '" SEEDED_TEMPLATE "')"
          " AND backend_type = 'client backend'",
          "0");
    assert_null(strstr(notes, "analyzed"));
    holds("bench", "SELECT reltuples FROM pg_class WHERE relname = 'items'", "500");
    holds("bench", "SELECT count(*) > 3 FROM pg_statistic WHERE starelid = 'items'::regclass", "t");
    holds("bench", "SELECT relallvisible > 0 FROM pg_class WHERE relname = 'items'", "t");
    holds("bench", "SELECT sum(n_mod_since_analyze) FROM pg_stat_user_tables", "0");
    finish(p);
}

static void statistics_that_are_missing_are_made(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    run_sql("postgres", "ALTER DATABASE " SEEDED_TEMPLATE " ALLOW_CONNECTIONS true");
    run_sql(SEEDED_TEMPLATE, "DELETE FROM pg_statistic WHERE starelid = 'items'::regclass");
    run_sql("postgres", "ALTER DATABASE " SEEDED_TEMPLATE " ALLOW_CONNECTIONS false");
    (void)reset_by(p, RESET_TEMPLATE);
    assert_has(notes, "analyzed 1 tables of 'bench'");
    holds("bench", "SELECT count(*) > 3 FROM pg_statistic WHERE starelid = 'items'::regclass", "t");
    finish(p);
}

static void scripts_restore_what_scripts_can(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    struct postgres_reset_result r = reset_by(p, RESET_RECREATE);
    assert_string_equal(r.strategy, "recreate");
    holds("bench", stable_state, STABLE);
    run_sql("bench", spoil_rows);
    run_sql("bench", spoil_tables);
    (void)reset_by(p, RESET_RECREATE);
    holds("bench", stable_state, STABLE);
    holds("bench", "SELECT reltuples FROM pg_class WHERE relname = 'items'", "500");
    finish(p);
}

static void none_leaves_it_alone(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    struct postgres_reset_result r = reset_by(p, RESET_NONE); /* it does not exist: made, once */
    assert_string_equal(r.strategy, "file_copy");
    run_sql("bench", "DELETE FROM notes");
    r = reset_by(p, RESET_NONE);
    assert_string_equal(r.strategy, "none");
    assert_true(isnan(r.prove_ms));
    assert_true(r.size_bytes > 1e6);
    holds("bench", "SELECT count(*) FROM notes", "0");
    finish(p);
    p = cluster_connect(&server, loop, "absent");
    struct error err = ERROR_INIT;
    assert_int_equal(postgres_reset(p, RESET_NONE, &r, &err), -1);
    assert_has(err.message, "database 'absent' does not exist");
    postgres_close(p);
}

static int reset_template(struct postgres *p, struct error *err)
{
    struct postgres_reset_result r;

    return postgres_reset(p, RESET_TEMPLATE, &r, err);
}

static void in_template(const char *text)
{
    run_sql("postgres", "ALTER DATABASE " SEEDED_TEMPLATE " ALLOW_CONNECTIONS true");
    run_sql(SEEDED_TEMPLATE, text);
    run_sql("postgres", "ALTER DATABASE " SEEDED_TEMPLATE " ALLOW_CONNECTIONS false");
}

/* Somebody has tampered with the template: the proof must tell. */
static void a_difference_fails_the_reset(void **state)
{
    static const struct {
        const char *sql, *message;
    } cases[] = {
        {"DELETE FROM notes WHERE id = 300", "table public.notes has 299 rows instead of 300"},
        {"SELECT nextval('tickets')", "sequence public.tickets stands at 520 instead of 510"},
        {"SELECT nextval('unused')", "sequence public.unused stands at 1 instead of 1 (unused)"},
        {"CREATE TABLE extra(a int)", "table public.extra is not in the seed"},
        {"DROP TABLE \"Odd; Name\"", "table public.\"Odd; Name\" is missing"},
        {"ALTER TABLE empty ADD COLUMN b int", "table public.empty was altered: 2 columns"},
        {"SELECT lo_create(0)", "there are 1 large objects instead of 0"},
        {"UPDATE items SET name = repeat('x', 10000) || id; CREATE INDEX ON items(md5(name))",
         "table public.items was altered: 5 columns, 0 checks, 2 indexes"},
    };

    (void)state;
    need_server();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct postgres *p = seeded("bench");
        (void)reset_by(p, RESET_TEMPLATE);
        in_template(cases[i].sql);
        fails(reset_template(p, &err), ERROR_TRIAL, cases[i].message);
        finish(p);
    }
}

/* --- who is in the way */

static void sessions_of_the_last_trial_are_ended(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    PGconn *idle = cluster_session(&server, "bench"), *busy = cluster_session(&server, "bench");
    sql(busy, "BEGIN; UPDATE items SET price = 1");
    (void)reset_by(p, RESET_TEMPLATE);
    assert_has(notes, "2 sessions are ended that were still in database 'bench': user 'postgres'");
    PQfinish(idle);
    PQfinish(busy);
    finish(p);
}

static void a_held_template_is_told_with_its_sessions(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    run_sql("postgres", "ALTER DATABASE " SEEDED_TEMPLATE " ALLOW_CONNECTIONS true");
    PGconn *holder = cluster_session(&server, SEEDED_TEMPLATE);
    sql(holder, "SET application_name = 'monitor'");
    fails(reset_template(p, &err), ERROR_CONFLICT,
          "55006); in it: user 'postgres' application 'monitor' (client backend, pid ");
    assert_has(notes, "trying again"); /* with a bound */
    assert_int_equal(PQstatus(holder), CONNECTION_OK);
    sql(holder, "SELECT 1"); /* and it was not ended */
    PQfinish(holder);
    (void)reset_by(p, RESET_TEMPLATE);
    finish(p);
}

/* Sealing ends who slipped in while the template was made. */
static void the_template_admits_nobody(void **state)
{
    char info[160];

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)snprintf(info, sizeof(info), "host=127.0.0.1 port=%d user=postgres dbname=" SEEDED_TEMPLATE,
                   server.port);
    PGconn *refused = PQconnectdb(info);
    assert_int_equal(PQstatus(refused), CONNECTION_BAD);
    assert_has(PQerrorMessage(refused), "not currently accepting connections");
    PQfinish(refused);
    finish(p);
}

/* Clients that come back at once (C02): the reset either wins or says who they are; it never hangs. */
static void a_reconnecting_pool_is_survived(void **state)
{
    int to_script[2];
    char port[16];

    (void)state;
    need_server();
    if (system("command -v psql >/dev/null") != 0)
        skip();
    struct postgres *p = seeded("case_app");
    (void)reset_by(p, RESET_TEMPLATE);
    assert_int_equal(pipe(to_script), 0);
    (void)snprintf(port, sizeof(port), "%d", server.port);
    pid_t script_pid = fork();
    if (script_pid == 0) {
        (void)setenv("PGHOST", "127.0.0.1", 1);
        (void)setenv("PGPORT", port, 1);
        (void)setenv("PGUSER", "postgres", 1);
        (void)dup2(to_script[0], 0);
        (void)close(to_script[1]);
        execl("/bin/sh", "sh", TESTS_DIR "/cases/C02/reconnect_race.sh", (char *)NULL);
        _exit(127);
    }
    (void)close(to_script[0]);
    int64_t deadline = clock_now_ns() + 30 * NS_PER_S;
    for (char *n = NULL; clock_now_ns() < deadline;) {
        free(n);
        n = cluster_sql(&server, "postgres",
                        "SELECT count(*) FROM pg_stat_activity WHERE datname = 'case_app'");
        bool there = strcmp(n, "0") != 0;
        free(n);
        n = NULL;
        if (there)
            break;
        (void)usleep(20000);
    }
    for (int i = 0; i < 3; i++) {
        struct error err = ERROR_INIT;
        if (reset_template(p, &err) < 0) {
            assert_int_equal(err.kind, ERROR_CONFLICT);
            assert_has(err.message, "application 'psql'");
        }
    }
    assert_int_equal(write(to_script[1], "\n", 1), 1);
    (void)close(to_script[1]);
    assert_int_equal(waitpid(script_pid, NULL, 0), script_pid);
    (void)reset_by(p, RESET_TEMPLATE);
    finish(p);
}

static void prepared_transactions_are_rolled_back(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    run_sql("bench", "BEGIN; DELETE FROM notes; PREPARE TRANSACTION 'it''s left'");
    (void)reset_by(p, RESET_TEMPLATE);
    assert_has(notes, "1 prepared transactions were left in database 'bench'");
    holds("postgres", "SELECT count(*) FROM pg_prepared_xacts", "0");
    holds("bench", stable_state, STABLE);
    finish(p);
}

/* The way of servers before 13, which have no FORCE. */
static void without_force_the_door_is_shut_first(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    p->facts.version_num = 120000;
    (void)reset_by(p, RESET_TEMPLATE);
    PGconn *idle = cluster_session(&server, "bench");
    run_sql("bench", spoil_rows);
    (void)reset_by(p, RESET_TEMPLATE);
    holds("bench", stable_state, STABLE);
    PQfinish(idle);
    finish(p);
}

/* --- the server goes away */

static void control_is_opened_again(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    run_sql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'benchctl'");
    (void)reset_by(p, RESET_TEMPLATE);
    cluster_stop(&server, SIGINT);
    cluster_start(&server, NULL);
    (void)reset_by(p, RESET_TEMPLATE);
    holds("bench", stable_state, STABLE);
    finish(p);
}

struct killing {
    int signo;
};

static void kill_server(void *data)
{
    (void)kill(server.pid, ((struct killing *)data)->signo);
}

/* Stopped at once in the middle of a reset, at one moment after the other: always an error or a finished
 * reset. It does not come back, and is waited for a little. */
static void a_killed_server_is_an_error(void **state)
{
    struct killing k = {.signo = SIGQUIT};

    (void)state;
    need_server();
    for (int64_t delay_ms = 0; delay_ms <= 60; delay_ms += 20) {
        struct postgres *p = seeded("bench");
        struct loop_timer *t =
            loop_add_timer(loop, clock_now_ns() + delay_ms * NS_PER_MS, 0, kill_server, &k);
        struct error failed = ERROR_INIT;
        int64_t start = clock_now_ns();
        postgres_patience(p, start + NS_PER_S);
        if (reset_template(p, &failed) < 0) {
            assert_true(*failed.message);
            assert_int_not_equal(failed.kind, ERROR_NONE);
        }
        assert_true(clock_now_ns() - start < 60 * NS_PER_S);
        loop_remove_timer(t);
        cluster_stop(&server, SIGQUIT);
        fails(postgres_drop(p, &err), ERROR_ENVIRONMENT, "refused");
        cluster_start(&server, NULL);
        postgres_patience(p, LOOP_FOREVER);
        (void)reset_by(p, RESET_TEMPLATE); /* and it goes on when the server is back */
        holds("bench", stable_state, STABLE);
        finish(p);
    }
}

/* A server that is stopped (paused, cut off) answers nothing: our own deadline ends the wait. */
static void a_stopped_server_is_a_timeout(void **state)
{
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = server.port,
                                       .user = "postgres",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S,
                                       .statement_timeout_ns = NS_PER_S / 2};
    struct postgres *p = NULL;
    struct postgres_counters c;
    int pid;

    (void)state;
    need_server();
    ok(postgres_connect(loop, &o, &p, &err));
    CLEANUP_FREE char *text = cluster_sql(
        &server, "postgres", "SELECT pid FROM pg_stat_activity WHERE application_name = 'benchctl' LIMIT 1");
    pid = atoi(text);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, SIGSTOP), 0); /* the session's own process */
    p->counted = true;
    fails(postgres_counters(p, &c, &err), ERROR_TIMEOUT, "no answer from the database");
    assert_int_equal(kill(pid, SIGCONT), 0);
    postgres_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clone_restores_everything),
        cmocka_unit_test(a_clone_leaves_nothing_to_do),
        cmocka_unit_test(statistics_that_are_missing_are_made),
        cmocka_unit_test(scripts_restore_what_scripts_can),
        cmocka_unit_test(none_leaves_it_alone),
        cmocka_unit_test(a_difference_fails_the_reset),
        cmocka_unit_test(sessions_of_the_last_trial_are_ended),
        cmocka_unit_test(a_held_template_is_told_with_its_sessions),
        cmocka_unit_test(the_template_admits_nobody),
        cmocka_unit_test(a_reconnecting_pool_is_survived),
        cmocka_unit_test(prepared_transactions_are_rolled_back),
        cmocka_unit_test(without_force_the_door_is_shut_first),
        cmocka_unit_test(control_is_opened_again),
        cmocka_unit_test(a_killed_server_is_an_error),
        cmocka_unit_test(a_stopped_server_is_a_timeout),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
