/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <stdlib.h>
#include <string.h>
#include "benchctl/base/units.h"

#define PER_QUERY 100 /* tables and sequences asked for by one statement */

static int64_t integer(const PGresult *r, int row, int column)
{
    return PQgetisnull(r, row, column) ? 0 : strtoll(PQgetvalue(r, row, column), NULL, 10);
}

/* pg_statistic is the superuser's; pg_stats, which everybody may read, costs 20 ms on a new session. */
static int list(struct postgres *p, struct connection *c, PGresult **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;

    strbuf_addf(
        &sql,
        "SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), c.relkind, c.reltuples::bigint,"
        " CASE WHEN c.relkind IN ('r', 'm') THEN pg_relation_size(c.oid) END, c.relnatts, c.relchecks,"
        " (SELECT count(*) FROM pg_index i WHERE i.indrelid = c.oid), %s,"
        " pg_database_size(current_database()), (SELECT count(*) FROM pg_largeobject_metadata), "
        "c.relispopulated"
        " FROM (SELECT 1) one LEFT JOIN (pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace) ON"
        " c.relkind IN ('r', 'p', 'm', 'S') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND n.nspname !~ '^pg_(toast|temp)'",
        p->superuser ? "EXISTS (SELECT FROM pg_statistic s WHERE s.starelid = c.oid)" : "c.reltuples > 0");
    return connection_exec(c, strbuf_text(&sql), ret, err);
}

static enum item_kind kind_of(char relkind)
{
    return relkind == 'S'   ? ITEM_SEQUENCE
           : relkind == 'm' ? ITEM_VIEW
           : relkind == 'p' ? ITEM_PARTITIONED
                            : ITEM_TABLE;
}

static void fill(const PGresult *r, struct arena *a, struct manifest *m)
{
    int rows = PQntuples(r);

    m->items = arena_array(a, struct manifest_item, (size_t)rows);
    for (int i = 0; i < rows; i++) {
        m->size_bytes = integer(r, i, 8);
        m->large_objects = integer(r, i, 9);
        if (PQgetisnull(r, i, 1)) /* there is no table at all */
            continue;
        m->items[m->len++] = (struct manifest_item){.name = arena_strdup(a, PQgetvalue(r, i, 0)),
                                                    .kind = kind_of(*PQgetvalue(r, i, 1)),
                                                    .statistics = *PQgetvalue(r, i, 7) == 't',
                                                    .populated = *PQgetvalue(r, i, 10) == 't',
                                                    .rows = ROWS_UNCOUNTED,
                                                    .estimate = integer(r, i, 2),
                                                    .bytes = integer(r, i, 3),
                                                    .columns = (int)integer(r, i, 4),
                                                    .checks = (int)integer(r, i, 5),
                                                    .indexes = (int)integer(r, i, 6)};
    }
    manifest_sort(m);
}

static bool is_asked(const struct manifest_item *i, const struct manifest *like)
{
    if (i->kind == ITEM_SEQUENCE)
        return true;
    if (i->kind == ITEM_PARTITIONED || !i->populated)
        return false;
    const struct manifest_item *known = like ? manifest_find(like, i->name) : NULL;
    return !like || (known && known->quick);
}

/* Positions and counts of the items from `from` on; *ret_next: where the next statement goes on. */
static int ask(struct connection *c, struct manifest *m, const struct manifest *like, size_t from,
               size_t *ret_next, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;
    CLEANUP(PQclear) PGresult *r = NULL;
    size_t n = 0, i = from;

    for (; i < m->len && n < PER_QUERY; i++) {
        if (!is_asked(&m->items[i], like))
            continue;
        strbuf_addf(&sql, n++ ? " UNION ALL " : "");
        if (m->items[i].kind == ITEM_SEQUENCE)
            strbuf_addf(&sql, "SELECT %zu, last_value, is_called FROM %s", i, m->items[i].name);
        else
            strbuf_addf(&sql, "SELECT %zu, count(*), NULL::bool FROM ONLY %s", i, m->items[i].name);
    }
    *ret_next = i;
    if (n == 0)
        return 0;
    if (connection_exec(c, strbuf_text(&sql), &r, err) < 0)
        return -1;
    for (int row = 0; row < PQntuples(r); row++) {
        struct manifest_item *item = &m->items[integer(r, row, 0)];
        if (item->kind == ITEM_SEQUENCE) {
            item->position = integer(r, row, 1);
            item->called = *PQgetvalue(r, row, 2) == 't';
        } else
            item->rows = integer(r, row, 1);
    }
    return 0;
}

int inspect(struct postgres *p, struct connection *c, const struct manifest *like, struct arena *a,
            struct manifest *ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    struct manifest m = {0};

    /* Starting parallel workers costs more than they save here. */
    if (connection_exec(c, "SET max_parallel_workers_per_gather = 0; SET jit = off", NULL, err) < 0 ||
        list(p, c, &r, err) < 0)
        return error_wrap(err, "cannot inspect the database");
    fill(r, a, &m);
    for (size_t next = 0; next < m.len;)
        if (ask(c, &m, like, next, &next, err) < 0)
            return error_wrap(err, "cannot count the rows");
    *ret = m;
    return 0;
}

int inspect_analyze(struct connection *c, const struct manifest *m, size_t *ret_count, struct error *err)
{
    size_t count = 0;

    for (size_t i = 0; i < m->len; i++) {
        const struct manifest_item *item = &m->items[i];
        bool rows = item->rows == ROWS_UNCOUNTED ? item->bytes > 0 : item->rows > 0;
        if ((item->kind != ITEM_TABLE && item->kind != ITEM_VIEW) || !rows ||
            (item->statistics && item->estimate > 0))
            continue;
        CLEANUP_FREE char *sql = xasprintf("ANALYZE %s", item->name);
        if (connection_exec(c, sql, NULL, err) < 0)
            return error_wrap(err, "cannot analyze '%s'", item->name);
        count++;
    }
    *ret_count = count;
    return 0;
}
