/* SPDX-License-Identifier: MIT */
#include "connection.h"

#include <poll.h>
#include <string.h>
#include "benchctl/base/clock.h"

#define GRACE_NS (5 * NS_PER_S) /* how long after the server's own statement_timeout ours comes */
#define LOCK_TIMEOUT_NS (10 * NS_PER_S)
#define COPY_PIECE 65536
#define CANCEL_NS (2 * NS_PER_S) /* for the second connection, and again for the statement to end */

struct connection {
    PGconn *pg;
    struct loop *loop;
    const struct endpoint *endpoint;
    char *database;
    int64_t statement_timeout_ns;
    int64_t deadline_ns; /* of what is running */
    int64_t limit_ns;    /* of everything that is still to run */
    char sqlstate[SQLSTATE_SIZE];
    bool lost;
};

/* --- waiting */

static void ready(int fd, unsigned events, void *data)
{
    (void)fd;
    (void)events;
    *(bool *)data = true;
}

static int wait_socket(struct loop *l, PGconn *pg, unsigned events, const bool *give_up, int64_t deadline_ns,
                       struct error *err)
{
    static const bool never;
    bool done = false;
    int fd = PQsocket(pg);

    if (fd < 0)
        return error_set(err, ERROR_ENVIRONMENT, "connection to the database is closed");
    struct loop_fd *watch = loop_add_fd(l, fd, events, ready, &done);
    int r = loop_wait_either(l, &done, give_up ? give_up : &never, deadline_ns, err);
    loop_remove_fd(watch);
    return r;
}

/* --- opening */

static void drop_notices(void *data, const PGresult *r)
{
    (void)data;
    (void)r;
}

static PGconn *start(const struct connect_options *o)
{
    const char *keys[ENDPOINT_PARAMS], *values[ENDPOINT_PARAMS];

    endpoint_params(o->endpoint, o->database, keys, values);
    PGconn *pg = PQconnectStartParams(keys, values, 0);
    if (pg) {
        (void)PQsetErrorVerbosity(pg, PQERRORS_VERBOSE);
        (void)PQsetNoticeReceiver(pg, drop_notices, NULL);
    }
    return pg;
}

static int refused(const struct connect_options *o, PGconn *pg, bool connecting, struct connect_failure *ret,
                   struct error *err)
{
    connect_failure_read(PQerrorMessage(pg), connecting, ret);
    endpoint_redact(o->endpoint, ret->text);
    return error_set(err, ERROR_ENVIRONMENT, "%s", *ret->text ? ret->text : "cannot connect to the database");
}

static int poll_until_connected(const struct connect_options *o, PGconn *pg,
                                struct connect_failure *ret_failure, struct error *err)
{
    PostgresPollingStatusType want = PGRES_POLLING_WRITING;
    bool connecting = true;

    if (PQstatus(pg) == CONNECTION_BAD)
        return refused(o, pg, true, ret_failure, err);
    while (want != PGRES_POLLING_OK) {
        unsigned events = want == PGRES_POLLING_READING ? LOOP_READ : LOOP_WRITE;
        if (wait_socket(o->loop, pg, events, o->give_up, o->deadline_ns, err) < 0) {
            ret_failure->not_yet = true;
            (void)snprintf(ret_failure->text, sizeof(ret_failure->text), "no answer");
            return -1;
        }
        if (o->give_up && *o->give_up)
            return error_set(err, ERROR_ENVIRONMENT, "gave up waiting");
        connecting = PQstatus(pg) == CONNECTION_STARTED;
        want = PQconnectPoll(pg);
        if (want == PGRES_POLLING_FAILED)
            return refused(o, pg, connecting, ret_failure, err);
    }
    return 0;
}

static int set_timeouts(struct connection *c, struct error *err)
{
    int64_t statement_ms = c->statement_timeout_ns / NS_PER_MS, lock_ms = LOCK_TIMEOUT_NS / NS_PER_MS;
    char sql[160];

    (void)snprintf(sql, sizeof(sql),
                   "SET statement_timeout = %lld; SET lock_timeout = %lld; SET client_min_messages = warning",
                   (long long)statement_ms, (long long)(statement_ms < lock_ms ? statement_ms : lock_ms));
    return connection_exec(c, sql, NULL, err);
}

static struct connection *make(const struct connect_options *o, PGconn *pg)
{
    struct connection *c = xcalloc(1, sizeof(*c));

    *c = (struct connection){.pg = pg,
                             .loop = o->loop,
                             .endpoint = o->endpoint,
                             .database = xstrdup(o->database),
                             .statement_timeout_ns = o->statement_timeout_ns,
                             .limit_ns = o->deadline_ns};
    return c;
}

int connection_open(const struct connect_options *o, struct connection **ret,
                    struct connect_failure *ret_failure, struct error *err)
{
    PGconn *pg = start(o);

    if (!pg)
        return error_set(err, ERROR_ENVIRONMENT, "cannot connect to the database: out of memory");
    *ret_failure = (struct connect_failure){0};
    CLEANUP(connection_free) struct connection *c = make(o, pg);
    if (poll_until_connected(o, pg, ret_failure, err) < 0)
        return -1;
    (void)PQsetErrorVerbosity(pg, PQERRORS_DEFAULT);
    if (PQsetnonblocking(pg, 1) < 0)
        return error_set(err, ERROR_ENVIRONMENT, "cannot make the database connection non-blocking");
    if (set_timeouts(c, err) < 0) {
        memcpy(ret_failure->sqlstate, c->sqlstate, sizeof(c->sqlstate));
        (void)snprintf(ret_failure->text, sizeof(ret_failure->text), "%.*s",
                       (int)sizeof(ret_failure->text) - 1, err->message);
        ret_failure->not_yet = c->lost || strncmp(c->sqlstate, "57P0", 4) == 0;
        return -1;
    }
    c->limit_ns = LOOP_FOREVER;
    *ret = TAKE(c);
    return 0;
}

void connection_limit(struct connection *c, int64_t deadline_ns)
{
    c->limit_ns = deadline_ns;
}

void connection_free(struct connection *c)
{
    if (!c)
        return;
    PQfinish(c->pg);
    free(c->database);
    free(c);
}

PGconn *connection_pg(const struct connection *c)
{
    return c->pg;
}

int connection_version(const struct connection *c)
{
    return PQserverVersion(c->pg);
}

bool connection_alive(struct connection *c)
{
    struct pollfd end = {.fd = PQsocket(c->pg), .events = POLLRDHUP};

    /* A server that ended the session has sent a last word before: reading that is not yet noticing the end.
     */
    if (!c->lost && (!PQconsumeInput(c->pg) || PQstatus(c->pg) != CONNECTION_OK || poll(&end, 1, 0) != 0))
        c->lost = true;
    return !c->lost;
}

const char *connection_sqlstate(const struct connection *c)
{
    return c->sqlstate;
}

/* --- failing */

static int gone(struct connection *c, struct error *err)
{
    char text[1024];

    c->lost = true;
    one_line(PQerrorMessage(c->pg), text, sizeof(text));
    endpoint_redact(c->endpoint, text);
    (void)error_set(err, ERROR_ENVIRONMENT, "lost the connection to the database: %s",
                    *text ? text : "closed");
    return -1;
}

/* A wait ended without an answer: out of time or interrupted. */
static int unanswered(struct connection *c, struct error *err)
{
    if (err->kind == ERROR_TIMEOUT)
        (void)error_set(err, ERROR_TIMEOUT,
                        "no answer from the database within its statement timeout of %.0f s",
                        (double)c->statement_timeout_ns / 1e9);
    connection_cancel(c);
    return -1;
}

bool result_is_error(const PGresult *r)
{
    ExecStatusType s = PQresultStatus(r);

    return s == PGRES_FATAL_ERROR || s == PGRES_BAD_RESPONSE || s == PGRES_NONFATAL_ERROR;
}

int connection_fail(struct connection *c, const PGresult *r, enum error_kind otherwise, struct error *err)
{
    const char *code = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(r, PG_DIAG_MESSAGE_HINT);

    (void)snprintf(c->sqlstate, sizeof(c->sqlstate), "%s", code ? code : "");
    if (!message)
        return gone(c, err);
    char text[2048];
    (void)snprintf(text, sizeof(text), "%s%s%s", message, detail ? ": " : "", detail ? detail : "");
    one_line(text, text, sizeof(text));
    (void)error_set(err, sqlstate_kind(c->sqlstate, otherwise), "%s (%s)", text, c->sqlstate);
    if (hint)
        (void)error_hint(err, "%s", hint);
    if (PQstatus(c->pg) != CONNECTION_OK || strncmp(c->sqlstate, "57P0", 4) == 0)
        c->lost = true;
    return -1;
}

/* --- statements */

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
    return PQsendQuery(c->pg, sql) ? 0 : gone(c, err);
}

int connection_send_one(struct connection *c, const char *sql, const char *const *values, int count,
                        struct error *err)
{
    begin(c);
    return PQsendQueryParams(c->pg, sql, count, NULL, values, NULL, NULL, 0) ? 0 : gone(c, err);
}

/* Writes what is to be written and reads what is there, waiting once. */
static int pump(struct connection *c, struct error *err)
{
    int pending = PQflush(c->pg);

    if (pending < 0)
        return gone(c, err);
    if (wait_socket(c->loop, c->pg, LOOP_READ | (pending ? LOOP_WRITE : 0), NULL, c->deadline_ns, err) < 0)
        return unanswered(c, err);
    return 0;
}

int connection_result(struct connection *c, PGresult **ret, struct error *err)
{
    while (PQisBusy(c->pg)) {
        if (pump(c, err) < 0)
            return -1;
        if (!PQconsumeInput(c->pg))
            break; /* the result that follows says what happened */
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
        return gone(c, err);
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

/* --- COPY */

/* One wait for room or for news, both of which COPY may need. */
static int pump_copy(struct connection *c, struct error *err)
{
    if (pump(c, err) < 0)
        return -1;
    return PQconsumeInput(c->pg) ? 0 : gone(c, err);
}

int connection_put(struct connection *c, const char *bytes, size_t len, struct error *err)
{
    while (len > 0) {
        int piece = len > COPY_PIECE ? COPY_PIECE : (int)len;
        int r = PQputCopyData(c->pg, bytes, piece), pending = 0;
        if (r > 0) {
            bytes += piece;
            len -= (size_t)piece;
        }
        begin(c); /* the deadline is for standing still, not for much data */
        if (r == 0 && pump_copy(c, err) < 0)
            return -1;
        while (r > 0 && (pending = PQflush(c->pg)) > 0)
            if (pump_copy(c, err) < 0)
                return -1;
        if (r < 0 || pending < 0)
            return gone(c, err);
    }
    return 0;
}

int connection_put_end(struct connection *c, const char *failure, struct error *err)
{
    for (;;) {
        int r = PQputCopyEnd(c->pg, failure);
        if (r != 0)
            return r < 0 ? gone(c, err) : 0;
        if (pump_copy(c, err) < 0)
            return -1;
    }
}

int connection_take(struct connection *c, char **ret, int *ret_len, struct error *err)
{
    for (;;) {
        int len = PQgetCopyData(c->pg, ret, 1);
        if (len == -2)
            return gone(c, err);
        if (len != 0) {
            *ret_len = len;
            begin(c);
            return 0;
        }
        if (pump_copy(c, err) < 0)
            return -1;
    }
}

/* --- cancelling */

static void drain(struct connection *c, int64_t deadline_ns)
{
    struct error ignored = ERROR_INIT;

    while (PQisBusy(c->pg)) {
        if (wait_socket(c->loop, c->pg, LOOP_READ, NULL, deadline_ns, &ignored) < 0 || !PQconsumeInput(c->pg))
            return;
    }
}

/*
 * PQcancel() would block in connect() and recv(), for ever on a server that is stopped or cut off; a second
 * session's pg_cancel_backend() does the same and can be waited for like everything else.
 */
void connection_cancel(struct connection *c)
{
    struct connect_options o = {.loop = c->loop,
                                .endpoint = c->endpoint,
                                .database = c->database,
                                .deadline_ns = clock_now_ns() + CANCEL_NS,
                                .statement_timeout_ns = CANCEL_NS};
    struct connect_failure failure;
    struct error ignored = ERROR_INIT;
    char sql[64];

    if (c->lost)
        return;
    c->lost = true;
    loop_shield(c->loop, +1);
    PGconn *pg = start(&o);
    CLEANUP(connection_free) struct connection *helper = pg ? make(&o, pg) : NULL;
    if (helper && poll_until_connected(&o, pg, &failure, &ignored) == 0) {
        helper->lost = true; /* it is not worth a cancel of its own */
        (void)snprintf(sql, sizeof(sql), "SELECT pg_cancel_backend(%d)", PQbackendPID(c->pg));
        if (PQsendQuery(pg, sql)) {
            drain(helper, o.deadline_ns);
            drain(c, clock_now_ns() + CANCEL_NS);
        }
    }
    loop_shield(c->loop, -1);
}
