/* SPDX-License-Identifier: MIT */
/* Statements on a session: sent, waited for, their results taken one by one; COPY in both directions. */
#include <math.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"
#include "connection_internal.h"

#define GRACE_NS (5 * NS_PER_S) /* how long after the server's own statement_timeout ours comes */
#define COPY_PIECE 65536

static void begin(struct connection *c)
{
    c->sqlstate[0] = '\0';
    c->deadline_ns = clock_now_ns() + c->statement_timeout_ns + GRACE_NS;
    if (c->deadline_ns > c->limit_ns)
        c->deadline_ns = c->limit_ns;
}

int connection_send(struct connection *c, const char *sql, struct error *err)
{
    begin(c);
    return PQsendQuery(c->pg, sql) ? 0 : connection_gone(c, err);
}

int connection_send_one(struct connection *c, const char *sql, const char *const *values, int count,
                        struct error *err)
{
    begin(c);
    return PQsendQueryParams(c->pg, sql, count, NULL, values, NULL, NULL, 0) ? 0 : connection_gone(c, err);
}

/* Hands the socket what is to be written. 1: some is left, 0: none, -1: error. */
static int flush(struct connection *c, struct error *err)
{
    int left = PQflush(c->pg);

    return left < 0 ? connection_gone(c, err) : left;
}

/* Waits once, for input and, when some is left to write, for room; then reads what has come. */
static int exchange(struct connection *c, int left, struct error *err)
{
    if (connection_wait(c, LOOP_READ | (left ? LOOP_WRITE : 0), err) < 0)
        return -1;
    /* Of a connection that was closed the result that follows says why, and does not wait. */
    return PQconsumeInput(c->pg) || PQstatus(c->pg) == CONNECTION_BAD ? 0 : connection_gone(c, err);
}

int connection_result(struct connection *c, PGresult **ret, struct error *err)
{
    while (PQisBusy(c->pg) && PQstatus(c->pg) != CONNECTION_BAD) {
        int left = flush(c, err);
        if (left < 0 || exchange(c, left, err) < 0)
            return -1;
    }
    *ret = PQgetResult(c->pg);
    return 0;
}

/* Results until the end; the first error is kept, else the last result. */
static int collect(struct connection *c, PGresult **ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *last = NULL;

    for (;;) {
        PGresult *r = NULL;
        if (connection_result(c, &r, err) < 0)
            return -1;
        if (!r)
            break;
        if (last && result_is_error(last)) {
            PQclear(r);
            continue;
        }
        PQclear(last);
        last = r;
    }
    if (!last)
        return connection_gone(c, err);
    if (result_is_error(last))
        return connection_fail(c, last, ERROR_ENVIRONMENT, err);
    if (ret)
        *ret = TAKE(last);
    return 0;
}

int connection_exec(struct connection *c, const char *sql, PGresult **ret, struct error *err)
{
    return connection_send(c, sql, err) < 0 ? -1 : collect(c, ret, err);
}

int connection_query(struct connection *c, const char *sql, const char *const *values, int count,
                     PGresult **ret, struct error *err)
{
    return connection_send_one(c, sql, values, count, err) < 0 ? -1 : collect(c, ret, err);
}

double result_number(const PGresult *r, int column)
{
    double value = NAN;
    const char *text = PQgetvalue(r, 0, column);

    if (PQgetisnull(r, 0, column) || number_scan(text, strlen(text), &value) == 0)
        return NAN;
    return value;
}

/* --- COPY */

/* Until all is written; what the server says meanwhile is read, or each would wait for the other. */
static int flush_all(struct connection *c, struct error *err)
{
    int left;

    while ((left = flush(c, err)) > 0)
        if (exchange(c, left, err) < 0)
            return -1;
    return left;
}

int connection_put(struct connection *c, const char *bytes, size_t len, struct error *err)
{
    while (len > 0) {
        int piece = len > COPY_PIECE ? COPY_PIECE : (int)len;
        int r = PQputCopyData(c->pg, bytes, piece);
        if (r < 0)
            return connection_gone(c, err);
        if (r > 0) {
            bytes += piece;
            len -= (size_t)piece;
        }
        begin(c); /* the deadline is for standing still, not for much data */
        if (flush_all(c, err) < 0)
            return -1;
    }
    return 0;
}

int connection_put_end(struct connection *c, const char *failure, struct error *err)
{
    for (;;) {
        int r = PQputCopyEnd(c->pg, failure);
        if (r != 0)
            return r < 0 ? connection_gone(c, err) : 0;
        if (flush_all(c, err) < 0)
            return -1;
    }
}

int connection_take(struct connection *c, char **ret, int *ret_len, struct error *err)
{
    for (;;) {
        int len = PQgetCopyData(c->pg, ret, 1);
        if (len == -2 || (len == 0 && PQstatus(c->pg) == CONNECTION_BAD))
            return connection_gone(c, err);
        if (len != 0) {
            *ret_len = len;
            begin(c);
            return 0;
        }
        int left = flush(c, err);
        if (left < 0 || exchange(c, left, err) < 0)
            return -1;
    }
}
