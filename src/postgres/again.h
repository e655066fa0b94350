/* SPDX-License-Identifier: MIT */
/*
 * A server that went away and comes back: it restarts, or recovers from a crash. New sessions are waited for
 * (bounded), and what was under way when an old one was lost is done again from its beginning. A server that
 * was waited for in vain is not waited for a second time, until it has answered again.
 */
#ifndef BENCHCTL_POSTGRES_AGAIN_H
#define BENCHCTL_POSTGRES_AGAIN_H

#include "internal.h"

typedef int (*postgres_act)(struct postgres *p, void *data, struct error *err);

/* Does `act`, which may be begun anew at any point; again when the server ended a session under it. */
int postgres_persist(struct postgres *p, postgres_act act, void *data, struct error *err) MUST_CHECK;

/* An attempt to open a session has failed. Pauses and returns true when another one is worth while: the
 * server says (or its closed port does) that it is on its way. False: `err` is filled, from `failed`. */
bool postgres_await_return(struct postgres *p, int64_t since_ns, const struct connect_failure *failure,
                           struct error *failed, struct error *err) MUST_CHECK;

#endif
