/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_SAMPLE_PROM_NUMBER_H
#define BENCHCTL_SAMPLE_PROM_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

/* All of `text` as the exposition format writes numbers: decimal with an optional exponent, NaN, Inf.
 * Whatever the process' locale is. */
bool prom_number(const char *text, size_t len, double *ret);

#endif
