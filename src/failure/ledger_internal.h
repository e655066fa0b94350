/* SPDX-License-Identifier: MIT */
/* What the files of the ledger share. */
#ifndef BENCHCTL_LEDGER_INTERNAL_H
#define BENCHCTL_LEDGER_INTERNAL_H

#include "benchctl/base/clock.h"
#include "benchctl/failure.h"

/* Version 1 of cgroups notifies whenever memory is out, which it is until the victim is gone: a burst of
 * events is one kill. */
#define OOM_BURST_NS (100 * NS_PER_MS)
/* From the kill to the end of the process: it gives its memory back first, gigabytes take a while. An oom
 * event that is older told of a child. */
#define OOM_BEFORE_DEATH_NS (5 * NS_PER_S)
/* A `start` event follows StartedAt, and a `die` event follows FinishedAt by milliseconds (measured: under
 * 1, and 26); on a machine that swaps or waits for its disk it may be seconds. Two lives in which nobody saw
 * the end between them are never closer: a restart takes 0.3 s. */
#define EVENT_LATE_NS (10 * NS_PER_S)
/* Engines other than Docker's may stamp StartedAt a moment after the event. */
#define STAMP_LATE_NS (50 * NS_PER_MS)
/* So close to FinishedAt it is the same end, even when the codes differ: a restart that failed to start
 * overwrites inspect's. */
#define SAME_END_NS NS_PER_S

/* From the end of a container by an engine that shuts down (it waits 15 s for the slowest) to the moment when
 * the next engine tells events. */
#define ENGINE_AWAY_NS (150 * NS_PER_S)

/* Makes starts and exits anew from facts and looks: ledger_lives.c. */
void ledger_rebuild(struct ledger *l);

#endif
