/* SPDX-License-Identifier: MIT */
/* Figures out of the kernel's small text files, and the rules that both sources of memory samples share. */
#ifndef BENCHCTL_SAMPLE_FIGURES_H
#define BENCHCTL_SAMPLE_FIGURES_H

#include "benchctl/sample.h"

struct resource_sample resource_sample_none(void); /* nothing measured: every figure NAN */

double first_figure(const char *text); /* "123\n": 123; NAN when it does not begin with a digit */

/* "KEY VALUE" lines; keys that do not occur leave their `ret` alone. */
void keyed_figures(const char *text, const char *const *keys, size_t count, double *ret);

/* A limit: INFINITY for "max" and for version 1's page-rounded LONG_MAX. */
double limit_figure(const char *text);
double no_limit_above(double bytes); /* the same rule for a number: INFINITY from 2^60 */

double quota_figure(const char *text); /* cpu.max, "200000 100000" or "max 100000": cores */

/* /proc/PID/net/dev, all interfaces but lo. NAN when there is none. */
void network_figures(const char *text, struct resource_sample *s);

/* usage - inactive file, or usage when the breakdown is missing or larger than the whole (the two are read
 * apart). */
double used_bytes(double usage, double inactive_file);

#endif
