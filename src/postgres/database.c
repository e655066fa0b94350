/* SPDX-License-Identifier: MIT */
#include "database.h"

#include <string.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/log.h"

#define IDLE_NS NS_PER_S       /* for sessions to end by themselves */
#define BUSY_NS (8 * NS_PER_S) /* while somebody is in a template: the server waits 5 s in each attempt */
#define DROP_ATTEMPTS 20       /* without FORCE, against clients that come back */
#define PAUSE_NS (2 * NS_PER_MS)
#define FORCE_VERSION 130000
#define STRATEGY_VERSION 150000
#define SESSIONS_LISTED 8

/* "VERB "name" REST" on the control connection. */
static int run_on(struct postgres *p, const char *verb, const char *name, const char *rest, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf sql = STRBUF_INIT;
    struct connection *c;

    strbuf_adds(&sql, verb);
    sql_identifier(&sql, name);
    strbuf_adds(&sql, rest);
    return postgres_control(p, &c, err) < 0 ? -1 : connection_exec(c, strbuf_text(&sql), NULL, err);
}

static int foreign(const char *name, struct error *err)
{
    (void)error_set(err, ERROR_ENVIRONMENT,
                    "database '%s' exists and was not made by benchctl: it is left alone", name);
    return error_hint(
        err,
        "choose another 'database.name', use 'reset: none', or give it up to be dropped with: COMMENT ON "
        "DATABASE \"%s\" IS '%s...'",
        name, MARK_PREFIX);
}

/* --- ours without a mark */

static bool is_unmarked(const struct postgres *p, const char *name)
{
    return p->unmarked && strcmp(p->unmarked, name) == 0;
}

static void set_unmarked(struct postgres *p, const char *name)
{
    char *copy = xstrdup(name);

    free(p->unmarked);
    p->unmarked = copy;
}

static void clear_unmarked(struct postgres *p, const char *name)
{
    if (!is_unmarked(p, name))
        return;
    free(p->unmarked);
    p->unmarked = NULL;
}

int database_claim(struct postgres *p, const char *name, bool *ret_exists, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    struct connection *c;

    if (postgres_control(p, &c, err) < 0 ||
        connection_query(c,
                         "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = $1",
                         &name, 1, &r, err) < 0)
        return error_wrap(err, "cannot look for database '%s'", name);
    *ret_exists = PQntuples(r) > 0;
    if (!*ret_exists)
        clear_unmarked(p, name); /* who makes it now is somebody else */
    if (*ret_exists && p->guest && !is_unmarked(p, name) &&
        strncmp(PQgetvalue(r, 0, 0), MARK_PREFIX, strlen(MARK_PREFIX)) != 0)
        return foreign(name, err);
    return 0;
}

/* --- who is in it */

static int sessions(struct postgres *p, const char *name, bool clients_only, struct strbuf *out,
                    int *ret_count, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    struct connection *c;
    const char *values[] = {name, clients_only ? "t" : "f"};

    if (postgres_control(p, &c, err) < 0 ||
        connection_query(c,
                         "SELECT usename, application_name, backend_type, pid, state FROM pg_stat_activity"
                         " WHERE datname = $1 AND (" IS_CLIENT " OR NOT $2::bool) ORDER BY pid",
                         values, 2, &r, err) < 0)
        return error_wrap(err, "cannot list the sessions of '%s'", name);
    *ret_count = PQntuples(r);
    for (int i = 0; i < *ret_count && i < SESSIONS_LISTED; i++)
        strbuf_addf(out, "%suser '%s' application '%s' (%s, pid %s%s%s)", i ? ", " : "", PQgetvalue(r, i, 0),
                    PQgetvalue(r, i, 1), PQgetvalue(r, i, 2), PQgetvalue(r, i, 3),
                    PQgetisnull(r, i, 4) ? "" : ", ", PQgetvalue(r, i, 4));
    if (*ret_count > SESSIONS_LISTED)
        strbuf_addf(out, " and %d more", *ret_count - SESSIONS_LISTED);
    return 0;
}

int database_expect_idle(struct postgres *p, const char *name, struct error *err)
{
    int64_t deadline = clock_now_ns() + IDLE_NS;

    for (;;) {
        CLEANUP_VALUE(strbuf_release) struct strbuf who = STRBUF_INIT;
        int count = 0;
        if (sessions(p, name, true, &who, &count, err) < 0)
            return -1;
        if (count == 0)
            return 0;
        if (clock_now_ns() > deadline) {
            (void)error_set(err, ERROR_CONFLICT, "database '%s' is in use: %s", name, strbuf_text(&who));
            return error_hint(err,
                              "stop the application before its database is reset; a pool reconnects at once");
        }
        if (loop_sleep_until(p->loop, clock_now_ns() + PAUSE_NS, err) < 0)
            return -1;
    }
}

int database_report_sessions(struct postgres *p, const char *name, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf who = STRBUF_INIT;
    int count = 0;

    if (sessions(p, name, true, &who, &count, err) < 0)
        return -1;
    if (count)
        warn("%d sessions are ended that were still in database '%s': %s", count, name, strbuf_text(&who));
    p->ended += count;
    return 0;
}

int database_end_sessions(struct postgres *p, const char *name, struct error *err)
{
    struct connection *c;

    if (postgres_control(p, &c, err) < 0 ||
        connection_query(c,
                         "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1"
                         " AND " IS_CLIENT " AND pid <> pg_backend_pid() AND"
                         " (current_setting('is_superuser')::bool OR pg_has_role(usesysid, 'MEMBER'))",
                         &name, 1, NULL, err) < 0)
        return error_wrap(err, "cannot end the sessions of '%s'", name);
    return 0;
}

/* --- dropping */

static int roll_back(struct connection *c, const PGresult *gids, const char *name, struct error *err)
{
    for (int i = 0; i < PQntuples(gids); i++) {
        CLEANUP_FREE char *sql = xasprintf("ROLLBACK PREPARED %s", PQgetvalue(gids, i, 0));
        if (connection_exec(c, sql, NULL, err) < 0)
            return error_wrap(err, "cannot roll back prepared transaction %s of '%s'", PQgetvalue(gids, i, 0),
                              name);
    }
    return 0;
}

int database_forget_prepared(struct postgres *p, const char *name, struct error *err)
{
    CLEANUP(PQclear) PGresult *r = NULL;
    CLEANUP(connection_free) struct connection *inside = NULL;
    struct connection *c;

    if (postgres_control(p, &c, err) < 0 ||
        connection_query(c, "SELECT quote_literal(gid) FROM pg_prepared_xacts WHERE database = $1", &name, 1,
                         &r, err) < 0)
        return -1;
    if (PQntuples(r) == 0)
        return 0;
    warn("%d prepared transactions were left in database '%s': rolled back", PQntuples(r), name);
    if (postgres_session(p, name, &inside, err) < 0)
        return -1;
    p->prepared += PQntuples(r);
    return roll_back(inside, r, name, err);
}

/* An ordinary role may not end the sessions of a superuser: those have to leave by themselves. */
static int drop_by_force(struct postgres *p, const char *name, struct error *err)
{
    struct error failed = ERROR_INIT, busy = ERROR_INIT;

    if (run_on(p, "DROP DATABASE IF EXISTS ", name, " WITH (FORCE)", &failed) == 0)
        return 0;
    if (p->control && strcmp(connection_sqlstate(p->control), "42501") == 0 &&
        database_expect_idle(p, name, &busy) == 0)
        return run_on(p, "DROP DATABASE IF EXISTS ", name, " WITH (FORCE)", err);
    *err = failed;
    return -1;
}

/* Before FORCE existed: shut the door, then end those inside until none is left. */
static int drop_by_hand(struct postgres *p, const char *name, struct error *err)
{
    if (database_seal(p, name, err) < 0)
        return -1;
    for (int i = 0;; i++) {
        struct error failed = ERROR_INIT;
        if (run_on(p, "DROP DATABASE IF EXISTS ", name, "", &failed) == 0)
            return 0;
        if (failed.kind != ERROR_CONFLICT || i == DROP_ATTEMPTS) {
            *err = failed;
            return -1;
        }
        if (database_end_sessions(p, name, err) < 0 ||
            loop_sleep_until(p->loop, clock_now_ns() + 50 * NS_PER_MS, err) < 0)
            return -1;
    }
}

/* Adds who is in it to the message: they are why. */
static int name_sessions(struct postgres *p, const char *name, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf who = STRBUF_INIT;
    struct error ignored = ERROR_INIT, told = *err;
    int count = 0;

    if (err->kind == ERROR_INTERRUPTED || sessions(p, name, false, &who, &count, &ignored) < 0 || count == 0)
        return -1;
    (void)snprintf(err->message, sizeof(err->message), "%.3000s; in it: %.1000s", told.message,
                   strbuf_text(&who));
    return -1;
}

int database_drop(struct postgres *p, const char *name, struct error *err)
{
    bool exists = false;

    if (database_claim(p, name, &exists, err) < 0)
        return -1;
    if (!exists)
        return 0;
    if (database_forget_prepared(p, name, err) < 0)
        return error_wrap(err, "cannot drop database '%s'", name);
    int r = p->facts.version_num >= FORCE_VERSION ? drop_by_force(p, name, err) : drop_by_hand(p, name, err);
    if (r == 0) {
        clear_unmarked(p, name);
        return 0;
    }
    (void)error_wrap(err, "cannot drop database '%s'", name);
    return name_sessions(p, name, err);
}

/* --- making */

static int create_once(struct postgres *p, const char *name, const char *from, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf rest = STRBUF_INIT;

    strbuf_adds(&rest, " TEMPLATE ");
    if (from) {
        sql_identifier(&rest, from);
        if (p->facts.version_num >= STRATEGY_VERSION)
            strbuf_adds(
                &rest,
                " STRATEGY file_copy"); /* measured: no slower from 10 MB on, and leaves nothing to write */
    } else {
        strbuf_adds(&rest, "template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
        if (p->facts.version_num >= STRATEGY_VERSION)
            strbuf_adds(&rest, " LOCALE_PROVIDER libc");
    }
    return run_on(p, "CREATE DATABASE ", name, strbuf_text(&rest), err);
}

/* Somebody in the template (55006) may leave: tried again for some seconds, then they are named. */
static int create_patiently(struct postgres *p, const char *name, const char *from, struct error *err)
{
    int64_t give_up_ns = clock_now_ns() + BUSY_NS;

    for (;;) {
        struct error failed = ERROR_INIT;
        if (create_once(p, name, from, &failed) == 0)
            return 0;
        if (failed.kind != ERROR_CONFLICT || !from) {
            *err = failed;
            return error_wrap(err, "cannot make database '%s'", name);
        }
        (void)name_sessions(p, from, &failed);
        if (clock_now_ns() > give_up_ns) {
            *err = failed;
            return error_wrap(err, "cannot clone template '%s'", from);
        }
        note("template '%s' is in use, trying again: %s", from, failed.message);
    }
}

/* Unmarked it would be nobody's: marked at once, or gone again. */
static int mark_new(struct postgres *p, const char *name, const char *mark, struct error *err)
{
    CLEANUP_FREE char *comment = xasprintf(" IS '%s'", mark);
    struct error ignored = ERROR_INIT;

    loop_shield(p->loop, +1);
    int r = run_on(p, "COMMENT ON DATABASE ", name, comment, err);
    bool gone = r < 0 && run_on(p, "DROP DATABASE ", name, "", &ignored) == 0;
    loop_shield(p->loop, -1);
    if (r < 0 && !gone) {
        warn("database '%s' is left behind: %s", name, ignored.message);
        set_unmarked(p, name);
    }
    return r;
}

int database_create(struct postgres *p, const char *name, const char *from, const char *mark,
                    struct error *err)
{
    if (create_patiently(p, name, from, err) < 0) {
        if (!p->control || !connection_alive(p->control)) /* no answer: it may have been made */
            set_unmarked(p, name);
        return -1;
    }
    if (mark_new(p, name, mark, err) < 0)
        return error_wrap(err, "cannot mark database '%s'", name);
    clear_unmarked(p, name);
    return 0;
}

int database_admit(struct postgres *p, const char *name, bool admit, struct error *err)
{
    if (run_on(p, "ALTER DATABASE ", name,
               admit ? " WITH ALLOW_CONNECTIONS true" : " WITH ALLOW_CONNECTIONS false", err) < 0)
        return error_wrap(err, "cannot %s database '%s'", admit ? "open" : "seal", name);
    return 0;
}

int database_seal(struct postgres *p, const char *name, struct error *err)
{
    return database_admit(p, name, false, err) < 0 ? -1 : database_end_sessions(p, name, err);
}
