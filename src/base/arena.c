/* SPDX-License-Identifier: MIT */
#include "benchctl/base/arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>

#define BLOCK_MIN ((size_t)4096)
#define BLOCK_MAX ((size_t)1 << 20)

struct block {
    struct block *next;
    size_t size, used;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct block *head; /* the one being filled */
    size_t total, next_size;
};

struct arena *arena_new(void)
{
    struct arena *a = xcalloc(1, sizeof(*a));

    a->next_size = BLOCK_MIN;
    return a;
}

static void free_blocks(struct block *b)
{
    while (b) {
        struct block *next = b->next;
        free(b);
        b = next;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    free_blocks(a->head);
    free(a);
}

void arena_reset(struct arena *a)
{
    if (!a->head)
        return;
    /* The newest block is the largest: keep that one. */
    struct block *kept = a->head;
    free_blocks(kept->next);
    kept->next = NULL;
    kept->used = 0;
    a->total = kept->size;
}

void *arena_alloc(struct arena *a, size_t size)
{
    size_t align = alignof(max_align_t);

    if (size > SIZE_MAX / 4)
        abort();
    size = (size + align - 1) / align * align;
    if (!size)
        size = align;
    if (!a->head || a->head->size - a->head->used < size) {
        size_t block = size > a->next_size ? size : a->next_size;
        struct block *b = xmalloc(sizeof(*b) + block);
        *b = (struct block){.next = a->head, .size = block};
        a->head = b;
        a->total += block;
        if (a->next_size < BLOCK_MAX)
            a->next_size *= 2;
    }
    void *p = a->head->bytes + a->head->used;
    a->head->used += size;
    memset(p, 0, size);
    return p;
}

void *arena_copy(struct arena *a, const void *bytes, size_t size)
{
    void *p = arena_alloc(a, size);

    if (size)
        memcpy(p, bytes, size);
    return p;
}

char *arena_strdup(struct arena *a, const char *text)
{
    return text ? arena_copy(a, text, strlen(text) + 1) : NULL;
}

char *arena_strndup(struct arena *a, const char *text, size_t len)
{
    char *p = arena_alloc(a, len + 1);

    memcpy(p, text, len);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    char *p = arena_alloc(a, n < 0 ? 1 : (size_t)n + 1);
    if (n >= 0)
        (void)vsnprintf(p, (size_t)n + 1, fmt, args);
    va_end(args);
    return p;
}

size_t arena_bytes(const struct arena *a)
{
    return a->total;
}
