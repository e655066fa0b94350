/* SPDX-License-Identifier: MIT */
#include "benchctl/base/name_index.h"

#include <string.h>
#include "benchctl/base/hash.h"
#include "benchctl/base/mem.h"

struct name_slot {
    const char *name;
    uint64_t hash;
    size_t value;
};

/* The high bits of a product depend on all bits of the hash, so names made to share its low ones do not pile
 * up. */
static size_t slot_of(uint64_t hash, size_t cap)
{
    return (size_t)((hash * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (cap - 1);
}

static struct name_slot *find(struct name_slot *slots, size_t cap, const char *name, uint64_t hash)
{
    size_t i = slot_of(hash, cap);

    while (slots[i].name && (slots[i].hash != hash || strcmp(slots[i].name, name) != 0))
        i = (i + 1) & (cap - 1);
    return &slots[i];
}

static void grow(struct name_index *x)
{
    size_t cap = x->cap ? x->cap * 2 : 64;
    struct name_slot *slots = xcalloc(cap, sizeof(*slots));

    for (size_t i = 0; i < x->cap; i++) {
        if (x->slots[i].name)
            *find(slots, cap, x->slots[i].name, x->slots[i].hash) = x->slots[i];
    }
    free(x->slots);
    x->slots = slots;
    x->cap = cap;
}

size_t *name_index_put(struct name_index *x, const char *name, size_t value, bool *ret_new)
{
    if (x->len * 2 >= x->cap)
        grow(x);
    uint64_t hash = hash64(name, strlen(name), 0);
    struct name_slot *slot = find(x->slots, x->cap, name, hash);

    *ret_new = !slot->name;
    if (!slot->name) {
        *slot = (struct name_slot){.name = name, .hash = hash, .value = value};
        x->len++;
    }
    return &slot->value;
}

const size_t *name_index_get(const struct name_index *x, const char *name)
{
    if (!x->cap)
        return NULL;
    const struct name_slot *slot = find(x->slots, x->cap, name, hash64(name, strlen(name), 0));
    return slot->name ? &slot->value : NULL;
}

void name_index_release(struct name_index *x)
{
    free(x->slots);
    *x = (struct name_index){0};
}
