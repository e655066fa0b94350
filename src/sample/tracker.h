/* SPDX-License-Identifier: MIT */
/*
 * Scrapes one after the other → the values of an adapter's metrics over a window. What is kept per series is
 * its last value, so that memory does not grow with the length of a trial.
 */
#ifndef BENCHCTL_SAMPLE_TRACKER_H
#define BENCHCTL_SAMPLE_TRACKER_H

#include "adapter.h"

#define STALE_MS 60000.0 /* a sample whose own timestamp is older than that at the scrape is not used */

struct tracker;
struct tracker *tracker_new(const struct metric_adapter *ad);
void tracker_free(struct tracker *t);
DEFINE_CLEANUP(struct tracker *, tracker_free);

void tracker_window(struct tracker *t); /* forgets everything */
/* The process is a new one: the next scrape's counters began at zero. */
void tracker_restarted(struct tracker *t);
/* `wall_ms` is the wall clock when it was asked for, NAN when that is not known. */
void tracker_add(struct tracker *t, const struct prom_scrape *scrape, double wall_ms);
void tracker_failed(struct tracker *t, const char *reason); /* a gap in everything */

/* How often counters began again. */
size_t tracker_resets(const struct tracker *t);
size_t tracker_incomplete(const struct tracker *t);

void tracker_values(const struct tracker *t, struct arena *a, struct metric_value **ret, size_t *ret_len);
void tracker_notes(const struct tracker *t, struct arena *a, struct text_list *ret);

#endif
