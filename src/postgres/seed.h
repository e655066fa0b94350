/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_POSTGRES_SEED_H
#define BENCHCTL_POSTGRES_SEED_H

#include "internal.h"

/* VACUUM (ANALYZE): statistics for the planner, nothing left for autovacuum to do in the load. */
int seed_vacuum(struct postgres *p, const char *database, struct error *err) MUST_CHECK;

#endif
