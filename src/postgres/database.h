/* SPDX-License-Identifier: MIT */
/*
 * Whole databases: made, marked, dropped, and who is in them. Nothing that is not ours is dropped or emptied:
 * on a server that is not ours a database must carry our mark (COMMENT ON DATABASE).
 */
#ifndef BENCHCTL_POSTGRES_DATABASE_H
#define BENCHCTL_POSTGRES_DATABASE_H

#include "internal.h"

/* Does it exist, and may it be touched? -1 when it exists and may not. */
int database_claim(struct postgres *p, const char *name, bool *ret_exists, struct error *err) MUST_CHECK;

/* Claims and drops it, with everybody who is in it; fine when it does not exist. */
int database_drop(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* From template0 (UTF8, C locale) when `from` is NULL, else a clone by copying files. Marked. */
int database_create(struct postgres *p, const char *name, const char *from, const char *mark,
                    struct error *err) MUST_CHECK;

/* ALLOW_CONNECTIONS, which binds superusers too. */
int database_admit(struct postgres *p, const char *name, bool admit, struct error *err) MUST_CHECK;

/* Admits nobody and ends the sessions that are there. */
int database_seal(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* Warns of clients that are still in it: an application should have been stopped. */
int database_report_sessions(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* Ends the sessions of clients in a database of ours. */
int database_end_sessions(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* Waits shortly until no client is in it; else ERROR_CONFLICT with the list of them. */
int database_expect_idle(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

/* Rolls back what two-phase transactions left prepared: they hold locks and forbid the drop. */
int database_forget_prepared(struct postgres *p, const char *name, struct error *err) MUST_CHECK;

#endif
