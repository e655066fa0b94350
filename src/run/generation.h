/* SPDX-License-Identifier: MIT */
/* One run of a load generator (warm-up or measurement), for the files that have to do with it. */
#ifndef BENCHCTL_RUN_GENERATION_H
#define BENCHCTL_RUN_GENERATION_H

#include "run_internal.h"

#define OUTPUT_IN_CONTAINER "/benchctl/out"
#define SCRIPT_IN_CONTAINER "/benchctl/script"
#define INPUT_IN_CONTAINER "/benchctl/input"

struct raw_stream;

struct generation {
    struct trial_run *trial;
    struct load_call call;
    struct load_command command;
    const char *dir; /* where its output goes on this machine */
    int64_t duration_ns;
    bool measured;
    /* builtin: the phases of this run; NULL: a warm-up that no phase describes */
    const struct workload *part;
    struct text_map env;     /* beside the adapter's; values may hold references */
    struct text_list inputs; /* bind mounts of files that it reads, beside output and script */
    struct load_outcome outcome;
    double cpu_ms; /* 0: unknown */
    int stdout_fd, stderr_fd;
    struct raw_stream *stream; /* NULL: it has none */
};

void generation_release(struct generation *g);

/* load_call.c: the call and the command, with the references of this trial filled in. */
int generation_call(struct generation *g, struct error *err) MUST_CHECK;

/* generation.c: everything that can be made ready before the window opens. */
int generation_prepare(struct generation *g, struct error *err) MUST_CHECK;
/* Runs it until it has ended, its time is up or there is nothing left to measure. */
int generation_run(struct generation *g, struct error *err) MUST_CHECK;
/* Once the window has closed, whatever became of the run: the stream's end, and what must not be kept or
 * read goes. */
int generation_clean(struct generation *g, struct error *err) MUST_CHECK;
/* The adapter's second call, once the window has closed. Fine when there is none. */
int generation_finish(struct generation *g, struct error *err) MUST_CHECK;

/* raw_stream.c: reads what it writes line by line while it runs. Fine when the adapter declares nothing of
 * the kind, and when the generator never opens it. Seconds and histograms are left beside its output. */
int raw_stream_begin(struct generation *g, struct error *err) MUST_CHECK;
void raw_stream_end(struct generation *g); /* once the generator has ended */
void raw_stream_free(struct raw_stream *s);
double raw_stream_answered(const struct generation *g); /* requests so far; NAN: it does not tell */

/* hide.c: `*` in the place of every secret of the load, in the files of its directory. Values of less than
 * six bytes and plain numbers stay: they could be anything. */
void generation_hide_secrets(struct generation *g);

/* load_figures.c: what the generator's own report lacks and its histogram and its seconds tell: corrected
 * p99, steady state, users. */
void load_figures(const struct generation *g, struct load_result *r);

/* load_results.c: finishes, and fills the trial's record from what was left behind. */
int generation_results(struct generation *g, struct error *err) MUST_CHECK;

#endif
