/* SPDX-License-Identifier: MIT */
/* Is a result to be believed? */
#ifndef BENCHCTL_LOAD_JUDGE_H
#define BENCHCTL_LOAD_JUDGE_H

#include "evaluate.h"

/* A growing list of sentences in an arena. */
struct sentences {
    VEC(const char *) list;
};

/* Numbers that cannot all be true are an error; what is only not whole becomes a sentence. */
int load_judge(struct evaluation *e, const struct load_result *r, double window_ms, struct sentences *out,
               struct error *err) MUST_CHECK;

#endif
