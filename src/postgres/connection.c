/* SPDX-License-Identifier: MIT */
#include "connection_internal.h"

#include <poll.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/units.h"

#define LOCK_TIMEOUT_NS (10 * NS_PER_S)
#define CANCEL_NS (2 * NS_PER_S) /* for the second connection, and again for the statement to end */

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
                             .limit_ns = o->deadline_ns,
                             .by_server = o->lost};
    return c;
}

int connection_open(const struct connect_options *o, struct connection **ret,
                    struct connect_failure *ret_failure, struct error *err)
{
    PGconn *pg = start(o);

    *ret_failure = (struct connect_failure){0};
    if (!pg)
        return error_set(err, ERROR_ENVIRONMENT, "cannot connect to the database: out of memory");
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

static void ended_by_server(struct connection *c)
{
    if (c->by_server && !c->lost)
        *c->by_server = true;
    c->lost = true;
}

int connection_gone(struct connection *c, struct error *err)
{
    char text[1024];

    ended_by_server(c);
    one_line(PQerrorMessage(c->pg), text, sizeof(text));
    endpoint_redact(c->endpoint, text);
    (void)error_set(err, ERROR_ENVIRONMENT, "lost the connection to the database: %s",
                    *text ? text : "closed");
    return -1;
}

int connection_wait(struct connection *c, unsigned events, struct error *err)
{
    char text[32];

    if (wait_socket(c->loop, c->pg, events, NULL, c->deadline_ns, err) == 0)
        return 0;
    if (err->kind == ERROR_TIMEOUT && c->deadline_ns == c->limit_ns)
        (void)error_set(err, ERROR_TIMEOUT, "no answer from the database before the time was up");
    else if (err->kind == ERROR_TIMEOUT)
        (void)error_set(err, ERROR_TIMEOUT, "no answer from the database within its statement timeout of %s",
                        duration_human(c->statement_timeout_ns, text));
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
        return connection_gone(c, err);
    char text[2048];
    (void)snprintf(text, sizeof(text), "%s%s%s", message, detail ? ": " : "", detail ? detail : "");
    one_line(text, text, sizeof(text));
    (void)error_set(err, sqlstate_kind(c->sqlstate, otherwise), "%s (%s)", text, c->sqlstate);
    if (hint)
        (void)error_hint(err, "%s", hint);
    if (PQstatus(c->pg) != CONNECTION_OK || strncmp(c->sqlstate, "57P0", 4) == 0)
        ended_by_server(c);
    return -1;
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
