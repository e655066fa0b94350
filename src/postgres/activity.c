/* SPDX-License-Identifier: MIT */
/* Who is in the benchmark database and what they do: asked on the control connection, so that neither a slot
 * nor a transaction of it is used. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "benchctl/base/clock.h"
#include "again.h"

#define POLL_NS (20 * NS_PER_MS)
#define EXIT_NS NS_PER_S
#define COLLECTOR_VERSION 150000 /* before, a process of its own collects what sessions tell, */
#define COLLECTOR_NS NS_PER_S    /* and what it hands out is up to half a second old */
#define TOLD_S 10.2              /* an idle session tells what is left after 10 s */
#define TOLD_NS (12 * NS_PER_S)  /* and those that end the warm-up a little later have to as well */

static int count_of(const PGresult *r, int column)
{
    return (int)strtol(PQgetvalue(r, 0, column), NULL, 10);
}

/* One row, with the benchmark database as $1. */
static int ask(struct postgres *p, const char *sql, PGresult **ret, struct error *err)
{
    struct connection *c;
    const char *name = p->name;

    if (postgres_control(p, &c, err) < 0 || connection_query(c, sql, &name, 1, ret, err) < 0)
        return error_wrap(err, "cannot look at the sessions of '%s'", name);
    return 0;
}

static int activity(struct postgres *p, void *ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (ask(p,
            "SELECT count(*), count(*) FILTER (WHERE busy), count(*) FILTER (WHERE open),"
            " count(*) FILTER (WHERE state IS NULL), max(statement_s) FILTER (WHERE busy),"
            " max(open_s) FILTER (WHERE open), min(still_s) FILTER (WHERE open),"
            " (SELECT count(*) FROM pg_prepared_xacts WHERE database = $1),"
            " (SELECT max(extract(epoch FROM clock_timestamp() - prepared)) FROM pg_prepared_xacts WHERE"
            " database = $1)"
            " FROM (SELECT state, state IN ('active', 'fastpath function call') AS busy,"
            " state LIKE 'idle in transaction%' AS open,"
            " extract(epoch FROM clock_timestamp() - query_start) AS statement_s,"
            " extract(epoch FROM clock_timestamp() - xact_start) AS open_s,"
            " extract(epoch FROM clock_timestamp() - state_change) AS still_s"
            " FROM pg_stat_activity WHERE datname = $1 AND " IS_CLIENT ") s",
            &r, err) < 0)
        return -1;
    *(struct postgres_activity *)ret = (struct postgres_activity){.sessions = count_of(r, 0),
                                                                  .active = count_of(r, 1),
                                                                  .idle_in_transaction = count_of(r, 2),
                                                                  .hidden = count_of(r, 3),
                                                                  .active_s = result_number(r, 4),
                                                                  .open_s = result_number(r, 5),
                                                                  .still_s = result_number(r, 6),
                                                                  .prepared = count_of(r, 7),
                                                                  .prepared_s = result_number(r, 8)};
    return 0;
}

int postgres_activity(struct postgres *p, struct postgres_activity *ret, struct error *err)
{
    return postgres_persist(p, activity, ret, err);
}

/* --- waiting for the statistics */

/* Before 15 the last of what was told is on its way still. */
static int await_collector(struct postgres *p, struct error *err)
{
    if (p->facts.version_num >= COLLECTOR_VERSION)
        return 0;
    return loop_sleep_until(p->loop, clock_now_ns() + COLLECTOR_NS, err);
}

/* A session's counts are in before it has left the list. */
int postgres_await_exit(struct postgres *p, int pid, struct error *err)
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
            break;
        if (loop_sleep_until(p->loop, clock_now_ns() + NS_PER_MS, err) < 0)
            return -1;
    }
    return await_collector(p, err);
}

struct leave {
    int64_t deadline_ns;
    int *ret_left;
};

static int await_leave(struct postgres *p, void *data, struct error *err)
{
    const struct leave *l = data;

    for (;;) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (ask(p, "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND " IS_CLIENT, &r, err) < 0)
            return -1;
        int left = count_of(r, 0);
        if (left == 0 || clock_now_ns() >= l->deadline_ns) {
            *l->ret_left = left;
            return await_collector(p, err);
        }
        if (loop_sleep_until(p->loop, clock_now_ns() + POLL_NS / 4, err) < 0)
            return -1;
    }
}

int postgres_await_leave(struct postgres *p, int64_t deadline_ns, int *ret_left, struct error *err)
{
    struct leave l = {deadline_ns, ret_left};

    return postgres_persist(p, await_leave, &l, err);
}

/* One that has only been opened has told that at once. */
static int await_told(struct postgres *p, void *ret, struct error *err)
{
    bool *ret_told = ret;
    int64_t deadline = clock_now_ns() + TOLD_NS;
    char sql[320];

    (void)snprintf(sql, sizeof(sql),
                   "SELECT count(*) FILTER (WHERE state IS DISTINCT FROM 'idle' OR (query <> '' AND"
                   " state_change > clock_timestamp() - interval '%.1f s')), count(*) FROM pg_stat_activity"
                   " WHERE datname = $1 AND " IS_CLIENT,
                   TOLD_S);
    for (;;) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (ask(p, sql, &r, err) < 0)
            return -1;
        bool old = p->facts.version_num < COLLECTOR_VERSION && count_of(r, 1) > 0;
        *ret_told = !old && count_of(r, 0) == 0;
        if (*ret_told || old || clock_now_ns() >= deadline)
            return 0;
        if (loop_sleep_until(p->loop, clock_now_ns() + POLL_NS, err) < 0)
            return -1;
    }
}

int postgres_await_told(struct postgres *p, bool *ret_told, struct error *err)
{
    return postgres_persist(p, await_told, ret_told, err);
}

/* --- room for connections */

/* Sessions of other people's, for whom there is less room then; of our own server there are none. */
static int count_others(struct postgres *p, void *ret, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;

    if (ask(p,
            "SELECT count(*) FROM pg_stat_activity WHERE datname IS DISTINCT FROM $1 AND pid <>"
            " pg_backend_pid() AND " IS_CLIENT,
            &r, err) < 0)
        return -1;
    *(int *)ret = count_of(r, 0);
    return 0;
}

int postgres_expect_room(struct postgres *p, int64_t connections, struct error *err)
{
    const struct postgres_facts *f = &p->facts;
    int others = 0;

    if (p->guest && postgres_persist(p, count_others, &others, err) < 0)
        return -1;
    if (connections + DATABASE_OWN_SESSIONS + f->reserved + others <= f->max_connections)
        return 0;
    (void)error_set(
        err, ERROR_ENVIRONMENT,
        "%lld connections of the application, %d of benchctl, %d reserved ones and %d of others are "
        "more than the server's max_connections, %d",
        (long long)connections, DATABASE_OWN_SESSIONS, f->reserved, others, f->max_connections);
    return error_hint(err, "make the pools smaller, or raise max_connections");
}
