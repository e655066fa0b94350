/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic between named values: `requests - errors.status`, `max(0, requests - failed)`, and
 * conditions: `abs(failed - passes) <= 1`. Numbers, names, + - * /, < <= > >= == !=, and or,
 * parentheses and the functions min max abs round floor, if(CONDITION, A, B), known(A), first(A, B, ...).
 * What was not measured is NAN and stays NAN through everything but first, known and if; a condition over it
 * is neither true nor false (NAN).
 */
#ifndef BENCHCTL_BASE_EXPR_H
#define BENCHCTL_BASE_EXPR_H

#include "benchctl/base/arena.h"
#include "benchctl/base/error.h"

struct expr;

/* Lives in `a`. */
int expr_compile(const char *text, struct arena *a, const struct expr **ret, struct error *err) MUST_CHECK;

/* Calls visit for each name in it. */
int expr_each_name(const struct expr *e, int (*visit)(const char *name, void *data, struct error *err),
                   void *data, struct error *err) MUST_CHECK;

double expr_value(const struct expr *e, double (*lookup)(const char *name, void *data), void *data);

#endif
