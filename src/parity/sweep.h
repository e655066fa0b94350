/* SPDX-License-Identifier: MIT */
/*
 * A second look at the tokens of a source, without knowing where constants may live: every name that is given
 * a value somewhere and that the scanner of declarations did not take. It rather takes too much.
 */
#ifndef BENCHCTL_PARITY_SWEEP_H
#define BENCHCTL_PARITY_SWEEP_H

#include "constants.h"

/* Adds to the declarations of source `index`, which must have been scanned, those that were not taken and
 * that the glob (NULL: capitals with a string behind them) asks for; and, hidden, those that change the value
 * of a constant. */
void sweep(struct declarations *d, size_t index, const char *name_glob);

/* In capitals, as constants are written. */
bool sweep_capitals(const char *name);

/* Is there a string in the expression that begins at the token? */
bool sweep_has_string(const struct tokens *t, size_t from);

#endif
