/* SPDX-License-Identifier: MIT */
/* Who is in the database and what they do; counters that are exact once everybody has left; room for
 * connections; what a reset meets and deals with (cases C05 to C08). */
#include "internal.h"
#include "seeded.h"

static struct postgres_activity activity(struct postgres *p)
{
    struct postgres_activity a;

    ok(postgres_activity(p, &a, &err));
    return a;
}

static struct postgres_counters counters(struct postgres *p)
{
    struct postgres_counters c;

    ok(postgres_counters(p, &c, &err));
    return c;
}

static int left_after(struct postgres *p, int64_t wait_ns)
{
    int left = -1;

    ok(postgres_await_leave(p, clock_now_ns() + wait_ns, &left, &err));
    return left;
}

/* Until the server shows it: sessions change state a moment after they were told to. */
static struct postgres_activity activity_when(struct postgres *p, int active, int open)
{
    struct postgres_activity a = activity(p);

    for (int i = 0; i < 500 && (a.active != active || a.idle_in_transaction != open); i++) {
        (void)usleep(10000);
        a = activity(p);
    }
    assert_int_equal(a.active, active);
    assert_int_equal(a.idle_in_transaction, open);
    return a;
}

static void what_sessions_do_is_told(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    struct postgres_activity a = activity(p);
    assert_int_equal(a.sessions, 0);
    assert_true(isnan(a.open_s) && isnan(a.active_s) && isnan(a.still_s) && isnan(a.prepared_s));

    PGconn *idle = cluster_session(&server, "bench"), *open = cluster_session(&server, "bench"),
           *busy = cluster_session(&server, "bench"), *failed = cluster_session(&server, "bench");
    sql(idle, "SELECT 1");
    sql(open, "BEGIN; INSERT INTO empty VALUES (1)");
    PQclear(PQexec(failed, "BEGIN; SELECT nothing")); /* an aborted transaction is open, too */
    assert_true(PQsendQuery(busy, "SELECT pg_sleep(600)"));
    a = activity_when(p, 1, 2);
    assert_int_equal(a.sessions, 4);
    assert_int_equal(a.hidden, 0);
    assert_true(a.active_s >= 0 && a.open_s >= 0 && a.still_s >= 0 && a.still_s <= a.open_s);
    sql(open, "PREPARE TRANSACTION 'waits'");
    a = activity_when(p, 1, 1);
    assert_int_equal(a.prepared, 1);
    assert_true(a.prepared_s >= 0);
    sql(idle, "ROLLBACK PREPARED 'waits'");
    PQfinish(idle);
    PQfinish(open);
    PQfinish(failed);
    run_sql("postgres",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%sleep(600)%' AND "
            "pid <> pg_backend_pid()");
    PQfinish(busy);
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
    finish(p);
}

/* A pool that stays connected has told only a part of what it has done; once it has left, all is there. */
static void counters_are_exact_once_everybody_has_left(void **state)
{
    enum { SESSIONS = 4, TIMES = 50 };
    PGconn *pool[SESSIONS];

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    for (int round = 0; round < 3; round++) {
        (void)reset_by(p, RESET_TEMPLATE);
        struct postgres_counters before = counters(p), glance;
        for (size_t i = 0; i < SESSIONS; i++)
            pool[i] = cluster_session(&server, "bench"); /* counts as one transaction */
        for (int k = 0; k < TIMES; k++)
            for (size_t i = 0; i < SESSIONS; i++) {
                sql(pool[i], "BEGIN; INSERT INTO log VALUES (9, 'x'); UPDATE husband SET wife = 1");
                sql(pool[i], k % 5 ? "COMMIT" : "ROLLBACK");
            }
        ok(postgres_glance(p, &glance, &err));
        assert_true(glance.connections == SESSIONS);
        assert_true(isnan(glance.autovacuum_runs));
        assert_true(glance.commits - before.commits <= SESSIONS * (TIMES * 0.8 + 1));
        assert_int_equal(left_after(p, 0), SESSIONS);
        for (size_t i = 0; i < SESSIONS; i++)
            PQfinish(pool[i]);
        assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
        struct postgres_counters after = counters(p);
        assert_true(after.rollbacks - before.rollbacks == SESSIONS * TIMES / 5);
        assert_true(after.commits - before.commits == SESSIONS * (TIMES - TIMES / 5 + 1));
        assert_true(after.tup_inserted - before.tup_inserted == SESSIONS * TIMES);
        assert_true(after.deadlocks == before.deadlocks);
        assert_true(after.autovacuum_runs >= before.autovacuum_runs);
    }
    finish(p);
}

/* What the warm-up has done is told before the window begins. */
static void idle_sessions_tell_in_time(void **state)
{
    bool told = false;

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    int64_t begin_ns = clock_now_ns();
    ok(postgres_await_told(p, &told, &err));
    assert_true(told && clock_now_ns() - begin_ns < 5 * NS_PER_S); /* nobody there */
    bool old = postgres_facts(p)->version_num < 150000;            /* its idle sessions tell nothing */
    PGconn *one = cluster_session(&server, "bench");
    begin_ns = clock_now_ns();
    ok(postgres_await_told(p, &told, &err)); /* a session that has only been opened has told that */
    assert_true(told == !old && clock_now_ns() - begin_ns < 5 * NS_PER_S);
    struct postgres_counters opened = counters(p);
    for (int i = 0; i < 40; i++)
        sql(one, "INSERT INTO log VALUES (9, 'x')");
    ok(postgres_await_told(p, &told, &err));
    assert_true(told == !old);
    struct postgres_counters before = counters(p);
    assert_true(old || before.commits - opened.commits == 40);
    sql(one, "INSERT INTO log VALUES (9, 'x')");
    PQfinish(one);
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
    struct postgres_counters after = counters(p);
    assert_true(old || after.tup_inserted - before.tup_inserted == 1);
    int version = p->facts.version_num;
    p->facts.version_num = 140000;
    one = cluster_session(&server, "bench");
    begin_ns = clock_now_ns();
    ok(postgres_await_told(p, &told, &err));
    assert_true(!told && clock_now_ns() - begin_ns < 5 * NS_PER_S);
    PQfinish(one);
    begin_ns = clock_now_ns();
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
    assert_true(clock_now_ns() - begin_ns >= NS_PER_S); /* its collector is waited for */
    p->facts.version_num = version;
    finish(p);
}

static void deadlocks_are_counted(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    struct postgres_counters before = counters(p);
    PGconn *a = cluster_session(&server, "bench"), *b = cluster_session(&server, "bench");
    sql(a, "BEGIN; UPDATE items SET price = 1 WHERE id = 1");
    sql(b, "BEGIN; UPDATE items SET price = 1 WHERE id = 2");
    assert_true(PQsendQuery(a, "UPDATE items SET price = 2 WHERE id = 2"));
    PGresult *r = PQexec(b, "UPDATE items SET price = 2 WHERE id = 1"), *other = PQgetResult(a);
    assert_true((PQresultStatus(r) == PGRES_FATAL_ERROR) != (PQresultStatus(other) == PGRES_FATAL_ERROR));
    PQclear(r);
    PQclear(other);
    PQfinish(a);
    PQfinish(b);
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
    struct postgres_counters after = counters(p);
    assert_true(after.deadlocks - before.deadlocks == 1);
    assert_true(after.rollbacks - before.rollbacks == 2);
    finish(p);
}

/* --- C08: nothing is left to do in the window */

/* The checkpointer tells of itself a moment after it is done. */
static struct postgres_counters glance_when(struct postgres *p, double checkpoints)
{
    struct postgres_counters c;

    ok(postgres_glance(p, &c, &err));
    for (int i = 0; i < 500 && c.checkpoints < checkpoints; i++) {
        (void)usleep(10000);
        ok(postgres_glance(p, &c, &err));
    }
    assert_true(c.checkpoints == checkpoints);
    return c;
}

static void calm_is_vacuum_and_checkpoint(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    run_sql("bench", "UPDATE items SET price = 3");    /* the warm-up */
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0); /* it tells what it did when it leaves */
    struct postgres_counters asked;
    ok(postgres_glance(p, &asked, &err));
    ok(postgres_calm(p, &err));
    CLEANUP_FREE char *dead =
        cluster_sql(&server, "bench",
                    "SELECT n_dead_tup::text || ' ' || n_mod_since_analyze || ' ' || (last_vacuum IS NOT "
                    "NULL) || ' ' || (last_analyze IS NOT NULL) FROM pg_stat_user_tables WHERE "
                    "relname = 'items'");
    assert_string_equal(dead, "0 0 true true");
    assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
    struct postgres_counters before = counters(p);
    (void)glance_when(p, asked.checkpoints + 1);
    struct postgres_counters after = counters(p);
    assert_true(after.commits == before.commits);
    finish(p);
}

static void what_comes_after_the_window_is_not_in_it(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    struct postgres_counters before = counters(p);
    run_sql("postgres", "CHECKPOINT");
    struct postgres_counters end = glance_when(p, before.checkpoints + 1);
    run_sql("postgres", "CHECKPOINT");
    (void)glance_when(p, end.checkpoints + 1);
    struct postgres_counters after = counters(p);
    assert_true(after.autovacuum_runs >= before.autovacuum_runs);
    finish(p);
}

/* --- C07: room */

static void room_is_told_with_all_figures(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    int most = postgres_facts(p)->max_connections, reserved = postgres_facts(p)->reserved;
    assert_int_equal(reserved, 3);
    ok(postgres_expect_room(p, most - reserved - DATABASE_OWN_SESSIONS, &err));
    CLEANUP_FREE char *text =
        xasprintf("%d connections of the application, 2 of benchctl, 3 reserved ones and 0 of "
                  "others are more than the server's max_connections, %d",
                  most - 4, most);
    fails_with_hint(postgres_expect_room(p, most - 4, &err), ERROR_ENVIRONMENT, text,
                    "raise max_connections");
    fails(postgres_expect_room(p, INT64_C(1) << 40, &err), ERROR_ENVIRONMENT, "more than the server's");
    finish(p);
    struct postgres *guest = cluster_connect_url(&server, loop, "guest");
    PGconn *other = cluster_session(&server, "postgres");
    fails(postgres_expect_room(guest, most - reserved - DATABASE_OWN_SESSIONS, &err), ERROR_ENVIRONMENT,
          " of others are more");
    PQfinish(other);
    postgres_close(guest);
}

/* --- what a reset deals with is told */

static void a_reset_tells_what_it_met(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    static const enum reset_mode modes[] = {RESET_TEMPLATE, RESET_TRUNCATE, RESET_RECREATE};
    struct postgres_reset_result r = reset_by(p, RESET_TEMPLATE);
    assert_int_equal(r.prepared + r.sessions, 0);
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        run_sql("bench", "BEGIN; DELETE FROM notes; PREPARE TRANSACTION 'one'");
        run_sql("bench", "BEGIN; LOCK items; PREPARE TRANSACTION 'two'");
        assert_int_equal(left_after(p, 30 * NS_PER_S), 0); /* they end a moment after they are closed */
        PGconn *stays = cluster_session(&server, "bench");
        r = reset_by(p, modes[i]);
        assert_int_equal(r.prepared, 2);
        assert_int_equal(r.sessions, 1);
        assert_int_equal(activity(p).prepared, 0);
        PQfinish(stays);
        holds("bench", stable_state, STABLE);
        assert_int_equal(left_after(p, 30 * NS_PER_S), 0);
        r = reset_by(p, modes[i]);
        assert_int_equal(r.prepared + r.sessions, 0);
    }
    finish(p);
}

/* C06: what one session has left behind meets nobody: no step of ours shares one with another. */
static void session_state_is_never_met(void **state)
{
    CLEANUP_FREE char *text = case_text("C06/session_state.sql");
    char *value = NULL;

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    for (int i = 0; i < 2; i++) {
        (void)reset_by(p, i ? RESET_TRUNCATE : RESET_TEMPLATE);
        PGconn *app = cluster_session(&server, "bench");
        CLEANUP_FREE char *copy = xstrdup(text);
        char *rest = NULL, codes[64] = "";
        for (char *line = strtok_r(copy, ";", &rest); line; line = strtok_r(NULL, ";", &rest)) {
            if (!strpbrk(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
                continue;
            PGresult *r = PQexec(app, line);
            const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
            if (code)
                (void)snprintf(codes + strlen(codes), sizeof(codes) - strlen(codes), "%s ", code);
            PQclear(r);
        }
        assert_string_equal(codes, "0A000 42P01 ");
        sql(app, "DROP TABLE p; SELECT set_config('search_path', '', false)");
        sql(app, "PREPARE q AS SELECT 1");
        ok(postgres_query(p, "SELECT count(*) FROM items", &value, &err)); /* unqualified, by a fresh one */
        assert_string_equal(value, "500");
        free(value);
        value = NULL;
        PQfinish(app);
    }
    finish(p);
}

/* --- limits in time */

static void interrupt(void *data)
{
    loop_interrupt(data);
}

static void checks_end_when_the_time_is_up(void **state)
{
    char *value = NULL;

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    int64_t begin_ns = clock_now_ns();
    postgres_limit(p, begin_ns + NS_PER_S / 2);
    fails(postgres_query(p, "SELECT pg_sleep(500)::text", &value, &err), ERROR_TIMEOUT,
          "before the time was up");
    fails(postgres_query(p, "SELECT 1", &value, &err), ERROR_TIMEOUT, ""); /* and no more of them */
    assert_true(clock_now_ns() - begin_ns < 30 * NS_PER_S);
    postgres_limit(p, LOOP_FOREVER);
    holds("postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(500)%' AND state = 'active'"
          " AND pid <> pg_backend_pid()",
          "0");
    ok(postgres_query(p, "SELECT 1", &value, &err));
    free(value);
    finish(p);
}

static void an_interruption_ends_each_wait(void **state)
{
    struct loop *other = NULL;
    bool told;
    int left;

    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE bench");
    ok(loop_new(&other, &err)); /* an interrupted loop stays so */
    struct postgres *p = cluster_connect(&server, other, "bench");
    PGconn *one = cluster_session(&server, "bench");
    struct loop_timer *t = loop_add_timer(other, clock_now_ns() + NS_PER_S / 4, 0, interrupt, other);
    fails(postgres_await_leave(p, clock_now_ns() + 600 * NS_PER_S, &left, &err), ERROR_INTERRUPTED,
          "interrupted");
    fails(postgres_await_told(p, &told, &err), ERROR_INTERRUPTED, "interrupted");
    loop_remove_timer(t);
    PQfinish(one);
    postgres_close(p);
    loop_free(other);
    run_sql("postgres", "DROP DATABASE bench WITH (FORCE)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sessions_do_is_told),
        cmocka_unit_test(counters_are_exact_once_everybody_has_left),
        cmocka_unit_test(idle_sessions_tell_in_time),
        cmocka_unit_test(deadlocks_are_counted),
        cmocka_unit_test(calm_is_vacuum_and_checkpoint),
        cmocka_unit_test(what_comes_after_the_window_is_not_in_it),
        cmocka_unit_test(room_is_told_with_all_figures),
        cmocka_unit_test(a_reset_tells_what_it_met),
        cmocka_unit_test(session_state_is_never_met),
        cmocka_unit_test(checks_end_when_the_time_is_up),
        cmocka_unit_test(an_interruption_ends_each_wait),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
