/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_POSTGRES_SEED_H
#define BENCHCTL_POSTGRES_SEED_H

#include "internal.h"

/* VACUUM (ANALYZE): statistics for the planner, nothing left for autovacuum to do in the load. *ret_pid (may
 * be NULL) is the session's, which ends with the call. */
int seed_vacuum(struct postgres *p, const char *database, int *ret_pid, struct error *err) MUST_CHECK;

/* Makes the template anew if a crash of the server may have emptied tables of it. */
int seed_renew(struct postgres *p, struct seed *s, struct error *err) MUST_CHECK;

#endif
