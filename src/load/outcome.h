/* SPDX-License-Identifier: MIT */
/* How the program ended, and what it said. */
#ifndef BENCHCTL_LOAD_OUTCOME_H
#define BENCHCTL_LOAD_OUTCOME_H

#include "adapter.h"

/* -1 when the program did not end, or ended in a way that means failure; else exit_status and exit_text are
 * filled. */
int load_outcome_check(const struct load_adapter *a, const char *dir, const struct load_outcome *o,
                       struct arena *arena, struct load_result *r, struct error *err) MUST_CHECK;

/* Appends the program's own words (the first lines of its standard error) to the message; returns -1. */
int load_outcome_add_words(const char *dir, struct error *err);

#endif
