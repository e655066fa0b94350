/* SPDX-License-Identifier: MIT */
/* One second as a row of series.csv and as intervals of histogram.hlog. */
#ifndef BENCHCTL_GENERATOR_SERIES_H
#define BENCHCTL_GENERATOR_SERIES_H

#include "benchctl/base/arena.h"
#include "second.h"

void series_head(struct strbuf *out);
/* `all`: the sum over phases and kinds. */
void series_row(const struct second *s, const struct tally *all, struct strbuf *out);
/* Of each request kind: its name without what would end a tag. No two are the same, nor is one another's with
 * "!service" behind it: of several that would be, the second one gets ~2. They live in `a`. */
const char **series_tags(const struct workload *w, struct arena *a);
/* Response times with the tag TAG, service times with TAG!service; measured phases only. */
void series_log(const struct workload *w, const char *const *tags, const struct second *s,
                struct strbuf *out);

#endif
