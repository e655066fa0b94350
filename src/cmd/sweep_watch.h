/* SPDX-License-Identifier: MIT */
/* A sweep's run directory and matrix as the module watch wants them, and who sits at the terminal. */
#ifndef BENCHCTL_CMD_SWEEP_WATCH_H
#define BENCHCTL_CMD_SWEEP_WATCH_H

#include "benchctl/bundle.h"
#include "benchctl/plan.h"
#include "benchctl/run.h"
#include "benchctl/watch.h"
#include "keyboard.h"
#include "progress.h"

/* Who is told by the matrix' `notify`, `${secret:NAME}` filled in. */
int sweep_watch_open(struct loop *l, struct rundir *dir, const struct matrix *m, struct watch **ret,
                     struct error *err) MUST_CHECK;
void sweep_watch_progress(struct watch *w, const struct progress *p);

/* Signals and keys of a sweep. */
struct attendant {
    struct loop *loop;
    struct display *display;
    struct watch *watch; /* NULL: not open yet */
    struct keyboard *keyboard;
    struct run_control control;
    bool in_trial;
    int interrupts;
    int64_t interrupt_ns;      /* the last SIGINT that counted */
    int64_t alive_ns;          /* when the loop last went round */
    int64_t gap_ns, gap_at_ns; /* how long it did not, when that was noticed */
};
int attendant_catch(struct attendant *a, struct error *err) MUST_CHECK; /* signals, from now on */
void attendant_sit_down(struct attendant *a);                           /* keys, too */
void attendant_look(struct attendant *a, const struct progress *p);     /* at each progress */
void attendant_leave(struct attendant *a);

#endif
