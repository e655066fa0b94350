/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_COMPARE_WORDS_H
#define BENCHCTL_COMPARE_WORDS_H

#include "benchctl/compare.h"

void words_ratio(double ratio, struct strbuf *out);
void words_percent(double share, struct strbuf *out);
void words_outcomes(const size_t counts[OUTCOMES], struct strbuf *out); /* "2 ok, 1 crashed" */

#endif
