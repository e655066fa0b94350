/* SPDX-License-Identifier: MIT */
/*
 * What happens to a request: how long its answer takes and whether it fails. Decided by the seed, the
 * endpoint's path and a key alone: by the value of the request's id header, else by how many requests without
 * one the endpoint has had before. The same seed and ids give the same fates in any order and at any speed.
 */
#ifndef UPSTREAM_FATE_H
#define UPSTREAM_FATE_H

#include "config.h"

struct fate {
    const struct failure *failure; /* NULL: none */
    int64_t delay_ns;              /* UPSTREAM_NEVER: no answer */
    uint64_t random;               /* seeds what else is drawn for this request */
};

uint64_t fate_key_of_id(const char *id, size_t len);
uint64_t fate_key_of_count(uint64_t count);
struct fate fate_decide(const struct endpoint *e, uint64_t seed, uint64_t key);

#endif
