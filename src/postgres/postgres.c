/* SPDX-License-Identifier: MIT */
/* Opening and closing; the control connection; sessions on other databases. */
#include "benchctl/postgres.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/clock.h"
#include "again.h"
#include "database.h"

#define DEFAULT_TIMEOUT_NS (60 * NS_PER_S)
#define SESSION_NS (10 * NS_PER_S) /* to open a session on a server that was ready before */
#define LOCK_NS (3 * NS_PER_S)     /* for a session of ours that the server has not ended yet */
#define LOCK_PAUSE_NS (50 * NS_PER_MS)
#define NAME_MAX_BYTES 63

/* The database that is never dropped nor cloned: the URL's, unless that is the benchmark's own. */
static const char *maintenance_of(const struct endpoint *e, const char *name)
{
    const char *given = endpoint_database(e);

    if (!given || strcmp(given, name) == 0 || strncmp(given, "template", 8) == 0)
        return "postgres";
    return given;
}

static int check_name(const char *name, struct error *err)
{
    static const char *const reserved[] = {"postgres", "template0", "template1"};

    if (!name || !*name || strlen(name) > NAME_MAX_BYTES)
        return error_set(err, ERROR_INVALID, "database name must have 1 to %d bytes", NAME_MAX_BYTES);
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (strcmp(name, reserved[i]) == 0) {
            (void)error_set(err, ERROR_INVALID, "database '%s' belongs to the server", name);
            return error_hint(
                err, "the benchmark's database is dropped and made again: give it a name of its own");
        }
    return 0;
}

static int prepare(struct loop *l, const struct postgres_options *o, struct postgres **ret, struct error *err)
{
    CLEANUP(postgres_close) struct postgres *p = xcalloc(1, sizeof(*p));

    p->loop = l;
    p->arena = arena_new();
    p->guest = o->url != NULL;
    p->limit_ns = p->patience_ns = LOOP_FOREVER;
    p->give_up = o->give_up;
    p->glanced_s = NAN;
    p->statement_timeout_ns = o->statement_timeout_ns > 0 ? o->statement_timeout_ns : DEFAULT_TIMEOUT_NS;
    if (endpoint_new(o, &p->endpoint, err) < 0)
        return -1;
    const char *name = o->name ? o->name : endpoint_database(p->endpoint);
    if (check_name(name, err) < 0)
        return -1;
    p->name = xstrdup(name);
    p->maintenance = xstrdup(maintenance_of(p->endpoint, name));
    *ret = TAKE(p);
    return 0;
}

/* What is asked once, by the same deadline: a server may fall silent after it was ready. */
static int get_acquainted(struct postgres *p, int64_t deadline_ns, struct error *err)
{
    postgres_limit(p, deadline_ns);
    if (postgres_read_facts(p, err) < 0 || postgres_lock(p, p->name, err) < 0)
        return -1;
    postgres_limit(p, LOOP_FOREVER);
    return 0;
}

int postgres_connect(struct loop *l, const struct postgres_options *options, struct postgres **ret,
                     struct error *err)
{
    CLEANUP(postgres_close) struct postgres *p = NULL;

    if (prepare(l, options, &p, err) < 0 || postgres_wait_ready(p, options, err) < 0 ||
        get_acquainted(p, options->ready_deadline_ns, err) < 0)
        return -1;
    *ret = TAKE(p);
    return 0;
}

void postgres_close(struct postgres *p)
{
    if (!p)
        return;
    connection_free(p->control);
    vec_each (s, &p->seeds)
        arena_free((*s)->arena);
    vec_release(&p->seeds);
    json_free(p->settings);
    if (p->arena)
        arena_free(p->arena);
    endpoint_free(p->endpoint);
    free(p->unmarked);
    free(p->maintenance);
    free(p->name);
    free(p);
}

const char *postgres_database_name(const struct postgres *p)
{
    return p->name;
}

void sql_identifier(struct strbuf *out, const char *name)
{
    strbuf_addc(out, '"');
    for (; *name; name++) {
        if (*name == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *name);
    }
    strbuf_addc(out, '"');
}

static int open_once(struct postgres *p, const char *database, struct connection **ret,
                     struct connect_failure *failure, struct error *err)
{
    int64_t usual_ns = clock_now_ns() + SESSION_NS;
    struct connect_options o = {.loop = p->loop,
                                .endpoint = p->endpoint,
                                .database = database,
                                .deadline_ns = p->limit_ns < usual_ns ? p->limit_ns : usual_ns,
                                .statement_timeout_ns = p->statement_timeout_ns,
                                .give_up = p->give_up,
                                .lost = &p->lost};

    if (connection_open(&o, ret, failure, err) < 0) {
        if (err->kind == ERROR_TIMEOUT && o.deadline_ns == usual_ns)
            (void)error_set(err, ERROR_TIMEOUT, "no answer within %d s", (int)(SESSION_NS / NS_PER_S));
        return error_wrap(err, "cannot connect to database '%s'", database);
    }
    connection_limit(*ret, p->limit_ns);
    p->away = false;
    return 0;
}

static int open_session(struct postgres *p, const char *database, struct connection **ret,
                        struct connect_failure *failure, struct error *err)
{
    int64_t since_ns = clock_now_ns();

    for (;;) {
        struct error failed = ERROR_INIT;
        if (open_once(p, database, ret, failure, &failed) == 0)
            return 0;
        if (!postgres_await_return(p, since_ns, failure, &failed, err))
            return -1;
    }
}

void postgres_limit(struct postgres *p, int64_t deadline_ns)
{
    p->limit_ns = deadline_ns;
    if (p->control)
        connection_limit(p->control, deadline_ns);
}

static int take_locks_again(struct postgres *p, struct error *err)
{
    vec_each (s, &p->seeds)
        if (postgres_lock(p, (*s)->database, err) < 0)
            return -1;
    return postgres_lock(p, p->name, err);
}

int postgres_control(struct postgres *p, struct connection **ret, struct error *err)
{
    struct connect_failure failure;

    if (!p->control || !connection_alive(p->control)) {
        vec_each (s, &p->seeds)
            (*s)->doubtful |= (*s)->unlogged; /* a crash may be why */
        connection_free(p->control);
        p->control = NULL;
        if (open_session(p, p->maintenance, &p->control, &failure, err) < 0)
            return -1;
        if (take_locks_again(p, err) < 0) {
            connection_free(p->control);
            p->control = NULL;
            return -1;
        }
    }
    *ret = p->control;
    return 0;
}

/* "connection limit hit: 97 of 100 connections are in use (3 are reserved), 95 on 'bench' (its own limit:
 * 95)" */
static int limit_hit(struct postgres *p, const char *database, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    struct connection *c;
    struct error ignored = ERROR_INIT;

    if (postgres_control(p, &c, &ignored) < 0 ||
        connection_query(c,
                         "SELECT count(*), count(*) FILTER (WHERE datname = $1),"
                         " (SELECT datconnlimit FROM pg_database WHERE datname = $1)"
                         " FROM pg_stat_activity WHERE " IS_CLIENT,
                         &database, 1, &r, &ignored) < 0)
        return error_wrap(err, "connection limit hit");
    (void)error_wrap(err,
                     "connection limit hit: %s of %d connections are in use (%d are reserved), %s on '%s'",
                     PQgetvalue(r, 0, 0), p->facts.max_connections, p->facts.superuser_reserved,
                     PQgetvalue(r, 0, 1), database);
    return error_hint(err, "the sum of all pools must stay below max_connections less the reserved ones%s%s",
                      strcmp(PQgetvalue(r, 0, 2), "-1") == 0 ? "" : "; the database has its own limit, ",
                      strcmp(PQgetvalue(r, 0, 2), "-1") == 0 ? "" : PQgetvalue(r, 0, 2));
}

int postgres_session(struct postgres *p, const char *database, struct connection **ret, struct error *err)
{
    struct connect_failure failure;

    if (open_session(p, database, ret, &failure, err) == 0)
        return 0;
    return strcmp(failure.sqlstate, "53300") == 0 ? limit_hit(p, database, err) : -1;
}

int postgres_lock(struct postgres *p, const char *name, struct error *err)
{
    int64_t deadline = clock_now_ns() + LOCK_NS;

    while (p->guest) {
        CLEANUP(PQclear) PGresult *r = NULL;
        if (connection_query(p->control, "SELECT pg_try_advisory_lock(hashtext('benchctl'), hashtext($1))",
                             &name, 1, &r, err) < 0)
            return error_wrap(err, "cannot lock database '%s'", name);
        if (strcmp(PQgetvalue(r, 0, 0), "t") == 0)
            return 0;
        if (clock_now_ns() > deadline) {
            (void)error_set(err, ERROR_ENVIRONMENT, "database '%s' is in use by another benchctl", name);
            return error_hint(err, "wait until it has ended, or choose another 'database.name'");
        }
        if (loop_sleep_until(p->loop, clock_now_ns() + LOCK_PAUSE_NS, err) < 0)
            return -1;
    }
    return 0;
}
