/* SPDX-License-Identifier: MIT */
/*
 * Names and a number each: finds one among many without a scan. Keeps pointers to the names, not copies.
 * Not for a handful: a scan is as good.
 */
#ifndef BENCHCTL_BASE_NAME_INDEX_H
#define BENCHCTL_BASE_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_slot;

struct name_index {
    struct name_slot *slots;
    size_t cap, len;
};

#define NAME_INDEX_INIT                                                                                      \
    {                                                                                                        \
        0                                                                                                    \
    }

/* The number kept under `name`, after putting `value` there if the name was not known; *ret_new says which.
 * Stays valid until the next put. */
size_t *name_index_put(struct name_index *x, const char *name, size_t value, bool *ret_new);

const size_t *name_index_get(const struct name_index *x, const char *name); /* NULL: not known */
void name_index_release(struct name_index *x);

#endif
