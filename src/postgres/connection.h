/* SPDX-License-Identifier: MIT */
/*
 * One session, waited for on the loop: no call here blocks on the server (a host that is a name is looked up
 * by libpq, and that may). Every statement has a deadline on both sides: statement_timeout in the session,
 * and a little later ours, for a server that no longer answers; then the statement is cancelled over a second
 * connection and this one is given up.
 */
#ifndef BENCHCTL_POSTGRES_CONNECTION_H
#define BENCHCTL_POSTGRES_CONNECTION_H

#include <libpq-fe.h>
#include "benchctl/base/loop.h"
#include "endpoint.h"
#include "failure.h"

DEFINE_CLEANUP(PGresult *, PQclear);

struct connection;

struct connect_options {
    struct loop *loop;
    const struct endpoint *endpoint;
    const char *database;
    int64_t deadline_ns;
    int64_t statement_timeout_ns;
    const bool *give_up; /* may be NULL */
    bool *lost; /* set when the server ends the session, not when we give it up; may be NULL, outlives it */
};

/* ERROR_ENVIRONMENT when the server says no (*ret_failure tells what it means), ERROR_TIMEOUT,
 * ERROR_INTERRUPTED. */
int connection_open(const struct connect_options *o, struct connection **ret,
                    struct connect_failure *ret_failure, struct error *err) MUST_CHECK;
void connection_free(struct connection *c);
DEFINE_CLEANUP(struct connection *, connection_free);

/* From now on no answer is waited for beyond this time; LOOP_FOREVER: only each statement's own deadline. */
void connection_limit(struct connection *c, int64_t deadline_ns);

PGconn *connection_pg(const struct connection *c);
int connection_version(const struct connection *c); /* 150020 */

/* Reads what has come meanwhile; false once the server has gone. */
bool connection_alive(struct connection *c);

/* SQLSTATE of the last error on this connection; "" when it had none. */
const char *connection_sqlstate(const struct connection *c);

/* One text (psql's way: several statements are one transaction). The last result, or NULL `ret` to drop it.
 */
int connection_exec(struct connection *c, const char *sql, PGresult **ret, struct error *err) MUST_CHECK;

/* One statement with text parameters. */
int connection_query(struct connection *c, const char *sql, const char *const *values, int count,
                     PGresult **ret, struct error *err) MUST_CHECK;

/* The parts of the above, for COPY and long results: send, then results until *ret is NULL. An error of the
 * server is a result like another here; -1 is for a lost connection, deadline, interruption. */
int connection_send(struct connection *c, const char *sql, struct error *err) MUST_CHECK;
int connection_send_one(struct connection *c, const char *sql, const char *const *values, int count,
                        struct error *err) MUST_CHECK;
int connection_result(struct connection *c, PGresult **ret, struct error *err) MUST_CHECK;
int connection_put(struct connection *c, const char *bytes, size_t len,
                   struct error *err) MUST_CHECK; /* COPY data in */
int connection_put_end(struct connection *c, const char *failure,
                       struct error *err) MUST_CHECK; /* NULL: all is well */
/* One row of COPY data out; *ret_len -1 at the end. Free with PQfreemem(). */
int connection_take(struct connection *c, char **ret, int *ret_len, struct error *err) MUST_CHECK;

/* Cancels what runs and waits shortly for it to end; the session is used up afterwards. */
void connection_cancel(struct connection *c);

/* Fills `err` from a failed result: "MESSAGE: DETAIL (SQLSTATE)"; `otherwise` is the kind when the SQLSTATE
 * tells none. */
int connection_fail(struct connection *c, const PGresult *r, enum error_kind otherwise, struct error *err);

bool result_is_error(const PGresult *r);

/* The number in the first row; NAN for NULL and for what is no number. */
double result_number(const PGresult *r, int column);

#endif
