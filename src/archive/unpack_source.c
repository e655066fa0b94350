/* SPDX-License-Identifier: MIT */
/* A packed stream inside another one, unpacked as it comes. */
#include <errno.h>
#include "internal.h"

#define UNPACKED_MAX ((int64_t)64 << 30) /* as the largest member of an archive */

struct unpacking {
    const struct archive_pipe *pipe;
    struct error error; /* set by the callback, which cannot return it */
    unsigned char block[ARCHIVE_BLOCK];
};

bool archive_is_packed(const void *bytes, size_t len)
{
    return len >= 4 && (memcmp(bytes, "\x1f\x8b", 2) == 0 || memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0);
}

static la_ssize_t give(struct archive *a, void *data, const void **ret)
{
    struct unpacking *u = data;
    ptrdiff_t n = u->pipe->source(u->block, sizeof(u->block), u->pipe->data, &u->error);

    if (n < 0) {
        archive_set_error(a, EINVAL, "reading failed");
        return -1;
    }
    *ret = u->block;
    return n;
}

static int failed(const struct unpacking *u, struct archive *a, struct error *err)
{
    if (u->error.kind != ERROR_NONE) {
        *err = u->error;
        return -1;
    }
    return archive_fail(a, ERROR_INVALID, "cannot unpack", u->pipe->name, err);
}

static int unpack(struct unpacking *u, struct archive *a, struct error *err)
{
    CLEANUP_FREE char *chunk = xmalloc(ARCHIVE_BLOCK);
    struct archive_entry *entry;
    int64_t total = 0;
    la_ssize_t n;

    if (archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(a) != ARCHIVE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "this libarchive cannot read gzip and zstd by itself");
    if (archive_read_support_format_raw(a) != ARCHIVE_OK ||
        archive_read_open(a, u, NULL, give, NULL) != ARCHIVE_OK ||
        archive_read_next_header(a, &entry) != ARCHIVE_OK)
        return failed(u, a, err);
    while ((n = archive_read_data(a, chunk, ARCHIVE_BLOCK)) > 0) {
        total += n;
        if (total > UNPACKED_MAX)
            return error_set(err, ERROR_INVALID, "'%s' unpacks to more than is allowed", u->pipe->name);
        if (u->pipe->sink(chunk, (size_t)n, u->pipe->data, err) < 0)
            return -1;
    }
    return n < 0 ? failed(u, a, err) : 0;
}

int archive_unpack_source(const struct archive_pipe *pipe, struct error *err)
{
    CLEANUP(archive_free) struct archive *a = archive_read_new();
    CLEANUP_FREE struct unpacking *u = xcalloc(1, sizeof(*u));

    if (!a)
        abort();
    u->pipe = pipe;
    return unpack(u, a, err);
}
