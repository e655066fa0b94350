/* SPDX-License-Identifier: MIT */
#include "order.h"

#include <assert.h>

#include "benchctl/plan.h"
#include "plan_internal.h"

#define ROUNDS 32
#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of splitmix64: every input bit moves every output bit. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t order_key(int64_t seed, uint64_t round)
{
    return mix(mix((uint64_t)seed + GOLDEN) + (round + 1) * GOLDEN);
}

uint64_t order_permute(uint64_t count, uint64_t key, uint64_t x)
{
    for (unsigned round = 1; round <= ROUNDS; round++) {
        uint64_t word = mix(key + round * GOLDEN);
        uint64_t pivot = (uint64_t)((unsigned __int128)word * count >> 64);
        uint64_t other = pivot >= x ? pivot - x : pivot + count - x;
        uint64_t pair = x > other ? x : other;
        if (mix(word ^ (pair + 1) * GOLDEN) & 1)
            x = other;
    }
    return x;
}

struct planned_trial plan_trial(const struct plan *p, uint64_t k)
{
    uint64_t scenarios = p->counts.scenarios, trials = (uint64_t)p->m->trials;

    assert(!p->candidates.len && k < p->counts.trials);
    switch (p->m->order) {
    case ORDER_INTERLEAVED:
        return (struct planned_trial){
            .scenario = (size_t)order_permute(scenarios, order_key(p->m->seed, k / scenarios), k % scenarios),
            .trial = (int)(k / scenarios) + 1,
        };
    case ORDER_RANDOM:
        k = order_permute(p->counts.trials, order_key(p->m->seed, 0), k);
        break;
    case ORDER_LISTED:
        break;
    }
    return (struct planned_trial){.scenario = (size_t)(k / trials), .trial = (int)(k % trials) + 1};
}
