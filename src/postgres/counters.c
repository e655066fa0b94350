/* SPDX-License-Identifier: MIT */
/* Numbers of the server at one moment, and single values for checks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "again.h"

#define VALUE_MAX (1 << 20)

/* On the control connection: neither a slot nor a transaction of the benchmark's database is used. */
static int read_server(struct postgres *p, struct postgres_counters *ret, double *ret_now_s,
                       struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;
    struct connection *c;
    const char *name = p->name;

    strbuf_addf(&sql,
                "SELECT extract(epoch FROM clock_timestamp()), d.xact_commit, d.xact_rollback, d.deadlocks, "
                "d.temp_bytes, pg_database_size(d.datid),"
                " d.tup_inserted, d.tup_updated, d.tup_deleted, %s,"
                " CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), "
                "'0/0') END,"
                " (SELECT count(*) FROM pg_stat_activity WHERE datid = d.datid AND " IS_CLIENT "),"
                " (SELECT count(*) FROM pg_prepared_xacts x WHERE x.database = d.datname),"
                " greatest(extract(epoch FROM d.stats_reset), extract(epoch FROM (SELECT stats_reset FROM"
                " pg_stat_bgwriter)))"
                " FROM pg_stat_database d WHERE d.datname = $1",
                p->facts.version_num >= 170000
                    ? "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)"
                    : "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)");
    if (postgres_control(p, &c, err) < 0 || connection_query(c, strbuf_text(&sql), &name, 1, &r, err) < 0)
        return error_wrap(err, "cannot read the counters of database '%s'", name);
    if (PQntuples(r) == 0)
        return error_set(err, ERROR_NOT_FOUND, "database '%s' does not exist", name);
    *ret_now_s = result_number(r, 0);
    *ret = (struct postgres_counters){.commits = result_number(r, 1),
                                      .rollbacks = result_number(r, 2),
                                      .deadlocks = result_number(r, 3),
                                      .temp_bytes = result_number(r, 4),
                                      .size_bytes = result_number(r, 5),
                                      .tup_inserted = result_number(r, 6),
                                      .tup_updated = result_number(r, 7),
                                      .tup_deleted = result_number(r, 8),
                                      .checkpoints = result_number(r, 9),
                                      .wal_bytes = result_number(r, 10),
                                      .autovacuum_runs = NAN,
                                      .connections = result_number(r, 11),
                                      .prepared_xacts = result_number(r, 12),
                                      .since_s = result_number(r, 13)};
    return 0;
}

/* Only told inside the database itself. Not measured when there is no slot left for us; *ret_pid is our
 * session's. */
static int read_autovacuum(struct postgres *p, double *ret, int *ret_pid, struct error *err)
{
    CLEANUP(connection_free) struct connection *c = NULL;
    CLEANUP(PQclear) PGresult *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;
    struct error failed = ERROR_INIT;

    strbuf_adds(&sql, "SELECT coalesce(sum(autovacuum_count + autoanalyze_count");
    if (!isnan(p->glanced_s)) /* a table is not looked after twice in so short a time */
        strbuf_addf(&sql,
                    " - coalesce(last_autovacuum > to_timestamp(%.6f), false)::int"
                    " - coalesce(last_autoanalyze > to_timestamp(%.6f), false)::int",
                    p->glanced_s, p->glanced_s);
    strbuf_adds(&sql, "), 0) FROM pg_stat_all_tables");
    if (postgres_session(p, p->name, &c, &failed) < 0 ||
        connection_exec(c, strbuf_text(&sql), &r, &failed) < 0) {
        if (failed.kind != ERROR_INTERRUPTED && !p->lost && !p->away)
            return 0;
        *err = failed;
        return -1;
    }
    *ret = result_number(r, 0);
    *ret_pid = PQbackendPID(connection_pg(c));
    return 0;
}

/*
 * Our own session on the benchmark's database counts as a transaction or two there. At the start of a window
 * it comes before the counters are read, at its end after: the difference is the application's alone.
 */
static int counters(struct postgres *p, void *ret, struct error *err)
{
    double runs = NAN, now_s;
    struct postgres_counters now;
    bool first = !p->counted;
    int pid = 0;

    if (first && (read_autovacuum(p, &runs, &pid, err) < 0 || (pid && postgres_await_exit(p, pid, err) < 0)))
        return -1;
    if (read_server(p, &now, &now_s, err) < 0)
        return -1;
    if (!first && read_autovacuum(p, &runs, &pid, err) < 0)
        return -1;
    now.autovacuum_runs = runs;
    p->counted = true;
    *(struct postgres_counters *)ret = now;
    return 0;
}

int postgres_counters(struct postgres *p, struct postgres_counters *ret, struct error *err)
{
    return postgres_persist(p, counters, ret, err);
}

static int glance(struct postgres *p, void *ret, struct error *err)
{
    return read_server(p, ret, &p->glanced_s, err);
}

int postgres_glance(struct postgres *p, struct postgres_counters *ret, struct error *err)
{
    return postgres_persist(p, glance, ret, err);
}

/* --- checks */

/* Rows one by one: of a result with more than one row only the beginning is fetched. */
static int take_value(struct connection *c, char **ret, struct error *err)
{
    CLEANUP_FREE char *value = NULL;
    int rows = 0;

    for (;;) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (connection_result(c, &r, err) < 0)
            return -1;
        if (!r)
            break;
        if (result_is_error(r))
            return connection_fail(c, r, ERROR_INVALID, err);
        if (PQresultStatus(r) != PGRES_SINGLE_TUPLE && PQresultStatus(r) != PGRES_TUPLES_OK)
            return error_set(err, ERROR_INVALID, "the statement gives no value");
        if (PQnfields(r) != 1)
            return error_set(err, ERROR_INVALID, "the statement gives %d columns, one value is wanted",
                             PQnfields(r));
        if (PQntuples(r) == 0)
            continue;
        if (++rows > 1)
            return error_set(err, ERROR_INVALID,
                             "the statement gives more than one row, one value is wanted");
        if (PQgetlength(r, 0, 0) > VALUE_MAX)
            return error_set(err, ERROR_INVALID, "the value is longer than %d bytes", VALUE_MAX);
        value = PQgetisnull(r, 0, 0) ? NULL : xstrdup(PQgetvalue(r, 0, 0));
    }
    if (rows == 0)
        return error_set(err, ERROR_INVALID, "the statement gives no row, one value is wanted");
    *ret = TAKE(value);
    return 0;
}

struct query {
    const char *sql;
    char *value;
};

static int query(struct postgres *p, void *data, struct error *err)
{
    struct query *q = data;
    CLEANUP(connection_free) struct connection *c = NULL;
    CLEANUP_FREE char *value = NULL;

    if (postgres_session(p, p->name, &c, err) < 0 || connection_exec(c, "BEGIN", NULL, err) < 0 ||
        connection_send_one(c, q->sql, NULL, 0, err) < 0)
        return -1;
    (void)PQsetSingleRowMode(connection_pg(c));
    /* What is left of a long result is not waited for: the server stops when the session is closed. */
    if (take_value(c, &value, err) < 0 || connection_exec(c, "ROLLBACK", NULL, err) < 0)
        return -1;
    q->value = TAKE(value);
    return 0;
}

int postgres_query(struct postgres *p, const char *sql, char **ret_text, struct error *err)
{
    struct query q = {.sql = sql};

    if (postgres_persist(p, query, &q, err) < 0)
        return -1;
    *ret_text = q.value;
    return 0;
}
