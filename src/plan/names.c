/* SPDX-License-Identifier: MIT */
#include "names.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "benchctl/base/hash.h"
#include "benchctl/base/mem.h"

#define FIRST_SLOTS 16 /* a power of two; at most half of the slots are in use */

void names_release(struct names *n)
{
    free(n->texts);
    free(n->slots);
    *n = (struct names){0};
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t slot_of(const struct names *n, const char *text, size_t len)
{
    size_t mask = n->slot_count - 1;
    size_t slot = hash64(text, len, 0) & mask;

    for (;; slot = (slot + 1) & mask) {
        if (n->slots[slot] == 0)
            return slot;
        const char *held = n->texts[n->slots[slot] - 1];
        if (strncmp(held, text, len) == 0 && held[len] == '\0')
            return slot;
    }
}

static void grow(struct names *n)
{
    n->slot_count = n->slot_count ? n->slot_count * 2 : FIRST_SLOTS;
    free(n->slots);
    n->slots = xcalloc(n->slot_count, sizeof(*n->slots));
    for (size_t i = 0; i < n->len; i++)
        n->slots[slot_of(n, n->texts[i], strlen(n->texts[i]))] = (uint32_t)i + 1;
}

size_t names_add(struct names *n, const char *text, bool *ret_new)
{
    if ((n->len + 1) * 2 > n->slot_count)
        grow(n);
    size_t slot = slot_of(n, text, strlen(text));
    *ret_new = n->slots[slot] == 0;
    if (!*ret_new)
        return n->slots[slot] - 1;
    assert(n->len < UINT32_MAX - 1);
    n->texts = vec_grow_(n->texts, n->len, &n->cap, sizeof(*n->texts));
    n->texts[n->len++] = text;
    n->slots[slot] = (uint32_t)n->len;
    return n->len - 1;
}

size_t names_find(const struct names *n, const char *text, size_t len)
{
    if (!n->len)
        return NAMES_NONE;
    size_t slot = slot_of(n, text, len);
    return n->slots[slot] ? n->slots[slot] - 1 : NAMES_NONE;
}

size_t names_bytes(const struct names *n)
{
    return n->cap * sizeof(*n->texts) + n->slot_count * sizeof(*n->slots);
}
