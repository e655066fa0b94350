/* SPDX-License-Identifier: MIT */
/* Counters around a window, and single values for checks. */
#include "internal.h"
#include "seeded.h"

static struct postgres_counters read_counters(struct postgres *p)
{
    struct postgres_counters c;

    ok(postgres_counters(p, &c, &err));
    return c;
}

/* What goes on in the window is counted, and reading it is not. */
static void our_own_reading_does_not_count(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    for (int i = 0; i < 3; i++) {
        (void)reset_by(p, RESET_TEMPLATE);
        struct postgres_counters a = read_counters(p), b = read_counters(p);
        assert_true(b.commits == a.commits);
        assert_true(b.rollbacks == a.rollbacks);
        assert_true(b.tup_inserted == a.tup_inserted);
        assert_true(b.connections == 0);
        assert_true(b.checkpoints == a.checkpoints);
        assert_true(b.autovacuum_runs >= a.autovacuum_runs);
        assert_true(b.size_bytes > 1e6);
    }
    finish(p);
}

static void work_in_the_window_is_counted(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    struct postgres_counters a = read_counters(p);
    PGconn *app = cluster_session(&server, "bench"); /* a session is a transaction by itself */
    for (int i = 0; i < 5; i++)
        sql(app, "INSERT INTO log VALUES (7, 'x')");
    sql(app, "UPDATE items SET price = 1 WHERE id <= 10");
    sql(app, "DELETE FROM log WHERE at = 7");
    sql(app, "BEGIN; INSERT INTO log VALUES (8, 'x'); ROLLBACK");
    sql(app, "SET work_mem = '64kB'");
    sql(app, "SELECT count(*) FROM (SELECT g, repeat('x', 50) FROM generate_series(1, 20000) g ORDER BY 2, 1 "
             "DESC OFFSET 0) s");
    PQfinish(app);
    run_sql("postgres", "CHECKPOINT");
    run_sql("bench", "SELECT 1"); /* ends after the first has been counted */
    struct postgres_counters b = read_counters(p);
    for (int i = 0; i < 200 && b.tup_deleted - a.tup_deleted < 6;
         i++) { /* the first session may be ending still */
        (void)usleep(10000);
        p->counted = true;
        b = read_counters(p);
    }
    assert_true(b.tup_inserted - a.tup_inserted == 6);
    assert_true(b.tup_updated - a.tup_updated == 10);
    assert_true(b.tup_deleted - a.tup_deleted == 6);
    assert_true(b.rollbacks - a.rollbacks == 1);
    assert_true(b.commits - a.commits >= 10);
    assert_true(b.temp_bytes - a.temp_bytes > 100000);
    assert_true(b.checkpoints - a.checkpoints == 1);
    assert_true(b.wal_bytes - a.wal_bytes > 1000);
    assert_true(b.deadlocks == a.deadlocks);
    finish(p);
}

static void what_is_there_now_is_told(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    PGconn *one = cluster_session(&server, "bench"), *two = cluster_session(&server, "bench");
    sql(one, "BEGIN; DELETE FROM log; PREPARE TRANSACTION 'x'");
    struct postgres_counters c = read_counters(p);
    assert_true(c.connections == 2);
    assert_true(c.prepared_xacts == 1);
    PQfinish(one);
    PQfinish(two);
    finish(p);
}

/* The server forgets what it has counted, and says since when it counts. */
static void a_new_count_is_told(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    struct postgres_counters first = read_counters(p), second = read_counters(p);
    assert_true(first.since_s > 0 && second.since_s == first.since_s);
    run_sql("bench", "SELECT pg_stat_reset()");
    struct postgres_counters anew = read_counters(p);
    assert_true(anew.since_s > second.since_s);
    cluster_stop(&server, SIGQUIT);
    cluster_start(&server, NULL);
    struct error refused = ERROR_INIT;
    struct postgres_counters recovered;
    if (postgres_glance(p, &recovered, &refused) < 0) /* by the connection that is gone */
        ok(postgres_glance(p, &recovered, &err));
    assert_true(recovered.since_s > anew.since_s);
    finish(p);
}

static void no_database_is_an_error(void **state)
{
    struct postgres_counters c;

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "absent");
    fails(postgres_counters(p, &c, &err), ERROR_NOT_FOUND, "database 'absent' does not exist");
    p->counted = true;
    fails(postgres_counters(p, &c, &err), ERROR_NOT_FOUND, "database 'absent' does not exist");
}

/* From 17 on checkpoints are counted elsewhere. */
static void newer_servers_are_asked_otherwise(void **state)
{
    struct postgres_counters c;

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "absent");
    if (p->facts.version_num >= 170000)
        return; /* every test here is one of it */
    p->facts.version_num = 170000;
    p->counted = true;
    fails(postgres_counters(p, &c, &err), ERROR_ENVIRONMENT,
          "relation \"pg_stat_checkpointer\" does not exist");
}

/* --- checks */

static char *value_of(struct postgres *p, const char *text)
{
    char *value = NULL;

    ok(postgres_query(p, text, &value, &err));
    return value;
}

static void is_value(struct postgres *p, const char *text, const char *wanted)
{
    CLEANUP_FREE char *value = value_of(p, text);

    if (!text_equal(value, wanted))
        fail_msg("%s: %s", text, value ? value : "NULL");
}

static void is_refused(struct postgres *p, const char *text, enum error_kind kind, const char *message)
{
    char *value = NULL;

    fails(postgres_query(p, text, &value, &err), kind, message);
    assert_null(value);
}

static void values_are_given(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    is_value(p, "SELECT count(*) FROM items", "500");
    is_value(p, "SELECT 1;", "1");
    is_value(p, "SELECT NULL", NULL);
    is_value(p, "SELECT ''", "");
    is_value(p, "SELECT 'gr\xc3\xbc\xc3\x9f' -- a comment", "gr\xc3\xbc\xc3\x9f");
    is_value(p, "DELETE FROM notes WHERE id = 300 RETURNING id", "300");
    holds("bench", stable_state, STABLE); /* rolled back */
    finish(p);
}

static void other_answers_are_refused(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    is_refused(p, "SELECT id FROM items", ERROR_INVALID, "more than one row");
    is_refused(p, "SELECT 1, 2", ERROR_INVALID, "2 columns");
    is_refused(p, "SELECT 1 WHERE false", ERROR_INVALID, "no row");
    is_refused(p, "DELETE FROM empty", ERROR_INVALID, "gives no value");
    is_refused(p, "", ERROR_INVALID, "gives no value");
    is_refused(p, "SELECT nothing", ERROR_INVALID, "column \"nothing\" does not exist (42703)");
    is_refused(p, "SELEC 1", ERROR_INVALID, "syntax error");
    is_refused(p, "SELECT 1; DELETE FROM items", ERROR_INVALID, "multiple commands");
    is_refused(p, "COMMIT; DROP TABLE items", ERROR_INVALID, "multiple commands");
    is_refused(p, "SELECT repeat('x', 2000000)", ERROR_INVALID, "longer than");
    is_refused(p, "SELECT generate_series(1, 1000000000)", ERROR_INVALID,
               "more than one row"); /* not fetched */
    is_refused(p, "COPY items TO STDOUT", ERROR_INVALID, "gives no value");
    is_refused(p, "COPY empty FROM STDIN", ERROR_INVALID, "gives no value");
    holds("bench", stable_state, STABLE);
    finish(p);
}

static void checks_time_out(void **state)
{
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = server.port,
                                       .user = "postgres",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S,
                                       .statement_timeout_ns = NS_PER_S / 2};
    struct postgres *p = NULL;

    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE bench");
    ok(postgres_connect(loop, &o, &p, &err));
    is_refused(p, "SELECT pg_sleep(100)::text", ERROR_TIMEOUT, "57014");
    postgres_close(p);
    run_sql("postgres", "DROP DATABASE bench WITH (FORCE)");
}

static void interrupt(void *data)
{
    loop_interrupt(data);
}

/* Closing the session would not stop it: the server notices only when it has something to say. */
static void an_interrupted_check_ends_on_the_server(void **state)
{
    struct loop *other = NULL;
    char *value = NULL;

    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE bench");
    ok(loop_new(&other, &err)); /* an interrupted loop stays so */
    struct postgres *p = cluster_connect(&server, other, "bench");
    struct loop_timer *t = loop_add_timer(other, clock_now_ns() + NS_PER_S / 2, 0, interrupt, other);
    fails(postgres_query(p, "SELECT pg_sleep(600)::text", &value, &err), ERROR_INTERRUPTED, "interrupted");
    holds("postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND state = 'active'"
          " AND pid <> pg_backend_pid()",
          "0");
    postgres_close(p);
    loop_remove_timer(t);
    loop_free(other);
    run_sql("postgres", "DROP DATABASE bench WITH (FORCE)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_own_reading_does_not_count),
        cmocka_unit_test(work_in_the_window_is_counted),
        cmocka_unit_test(what_is_there_now_is_told),
        cmocka_unit_test(a_new_count_is_told),
        cmocka_unit_test(no_database_is_an_error),
        cmocka_unit_test(newer_servers_are_asked_otherwise),
        cmocka_unit_test(values_are_given),
        cmocka_unit_test(other_answers_are_refused),
        cmocka_unit_test(checks_time_out),
        cmocka_unit_test(an_interrupted_check_ends_on_the_server),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
