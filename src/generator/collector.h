/* SPDX-License-Identifier: MIT */
/*
 * Where the seconds of all processes come together: merges them, appends a row to series.csv and lines to
 * histogram.hlog as each is complete, and keeps the sum of all.
 */
#ifndef BENCHCTL_GENERATOR_COLLECTOR_H
#define BENCHCTL_GENERATOR_COLLECTOR_H

#include "second.h"

struct collector;

/* Opens the files (options' out_dir; NULL: none). */
int collector_new(const struct workload *w, const struct generator_options *o, size_t processes,
                  struct collector **ret, struct error *err) MUST_CHECK;
void collector_free(struct collector *c);
DEFINE_CLEANUP(struct collector *, collector_free);

/* The load begins: the clock of the log. */
int collector_begin(struct collector *c, int64_t begin_wall_ns, struct error *err) MUST_CHECK;
/* The sum of what the processes counted in that second: add to it, then tell that process' second is in. */
struct second *collector_slot(struct collector *c, uint64_t index);
void collector_done(struct collector *c, size_t process, uint64_t index);
/* That process reports no more. */
void collector_leave(struct collector *c, size_t process);
/* Everything so far. */
const struct second *collector_total(const struct collector *c);
/* What went wrong with the files, if something did: kept until it can be told. */
int collector_check(const struct collector *c, struct error *err) MUST_CHECK;

/* Sums over the measured phases (or, `warmup`, the others) of a kind, over a phase's kinds. */
#define ALL_KINDS ((size_t)-1)
void total_of_kind(const struct workload *w, const struct second *s, size_t kind, bool warmup,
                   struct tally *into);
void total_of_phase(const struct second *s, size_t phase, struct tally *into);

#endif
