/* SPDX-License-Identifier: MIT */
/* Emptying and filling again: exact, and never more than the seed's own tables. */
#include "internal.h"
#include "seeded.h"

static int refill(struct postgres *p, struct error *err)
{
    struct postgres_reset_result r;

    return postgres_reset(p, RESET_TRUNCATE, &r, err);
}

static void the_very_rows_come_back(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    struct postgres_reset_result r = reset_by(p, RESET_TRUNCATE);
    assert_string_equal(r.strategy, "file_copy"); /* nothing to empty yet */
    CLEANUP_FREE char *before = cluster_sql(&server, "bench", whole_state);
    CLEANUP_FREE char *oid =
        cluster_sql(&server, "postgres", "SELECT oid FROM pg_database WHERE datname = 'bench'");
    for (int i = 0; i < 2; i++) {
        notes[0] = '\0';
        run_sql("bench", spoil_rows);
        r = reset_by(p, RESET_TRUNCATE);
        assert_string_equal(r.strategy, "truncate");
        assert_true(isnan(r.drop_ms) && r.clone_ms > 0 && r.prove_ms > 0);
        holds("bench", whole_state, before);
        assert_has(notes,
                   "emptying public.\"Odd; Name\", public.empty, public.husband, public.items, public.log, "
                   "public.log_1, public.log_2, public.notes, public.wife"); /* each is named */
    }
    holds("postgres", "SELECT oid FROM pg_database WHERE datname = 'bench'",
          oid); /* it is the same database */
    holds("postgres", "SELECT datallowconn FROM pg_database WHERE datname = '" SEEDED_TEMPLATE "'", "f");
    holds("bench", "SELECT reltuples FROM pg_class WHERE relname = 'items'", "500");
    holds("bench", "SELECT sum(n_mod_since_analyze) FROM pg_stat_user_tables", "0");
    finish(p);
}

/* After another seed, or another run's leftovers, there is nothing of ours to empty. */
static void another_seeds_database_is_cloned_over(void **state)
{
    const struct postgres_script s = script("other.sql", "CREATE TABLE other(a int)");

    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TRUNCATE);
    ok(postgres_seed(p, &s, 1, "07e8", &err));
    assert_string_equal(reset_by(p, RESET_TRUNCATE).strategy, "file_copy");
    assert_string_equal(reset_by(p, RESET_TRUNCATE).strategy, "truncate");
    holds("bench", "SELECT to_regclass('items') IS NULL AND to_regclass('other') IS NOT NULL", "t");
    finish(p);
    run_sql("postgres", "CREATE DATABASE bench");
    p = seeded("bench");
    assert_string_equal(reset_by(p, RESET_TRUNCATE).strategy, "file_copy");
    finish(p);
}

static void sessions_are_ended_before(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TRUNCATE);
    PGconn *locking = cluster_session(&server, "bench");
    sql(locking, "BEGIN; LOCK TABLE items");
    run_sql("bench", "BEGIN; DELETE FROM notes; PREPARE TRANSACTION 'left'");
    ok(refill(p, &err));
    holds("bench", stable_state, STABLE);
    PQfinish(locking);
    finish(p);
}

/* Nobody named it, so nothing may empty it: CASCADE would. */
static void a_table_that_refers_to_the_seeds_is_told(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TRUNCATE);
    run_sql("bench", "CREATE TABLE audit(item int REFERENCES items); INSERT INTO audit VALUES (1)");
    fails(refill(p, &err), ERROR_TRIAL, "Table \"audit\" references \"items\"");
    holds("bench", "SELECT count(*) FROM audit", "1");
    holds("bench", "SELECT count(*) FROM items", "500"); /* one transaction: nothing has happened */
    finish(p);
}

static void changes_that_it_cannot_undo_are_told(void **state)
{
    static const struct {
        const char *sql, *message;
    } cases[] = {
        {"CREATE TABLE flyway(a int); INSERT INTO flyway VALUES (1)",
         "table public.flyway is not in the seed"},
        {"ALTER TABLE empty ADD COLUMN b int", "table public.empty was altered"},
        {"CREATE INDEX ON items(name)", "table public.items was altered"},
        {"SELECT lo_create(0)", "there are 1 large objects instead of 0"},
    };

    (void)state;
    need_server();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct postgres *p = seeded("bench");
        (void)reset_by(p, RESET_TRUNCATE);
        run_sql("bench", cases[i].sql);
        struct error err = ERROR_INIT;
        assert_int_equal(refill(p, &err), -1);
        assert_int_equal(err.kind, ERROR_TRIAL);
        assert_has(err.message, cases[i].message);
        assert_has(err.hint, "reset: template");
        (void)reset_by(p, RESET_TEMPLATE);
        finish(p);
    }
    struct postgres *p = seeded("bench");
    (void)reset_by(p, RESET_TRUNCATE);
    run_sql("bench", "DROP TABLE notes");
    fails(refill(p, &err), ERROR_TRIAL, "relation \"public.notes\" does not exist");
    finish(p);
}

/* --- without a superuser's rights foreign keys decide the order */

static struct postgres *as_owner(const char *sql_text)
{
    const struct postgres_script s = script("seed.sql", sql_text);
    const struct postgres_options o = {.host = "127.0.0.1",
                                       .port = server.port,
                                       .user = "plain",
                                       .name = "bench",
                                       .ready_deadline_ns = clock_now_ns() + 60 * NS_PER_S};
    struct postgres *p = NULL;

    run_sql("postgres", "DROP ROLE IF EXISTS plain");
    run_sql("postgres", "CREATE ROLE plain LOGIN CREATEDB");
    ok(postgres_connect(loop, &o, &p, &err));
    ok(postgres_seed(p, &s, 1, "plainplainplain", &err));
    return p;
}

static void an_owner_fills_in_order(void **state)
{
    (void)state;
    need_server();
    /* By name the children would come first. */
    struct postgres *p = as_owner(
        "CREATE TABLE zoo(id serial PRIMARY KEY, up int REFERENCES zoo);"
        "CREATE TABLE middle(id serial PRIMARY KEY, zoo int REFERENCES zoo);"
        "CREATE TABLE ant(id serial PRIMARY KEY, middle int REFERENCES middle, zoo int REFERENCES zoo);"
        "INSERT INTO zoo(up) VALUES (1), (1), (2); INSERT INTO middle(zoo) VALUES (1), (2);"
        "INSERT INTO ant(middle, zoo) VALUES (1, 3), (2, 1)");
    (void)reset_by(p, RESET_TRUNCATE);
    run_sql("bench", "DELETE FROM ant; INSERT INTO zoo DEFAULT VALUES");
    struct postgres_reset_result r = reset_by(p, RESET_TRUNCATE);
    assert_string_equal(r.strategy, "truncate");
    holds("bench",
          "SELECT concat_ws(' ', (SELECT count(*) FROM zoo), (SELECT count(*) FROM middle), (SELECT count(*) "
          "FROM ant),"
          " nextval('zoo_id_seq'))",
          "3 2 2 4");
    assert_has(notes, "no right to CHECKPOINT");
    char *first = strstr(notes, "no right to CHECKPOINT");
    assert_null(strstr(first + 1, "no right to CHECKPOINT")); /* said once */
    finish(p);
}

static void an_owner_cannot_fill_a_circle(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = as_owner(
        "CREATE TABLE a(id int PRIMARY KEY, b int); CREATE TABLE b(id int PRIMARY KEY, a int REFERENCES a);"
        "INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); ALTER TABLE a ADD FOREIGN KEY (b)"
        " REFERENCES b");
    (void)reset_by(p, RESET_TRUNCATE);
    struct error err = ERROR_INIT;
    assert_int_equal(refill(p, &err), -1);
    assert_has(err.message, "foreign keys of table public.b go in a circle");
    assert_has(err.hint, "reset: template");
    (void)reset_by(p, RESET_TEMPLATE);
    finish(p);
}

/* What an owner's trigger writes while the rows go in again is a difference, and is told. */
static void an_owners_triggers_are_told(void **state)
{
    (void)state;
    need_server();
    struct postgres *p = as_owner(
        "CREATE TABLE t(a int); CREATE TABLE log(a int); INSERT INTO t VALUES (1);"
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO log VALUES (1);"
        " RETURN NEW; END $$; CREATE TRIGGER g AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()");
    (void)reset_by(p, RESET_TRUNCATE);
    fails(refill(p, &err), ERROR_TRIAL, "table public.log has 1 rows instead of 0");
    finish(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_very_rows_come_back),
        cmocka_unit_test(another_seeds_database_is_cloned_over),
        cmocka_unit_test(sessions_are_ended_before),
        cmocka_unit_test(a_table_that_refers_to_the_seeds_is_told),
        cmocka_unit_test(changes_that_it_cannot_undo_are_told),
        cmocka_unit_test(an_owner_fills_in_order),
        cmocka_unit_test(an_owner_cannot_fill_a_circle),
        cmocka_unit_test(an_owners_triggers_are_told),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
