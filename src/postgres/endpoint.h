/* SPDX-License-Identifier: MIT */
/*
 * Where a server is and how to log in there: libpq's keywords and values, from a URL or from parts. The only
 * place that knows the password; endpoint_redact() keeps it out of messages. Nothing here talks to a server.
 */
#ifndef BENCHCTL_POSTGRES_ENDPOINT_H
#define BENCHCTL_POSTGRES_ENDPOINT_H

#include <stdbool.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/postgres.h"

struct endpoint;

int endpoint_new(const struct postgres_options *o, struct endpoint **ret, struct error *err) MUST_CHECK;
void endpoint_free(struct endpoint *e);
DEFINE_CLEANUP(struct endpoint *, endpoint_free);

/* The database that the URL names; NULL when it names none or there is no URL. */
const char *endpoint_database(const struct endpoint *e);

/* Arrays for PQconnectStartParams(), NULL-terminated; borrowed from `e`. */
#define ENDPOINT_PARAMS 64
void endpoint_params(const struct endpoint *e, const char *database, const char *keys[ENDPOINT_PARAMS],
                     const char *values[ENDPOINT_PARAMS]);

/* Replaces the password in `text`, in place, by stars (unless it is also the user's or host's name). */
void endpoint_redact(const struct endpoint *e, char *text);

#endif
