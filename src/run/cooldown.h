/* SPDX-License-Identifier: MIT */
/* The pause between two trials: some time, and then until the machine has settled. */
#ifndef BENCHCTL_RUN_COOLDOWN_H
#define BENCHCTL_RUN_COOLDOWN_H

#include "run_internal.h"

/* What the machine is like. NAN, -1: not readable. */
struct cooldown_view {
    double temperature_c, load1;
    int64_t sockets;
};

/* What it is to come down to. NAN, -1: not waited for. */
struct cooldown_goal {
    double temperature_c, load1;
    int64_t sockets;
};

/* Has it? What cannot be read is not waited for. */
bool cooldown_reached(const struct cooldown_view *v, const struct cooldown_goal *g);
/* "71 °C, waiting for 60 °C; load 2.31, waiting for 0.5": what is not reached yet. */
void cooldown_words(const struct cooldown_view *v, const struct cooldown_goal *g, char *buf, size_t size);

/* Before the first trial: what goals count from. */
void cooldown_begin(struct sweep_run *s);
/* After a trial, by its settings. Interruptible. */
int cooldown_wait(struct sweep_run *s, struct error *err) MUST_CHECK;
/* What was waited for goes into the record of the trial that begins. */
void cooldown_record(struct trial_run *t);

#endif
