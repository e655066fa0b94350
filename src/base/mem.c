/* SPDX-License-Identifier: MIT */
#include "benchctl/base/mem.h"

#include <stdarg.h>
#include <stdint.h>

void mem_exhausted(void)
{
    static const char text[] = "benchctl: out of memory\n";

    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
    abort();
}

static void *or_abort(void *p)
{
    if (!p)
        mem_exhausted();
    return p;
}

void *xmalloc(size_t size)
{
    return or_abort(malloc(size ? size : 1));
}

void *xcalloc(size_t count, size_t size)
{
    return or_abort(calloc(count ? count : 1, size ? size : 1));
}

void *xrealloc(void *old, size_t size)
{
    return or_abort(realloc(old, size ? size : 1));
}

char *xstrdup(const char *text)
{
    return or_abort(strdup(text));
}

char *xstrndup(const char *text, size_t length)
{
    return or_abort(strndup(text, length));
}

char *xasprintf(const char *fmt, ...)
{
    char *text = NULL;
    va_list args;

    va_start(args, fmt);
    if (vasprintf(&text, fmt, args) < 0)
        text = NULL;
    va_end(args);
    return or_abort(text);
}

void *vec_grow_(void *items, size_t len, size_t *cap, size_t size)
{
    if (len < *cap)
        return items;
    size_t wanted = *cap ? *cap * 2 : 8;
    if (wanted > SIZE_MAX / size)
        or_abort(NULL);
    *cap = wanted;
    return xrealloc(items, wanted * size);
}
