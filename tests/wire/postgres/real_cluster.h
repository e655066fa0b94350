/* SPDX-License-Identifier: MIT */
/*
 * A real PostgreSQL server of the test's own: a cluster in a temporary directory, on a free port of
 * 127.0.0.1, run as user postgres when the test is root. Ends with the test, whatever happens to it.
 */
#ifndef TESTS_REAL_CLUSTER_H
#define TESTS_REAL_CLUSTER_H

#include <stdbool.h>
#include <sys/types.h>
#include <libpq-fe.h>
#include "benchctl/base/loop.h"
#include "benchctl/postgres.h"

struct cluster {
    char dir[64];
    int port;
    pid_t pid; /* 0: not running */
};

/* False, with a printed reason, where the server's programs are missing: skip then. */
bool cluster_make(struct cluster *c, const char *const *initdb_options);
void cluster_start(struct cluster *c,
                   const char *const *settings); /* "name=value", NULL-terminated; may be NULL */
void cluster_start_slowly(struct cluster *c);    /* without waiting until it answers */
void cluster_await(const struct cluster *c);     /* until it answers */
void cluster_stop(struct cluster *c,
                  int signo); /* SIGINT: fast, SIGQUIT: at once, SIGKILL: the postmaster alone */
void cluster_remove(struct cluster *c);

int free_port(void);

/* A session of the test's own, blocking; fails the test when it is refused. The caller calls PQfinish(). */
PGconn *cluster_session(const struct cluster *c, const char *database);
/* Statements on a session of their own; they must succeed. The first value of the last result; the caller
 * frees. */
char *cluster_sql(const struct cluster *c, const char *database, const char *sql);
void sql(PGconn *session, const char *text);

/* What benchctl connects by: as to a container of its own, or as to somebody's server when `name` comes from
 * a URL. */
struct postgres *cluster_connect(const struct cluster *c, struct loop *l, const char *name);
struct postgres *cluster_connect_url(const struct cluster *c, struct loop *l, const char *name);

/* A file of tests/cases. The caller frees. */
char *case_text(const char *path);

#endif
