/* SPDX-License-Identifier: MIT */
/* The order of trials as a function: no list of them is kept. */
#ifndef BENCHCTL_PLAN_ORDER_H
#define BENCHCTL_PLAN_ORDER_H

#include <stdint.h>

/*
 * A permutation of 0..count-1 that depends on the key only: where `x` goes. Swap-or-not: each round pairs
 * every x with PIVOT - x (modulo count) and swaps a pair or not by one pseudo-random bit, so it needs no
 * memory, works for any count, and is the same on every machine.
 */
uint64_t order_permute(uint64_t count, uint64_t key, uint64_t x);

/* A key for round `round` of a sweep with this seed. */
uint64_t order_key(int64_t seed, uint64_t round);

#endif
