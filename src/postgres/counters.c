/* SPDX-License-Identifier: MIT */
/* Numbers of the server at one moment, and single values for checks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "internal.h"

#define VALUE_MAX (1 << 20)
#define EXIT_NS NS_PER_S

static double number(const PGresult *r, int column)
{
    double value = NAN;
    const char *text = PQgetvalue(r, 0, column);

    if (PQgetisnull(r, 0, column) || number_scan(text, strlen(text), &value) == 0)
        return NAN;
    return value;
}

/* On the control connection: neither a slot nor a transaction of the benchmark's database is used. */
static int read_server(struct postgres *p, struct postgres_counters *ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;
    struct connection *c;
    const char *name = p->name;

    strbuf_addf(&sql,
                "SELECT d.xact_commit, d.xact_rollback, d.deadlocks, d.temp_bytes, pg_database_size(d.datid),"
                " d.tup_inserted, d.tup_updated, d.tup_deleted, %s,"
                " CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_wal_lsn_diff(pg_current_wal_insert_lsn(), "
                "'0/0') END,"
                " (SELECT count(*) FROM pg_stat_activity WHERE datid = d.datid AND " IS_CLIENT "),"
                " (SELECT count(*) FROM pg_prepared_xacts x WHERE x.database = d.datname)"
                " FROM pg_stat_database d WHERE d.datname = $1",
                p->facts.version_num >= 170000
                    ? "(SELECT num_timed + num_requested FROM pg_stat_checkpointer)"
                    : "(SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter)");
    if (postgres_control(p, &c, err) < 0 || connection_query(c, strbuf_text(&sql), &name, 1, &r, err) < 0)
        return error_wrap(err, "cannot read the counters of database '%s'", name);
    if (PQntuples(r) == 0)
        return error_set(err, ERROR_NOT_FOUND, "database '%s' does not exist", name);
    *ret = (struct postgres_counters){.commits = number(r, 0),
                                      .rollbacks = number(r, 1),
                                      .deadlocks = number(r, 2),
                                      .temp_bytes = number(r, 3),
                                      .size_bytes = number(r, 4),
                                      .tup_inserted = number(r, 5),
                                      .tup_updated = number(r, 6),
                                      .tup_deleted = number(r, 7),
                                      .checkpoints = number(r, 8),
                                      .wal_bytes = number(r, 9),
                                      .autovacuum_runs = NAN,
                                      .connections = number(r, 10),
                                      .prepared_xacts = number(r, 11)};
    return 0;
}

/* Only told inside the database itself. Not measured when there is no slot left for us; *ret_pid is our
 * session's. */
static int read_autovacuum(struct postgres *p, double *ret, int *ret_pid, struct error *err)
{
    CLEANUP(connection_free) struct connection *c = NULL;
    CLEANUP(PQclear) PGresult *r = NULL;
    struct error failed = ERROR_INIT;

    if (postgres_session(p, p->name, &c, &failed) < 0 ||
        connection_exec(
            c, "SELECT coalesce(sum(autovacuum_count + autoanalyze_count), 0) FROM pg_stat_all_tables", &r,
            &failed) < 0) {
        if (failed.kind != ERROR_INTERRUPTED)
            return 0;
        *err = failed;
        return -1;
    }
    *ret = number(r, 0);
    *ret_pid = PQbackendPID(connection_pg(c));
    return 0;
}

/* A session's counts are in before it has left the list. */
static int await_exit(struct postgres *p, int pid, struct error *err)
{
    int64_t deadline = clock_now_ns() + EXIT_NS;
    char text[16];
    const char *value = text;
    struct connection *c;

    (void)snprintf(text, sizeof(text), "%d", pid);
    while (clock_now_ns() < deadline) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (postgres_control(p, &c, err) < 0 ||
            connection_query(c, "SELECT FROM pg_stat_activity WHERE pid = $1", &value, 1, &r, err) < 0)
            return -1;
        if (PQntuples(r) == 0)
            return 0;
        if (loop_sleep_until(p->loop, clock_now_ns() + NS_PER_MS, err) < 0)
            return -1;
    }
    return 0;
}

/*
 * Our own session on the benchmark's database counts as a transaction or two there. At the start of a window
 * it comes before the counters are read, at its end after: the difference is the application's alone.
 */
int postgres_counters(struct postgres *p, struct postgres_counters *ret, struct error *err)
{
    double runs = NAN;
    struct postgres_counters now;
    bool first = !p->counted;
    int pid = 0;

    if (first && (read_autovacuum(p, &runs, &pid, err) < 0 || (pid && await_exit(p, pid, err) < 0)))
        return -1;
    if (read_server(p, &now, err) < 0)
        return -1;
    if (!first && read_autovacuum(p, &runs, &pid, err) < 0)
        return -1;
    now.autovacuum_runs = runs;
    p->counted = true;
    *ret = now;
    return 0;
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

int postgres_query(struct postgres *p, const char *sql, char **ret_text, struct error *err)
{
    CLEANUP(connection_free) struct connection *c = NULL;
    CLEANUP_FREE char *value = NULL;

    if (postgres_session(p, p->name, &c, err) < 0 || connection_exec(c, "BEGIN", NULL, err) < 0 ||
        connection_send_one(c, sql, NULL, 0, err) < 0)
        return -1;
    (void)PQsetSingleRowMode(connection_pg(c));
    /* What is left of a long result is not waited for: the server stops when the session is closed. */
    if (take_value(c, &value, err) < 0 || connection_exec(c, "ROLLBACK", NULL, err) < 0)
        return -1;
    *ret_text = TAKE(value);
    return 0;
}
