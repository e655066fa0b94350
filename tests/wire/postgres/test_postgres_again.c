/* SPDX-License-Identifier: MIT */
/* A server that crashes, restarts or stays away, under everything that is asked of it. */
#include "seeded.h"

/* A backend that is killed takes all others along, and the server recovers: for a moment it refuses. Goes on
 * when that has begun: until then the server would still take in what it throws out a moment later. */
static void crash(void)
{
    cluster_await(&server);
    PGconn *session = cluster_session(&server, "postgres"), *other = cluster_session(&server, "postgres");

    PQclear(PQexec(session, "COPY (SELECT 1) TO PROGRAM 'kill -9 $PPID'"));
    PQclear(PQexec(other, "SELECT pg_sleep(60)"));
    assert_int_equal(PQstatus(other), CONNECTION_BAD);
    PQfinish(other);
    PQfinish(session);
}

static void restart(void)
{
    cluster_await(&server);
    cluster_stop(&server, SIGINT);
    cluster_start_slowly(&server);
}

static void each_call_waits(void (*trouble)(void))
{
    struct postgres_counters c;
    struct postgres_activity a;
    int left = 0;
    bool told = false;
    struct postgres *p = seeded("bench");

    (void)reset_by(p, RESET_TEMPLATE);
    CLEANUP_FREE char *state = cluster_sql(&server, "bench", whole_state);
    trouble();
    ok(postgres_glance(p, &c, &err));
    trouble();
    ok(postgres_counters(p, &c, &err));
    trouble();
    ok(postgres_activity(p, &a, &err));
    trouble();
    ok(postgres_await_leave(p, 0, &left, &err));
    ok(postgres_await_told(p, &told, &err));
    trouble();
    ok(postgres_calm(p, &err));
    trouble();
    CLEANUP_FREE char *value = NULL;
    ok(postgres_query(p, "SELECT 7", &value, &err));
    assert_string_equal(value, "7");
    run_sql("bench", spoil_rows);
    trouble();
    (void)reset_by(p, RESET_TRUNCATE);
    holds("bench", whole_state, state);
    run_sql("bench", spoil_tables);
    trouble();
    (void)reset_by(p, RESET_TEMPLATE);
    holds("bench", whole_state, state);
    trouble();
    ok(postgres_drop(p, &err));
    finish(p);
}

static void a_crash_is_waited_for(void **state)
{
    (void)state;
    need_server();
    each_call_waits(crash);
}

static void a_restart_is_waited_for(void **state)
{
    (void)state;
    need_server();
    each_call_waits(restart);
}

/* Recovery empties them, in the template as well. */
static void tables_that_a_crash_empties_are_seeded_again(void **state)
{
    const struct postgres_script s =
        script("seed.sql", "CREATE UNLOGGED TABLE u(a int); INSERT INTO u SELECT generate_series(1, 100)");

    (void)state;
    need_server();
    struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(postgres_seed(p, &s, 1, "0109ed", &err));
    (void)reset_by(p, RESET_TEMPLATE);
    crash();
    (void)reset_by(p, RESET_TEMPLATE);
    holds("bench", "SELECT count(*) FROM u", "100");
    crash();
    (void)reset_by(p, RESET_TRUNCATE);
    holds("bench", "SELECT count(*) FROM u", "100");
    finish(p);
}

/* Waited for once, and told; then no longer, until it is back. */
static void who_stays_away_is_not_waited_for_twice(void **state)
{
    struct postgres_counters c;
    struct postgres_activity a;

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TEMPLATE);
    cluster_stop(&server, SIGINT);
    postgres_patience(p, clock_now_ns() + 4 * NS_PER_S);
    fails(postgres_counters(p, &c, &err), ERROR_ENVIRONMENT, "has not come back within");
    postgres_patience(p, LOOP_FOREVER);
    int64_t begin_ns = clock_now_ns();
    fails(postgres_activity(p, &a, &err), ERROR_ENVIRONMENT, "refused");
    assert_true(clock_now_ns() - begin_ns < 50 * NS_PER_S); /* a minute would have been waited */
    cluster_start(&server, NULL);
    ok(postgres_counters(p, &c, &err));
    restart();
    ok(postgres_activity(p, &a, &err)); /* it is worth a wait again */
    finish(p);
}

static void who_has_ended_is_not_waited_for(void **state)
{
    bool dead = false;
    struct postgres_activity a;
    struct postgres *p = NULL;
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = server.port,
                                       .user = "postgres",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S,
                                       .give_up = &dead};

    (void)state;
    need_server();
    ok(postgres_connect(loop, &o, &p, &err));
    cluster_stop(&server, SIGINT);
    dead = true;
    int64_t begin_ns = clock_now_ns();
    struct error err = ERROR_INIT;
    assert_int_equal(postgres_activity(p, &a, &err), -1);
    assert_true(clock_now_ns() - begin_ns < 50 * NS_PER_S);
    postgres_close(p);
    cluster_start(&server, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crash_is_waited_for),
        cmocka_unit_test(a_restart_is_waited_for),
        cmocka_unit_test(tables_that_a_crash_empties_are_seeded_again),
        cmocka_unit_test(who_stays_away_is_not_waited_for_twice),
        cmocka_unit_test(who_has_ended_is_not_waited_for),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
