/* SPDX-License-Identifier: MIT */
/*
 * What the files of this module share: the object, its control connection, and the steps that postgres.h's
 * functions are made of.
 */
#ifndef BENCHCTL_POSTGRES_INTERNAL_H
#define BENCHCTL_POSTGRES_INTERNAL_H

#include "benchctl/base/arena.h"
#include "benchctl/postgres.h"
#include "connection.h"
#include "manifest.h"

/* Marks in COMMENT ON DATABASE by which we know what may be dropped. */
#define MARK_PREFIX "benchctl "
#define MARK_BENCHMARK "benchctl benchmark database: dropped and made again for each trial"
#define MARK_TEMPLATE "benchctl seed template: dropped at the end of the sweep"

/* Of pg_stat_activity, which hides the type of other people's sessions from ordinary roles. */
#define IS_CLIENT                                                                                            \
    "coalesce(backend_type, CASE WHEN usesysid IS NOT NULL THEN 'client backend' END) = 'client backend'"

/* A sealed template and what it was made from. */
struct seed {
    struct arena *arena; /* holds everything below */
    const char *database;
    struct postgres_script *scripts;
    size_t script_count;
    struct manifest manifest;
    bool unlogged; /* has tables that a crash of the server empties */
    bool doubtful; /* and there may have been one */
};

struct postgres {
    struct loop *loop;
    struct endpoint *endpoint;
    char *name, *maintenance;
    bool guest; /* the server is not ours: only databases with our mark are touched */
    int64_t statement_timeout_ns;
    struct connection *control; /* to the maintenance database, open all the time */
    struct arena *arena;
    struct postgres_facts facts;
    struct json *settings;
    bool superuser;
    VEC(struct seed *) seeds;
    struct seed *seed;            /* the current one; NULL: none yet */
    const struct seed *made_from; /* what the benchmark database was made from; NULL: not by us */
    bool made;                    /* the benchmark database is ours to drop */
    char *unmarked;               /* one that we have made, or may have, and not marked yet; NULL: none */
    bool counted;                 /* the counters were read since the last reset */
    bool no_checkpoint;           /* refused once, said once */
    bool lost;                    /* the server has ended a session of ours */
    bool away;                    /* it was waited for, in vain */
    const bool *give_up;          /* its container has ended; may be NULL */
    int64_t patience_ns;          /* postgres_patience() */
    int64_t limit_ns;             /* postgres_limit() */
    double glanced_s;             /* the server's clock at postgres_glance(); NAN: not since the last reset */
    int prepared, ended;          /* what the reset under way met: postgres_reset_result */
};

/* Waits until the server is ready and leaves the control connection open. */
int postgres_wait_ready(struct postgres *p, const struct postgres_options *o, struct error *err) MUST_CHECK;

int postgres_read_facts(struct postgres *p, struct error *err) MUST_CHECK;

/* The control connection, made anew if the server has closed it meanwhile, which is waited for: again.h.
 * Borrowed. */
int postgres_control(struct postgres *p, struct connection **ret, struct error *err) MUST_CHECK;

/* A fresh session on `database`, likewise waited for. A full server is reported with its figures. The caller
 * frees. */
int postgres_session(struct postgres *p, const char *database, struct connection **ret,
                     struct error *err) MUST_CHECK;

/* The shared lock that keeps a second benchctl off the same database of a server that is not ours. */
int postgres_lock(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* Waits (bounded) until a session of ours has left: what it counted is in the statistics then. */
int postgres_await_exit(struct postgres *p, int pid, struct error *err) MUST_CHECK;

/* postgres_checkpoint(), not done again; no data. */
int checkpoint_once(struct postgres *p, void *data, struct error *err) MUST_CHECK;

/* Puts `name` in double quotes for SQL. */
void sql_identifier(struct strbuf *out, const char *name);

#endif
