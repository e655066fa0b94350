/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4, by libcrypto) for digests, and a fast 64-bit hash for tables. */
#ifndef BENCHCTL_BASE_HASH_H
#define BENCHCTL_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/mem.h"

#define SHA256_HEX_SIZE 65 /* 64 digits and the NUL */

struct sha256;
struct sha256 *sha256_new(void);
void sha256_update(struct sha256 *h, const void *bytes, size_t len);
void sha256_final(struct sha256 *h,
                  char hex[SHA256_HEX_SIZE]); /* may be followed by a new sequence of updates */
void sha256_free(struct sha256 *h);
DEFINE_CLEANUP(struct sha256 *, sha256_free);

void sha256_hex(const void *bytes, size_t len, char hex[SHA256_HEX_SIZE]);

/* FNV-1a, 64 bits: stable across machines, not for adversaries. */
uint64_t hash64(const void *bytes, size_t len, uint64_t seed);

/* A small seeded generator (xoshiro256** seeded by splitmix64, both public domain): the same everywhere. */
struct rng {
    uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound); /* uniform in [0, bound), without modulo bias; bound > 0 */

#endif
