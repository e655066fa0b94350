/* SPDX-License-Identifier: MIT */
/* What the engine and benchctl wrote down as it happened (events.ndjson), of trials in which something
 * failed: starts, ends, kills, changes of health. For looking at; figures never come from here. */
#ifndef BENCHCTL_REPORT_EVENTS_H
#define BENCHCTL_REPORT_EVENTS_H

#include "report_internal.h"

struct trial_event {
    double at_ms; /* since the load began; since the trial began where it never did */
    const char *event, *role;
    double code, signal; /* NAN: none */
};

struct trial_events {
    struct trial_event *items;
    size_t len, more; /* more: beyond what is kept */
    bool since_load;
};

void events_add(struct report *r, const struct sweep_file *f);
void html_events(const struct report *r, const struct trial *t, struct strbuf *out);

#endif
