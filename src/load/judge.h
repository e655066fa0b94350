/* SPDX-License-Identifier: MIT */
/* Is a result to be believed? */
#ifndef BENCHCTL_LOAD_JUDGE_H
#define BENCHCTL_LOAD_JUDGE_H

#include "evaluate.h"

/* A growing list of sentences in an arena. */
struct sentences {
    VEC(const char *) list;
    VEC(struct load_doubt) invalid;
    const char *nothing_measured;
};

/* Numbers that cannot all be true are an error; what is only not whole becomes a sentence. */
int load_judge(struct evaluation *e, const struct load_result *r, double window_ms, struct sentences *out,
               struct error *err) MUST_CHECK;

/* NULL, or why there is nothing to judge; in the evaluation's arena. */
const char *load_judge_nothing(struct evaluation *e, const struct load_result *r);

/* source_stream.c: what of a stream could not be read. */
void load_stream_doubts(const struct document *d, struct arena *arena, struct sentences *out);

#endif
