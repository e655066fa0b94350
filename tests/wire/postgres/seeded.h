/* SPDX-License-Identifier: MIT */
/* A database with something of everything, ways to spoil it, and the question whether it is as seeded. */
#ifndef TESTS_POSTGRES_SEEDED_H
#define TESTS_POSTGRES_SEEDED_H

#include "fixture.h"

/* Values that differ each time the scripts run: only a clone or a refill from the template restores them. */
static const char seeded_sql[] =
    "CREATE TABLE items(id serial PRIMARY KEY, name text NOT NULL, price numeric(8,2), twice numeric "
    "GENERATED ALWAYS AS"
    " (price * 2) STORED, made timestamptz DEFAULT clock_timestamp());\n"
    "CREATE TABLE notes(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, item int REFERENCES items, ratio "
    "double "
    "precision, raw bytea, answer_to int REFERENCES notes DEFERRABLE);\n"
    "CREATE TABLE husband(id int PRIMARY KEY, wife int);\n"
    "CREATE TABLE wife(id int PRIMARY KEY, husband int REFERENCES husband);\n"
    "INSERT INTO husband VALUES (1, 1); INSERT INTO wife VALUES (1, 1);\n"
    "ALTER TABLE husband ADD FOREIGN KEY (wife) REFERENCES wife;\n" /* in a circle */
    "CREATE TABLE log(at int, what text) PARTITION BY RANGE (at);\n"
    "CREATE TABLE log_1 PARTITION OF log FOR VALUES FROM (0) TO (100);\n"
    "CREATE TABLE log_2 PARTITION OF log FOR VALUES FROM (100) TO (200);\n"
    "CREATE TABLE \"Odd; Name\"(\"a;b\" text);\n"
    "CREATE TABLE empty(a int);\n"
    "CREATE SEQUENCE tickets START 500 INCREMENT 10; CREATE SEQUENCE unused;\n"
    "CREATE FUNCTION shout() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO empty VALUES (1); "
    "RETURN NEW; END "
    "$$;\n"
    "INSERT INTO items(name, price) SELECT E'it\\'s\\t' || g, (random() * 1000)::numeric(8,2) FROM "
    "generate_series(1, 500) "
    "g;\n"
    "INSERT INTO notes(item, ratio, raw, answer_to) SELECT g, random() / 3, decode(md5(random()::text), "
    "'hex'), nullif(g - "
    "1, 0) FROM generate_series(1, 300) g;\n"
    "INSERT INTO log SELECT g, 'x' FROM generate_series(0, 199) g;\n"
    "INSERT INTO \"Odd; Name\" VALUES ('\\N'), (NULL), ('');\n"
    "CREATE TRIGGER loud AFTER INSERT ON items FOR EACH ROW EXECUTE FUNCTION shout();\n"
    "CREATE MATERIALIZED VIEW totals AS SELECT count(*) n FROM items;\n"
    "SELECT nextval('tickets'), nextval('tickets');\n";

/* Everything that makes up the state, as one digest; `stable` leaves out what differs each time the scripts
 * run. */
static const char whole_state[] = "SELECT md5(concat_ws('|', (SELECT string_agg(i::text, ';' ORDER BY id) "
                                  "FROM items i), (SELECT string_agg(n::text, ';' "
                                  "ORDER BY id) FROM notes n), (SELECT string_agg(l::text, ';' ORDER BY at) "
                                  "FROM log l), (SELECT string_agg(o::text, ';' "
                                  "ORDER BY o::text) FROM \"Odd; Name\" o), (SELECT count(*) FROM empty), "
                                  "(SELECT count(*) FROM husband NATURAL JOIN "
                                  "wife), (SELECT n FROM totals), (SELECT (last_value, is_called)::text FROM "
                                  "tickets), (SELECT (last_value, "
                                  "is_called)::text FROM unused), (SELECT (last_value, is_called)::text FROM "
                                  "items_id_seq), (SELECT (last_value, "
                                  "is_called)::text FROM notes_id_seq)))";
static const char stable_state[] =
    "SELECT concat_ws('|', (SELECT count(*) FROM items), (SELECT count(*) FROM notes), (SELECT count(*) FROM "
    "log), (SELECT "
    "count(*) FROM \"Odd; Name\"), (SELECT count(*) FROM empty), (SELECT n FROM totals), (SELECT "
    "(last_value, "
    "is_called)::text FROM tickets), (SELECT (last_value, is_called)::text FROM unused), (SELECT "
    "(last_value, "
    "is_called)::text FROM items_id_seq), (SELECT (last_value, is_called)::text FROM notes_id_seq))";
#define STABLE "500|300|200|3|0|500|(510,t)|(1,f)|(500,t)|(300,t)"

/* What an application does, and worse: but no DDL. */
static const char spoil_rows[] =
    "UPDATE notes SET answer_to = NULL; DELETE FROM notes WHERE id % 3 = 0 AND id > 200; UPDATE items SET "
    "price = 0; INSERT INTO items(name) "
    "VALUES ('new');"
    "INSERT INTO log VALUES (5, 'y'); DELETE FROM log WHERE at > 150; TRUNCATE \"Odd; Name\";"
    "SELECT nextval('tickets'), nextval('unused'), setval('notes_id_seq', 7); REFRESH MATERIALIZED VIEW "
    "totals;"
    "UPDATE husband SET wife = NULL; DELETE FROM wife";
/* And what a migration may do. */
static const char spoil_tables[] =
    "DROP MATERIALIZED VIEW totals; DROP TABLE notes; ALTER TABLE items ADD COLUMN more int;"
    "CREATE TABLE flyway(a int); DROP SEQUENCE tickets; CREATE SCHEMA other";

static inline struct postgres *seeded(const char *name)
{
    const struct postgres_script s = {.name = "seed.sql", .sql = seeded_sql, .len = sizeof(seeded_sql) - 1};
    struct postgres *p = cluster_connect(&server, loop, name);

    ok(postgres_seed(p, &s, 1, "5eeded5eeded5eeded", &err));
    return p;
}
#define SEEDED_TEMPLATE "benchctl_seed_5eeded5eeded"

static inline struct postgres_reset_result reset_by(struct postgres *p, enum reset_mode mode)
{
    struct postgres_reset_result r = {0};

    ok(postgres_reset(p, mode, &r, &err));
    return r;
}

/* Drops what the test made and closes. */
static inline void finish(struct postgres *p)
{
    ok(postgres_drop(p, &err));
    postgres_close(p);
    holds("postgres",
          "SELECT string_agg(datname, ',') FROM pg_database WHERE datname NOT LIKE 'template_' AND"
          " datname <> 'postgres'",
          "");
}

#endif
