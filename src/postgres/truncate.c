/* SPDX-License-Identifier: MIT */
#include "truncate.h"

#include <inttypes.h>
#include <string.h>
#include "benchctl/base/log.h"
#include "database.h"

#define SAME_TEXT "SET DateStyle = ISO; SET IntervalStyle = postgres; SET extra_float_digits = 3"

struct refill {
    struct postgres *p;
    const struct manifest *m;
    struct connection *from, *to;
    bool *filled;         /* per item of the manifest */
    PGresult *references; /* NULL, or pairs of a table and one it refers to, which must be filled before */
};

/* The template admits nobody: it is opened for the moment of our own login. */
static int open_template(struct refill *f, struct error *err)
{
    const char *template = f->p->seed->database;
    struct error shut = ERROR_INIT;

    if (database_admit(f->p, template, true, err) < 0)
        return -1;
    int r = postgres_session(f->p, template, &f->from, err);
    loop_shield(f->p->loop, +1);
    int closed = database_admit(f->p, template, false, &shut);
    loop_shield(f->p->loop, -1);
    if (r == 0 && closed < 0) {
        *err = shut;
        return -1;
    }
    return r;
}

/* No CASCADE: a table outside the seed that refers to one inside is an error that names it, not one more
 * empty table. */
static int empty_tables(struct refill *f, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf list = STRBUF_INIT;

    for (size_t i = 0; i < f->m->len; i++)
        if (f->m->items[i].kind == ITEM_TABLE || f->m->items[i].kind == ITEM_PARTITIONED)
            strbuf_addf(&list, "%s%s", list.len ? ", " : "", f->m->items[i].name);
    if (!list.len)
        return 0;
    note("emptying %s", strbuf_text(&list));
    CLEANUP_FREE char *sql = xasprintf("TRUNCATE %s RESTART IDENTITY", strbuf_text(&list));
    if (connection_exec(f->to, sql, NULL, err) == 0)
        return 0;
    (void)error_wrap(err, "cannot empty the seeded tables");
    if (err->kind != ERROR_ENVIRONMENT || !connection_alive(f->to))
        return -1;
    err->kind = ERROR_TRIAL; /* not the server's fault: tables were changed */
    return error_hint(err, "'reset: template' restores everything, whatever an application did");
}

/*
 * In the role "replica", which only a superuser may take, neither foreign keys nor triggers act on rows that
 * satisfied them before. Others fill in the order of the foreign keys.
 */
static int choose_order(struct refill *f, struct error *err)
{
    if (f->p->superuser)
        return connection_exec(f->to, "SET LOCAL session_replication_role = replica", NULL, err);
    if (connection_exec(
            f->to,
            "SELECT format('%I.%I', n.nspname, c.relname), format('%I.%I', fn.nspname, fc.relname)"
            " FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON"
            " n.oid = c.relnamespace JOIN pg_class fc ON fc.oid = k.confrelid JOIN pg_namespace fn ON"
            " fn.oid = fc.relnamespace WHERE k.contype = 'f' AND k.conrelid <> k.confrelid",
            &f->references, err) < 0)
        return error_wrap(err, "cannot read the foreign keys");
    return 0;
}

static bool may_fill(const struct refill *f, const char *table)
{
    for (int i = 0; f->references && i < PQntuples(f->references); i++) {
        if (strcmp(PQgetvalue(f->references, i, 0), table) != 0)
            continue;
        const struct manifest_item *other = manifest_find(f->m, PQgetvalue(f->references, i, 1));
        if (other && other->kind == ITEM_TABLE && !f->filled[other - f->m->items])
            return false;
    }
    return true;
}

/* The result that a COPY begins or ends with. */
static int expect(struct connection *c, ExecStatusType status, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_result(c, &r, err) < 0)
        return -1;
    if (r && result_is_error(r))
        return connection_fail(c, r, ERROR_ENVIRONMENT, err);
    if (!r || PQresultStatus(r) != status)
        return error_set(err, ERROR_ENVIRONMENT, "unexpected answer to COPY");
    return 0;
}

static int finish(struct connection *c, struct error *err)
{
    PGresult *end = NULL;

    if (expect(c, PGRES_COMMAND_OK, err) < 0 || connection_result(c, &end, err) < 0)
        return -1;
    PQclear(end);
    return 0;
}

static int pipe_rows(struct refill *f, struct error *err)
{
    for (;;) {
        char *row = NULL;
        int len = 0;
        if (connection_take(f->from, &row, &len, err) < 0)
            return -1;
        if (len < 0)
            return connection_put_end(f->to, NULL, err);
        int r = connection_put(f->to, row, (size_t)len, err);
        PQfreemem(row);
        if (r < 0)
            return -1;
    }
}

static int fill_table(struct refill *f, const struct manifest_item *item, struct error *err)
{
    CLEANUP_FREE char *out = xasprintf("COPY %s TO STDOUT", item->name);
    CLEANUP_FREE char *in = xasprintf("COPY %s FROM STDIN", item->name);

    if (connection_send(f->from, out, err) < 0 || expect(f->from, PGRES_COPY_OUT, err) < 0 ||
        connection_send(f->to, in, err) < 0 || expect(f->to, PGRES_COPY_IN, err) < 0 ||
        pipe_rows(f, err) < 0 || finish(f->from, err) < 0 || finish(f->to, err) < 0)
        return error_wrap(err, "cannot fill table %s", item->name);
    return 0;
}

/* Rounds, in each of which every table goes that waits for no other. */
static int fill_tables(struct refill *f, struct error *err)
{
    for (bool more = true; more;) {
        const struct manifest_item *stuck = NULL;
        more = false;
        for (size_t i = 0; i < f->m->len; i++) {
            const struct manifest_item *item = &f->m->items[i];
            if (f->filled[i] || item->kind != ITEM_TABLE)
                continue;
            if (!may_fill(f, item->name)) {
                stuck = item;
                continue;
            }
            if (item->rows > 0 && fill_table(f, item, err) < 0)
                return -1;
            f->filled[i] = more = true;
        }
        if (stuck && !more) {
            (void)error_set(err, ERROR_ENVIRONMENT, "foreign keys of table %s go in a circle", stuck->name);
            return error_hint(err, "only a superuser can fill it again: use 'reset: template'");
        }
    }
    return 0;
}

static int set_sequences(struct refill *f, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;

    for (size_t i = 0; i < f->m->len; i++) {
        const struct manifest_item *item = &f->m->items[i];
        if (item->kind != ITEM_SEQUENCE)
            continue;
        CLEANUP_FREE char *name = PQescapeLiteral(connection_pg(f->to), item->name, strlen(item->name));
        strbuf_addf(&sql, "SELECT setval(%s, %" PRId64 ", %s);", name ? name : "NULL", item->position,
                    item->called ? "true" : "false");
    }
    if (sql.len && connection_exec(f->to, strbuf_text(&sql), NULL, err) < 0)
        return error_wrap(err, "cannot set the sequences");
    return 0;
}

static int refresh_views(struct refill *f, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (connection_exec(
            f->to,
            "SELECT format('REFRESH MATERIALIZED VIEW %I.%I', n.nspname, c.relname) FROM pg_class c"
            " JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'm' AND c.relispopulated"
            " ORDER BY c.oid",
            &r, err) < 0)
        return -1;
    for (int i = 0; i < PQntuples(r); i++)
        if (connection_exec(f->to, PQgetvalue(r, i, 0), NULL, err) < 0)
            return error_wrap(err, "cannot refresh the materialized views");
    return 0;
}

static int refill_steps(struct refill *f, struct error *err)
{
    if (postgres_session(f->p, f->p->name, &f->to, err) < 0 || open_template(f, err) < 0 ||
        connection_exec(f->from, SAME_TEXT, NULL, err) < 0 ||
        connection_exec(f->to, SAME_TEXT, NULL, err) < 0 || connection_exec(f->to, "BEGIN", NULL, err) < 0 ||
        empty_tables(f, err) < 0 || choose_order(f, err) < 0 || fill_tables(f, err) < 0 ||
        set_sequences(f, err) < 0 || refresh_views(f, err) < 0)
        return -1;
    return connection_exec(f->to, "COMMIT", NULL, err);
}

int truncate_and_fill(struct postgres *p, struct error *err)
{
    struct refill f = {.p = p, .m = &p->seed->manifest};

    f.filled = xcalloc(f.m->len + 1, sizeof(*f.filled));
    int r = refill_steps(&f, err);
    connection_free(f.from);
    connection_free(f.to);
    PQclear(f.references);
    free(f.filled);
    return r;
}
