/* SPDX-License-Identifier: MIT */
/*
 * One process' share of the load: transport, runner, and the loop they live on. What was counted goes to a
 * sink once a second; the last time when all is over.
 */
#ifndef BENCHCTL_GENERATOR_WORKER_H
#define BENCHCTL_GENERATOR_WORKER_H

#include "runner.h"

struct worker;

struct worker_options {
    const struct workload *workload;
    uint64_t process, processes, run_id;
    /* Each second, in order, without gaps. Counts are cleared behind it. */
    void (*on_second)(struct second *s, void *data);
    void (*on_phase_over)(size_t phase, void *data);
    void *data;
};

/* Everything is ready when it returns; nothing was sent yet. Must not be moved to another process. */
int worker_new(struct loop *l, const struct worker_options *o, struct worker **ret,
               struct error *err) MUST_CHECK;
void worker_free(struct worker *w);
DEFINE_CLEANUP(struct worker *, worker_free);

void worker_begin(struct worker *w, int64_t begin_ns);
void worker_release(struct worker *w, size_t phase, int64_t at_ns);
void worker_stop(struct worker *w);              /* aborts what is under way; over then */
const bool *worker_over(const struct worker *w); /* the last second has been given */
const char *worker_transport(const struct worker *w);

#endif
