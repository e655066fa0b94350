/* SPDX-License-Identifier: MIT */
/* Of the conductor: what the world does to a sweep, and what is done about it (docs/faults.md). */
#ifndef BENCHCTL_RUN_FAULTS_H
#define BENCHCTL_RUN_FAULTS_H

#include "benchctl/base/mem.h"
#include "benchctl/engine.h"
#include "benchctl/trial.h"

struct sweep_run;
struct trial_run;

/* Of a container, under way. */
struct removal {
    struct engine_call *call;
    char *id, *name; /* name: "'app' of trial 2 of 'a/64m'" */
};

/* The engine did not remove it in time: nobody waits for it again. */
struct left_behind {
    char *id, *name, *why;
};

/* faults.c, removals.c, engine_away.c */
struct sweep_faults {
    VEC(struct left_behind) left;
    /* The trials lost to the environment since one was not: "trial 1 of 'a': app start: ..." */
    VEC(char *) in_a_row;
    char *last;   /* what happened to the last one; NULL: nothing */
    bool passing; /* of the last one: it may go better again */
    bool doubted; /* what stands in the engine is not trusted: the next trial begins afresh */
    int networks; /* how many were made */
};

/* --- is it there? Does it tell all? engine_away.c --- */

/* Asks for the trial's events once more: a stream may be dead and stay open. */
void trial_hear_again(struct trial_run *t);
/* Before a trial: an engine that went away meanwhile is waited for, and nothing that stands is trusted then.
 * -1 when it does not come back. */
int engine_between_trials(struct sweep_run *s, struct error *err) MUST_CHECK;

/* --- is a trial made again, does the sweep go on? faults.c --- */

/* What a trial that has been decided was lost to. */
void fault_of_trial(struct trial_run *t);
/* How often a trial was made, and why again. */
struct attempts {
    int made, own, faults;
};
/* Is it to be made again? Then *ret_again; has told why and waited. */
int fault_try_again(struct sweep_run *s, enum outcome o, struct attempts *a, bool *ret_again,
                    struct error *err) MUST_CHECK;
/* After a trial: -1 when the sweep had better stop. */
int fault_stop(struct sweep_run *s, enum outcome o, struct error *err) MUST_CHECK;
void faults_release(struct sweep_faults *f);

/* --- removals.c --- */

/* Asks the engine to remove a container, without waiting. */
void removal_begin(struct sweep_run *s, const char *id, const char *role);
/* Until all have gone, a minute at most: what has not is left behind, and told. -1 when the engine does not
 * answer, or the wait was interrupted. */
int removals_wait(struct sweep_run *s, struct error *err) MUST_CHECK;
void leave_behind(struct sweep_run *s, const char *id, const char *name, const char *why);
bool is_left_behind(const struct sweep_run *s, const char *id);
/* In the trial's notes: what may be running beside it. */
void tell_left_behind(struct trial_run *t);

#endif
