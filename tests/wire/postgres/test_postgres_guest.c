/* SPDX-License-Identifier: MIT */
/* On somebody else's server: what is not ours is left alone, and nothing of ours is left behind. */
#include "internal.h"
#include "seeded.h"

static const char *databases = "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database";

static int seed(struct postgres *p, struct error *err)
{
    const struct postgres_script s = script("seed.sql", "CREATE TABLE t(a int); INSERT INTO t VALUES (1)");

    return postgres_seed(p, &s, 1, "9e579e579e579e57", err);
}
#define GUEST_TEMPLATE "benchctl_seed_9e579e579e57"

static int reset(struct postgres *p, enum reset_mode mode, struct error *err)
{
    struct postgres_reset_result r;

    return postgres_reset(p, mode, &r, err);
}

static void what_is_made_is_dropped(void **state)
{
    (void)state;
    need_server();
    CLEANUP_FREE char *before = cluster_sql(&server, "postgres", databases);
    struct postgres *p = cluster_connect_url(&server, loop, "guest");
    ok(seed(p, &err));
    ok(reset(p, RESET_TEMPLATE, &err));
    ok(reset(p, RESET_TRUNCATE, &err));
    ok(reset(p, RESET_RECREATE, &err));
    holds("postgres", databases, GUEST_TEMPLATE ",guest,postgres,template0,template1");
    ok(postgres_drop(p, &err));
    holds("postgres", databases, before);
    ok(postgres_drop(p, &err)); /* again is fine */
    postgres_close(p);
}

static void other_peoples_databases_are_refused(void **state)
{
    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE theirs");
    run_sql("theirs", "CREATE TABLE precious(a int); INSERT INTO precious VALUES (1)");
    struct postgres *p = cluster_connect_url(&server, loop, "theirs");
    fails_with_hint(seed(p, &err), ERROR_ENVIRONMENT,
                    "database 'theirs' exists and was not made by benchctl: it is left alone",
                    "COMMENT ON DATABASE \"theirs\" IS 'benchctl");
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'benchctl%'", "0");
    ok(postgres_drop(p, &err));
    ok(reset(p, RESET_NONE, &err)); /* used as it is */
    CLEANUP_FREE char *value = NULL;
    ok(postgres_query(p, "SELECT a FROM precious", &value, &err));
    assert_string_equal(value, "1");
    postgres_close(p);
    holds("theirs", "SELECT count(*) FROM precious", "1");
}

/* It appears after the seed was made: each way of resetting looks again. */
static void they_are_refused_at_each_reset(void **state)
{
    static const enum reset_mode modes[] = {RESET_TEMPLATE, RESET_TRUNCATE, RESET_RECREATE};

    (void)state;
    need_server();
    struct postgres *p = cluster_connect_url(&server, loop, "later");
    ok(seed(p, &err));
    run_sql("postgres", "CREATE DATABASE later");
    run_sql("later", "CREATE TABLE t(a int); INSERT INTO t VALUES (7)");
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        fails(reset(p, modes[i], &err), ERROR_ENVIRONMENT, "was not made by benchctl");
    holds("later", "SELECT a FROM t", "7");
    ok(postgres_drop(p, &err));
    holds("later", "SELECT a FROM t", "7"); /* nor did the end take it along */
    run_sql("postgres", "COMMENT ON DATABASE later IS 'benchctl may have it'"); /* as the hint says */
    ok(seed(p, &err));
    ok(reset(p, RESET_TEMPLATE, &err));
    holds("later", "SELECT a FROM t", "1");
    ok(postgres_drop(p, &err));
    postgres_close(p);
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname = 'later'", "0");
}

static void other_peoples_templates_are_refused(void **state)
{
    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE " GUEST_TEMPLATE);
    struct postgres *p = cluster_connect_url(&server, loop, "guest");
    fails(seed(p, &err), ERROR_ENVIRONMENT,
          "database '" GUEST_TEMPLATE "' exists and was not made by benchctl");
    postgres_close(p);
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname = '" GUEST_TEMPLATE "'", "1");
    run_sql("postgres", "DROP DATABASE " GUEST_TEMPLATE);
}

static void two_of_us_do_not_meet(void **state)
{
    CLEANUP_FREE char *url = NULL;
    struct postgres *second = NULL;

    (void)state;
    need_server();
    url = xasprintf("postgresql://postgres@127.0.0.1:%d/guest", server.port);
    const struct postgres_options o = {.url = url, .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    struct postgres *p = cluster_connect_url(&server, loop, "guest");
    fails(postgres_connect(loop, &o, &second, &err), ERROR_ENVIRONMENT,
          "database 'guest' is in use by another benchctl");
    struct postgres *other = cluster_connect_url(&server, loop, "guest_2"); /* another name is fine, */
    ok(seed(p, &err));
    fails(seed(other, &err), ERROR_ENVIRONMENT, "is in use by another benchctl"); /* the same seed is not */
    run_sql(
        "postgres",
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'benchctl'");
    ok(reset(p, RESET_TEMPLATE, &err)); /* a lost control session takes its locks again */
    fails(postgres_connect(loop, &o, &second, &err), ERROR_ENVIRONMENT,
          "database 'guest' is in use by another benchctl");
    ok(postgres_drop(p, &err));
    postgres_close(p);
    postgres_close(other);
    p = cluster_connect_url(&server, loop, "guest");
    postgres_close(p);
}

static void the_urls_database_may_be_the_maintenance_one(void **state)
{
    (void)state;
    need_server();
    CLEANUP_FREE char *url = xasprintf("postgresql://postgres@127.0.0.1:%d/theirs", server.port);
    const struct postgres_options o = {
        .url = url, .name = "guest", .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    CLEANUP(postgres_close) struct postgres *p = NULL;
    ok(postgres_connect(loop, &o, &p, &err));
    assert_string_equal(p->maintenance, "theirs");
    assert_string_equal(postgres_database_name(p), "guest");
}

/* --- connections used up */

static PGconn *as_user(const char *database)
{
    char info[200];

    (void)snprintf(info, sizeof(info), "host=127.0.0.1 port=%d user=ordinary dbname=%s", server.port,
                   database);
    return PQconnectdb(info);
}

static void a_used_up_database_is_told_with_figures(void **state)
{
    CLEANUP_FREE char *slots = case_text("C07/slots.sql");
    struct postgres *p = NULL;
    struct postgres_counters c;
    char *value = NULL;

    (void)state;
    need_server();
    run_sql("postgres", "CREATE ROLE ordinary LOGIN CREATEDB");
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = server.port,
                                       .user = "ordinary",
                                       .name = "case_app",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    ok(postgres_connect(loop, &o, &p, &err));
    ok(seed(p, &err));
    ok(reset(p, RESET_TEMPLATE, &err));
    run_sql("postgres", slots);
    PGconn *first = as_user("case_app"), *second = as_user("case_app");
    assert_int_equal(PQstatus(second), CONNECTION_OK);
    fails_with_hint(postgres_query(p, "SELECT 1", &value, &err), ERROR_ENVIRONMENT,
                    "of 30 connections are in use (3 are reserved), 2 on 'case_app'",
                    "the database has its own limit, 2");
    fails(postgres_query(p, "SELECT 1", &value, &err), ERROR_ENVIRONMENT, "connection limit hit: ");
    fails(postgres_query(p, "SELECT 1", &value, &err), ERROR_ENVIRONMENT, "(53300)");
    ok(postgres_counters(p, &c, &err)); /* the control session still sees */
    assert_true(c.connections >= 2);
    assert_true(isnan(c.autovacuum_runs)); /* not measured: there was no slot */
    PQfinish(first);
    PQfinish(second);
    ok(postgres_drop(p, &err));
    postgres_close(p);
}

/* Takes every connection. One that somebody has closed is free when its session has left, which may be later:
 * until a call of benchctl's finds none. */
static size_t use_up(struct postgres *p, PGconn **all, size_t size)
{
    struct error err = ERROR_INIT;
    size_t n = 0;

    for (;;) {
        char info[120], *value = NULL;
        (void)snprintf(info, sizeof(info), "host=127.0.0.1 port=%d user=postgres dbname=guest", server.port);
        PGconn *one_more = PQconnectdb(info);
        if (PQstatus(one_more) == CONNECTION_OK) {
            assert_true(n < size);
            all[n++] = one_more;
            continue;
        }
        PQfinish(one_more);
        if (postgres_query(p, "SELECT 1", &value, &err) < 0)
            return n;
        free(value);
    }
}

static void a_used_up_server_can_still_be_looked_into(void **state)
{
    PGconn *all[40];
    struct postgres_counters c;
    char *value = NULL;

    (void)state;
    need_server();
    struct postgres *p = cluster_connect_url(&server, loop, "guest");
    ok(seed(p, &err));
    ok(reset(p, RESET_TEMPLATE, &err));
    size_t n = use_up(p, all, ARRAY_LEN(all));
    assert_true(n > 0);
    fails(postgres_query(p, "SELECT 1", &value, &err), ERROR_ENVIRONMENT, "connection limit hit: ");
    ok(postgres_counters(p, &c, &err));
    assert_true(c.connections >= (double)n);
    while (n > 0)
        PQfinish(all[--n]);
    ok(postgres_drop(p, &err));
    postgres_close(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_made_is_dropped),
        cmocka_unit_test(other_peoples_databases_are_refused),
        cmocka_unit_test(they_are_refused_at_each_reset),
        cmocka_unit_test(other_peoples_templates_are_refused),
        cmocka_unit_test(two_of_us_do_not_meet),
        cmocka_unit_test(the_urls_database_may_be_the_maintenance_one),
        cmocka_unit_test(a_used_up_database_is_told_with_figures),
        cmocka_unit_test(a_used_up_server_can_still_be_looked_into),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
