/* SPDX-License-Identifier: MIT */
/* The server: one process, one thread, one epoll. */
#ifndef UPSTREAM_SERVER_H
#define UPSTREAM_SERVER_H

#include "config.h"

struct server;

/* Listens at once; `c` outlives it. */
int server_new(const struct config *c, struct server **ret, struct error *err) MUST_CHECK;
int server_port(const struct server *s);
int server_run(struct server *s, struct error *err) MUST_CHECK; /* until SIGTERM or SIGINT */
void server_free(struct server *s);
DEFINE_CLEANUP(struct server *, server_free);

#endif
