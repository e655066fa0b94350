/* SPDX-License-Identifier: MIT */
/* What connection.c and statement.c share. */
#ifndef BENCHCTL_POSTGRES_CONNECTION_INTERNAL_H
#define BENCHCTL_POSTGRES_CONNECTION_INTERNAL_H

#include "connection.h"

struct connection {
    PGconn *pg;
    struct loop *loop;
    const struct endpoint *endpoint;
    char *database;
    int64_t statement_timeout_ns;
    int64_t deadline_ns; /* of what is running */
    int64_t limit_ns;    /* of everything that is still to run */
    char sqlstate[SQLSTATE_SIZE];
    bool lost;       /* not to be used any more */
    bool *by_server; /* set when the server is why; may be NULL */
};

/* Waits for the socket until the running statement's deadline; when that passes or the loop is interrupted,
 * what runs is cancelled. */
int connection_wait(struct connection *c, unsigned events, struct error *err) MUST_CHECK;

/* The connection is lost: fills `err` from libpq's text and returns -1. */
int connection_gone(struct connection *c, struct error *err);

#endif
