/* SPDX-License-Identifier: MIT */
/* Secrets in files that are there already: masked in place, so that whoever has one open goes on writing it.
 */
#include "benchctl/base/secrets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "benchctl/base/fs.h"

#define PIECE ((size_t)256 << 10)

struct pass {
    const char *dir;
    void (*removed)(const char *name, const char *why, void *data);
    void *data;
    struct error *first; /* of what could not be masked nor removed: the others are masked nevertheless */
};

static int mask_file(int fd)
{
    size_t overlap = secrets_longest() - 1, kept = 0;
    CLEANUP_FREE char *bytes = xmalloc(PIECE + overlap);
    off_t offset = 0;

    for (;;) {
        ssize_t n = pread(fd, bytes + kept, PIECE, offset + (off_t)kept);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return (int)n;
        size_t len = kept + (size_t)n;
        if (secrets_mask(bytes, len) && pwrite(fd, bytes, len, offset) != (ssize_t)len)
            return -1;
        kept = len < overlap ? len : overlap;
        memmove(bytes, bytes + len - kept, kept);
        offset += (off_t)(len - kept);
    }
}

static int visit(const char *relative, bool is_dir, int64_t size, void *data, struct error *err)
{
    struct pass *p = data;
    CLEANUP_FREE char *path = path_join(p->dir, relative);

    (void)err;
    if (is_dir || size < SECRET_MIN_BYTES)
        return 0;
    CLEANUP_CLOSE int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0 && mask_file(fd) == 0)
        return 0;
    int why = errno;
    if (unlink(path) < 0 && errno != ENOENT) {
        if (p->first->kind == ERROR_NONE)
            (void)error_errno(p->first, ERROR_ENVIRONMENT, why, "cannot hide secrets in '%s', nor remove it",
                              path);
    } else if (p->removed) {
        p->removed(relative, strerror(why), p->data);
    }
    return 0;
}

int secrets_mask_files(const char *dir, void (*removed)(const char *name, const char *why, void *data),
                       void *data, struct error *err)
{
    struct error first = ERROR_INIT;
    struct pass p = {.dir = dir, .removed = removed, .data = data, .first = &first};

    if (!secrets_known() || !fs_exists(dir))
        return 0;
    if (fs_walk(dir, visit, &p, err) < 0)
        return error_wrap(err, "hiding secrets");
    if (first.kind == ERROR_NONE)
        return 0;
    *err = first;
    return -1;
}
