/* SPDX-License-Identifier: MIT */
/*
 * Many small things with one lifetime: allocate, never free one, free all with arena_free().
 * Memory comes zeroed and aligned for any type. Pointers stay valid until arena_free() or arena_reset().
 */
#ifndef BENCHCTL_BASE_ARENA_H
#define BENCHCTL_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>
#include "benchctl/base/mem.h"

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *a);
DEFINE_CLEANUP(struct arena *, arena_free);

/* Forgets everything allocated but keeps the first block, for loops that resolve one scenario after another.
 */
void arena_reset(struct arena *a);

void *arena_alloc(struct arena *a, size_t size);
void *arena_copy(struct arena *a, const void *bytes, size_t size);
char *arena_strdup(struct arena *a, const char *text); /* NULL gives NULL */
char *arena_strndup(struct arena *a, const char *text, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Bytes held from malloc, for limits and for the planner's benchmark. */
size_t arena_bytes(const struct arena *a);

#define arena_new_of(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (n)))

#endif
