/* SPDX-License-Identifier: MIT */
/* Scripts made into a sealed template; what is wrong with a script is told with its line. */
#include <sys/wait.h>
#include "fixture.h"
#include "internal.h"

#define DIGEST "0123456789abcdef0123"
#define TEMPLATE "benchctl_seed_0123456789ab"

static const char *exists = "SELECT count(*) FROM pg_database WHERE datname = '" TEMPLATE "'";

static int seed(struct postgres *p, const char *text, struct error *err)
{
    const struct postgres_script s = script("seed.sql", text);

    return postgres_seed(p, &s, 1, DIGEST, err);
}

static int reset(struct postgres *p, struct error *err)
{
    struct postgres_reset_result result;

    return postgres_reset(p, RESET_TEMPLATE, &result, err);
}

/* A script that must work: seeded, cloned; then `question` has this answer in the clone. */
static void seeds(const char *text, const char *question, const char *answer)
{
    CLEANUP(postgres_close) struct postgres *p = NULL;

    need_server();
    p = cluster_connect(&server, loop, "bench");
    ok(seed(p, text, &err));
    ok(reset(p, &err));
    holds("bench", question, answer);
    ok(postgres_drop(p, &err));
}

/* A script that must fail with this message, and leave nothing behind. */
static void breaks(const char *text, const char *message)
{
    CLEANUP(postgres_close) struct postgres *p = NULL;

    need_server();
    p = cluster_connect(&server, loop, "bench");
    fails(seed(p, text, &err), ERROR_INVALID, message);
    holds("postgres", exists, "0");
    holds("postgres", "SELECT count(*) FROM pg_stat_activity WHERE datname = '" TEMPLATE "'", "0");
}

static void a_template_is_made_and_sealed(void **state)
{
    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(seed(p, "CREATE TABLE t(a int); INSERT INTO t VALUES (1)", &err));
    holds("postgres",
          "SELECT concat_ws(' ', datallowconn, datcollate, datctype, pg_encoding_to_char(encoding)) FROM "
          "pg_database"
          " WHERE datname = '" TEMPLATE "'",
          "f C C UTF8");
    holds("postgres",
          "SELECT shobj_description(oid, 'pg_database') LIKE 'benchctl %' FROM pg_database WHERE datname = "
          "'" TEMPLATE "'",
          "t");
    CLEANUP_FREE char *oid =
        cluster_sql(&server, "postgres", "SELECT oid FROM pg_database WHERE datname = '" TEMPLATE "'");
    ok(seed(p, "CREATE TABLE never_looked_at(", &err)); /* the digest says that it is the same */
    holds("postgres", "SELECT oid FROM pg_database WHERE datname = '" TEMPLATE "'", oid);
    ok(postgres_drop(p, &err));
    holds("postgres", exists, "0");
}

static void a_dead_runs_template_is_replaced(void **state)
{
    (void)state;
    need_server();
    struct postgres *dead = cluster_connect(&server, loop, "bench");
    ok(seed(dead, "CREATE TABLE old(a int)", &err));
    ok(reset(dead, &err));
    postgres_close(dead); /* without postgres_drop(): as a kill -9 leaves it */
    seeds("CREATE TABLE t(a int); INSERT INTO t VALUES (1)", "SELECT count(*) FROM t", "1");
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname = 'bench'", "0");
}

static void two_seeds_live_side_by_side(void **state)
{
    const struct postgres_script a = script("a.sql", "CREATE TABLE a(x int)"),
                                 b = script("b.sql", "CREATE TABLE b(x int)");

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(postgres_seed(p, &a, 1, "aaaaaaaaaaaaaaaa", &err));
    ok(postgres_seed(p, &b, 1, "bbbbbbbbbbbbbbbb", &err));
    ok(reset(p, &err));
    holds("bench", "SELECT to_regclass('a') IS NULL AND to_regclass('b') IS NOT NULL", "t");
    ok(postgres_seed(p, &a, 1, "aaaaaaaaaaaaaaaa", &err));
    ok(reset(p, &err));
    holds("bench", "SELECT to_regclass('b') IS NULL AND to_regclass('a') IS NOT NULL", "t");
    ok(postgres_drop(p, &err));
    holds("postgres", "SELECT count(*) FROM pg_database WHERE datname LIKE 'benchctl%' OR datname = 'bench'",
          "0");
}

static void no_scripts_make_an_empty_one(void **state)
{
    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(postgres_seed(p, NULL, 0, "empty", &err));
    ok(reset(p, &err));
    holds("bench", "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace", "0");
    ok(postgres_drop(p, &err));
}

static void scripts_run_as_psql_runs_them(void **state)
{
    (void)state;
    seeds("CREATE TABLE t(a int PRIMARY KEY, b text);\n"
          "BEGIN; INSERT INTO t VALUES (1, 'a;b'); COMMIT;\n"
          "DO $x$ BEGIN INSERT INTO t VALUES (2, 'c'); END; $x$;\n"
          "CREATE INDEX CONCURRENTLY t_b ON t(b);\n" /* neither may run in a transaction */
          "VACUUM t;\n"
          "SELECT g, repeat('x', 100) FROM generate_series(1, 100000) g;\n" /* not kept in memory */
          "COPY t TO stdout;\n"
          "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT CASE WHEN true THEN 7 "
          "END; END;\n"
          "CREATE MATERIALIZED VIEW later AS SELECT 1 AS a WITH NO DATA;\n"
          "INSERT INTO t VALUES (3, f()::text);\n"
          "SET standard_conforming_strings = off; SET escape_string_warning = off;\n"
          "SELECT 'it\\'s; old'; INSERT INTO t VALUES (4, 'x\\';y')",
          "SELECT string_agg(b, ',' ORDER BY a) FROM t", "a;b,c,7,x';y");
}

/* A thousand rows of data in the script, with everything that COPY's text form can hold. */
static void copy_blocks_are_loaded(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, "CREATE TABLE t(a int, b text);\nCOPY t (a, b) FROM stdin;\n");
    for (int i = 1; i <= 1000; i++)
        strbuf_addf(&text, "%d\trow \\\\ %d; 'x'\n", i, i);
    strbuf_adds(&text,
                "1001\t\\N\n1002\t\xc3\xa4\\nb\n\\.\n\nCREATE INDEX ON t(a);\nCOPY t FROM stdin;\n\\.\n"
                "COPY t FROM stdin WITH (FORMAT csv);\n1003,\"a,\"\"b\"\n\\.\nSELECT 1;\n");
    seeds(strbuf_text(&text),
          "SELECT concat_ws('|', count(*), sum(a), count(b), max(b) FILTER (WHERE a = 7),"
          " (SELECT b FROM t WHERE a = 1003)) FROM t",
          "1003|503506|1002|row \\ 7; 'x'|a,\"b");
    strbuf_release(&text);
}

static void much_copy_data_is_loaded(void **state)
{
    struct strbuf text = STRBUF_INIT;

    (void)state;
    strbuf_adds(&text, "CREATE TABLE t(a int, b text);\nCOPY t FROM stdin;\n");
    for (int i = 0; i < 60000; i++)
        strbuf_addf(&text, "%d\t%0100d\n", i, i);
    strbuf_adds(&text, "\\.\n");
    assert_true(text.len > 6000000); /* more than sockets buffer */
    seeds(strbuf_text(&text), "SELECT count(*) FROM t", "60000");
    strbuf_release(&text);
}

/* --- what is wrong is told with its line */

static void errors_name_file_and_line(void **state)
{
    (void)state;
    breaks("SELECT 1;\n\nSELECT\n  nothing\nFROM nowhere;\n",
           "seed.sql:5: relation \"nowhere\" does not exist (42P01) in 'SELECT nothing FROM nowhere'");
    breaks("SELECT '\xc3\xa4\xc3\xb6\xc3\xbc',\n nothing;",
           "seed.sql:2: column \"nothing\" does not exist (42703)");
    breaks("CREATE TABLE t(a int PRIMARY KEY);\nINSERT INTO t VALUES (1);\nINSERT INTO t\n VALUES (1);",
           "seed.sql:3: duplicate key value violates unique constraint \"t_pkey\": Key (a)=(1) already "
           "exists. (23505)");
    breaks("SELECT 1;\nSELEC 2", "seed.sql:2: syntax error at or near \"SELEC\" (42601)");
    breaks("SELECT (1;\nSELECT 2;", "seed.sql:1: syntax error at or near \";\" (42601)");
    breaks("SELECT 1;\n\\i other.sql\n", "seed.sql:2: '\\i' is a command of psql, not SQL");
    breaks("SELECT 1;\nSELECT 'abc\n", "seed.sql:2: text in quotes is not closed");
    breaks("CREATE TABLE t(a int);\nBEGIN;\nINSERT INTO t VALUES (1);",
           "seed.sql: the file ends inside a transaction");
}

static void a_bad_row_of_data_is_named(void **state)
{
    (void)state;
    breaks("CREATE TABLE t(a int, b text);\nCOPY t FROM stdin;\n1\tx\n2\ty\nthree\tz\n4\tq\n\\.\n",
           "seed.sql:5: invalid input syntax for type integer: \"three\" (22P02) in 'COPY t FROM stdin'");
    breaks("CREATE TABLE t(a int);\nCOPY t FROM stdin; 1\n\\.\n", "seed.sql:2: text after COPY");
    breaks("CREATE TABLE t(a int);\nCOPY nowhere FROM stdin;\n1\n\\.\n", "seed.sql:2: relation \"nowhere\"");
}

static void the_second_file_is_named(void **state)
{
    const struct postgres_script two[] = {script("schema.sql", "CREATE TABLE t(a int);"),
                                          script("data/seed.sql", "-- data\nINSERT INTO t VALUES ('x');")};

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    fails(postgres_seed(p, two, 2, DIGEST, &err), ERROR_INVALID, "data/seed.sql:2: invalid input syntax");
}

static void missing_roles_have_a_hint(void **state)
{
    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    fails_with_hint(seed(p, "CREATE TABLE t(a int);\nALTER TABLE t OWNER TO nobody_here;", &err),
                    ERROR_INVALID, "seed.sql:2", "--no-owner");
    fails_with_hint(seed(p, "SET transaction_timeout = 0;", &err), ERROR_INVALID, "seed.sql:1",
                    "newer server");
}

/* --- cases */

/* What a dump does to its session must not meet the next script (C06). */
static void session_state_stays_in_its_script(void **state)
{
    const struct postgres_script two[] = {
        script("dump.sql", "CREATE TABLE p(a int); SELECT pg_catalog.set_config('search_path', '', false);"
                           " PREPARE q AS SELECT * FROM public.p; SET standard_conforming_strings = off;"),
        script("seed.sql", "INSERT INTO p VALUES (1); PREPARE q AS SELECT 1;")};

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = cluster_connect(&server, loop, "bench");
    ok(postgres_seed(p, two, 2, DIGEST, &err));
    ok(reset(p, &err));
    holds("bench", "SELECT count(*) FROM p", "1");
    ok(postgres_drop(p, &err));
    CLEANUP_FREE char *text = case_text("C06/session_state.sql");
    breaks(text, "seed.sql:3: cached plan must not change result type (0A000)");
}

static void a_truncate_that_is_refused_is_named(void **state)
{
    CLEANUP_FREE char *text = case_text("C05/truncate.sql");

    (void)state;
    breaks(text, "seed.sql:5: cannot truncate a table referenced in a foreign key constraint");
}

static void statements_of_a_case_work(void **state)
{
    CLEANUP_FREE char *text = case_text("C08/noise.sql");

    (void)state;
    seeds(text, "SELECT 1", "1");
}

/* --- pg_dump */

static char *dump(const char *options)
{
    struct strbuf out = STRBUF_INIT;
    CLEANUP_FREE char *command =
        xasprintf("/usr/lib/postgresql/15/bin/pg_dump -h 127.0.0.1 -p %d -U postgres %s original",
                  server.port, options);
    FILE *f = popen(command, "re");
    char buf[4096];
    size_t n;

    assert_non_null(f);
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
        strbuf_add(&out, buf, n);
    assert_int_equal(pclose(f), 0);
    return strbuf_detach(&out);
}

static void dumps_are_loaded(void **state)
{
    static const char *const options[] = {"", "--inserts", "--clean --if-exists --no-owner"};
    static const char question[] =
        "SELECT concat_ws(' ', (SELECT count(*) FROM items), (SELECT sum(price) FROM items),"
        " (SELECT count(*) FROM notes), next_of(5), (SELECT last_value FROM items_id_seq),"
        " (SELECT count(*) FROM \"Odd; Name\"), (SELECT n FROM totals))";

    (void)state;
    need_server();
    run_sql("postgres", "CREATE DATABASE original");
    run_sql("original",
            "CREATE TABLE items(id serial PRIMARY KEY, name text, price numeric(10,2));"
            "CREATE TABLE notes(id int GENERATED ALWAYS AS IDENTITY, item int REFERENCES items, body text, "
            "raw bytea);"
            "CREATE TABLE \"Odd; Name\"(\"a;b\" text DEFAULT ';');"
            "INSERT INTO items(name, price) SELECT E'it\\'s \\\\ ' || g || E'\\n;', g / 7.0 FROM "
            "generate_series(1, 1000) g;"
            "INSERT INTO notes(item, body, raw) SELECT id, name, decode(md5(name), 'hex') FROM items;"
            "INSERT INTO \"Odd; Name\" DEFAULT VALUES;"
            "CREATE FUNCTION next_of(a int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN a + 1; END; $$;"
            "CREATE VIEW v AS SELECT * FROM items; CREATE MATERIALIZED VIEW totals AS SELECT count(*) n FROM "
            "items;"
            "CREATE RULE r AS ON INSERT TO \"Odd; Name\" DO ALSO (SELECT 1; SELECT 2);"
            "COMMENT ON TABLE items IS 'a; ''b'' \\c'; SELECT nextval('items_id_seq')");
    CLEANUP_FREE char *answer = cluster_sql(&server, "original", question);
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        CLEANUP_FREE char *text = dump(options[i]);
        seeds(text, question, answer);
    }
    CLEANUP_FREE char *whole = dump("--create");
    breaks(whole, "database \"original\" already exists");
    run_sql("postgres", "DROP DATABASE original");
}

/* --- time and interruption */

/* Only with what is opened from now on: with the scripts, and not with making and dropping the template,
 * which takes its time on a busy machine. */
static struct postgres *impatient(void)
{
    struct postgres *p = cluster_connect(&server, loop, "bench");

    p->statement_timeout_ns = NS_PER_S;
    return p;
}

static void long_statements_time_out(void **state)
{
    int64_t start = clock_now_ns();

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = impatient();
    fails(seed(p, "-- long\nSELECT pg_sleep(600);", &err), ERROR_TIMEOUT,
          "seed.sql:2: canceling statement due to statement timeout");
    assert_true(clock_now_ns() - start < 120 * NS_PER_S);
    holds("postgres", exists, "0");
}

/* As every dump of pg_dump does: then ours counts, and the statement is cancelled on the server. */
static void a_script_that_lifts_the_limit_times_out_too(void **state)
{
    int64_t start = clock_now_ns();

    (void)state;
    need_server();
    CLEANUP(postgres_close) struct postgres *p = impatient();
    fails(seed(p, "SET statement_timeout = 0;\nSELECT pg_sleep(600);", &err), ERROR_TIMEOUT,
          "seed.sql:2: 'SELECT pg_sleep(600)': no answer from the database within its statement timeout of "
          "1.00 s");
    assert_true(clock_now_ns() - start < 120 * NS_PER_S);
    holds("postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> "
          "pg_backend_pid()",
          "0");
    holds("postgres", exists, "0");
}

static void interrupt(void *data)
{
    loop_interrupt(data);
}

static void an_interruption_leaves_nothing(void **state)
{
    struct loop *mine = loop, *other = NULL;

    (void)state;
    need_server();
    ok(loop_new(&other, &err)); /* an interrupted loop stays so */
    loop = other;
    struct postgres *p = cluster_connect(&server, loop, "bench");
    struct loop_timer *t = loop_add_timer(loop, clock_now_ns() + NS_PER_S, 0, interrupt, loop);
    fails(seed(p, "SET statement_timeout = 0; CREATE TABLE t(a int);\nSELECT pg_sleep(600);", &err),
          ERROR_INTERRUPTED, "interrupted");
    postgres_close(p);
    loop_remove_timer(t);
    loop_free(other);
    loop = mine;
    holds("postgres", exists, "0");
    holds("postgres",
          "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> "
          "pg_backend_pid()",
          "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_template_is_made_and_sealed),
        cmocka_unit_test(a_dead_runs_template_is_replaced),
        cmocka_unit_test(two_seeds_live_side_by_side),
        cmocka_unit_test(no_scripts_make_an_empty_one),
        cmocka_unit_test(scripts_run_as_psql_runs_them),
        cmocka_unit_test(copy_blocks_are_loaded),
        cmocka_unit_test(much_copy_data_is_loaded),
        cmocka_unit_test(errors_name_file_and_line),
        cmocka_unit_test(a_bad_row_of_data_is_named),
        cmocka_unit_test(the_second_file_is_named),
        cmocka_unit_test(missing_roles_have_a_hint),
        cmocka_unit_test(session_state_stays_in_its_script),
        cmocka_unit_test(a_truncate_that_is_refused_is_named),
        cmocka_unit_test(statements_of_a_case_work),
        cmocka_unit_test(dumps_are_loaded),
        cmocka_unit_test(long_statements_time_out),
        cmocka_unit_test(a_script_that_lifts_the_limit_times_out_too),
        cmocka_unit_test(an_interruption_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
