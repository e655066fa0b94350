/* SPDX-License-Identifier: MIT */
#include "fate.h"

#include <math.h>
#include <string.h>
#include "benchctl/base/hash.h"

#define TWO_PI 6.283185307179586
#define MAX_DELAY_NS 86400e9 /* a day */

static double uniform(struct rng *r) /* [0, 1) */
{
    return (double)(rng_next(r) >> 11) * 0x1p-53;
}

/* Ids and counts are kept apart, so that the id "7" is not the seventh request. */
uint64_t fate_key_of_id(const char *id, size_t len)
{
    return hash64(id, len, 0) | 1;
}

uint64_t fate_key_of_count(uint64_t count)
{
    return count << 1;
}

static double normal(struct rng *r)
{
    double radius = sqrt(-2 * log(1 - uniform(r)));

    return radius * cos(TWO_PI * uniform(r));
}

static int64_t draw_latency(const struct latency *l, struct rng *r)
{
    double ns = l->a;

    if (l->kind == LATENCY_UNIFORM)
        ns = l->a + (l->b - l->a) * uniform(r);
    else if (l->kind == LATENCY_NORMAL)
        ns = l->a + l->b * normal(r);
    else if (l->kind == LATENCY_LOGNORMAL)
        ns = exp(l->a + l->b * normal(r));
    return ns <= 0 ? 0 : ns >= MAX_DELAY_NS ? (int64_t)MAX_DELAY_NS : (int64_t)ns;
}

static const struct failure *draw_failure(const struct failures *f, struct rng *r)
{
    double point = uniform(r), end = 0;

    for (size_t i = 0; i < f->len; i++) {
        end += f->items[i].share;
        if (point < end)
            return &f->items[i];
    }
    return NULL;
}

struct fate fate_decide(const struct endpoint *e, uint64_t seed, uint64_t key)
{
    struct fate fate = {0};
    struct rng r;

    rng_seed(&r, hash64(&key, sizeof(key), hash64(e->path, strlen(e->path), seed)));
    /* In this order: another latency changes neither who fails nor what is in a body. */
    fate.failure = draw_failure(&e->failures, &r);
    fate.random = rng_next(&r);
    if (!fate.failure)
        fate.delay_ns = draw_latency(&e->latency, &r);
    else if (fate.failure->kind == FAILURE_TIMEOUT)
        fate.delay_ns = e->timeout_after_ns;
    return fate;
}
