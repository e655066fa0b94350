/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_POSTGRES_TRUNCATE_H
#define BENCHCTL_POSTGRES_TRUNCATE_H

#include "internal.h"

/*
 * Empties the seeded tables of the benchmark database, identities restarted, and fills them from the
 * template: the very rows of the seed, whatever the scripts do. One transaction. Tables that are not in the
 * seed are not touched.
 */
int truncate_and_fill(struct postgres *p, struct error *err) MUST_CHECK;

#endif
