/* SPDX-License-Identifier: MIT */
/*
 * How long the rest of a sweep will take, from what its trials have taken: of a scenario that has run its own
 * mean, of one that has not the plan's estimate, scaled by how wrong that has been so far. The canary and
 * cooldowns likewise. Pure; each call but eta_new() takes a constant time.
 */
#ifndef BENCHCTL_RUN_ETA_H
#define BENCHCTL_RUN_ETA_H

#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/mem.h"

struct eta;

#define ETA_CANARY SIZE_MAX /* in the place of a scenario */

struct eta *eta_new(size_t scenarios, int64_t trials); /* `trials` of each scenario are to come */
void eta_free(struct eta *e);
DEFINE_CLEANUP(struct eta *, eta_free);

/* The plan's estimate of one trial, and of the cooldown behind it. */
void eta_plan(struct eta *e, size_t scenario, double trial_ns, double cooldown_ns);

/* A trial took so long; in this run or an earlier one. */
void eta_took(struct eta *e, size_t scenario, double ns);
void eta_cooled(struct eta *e, double ns); /* a cooldown */
/* A trial of it is not to come any more. */
void eta_done(struct eta *e, size_t scenario);

double eta_trial_ns(const struct eta *e, size_t scenario); /* one trial, without its cooldown */
double eta_any_trial_ns(const struct eta *e);              /* of whatever scenario */
double eta_cooldown_ns(const struct eta *e);               /* one cooldown */

/* Everything that is to come, with cooldowns; so many of it are canaries. */
double eta_left_ns(const struct eta *e, uint64_t canaries);
/* The same where the number of trials is a guess, and of which scenarios they are is not known. */
double eta_guess_ns(const struct eta *e, double trials, uint64_t canaries);

#endif
