/* SPDX-License-Identifier: MIT */
/* What a person sees while a sweep runs: one live block on a terminal, plain lines elsewhere. All on stderr.
 */
#ifndef BENCHCTL_CMD_PROGRESS_H
#define BENCHCTL_CMD_PROGRESS_H

#include <stdbool.h>
#include "benchctl/run.h"

struct display {
    bool live; /* stderr is a terminal */
    bool color;
    int drawn; /* lines of the block on the screen */
    char last_step[32];
    uint64_t last_trial, last_canary;
};

void display_open(struct display *d); /* also takes the notes and warnings of base/log.h */
void display_progress(struct display *d, const struct progress *p);
/* A line of its own above the block, or several. */
void display_say(struct display *d, const char *before, const char *text);
void display_close(struct display *d); /* clears the block */

#endif
