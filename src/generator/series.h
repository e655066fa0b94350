/* SPDX-License-Identifier: MIT */
/* One second as a row of series.csv and as intervals of histogram.hlog. */
#ifndef BENCHCTL_GENERATOR_SERIES_H
#define BENCHCTL_GENERATOR_SERIES_H

#include "second.h"

void series_head(struct strbuf *out);
/* `all`: the sum over phases and kinds. */
void series_row(const struct second *s, const struct tally *all, struct strbuf *out);
/* Response times with the tag NAME, service times with NAME!service; measured phases only. */
void series_log(const struct workload *w, const struct second *s, struct strbuf *out);
/* The tag of a request kind: its name without what would end a tag. */
void series_tag(const char *name, const char *suffix, struct strbuf *out);

#endif
