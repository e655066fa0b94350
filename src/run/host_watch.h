/* SPDX-License-Identifier: MIT */
/* The machine beside the sweep: is it what the matrix requires (host.require), and does it stay as it was? */
#ifndef BENCHCTL_RUN_HOST_WATCH_H
#define BENCHCTL_RUN_HOST_WATCH_H

#include "run_internal.h"

/* Before anything is started. ERROR_ENVIRONMENT, with every violation and what to do, when the matrix wants a
 * violation to stop the sweep; a warning otherwise. */
int host_watch_open(struct sweep_run *s, struct error *err) MUST_CHECK;
void host_watch_close(struct sweep_run *s);

/* When a trial begins: as host_watch_open(), but a violation that may be is a mark at the trial. */
int host_watch_begin(struct trial_run *t, struct error *err) MUST_CHECK;
/* When its load is over: a mark when the machine is not as it was. */
void host_watch_end(struct trial_run *t);

#endif
