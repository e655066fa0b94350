/* SPDX-License-Identifier: MIT */
/*
 * Brings a database to a known state and proves it (libpq, asynchronous on the loop). Not a migration tool.
 *
 * Order of calls: postgres_connect() (waits for real readiness), postgres_seed() once per sweep and seed
 * content, then for each trial postgres_reset() while no application is connected, postgres_calm() after a
 * warm-up, postgres_counters() when the measured window begins, postgres_glance() when it ends,
 * postgres_activity() until the application's transactions have ended, postgres_await_leave() and
 * postgres_counters() after it has stopped, postgres_query() for checks.
 *
 * Every call waits on the loop and never in libpq (a host that is a name is looked up by libpq, though, and
 * that may block). Every statement has a deadline, which the server keeps (statement_timeout) or, when it no
 * longer answers, we do. One session on a maintenance database stays open all the time, so that a server
 * whose connections are used up can still be looked into; it is opened again when the server has closed it.
 * No message holds a password or a whole URL.
 *
 * On a server that is not ours (`url`) nothing is dropped or emptied that benchctl did not make: databases
 * carry its mark (COMMENT ON DATABASE 'benchctl ...'), others are refused with a hint. Advisory locks there
 * keep two benchctl apart that would use the same database or seed.
 */
#ifndef BENCHCTL_POSTGRES_H
#define BENCHCTL_POSTGRES_H

#include "benchctl/base/json.h"
#include "benchctl/base/loop.h"
#include "benchctl/settings.h"

struct postgres;

struct postgres_options {
    const char *url;                    /* an existing server (URL or keyword=value text), or NULL and: */
    const char *host, *user, *password; /* password may be NULL */
    int port;
    const char *name;             /* the benchmark's database; NULL: the one of the URL */
    int64_t ready_deadline_ns;    /* absolute */
    int64_t statement_timeout_ns; /* per statement; 0: 60 s */
    const bool *give_up; /* becomes true when waiting is pointless (the container has died); may be NULL, must
                            outlive the object */
    bool *ret_configuration; /* set when postgres_connect() is refused for a reason that trying again does not
                                change: password, TLS, no such database; may be NULL */
};

/*
 * Connects to the maintenance database (the URL's, or "postgres") and waits until three new sessions, one
 * after the other over 50 ms, are told the same postmaster start time. "Not yet" is refused, reset, 57P03 and
 * 57P01; a wrong password, no such database, TLS refusals and used up connections (53300) fail at once,
 * ERROR_ENVIRONMENT. ERROR_TIMEOUT with the last answer otherwise. A container's log tail is the caller's to
 * add.
 */
int postgres_connect(struct loop *l, const struct postgres_options *options, struct postgres **ret,
                     struct error *err) MUST_CHECK;
void postgres_close(struct postgres *p);
DEFINE_CLEANUP(struct postgres *, postgres_close);

struct postgres_facts {
    const char *version; /* "15.20 (Debian ...)" */
    int version_num, max_connections, superuser_reserved;
    const char *collation_warning; /* NULL, or the recorded condition */
    const struct json *settings;   /* name: value of what is not the default; no commands, no secrets */
    int reserved; /* of max_connections, not for everybody: superusers' and other reserved ones */
};
const struct postgres_facts *postgres_facts(const struct postgres *p);

/* No session is opened and no statement waited for beyond this time; LOOP_FOREVER (also at first): only their
 * own limits. Then ERROR_TIMEOUT. */
void postgres_limit(struct postgres *p, int64_t deadline_ns);

/*
 * A server that ends our sessions, starts up, recovers, shuts down or refuses is waited for by each call
 * below, up to a minute, and what was under way is done again, twice at most. No longer than until this time;
 * LOOP_FOREVER at first. Past it nothing is waited for: one attempt is made. Neither is a server waited for
 * once that was in vain, until it answers.
 */
void postgres_patience(struct postgres *p, int64_t deadline_ns);

/* Do so many connections of applications fit, beside benchctl's own, the reserved ones and, on a server that
 * is not ours, other people's? ERROR_ENVIRONMENT with all figures when not. */
int postgres_expect_room(struct postgres *p, int64_t connections, struct error *err) MUST_CHECK;

/* One SQL file of the seed: its name for messages and its content. */
struct postgres_script {
    const char *name, *sql;
    size_t len;
};

/*
 * Makes the sealed template from template0 (UTF8, C locale) by the scripts, each on a fresh connection,
 * statement by statement as psql does, COPY ... FROM stdin with its data included; psql's backslash commands
 * are refused. An error names FILE:LINE and the statement (ERROR_INVALID). Then VACUUM ANALYZE, the manifest
 * (row counts, sequence positions, sizes), and connections are forbidden. `digest` names the template
 * ("benchctl_seed_<first 12 digits>"): one that this object made is used again, one that a dead run left is
 * replaced. Without scripts: an empty one. With RESET_NONE it need not be called. Scripts are copied.
 * postgres_drop() drops the templates.
 */
int postgres_seed(struct postgres *p, const struct postgres_script *scripts, size_t count, const char *digest,
                  struct error *err) MUST_CHECK;

struct postgres_reset_result {
    double reset_ms;                                   /* all of it */
    double drop_ms, clone_ms, prove_ms, checkpoint_ms; /* NAN where the mode has no such step; clone_ms is
                                                          also the time of emptying and filling, of scripts */
    const char *strategy;                              /* "file_copy", "truncate", "recreate", "none" */
    double size_bytes;
    int prepared; /* transactions that were left prepared, and have been rolled back */
    int sessions; /* of clients that were still connected, and have been ended */
};

/*
 * The benchmark database as seeded:
 * - template: dropped with everybody in it (FORCE from 13 on) and cloned by copying files;
 * - truncate: the seeded tables are emptied with RESTART IDENTITY (without CASCADE; each is named in a note)
 *   and filled from the template, sequences set, materialized views refreshed; VACUUM ANALYZE. The first
 * time, and after another seed, as template;
 * - recreate: dropped, made from template0, scripts run again; VACUUM ANALYZE;
 * - none: left alone, whoever made it; made from the template only when it does not exist.
 *
 * In all but the last the state is then proven against the manifest: every table and sequence, rows counted
 * (after a clone only of tables where that takes a few milliseconds, others by size and estimate), the
 * database's size. ANALYZE where statistics are missing; nobody connected; CHECKPOINT.
 *
 * A difference is ERROR_TRIAL and lists what differs. Clients still connected at first are ended and warned
 * of; sessions that come back, or hold the template, are ERROR_CONFLICT and are listed. After an error the
 * state is unknown: the trial must not run.
 */
int postgres_reset(struct postgres *p, enum reset_mode mode, struct postgres_reset_result *ret,
                   struct error *err) MUST_CHECK;

/* CHECKPOINT by itself, for instance after the warm-up: else what that wrote is flushed in the measured
 * window. Without the right to it does nothing and warns, once. */
int postgres_checkpoint(struct postgres *p, struct error *err) MUST_CHECK;

/* After a warm-up: VACUUM (ANALYZE) of the benchmark database, so that autovacuum finds nothing to do in the
 * load, then CHECKPOINT. What it counts as itself is in the statistics when it returns. */
int postgres_calm(struct postgres *p, struct error *err) MUST_CHECK;

/*
 * Numbers at one moment; the difference of two readings is the window's. Our own transactions do not show in
 * the difference of the first two readings after a reset.
 *
 * The server adds up when a session ends or, of one that goes on, at most once a second; of an idle one what
 * is left comes after up to 10 s (before 15: not at all). So the last second of a pool that stays connected
 * may be missing: the second reading is exact only after the application has stopped and its sessions have
 * left (postgres_await_leave()), and a warm-up's last second can be in it that its sessions had not told when
 * the window began (postgres_await_told()). Servers before 15 collect with a delay, which is waited for.
 */
struct postgres_counters {
    double commits, rollbacks, deadlocks, temp_bytes, size_bytes; /* of the benchmark database */
    double tup_inserted, tup_updated, tup_deleted;
    double checkpoints, wal_bytes; /* server-wide; NAN where they cannot be told */
    double autovacuum_runs;        /* vacuum and analyze, over its tables; NAN when no connection was free */
    double connections, prepared_xacts; /* now, of the benchmark database */
    double
        since_s; /* epoch; a later one in the second reading: the server has begun to count anew (it
                    recovered from a crash, or somebody reset its statistics), and differences say nothing */
};
int postgres_counters(struct postgres *p, struct postgres_counters *ret, struct error *err) MUST_CHECK;
/* The same at once, when the window ends, without a session of ours on the benchmark database: what belongs
 * to this moment (checkpoints, wal_bytes, connections) is right, autovacuum_runs is NAN, the others are lower
 * bounds. The next reading's autovacuum_runs are those until now. */
int postgres_glance(struct postgres *p, struct postgres_counters *ret, struct error *err) MUST_CHECK;

/* What other sessions do on the benchmark database at this moment. */
struct postgres_activity {
    int sessions;            /* of clients */
    int active;              /* a statement runs */
    int idle_in_transaction; /* none runs, but a transaction is open */
    int hidden;              /* somebody else's: what they do is not told to our role */
    int prepared;            /* two-phase transactions that wait for their end; they need no session */
    double active_s, open_s; /* the longest statement; the oldest open transaction that is idle; NAN: none */
    double still_s;          /* the least time that one has been idle in its transaction; NAN: none */
    double prepared_s;       /* the oldest prepared one */
};
int postgres_activity(struct postgres *p, struct postgres_activity *ret, struct error *err) MUST_CHECK;

/* Waits until no client is connected to the benchmark database; *ret_left is how many still are then. */
int postgres_await_leave(struct postgres *p, int64_t deadline_ns, int *ret_left,
                         struct error *err) MUST_CHECK;

/* Waits until idle sessions of the benchmark database must have told all that they have done: up to 11 s.
 * False in *ret_told where that cannot be said: before 15, or while one does not become idle. */
int postgres_await_told(struct postgres *p, bool *ret_told, struct error *err) MUST_CHECK;

/* The one value (one row, one column) of one SQL statement, run on the benchmark database over a fresh
 * connection in a transaction that is rolled back; NULL gives NULL. The caller frees. ERROR_INVALID when the
 * SQL is at fault, ERROR_ENVIRONMENT with the figures when connections are used up. */
int postgres_query(struct postgres *p, const char *sql, char **ret_text, struct error *err) MUST_CHECK;

const char *postgres_database_name(const struct postgres *p);

/* Drops the benchmark database if this object made it, and its templates: at the sweep's end on a server that
 * is not ours. */
int postgres_drop(struct postgres *p, struct error *err) MUST_CHECK;

/* Splits a URL or keyword=value text into host, port, user, name for ${database.*}; the password is kept
 * apart. What it does not say comes from libpq's environment variables and defaults; of several hosts the
 * first is taken. The caller frees each. No text of the URL is in the error. */
struct postgres_target {
    char *host, *user, *name, *password; /* name and password may be NULL */
    int port;
};
int postgres_parse_url(const char *url, struct postgres_target *ret, struct error *err) MUST_CHECK;
void postgres_target_release(struct postgres_target *t);

#endif
