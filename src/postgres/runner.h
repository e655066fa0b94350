/* SPDX-License-Identifier: MIT */
/* Runs an SQL file statement by statement, as psql would; an error names FILE:LINE and the statement. */
#ifndef BENCHCTL_POSTGRES_RUNNER_H
#define BENCHCTL_POSTGRES_RUNNER_H

#include "internal.h"

/* Each on a session of its own: what a dump does to its session (search_path = '') must not meet the next
 * one. */
int run_scripts(struct postgres *p, const char *database, const struct postgres_script *scripts, size_t count,
                struct error *err) MUST_CHECK;

#endif
