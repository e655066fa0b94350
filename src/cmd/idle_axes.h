/* SPDX-License-Identifier: MIT */
/* What is said of axes that change nothing: right as a matrix, and surely not what was meant. */
#ifndef BENCHCTL_IDLE_AXES_H
#define BENCHCTL_IDLE_AXES_H

#include "benchctl/plan.h"

/* Calls `tell` for each, with a message that has its position and a hint. */
void idle_axes(const struct plan *p, void (*tell)(const struct error *warning, void *data), void *data);

/* A warning with its hint, on stderr; `data` is not looked at. */
void print_warning(const struct error *w, void *data);

/* The same as warnings on stderr. */
void warn_of_idle_axes(const struct plan *p);

#endif
