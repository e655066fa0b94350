/* SPDX-License-Identifier: MIT */
/*
 * Conditions of `exclude` and `overrides` over the grid's digits.
 *
 * Two ways to ask: rule_matches() for one rule and one scenario, and the sieve for many rules over all
 * combinations. The sieve turns the question round: for every value of every axis it has the set of rules
 * that this value satisfies, so a walk over the product only ands sets of 64 rules at a time and leaves a
 * whole subtree as soon as no rule is left.
 */
#ifndef BENCHCTL_PLAN_RULES_H
#define BENCHCTL_PLAN_RULES_H

#include "grid.h"

/* Copies with sorted values, in the arena. An override's condition is its `when`. */
struct condition *rules_of_excludes(const struct matrix *m, struct arena *a);
struct condition *rules_of_overrides(const struct matrix *m, struct arena *a);

bool rule_matches(const struct condition *rule, const uint32_t *digits);

#define SIEVE_RULES 512 /* at most per sieve: bounds its memory to 64 bytes per axis value */
#define SIEVE_WORDS (SIEVE_RULES / 64)

struct sieve;
struct sieve *sieve_new(const struct grid *g, const struct condition *rules, size_t count);
void sieve_free(struct sieve *s);
DEFINE_CLEANUP(struct sieve *, sieve_free);

/* Sets the bit of every combination that some rule matches. */
void sieve_mark(struct sieve *s, uint64_t *marks);

/* Looks which rules match any combination whose bit is not set; stops when all have been seen to. */
void sieve_probe(struct sieve *s, const uint64_t *skip);

/* Which rules match one scenario, listed or included. Returns the first, or SIZE_MAX. */
size_t sieve_match(struct sieve *s, const uint32_t *digits);

/* The first rule that none of the calls above found to match, or SIZE_MAX. */
size_t sieve_unmatched(const struct sieve *s);

#endif
