/* SPDX-License-Identifier: MIT */
/*
 * Memory: allocators that abort instead of returning NULL, the cleanup attribute, and typed growing arrays.
 *
 * A type `struct x` with a destructor `x_free(struct x *)` declares `DEFINE_CLEANUP(struct x *, x_free)`
 * beside it and locals then say `CLEANUP(x_free) struct x *p = NULL;`. Destructors accept NULL and half-built
 * objects.
 */
#ifndef BENCHCTL_BASE_MEM_H
#define BENCHCTL_BASE_MEM_H

#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>
#include <string.h>
#include <dirent.h>
#include <stdio.h>

/* Out of memory, ours or the kernel's: nothing sensible is left to do, and a core says where. */
__attribute__((noreturn)) void mem_exhausted(void);

/* Never return NULL: they abort with a message when memory is out. The caller frees with free(). */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);
char *xstrndup(const char *text, size_t length);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* CLEANUP(f) on a local pointer calls f(local) when it goes out of scope; f's DEFINE_CLEANUP must be visible.
 */
#define CLEANUP(func) __attribute__((cleanup(cleanup_##func)))
#define DEFINE_CLEANUP(type, func)                                                                           \
    static inline void cleanup_##func(type *p)                                                               \
    {                                                                                                        \
        if (*p)                                                                                              \
            (void)func(*p);                                                                                  \
    }                                                                                                        \
    struct cleanup_needs_semicolon_##func

/* For values instead of pointers: f takes the address of the local (for example strbuf_release). */
#define CLEANUP_VALUE(func) __attribute__((cleanup(func)))

#define CLEANUP_FREE __attribute__((cleanup(cleanup_free_pointer)))
#define CLEANUP_CLOSE __attribute__((cleanup(cleanup_close_fd)))

static inline void cleanup_free_pointer(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}

DEFINE_CLEANUP(FILE *, fclose);
DEFINE_CLEANUP(DIR *, closedir);

/* Hands a pointer over: returns it and leaves NULL behind, so that the cleanup does nothing. */
#define TAKE(p)                                                                                              \
    ({                                                                                                       \
        __typeof__(p) taken_ = (p);                                                                          \
        (p) = NULL;                                                                                          \
        taken_;                                                                                              \
    })

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/*
 * A growing array of T: `VEC(struct step) steps = {0};`. Read `.items` and `.len` directly.
 * vec_push copies the value in; vec_release frees the storage, not what the items point to.
 */
#define VEC(T)                                                                                               \
    struct {                                                                                                 \
        T *items;                                                                                            \
        size_t len, cap;                                                                                     \
    }
#define vec_push(v, ...)                                                                                     \
    do {                                                                                                     \
        (v)->items = vec_grow_((v)->items, (v)->len, &(v)->cap, sizeof(*(v)->items));                        \
        (v)->items[(v)->len++] = (__VA_ARGS__);                                                              \
    } while (0)
#define vec_release(v)                                                                                       \
    do {                                                                                                     \
        free((v)->items);                                                                                    \
        (v)->items = NULL;                                                                                   \
        (v)->len = (v)->cap = 0;                                                                             \
    } while (0)
#define vec_each(var, v) for (__auto_type var = (v)->items; var && var < (v)->items + (v)->len; var++)

/* Of vec_push: makes room for one more item of `size` bytes. */
void *vec_grow_(void *items, size_t len, size_t *cap, size_t size);

/*
 * Gives back what only the start needed: free heap, and clean pages of programs and libraries, which come
 * again from the page cache when they are touched. Called before measuring: benchctl shares the machine with
 * what it measures.
 */
void memory_trim(void);

#endif
