/* SPDX-License-Identifier: MIT */
/*
 * Secrets of the load in what the generator was given as files and in what it wrote: `*` in their place, as
 * many as they have bytes, so that a binary file stays what it is.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "benchctl/base/interpolate.h"
#include "generation.h"

#define PIECE ((size_t)256 << 10)
#define SECRET "secret:"
#define LEAST_BYTES 6 /* shorter ones could be any word or number of a report */

struct hiding {
    struct arena *arena;
    VEC(const char *) values;
    size_t longest;
};

static int add_secret(const char *name, void *data, struct error *err)
{
    struct hiding *h = data;
    const char *value = text_starts(name, SECRET) ? getenv(name + strlen(SECRET)) : NULL;
    size_t len = value ? strlen(value) : 0;

    (void)err;
    if (len < LEAST_BYTES || len >= PIECE || strspn(value, "0123456789.") == len)
        return 0;
    vec_push(&h->values, arena_strdup(h->arena, value));
    h->longest = len > h->longest ? len : h->longest;
    return 0;
}

static int add_secrets(struct hiding *h, const struct node *n, struct error *err)
{
    if (!n || !n->refers)
        return 0;
    if (n->kind == NODE_SCALAR)
        return each_reference(n->text, add_secret, h, err);
    for (size_t i = 0; i < n->len; i++)
        if (add_secrets(h, n->items[i], err) < 0)
            return -1;
    return 0;
}

/* Where one of them stands in `bytes`, which begin at `offset` of the file, it goes, here and there. */
static int hide_in(const struct hiding *h, int fd, char *bytes, size_t len, off_t offset)
{
    for (size_t i = 0; i < h->values.len; i++) {
        size_t n = strlen(h->values.items[i]);
        for (char *p = bytes; (p = memmem(p, len - (size_t)(p - bytes), h->values.items[i], n)); p += n) {
            memset(p, '*', n);
            if (pwrite(fd, p, n, offset + (p - bytes)) != (ssize_t)n)
                return -1;
        }
    }
    return 0;
}

static int hide_in_file(const struct hiding *h, int dir, const char *name)
{
    CLEANUP_CLOSE int fd = openat(dir, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    CLEANUP_FREE char *bytes = xmalloc(PIECE + h->longest);
    size_t kept = 0; /* of the piece before: one may begin there */
    off_t offset = 0;

    if (fd < 0)
        return -1;
    for (;;) {
        ssize_t n = pread(fd, bytes + kept, PIECE, offset + (off_t)kept);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        size_t len = kept + (size_t)n;
        if (hide_in(h, fd, bytes, len, offset) < 0)
            return -1;
        kept = len < h->longest - 1 ? len : h->longest - 1;
        memmove(bytes, bytes + len - kept, kept);
        offset += (off_t)(len - kept);
    }
}

static void hide_in_directory(const struct hiding *h, struct generation *g)
{
    CLEANUP(closedir) DIR *d = opendir(g->dir);
    struct stat st;

    for (struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
            hide_in_file(h, dirfd(d), e->d_name) == 0)
            continue;
        trial_note(g->trial, "%s: removed, for it may hold a secret: %s", e->d_name, strerror(errno));
        (void)unlinkat(dirfd(d), e->d_name, 0);
    }
}

void generation_hide_secrets(struct generation *g)
{
    struct hiding h = {.arena = g->trial->arena};
    struct error ignored = ERROR_INIT;

    (void)!add_secrets(&h, node_get(g->trial->resolved.tree, "load"), &ignored);
    if (h.values.len)
        hide_in_directory(&h, g);
    vec_release(&h.values);
}
