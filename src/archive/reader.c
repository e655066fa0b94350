/* SPDX-License-Identifier: MIT */
/*
 * A tar read with suspicion. Two libarchive readers: `raw` only unpacks, `tar` gets the bytes from us, in
 * whole blocks, so that we see what lies behind the tar's end, where libarchive does not look.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "benchctl/base/log.h"
#include "internal.h"

#define TAR_RECORD 512
#define PRINTED 200

const struct archive_limits ARCHIVE_LIMITS_DEFAULT = {
    .max_entries = 500000,
    .max_entry_bytes = (int64_t)64 << 30,
    .max_total_bytes = (int64_t)256 << 30,
    .max_ratio = 10000, /* a log that repeats one line reaches half of it, zero bytes three times as much */
    .ratio_free_bytes = (int64_t)4 << 30,
};

struct archive_reader {
    struct archive *raw, *tar; /* raw: NULL over a source */
    struct archive_limits limits;
    char *path;
    int fd; /* -1 over memory or a source */
    const void *memory;
    archive_source *source;
    void *source_data;
    int64_t packed;      /* size of the file; over a source unknown */
    int64_t unpacked;    /* bytes that came out of `raw` or the source */
    int64_t block_start; /* place of `block` in the unpacked stream */
    size_t block_len;
    bool raw_ended;
    struct error raw_error; /* set by the callback, which cannot return it */
    struct name_set *names;
    char *name, *link; /* of the current member */
    int64_t entries, total, size, got;
    bool in_member;
    int64_t data_end; /* where the last member's bytes ended in the unpacked stream */
    unsigned char block[ARCHIVE_BLOCK];
};

void archive_reader_free(struct archive_reader *r)
{
    if (!r)
        return;
    if (r->tar)
        (void)archive_read_free(r->tar);
    if (r->raw)
        (void)archive_read_free(r->raw);
    if (r->fd >= 0)
        (void)close(r->fd);
    name_set_free(r->names);
    free(r->name);
    free(r->link);
    free(r->path);
    free(r);
}

static int bad(const struct archive_reader *r, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'%s' %s", r->path, what);
}

static int over_ratio(struct archive_reader *r, struct error *err)
{
    if (r->unpacked > r->limits.max_total_bytes + (r->entries + 16) * 4096)
        return bad(r, "unpacks to more than is allowed", err);
    if (r->raw && r->unpacked > r->limits.ratio_free_bytes && r->unpacked / r->limits.max_ratio > r->packed)
        return error_set(err, ERROR_INVALID, "'%s' unpacks to more than %d times its size", r->path,
                         r->limits.max_ratio);
    return 0;
}

static int fill_from_source(struct archive_reader *r, struct error *err)
{
    while (!r->raw_ended && r->block_len < sizeof(r->block)) {
        ptrdiff_t n =
            r->source(r->block + r->block_len, sizeof(r->block) - r->block_len, r->source_data, err);

        if (n < 0)
            return -1;
        r->raw_ended = n == 0;
        r->block_len += (size_t)n;
        r->unpacked += n;
    }
    return over_ratio(r, err);
}

/* The next block of the unpacked stream; whole but for the last. */
static int fill(struct archive_reader *r, struct error *err)
{
    r->block_start += (int64_t)r->block_len;
    r->block_len = 0;
    if (r->source)
        return fill_from_source(r, err);
    while (!r->raw_ended && r->block_len < sizeof(r->block)) {
        la_ssize_t n = archive_read_data(r->raw, r->block + r->block_len, sizeof(r->block) - r->block_len);

        if (n < 0)
            return archive_fail(r->raw, ERROR_INVALID, "cannot unpack", r->path, err);
        r->raw_ended = n == 0;
        r->block_len += (size_t)n;
        r->unpacked += n;
    }
    return over_ratio(r, err);
}

static la_ssize_t give_block(struct archive *a, void *data, const void **ret)
{
    struct archive_reader *r = data;

    if (fill(r, &r->raw_error) < 0) {
        archive_set_error(a, EINVAL, "unpacking failed");
        return -1;
    }
    *ret = r->block;
    return (la_ssize_t)r->block_len;
}

/* What libarchive says about the tar, or what the unpacking below it said. */
static int tar_failed(struct archive_reader *r, struct error *err)
{
    if (r->raw_error.kind != ERROR_NONE) {
        *err = r->raw_error;
        return -1;
    }
    return archive_fail(r->tar, ERROR_INVALID, "cannot read", r->path, err);
}

static int open_raw(struct archive_reader *r, struct error *err)
{
    struct archive_entry *e;

    r->raw = archive_read_new();
    if (!r->raw)
        abort();
    (void)archive_read_support_format_raw(r->raw);
    if (archive_read_support_filter_gzip(r->raw) != ARCHIVE_OK ||
        archive_read_support_filter_zstd(r->raw) != ARCHIVE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "this libarchive cannot read gzip and zstd by itself");
    int opened = r->fd >= 0 ? archive_read_open_fd(r->raw, r->fd, ARCHIVE_BLOCK)
                            : archive_read_open_memory(r->raw, r->memory, (size_t)r->packed);
    if (opened != ARCHIVE_OK || archive_read_next_header(r->raw, &e) != ARCHIVE_OK)
        return archive_fail(r->raw, ERROR_INVALID, "cannot unpack", r->path, err);
    return 0;
}

static int open_tar(struct archive_reader *r, struct error *err)
{
    LOCALE_UTF8;

    r->tar = archive_read_new();
    if (!r->tar)
        abort();
    (void)archive_read_support_format_tar(r->tar);
    if (archive_read_open(r->tar, r, NULL, give_block, NULL) != ARCHIVE_OK)
        return tar_failed(r, err);
    return 0;
}

static ptrdiff_t read_packed(void *source, int64_t offset, void *buffer, size_t len)
{
    const struct archive_reader *r = source;

    if (offset < 0 || offset > r->packed)
        return -1;
    if (r->fd >= 0)
        return pread(r->fd, buffer, len, offset);
    if (len > (size_t)(r->packed - offset))
        len = (size_t)(r->packed - offset);
    memcpy(buffer, (const char *)r->memory + offset, len);
    return (ptrdiff_t)len;
}

/* fd or memory, path and size are there. */
static int open_both(struct archive_reader *reader, const struct archive_limits *limits,
                     struct archive_reader **ret, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = reader;

    r->limits = limits ? *limits : ARCHIVE_LIMITS_DEFAULT;
    r->names = name_set_new();
    if (r->packed == 0)
        return bad(r, "is empty", err);
    if (r->limits.one_zstd_frame && zstd_frame_check(read_packed, r, r->packed, r->path, err) < 0)
        return -1;
    if (open_raw(r, err) < 0 || open_tar(r, err) < 0)
        return -1;
    *ret = TAKE(r);
    return 0;
}

int archive_reader_open(const char *path, const struct archive_limits *limits, struct archive_reader **ret,
                        struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = xcalloc(1, sizeof(*r));
    struct stat st;

    r->path = xstrdup(path);
    r->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (r->fd < 0 || fstat(r->fd, &st) < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_INVALID, "'%s' is not a file", path);
    r->packed = st.st_size;
    return open_both(TAKE(r), limits, ret, err);
}

int archive_reader_open_memory(const void *bytes, size_t len, const char *name,
                               const struct archive_limits *limits, struct archive_reader **ret,
                               struct error *err)
{
    struct archive_reader *r = xcalloc(1, sizeof(*r));

    r->path = xstrdup(name);
    r->fd = -1;
    r->memory = bytes;
    r->packed = (int64_t)len;
    return open_both(r, limits, ret, err);
}

int archive_reader_open_source(archive_source *source, void *data, const char *name,
                               const struct archive_limits *limits, struct archive_reader **ret,
                               struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = xcalloc(1, sizeof(*r));

    r->path = xstrdup(name);
    r->fd = -1;
    r->source = source;
    r->source_data = data;
    r->limits = limits ? *limits : ARCHIVE_LIMITS_DEFAULT;
    r->names = name_set_new();
    if (open_tar(r, err) < 0)
        return -1;
    *ret = TAKE(r);
    return 0;
}

/* Nothing but zero bytes from here to the file's end. */
static int only_zeros_follow(struct archive_reader *r, int64_t from, struct error *err)
{
    size_t at = (size_t)(from - r->block_start);

    if (from < r->block_start || at > r->block_len)
        return bad(r, "has something after its end", err);
    for (;;) {
        for (; at < r->block_len; at++) {
            if (r->block[at])
                return bad(r, "has something after its end", err);
        }
        if (r->raw_ended)
            break;
        if (fill(r, err) < 0)
            return -1;
        at = 0;
    }
    if (r->raw && archive_filter_bytes(r->raw, -1) < r->packed)
        return bad(r, "has something after its end", err);
    return 0;
}

static int finish(struct archive_reader *r, struct error *err)
{
    int64_t end = archive_filter_bytes(r->tar, 0),
            body = (r->data_end + TAR_RECORD - 1) / TAR_RECORD * TAR_RECORD;

    if (r->raw_error.kind != ERROR_NONE)
        return tar_failed(r, err);
    if (end - body < (int64_t)2 * TAR_RECORD)
        return bad(r, "is cut short: it has no end mark", err);
    return only_zeros_follow(r, end, err);
}

static int refuse(const struct archive_reader *r, const char *what, struct error *err)
{
    char shown[PRINTED];

    return error_set(err, ERROR_INVALID, "member '%s' of '%s' %s",
                     archive_printable(r->name, shown, sizeof(shown)), r->path, what);
}

static int check_kind(const struct archive_reader *r, struct archive_entry *e, struct error *err)
{
    if (archive_entry_hardlink(e) || archive_entry_hardlink_w(e))
        return refuse(r, "is a hard link", err);
    if (archive_entry_filetype(e) == AE_IFLNK || archive_entry_symlink(e))
        return r->limits.symlinks && archive_entry_symlink(e) ? 0 : refuse(r, "is a symbolic link", err);
    if (archive_entry_filetype(e) != AE_IFREG && archive_entry_filetype(e) != AE_IFDIR)
        return refuse(r, "is neither a file nor a directory", err);
    if (archive_entry_sparse_count(e) > 0)
        return refuse(r, "has holes", err);
    return 0;
}

static int check_size(struct archive_reader *r, struct archive_entry *e, struct error *err)
{
    int64_t size = archive_entry_size_is_set(e) ? archive_entry_size(e) : 0;

    if (size < 0)
        return refuse(r, "has a negative size", err);
    if (archive_entry_filetype(e) == AE_IFDIR && size > 0)
        return refuse(r, "is a directory with content", err);
    if (archive_entry_filetype(e) == AE_IFLNK && size > 0)
        return refuse(r, "is a link with content", err);
    if (size > r->limits.max_entry_bytes)
        return refuse(r, "is larger than is allowed", err);
    if (size > r->limits.max_total_bytes - r->total)
        return bad(r, "unpacks to more than is allowed", err);
    if (++r->entries > r->limits.max_entries)
        return error_set(err, ERROR_INVALID, "'%s' has more than %lld members", r->path,
                         (long long)r->limits.max_entries);
    r->total += size;
    r->size = size;
    return 0;
}

static int take_member(struct archive_reader *r, struct archive_entry *e, struct archive_member *ret,
                       struct error *err)
{
    const char *name = archive_entry_pathname(e);

    if (!name)
        return bad(r, "has a member whose name cannot be read", err);
    free(r->name);
    free(r->link);
    r->name = xstrdup(name);
    r->link = archive_entry_symlink(e) ? xstrdup(archive_entry_symlink(e)) : NULL;
    if (check_kind(r, e, err) < 0 || check_size(r, e, err) < 0)
        return -1;
    bool as_written = name_normalise(r->name), is_dir = archive_entry_filetype(e) == AE_IFDIR;
    if (archive_name_check(r->name, err) < 0 || name_set_add(r->names, r->name, is_dir, err) < 0)
        return error_wrap(err, "'%s'", r->path);
    r->got = 0;
    r->in_member = true;
    *ret = (struct archive_member){.name = r->name,
                                   .as_written = as_written,
                                   .size = r->size,
                                   .is_dir = is_dir,
                                   .link = r->link,
                                   .executable = archive_entry_perm(e) & 0111};
    return 1;
}

/* Reads what the caller left of the current member. */
static int drain(struct archive_reader *r, struct error *err)
{
    char chunk[16384];
    ptrdiff_t n;

    while (r->in_member && (n = archive_reader_read(r, chunk, sizeof(chunk), err)) != 0) {
        if (n < 0)
            return -1;
    }
    return 0;
}

int archive_reader_next(struct archive_reader *r, struct archive_member *ret, struct error *err)
{
    LOCALE_UTF8;
    struct archive_entry *e;
    char shown[PRINTED];

    if (drain(r, err) < 0)
        return -1;
    int code = archive_read_next_header(r->tar, &e);
    if (code == ARCHIVE_EOF)
        return finish(r, err);
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
        return tar_failed(r, err);
    if (code == ARCHIVE_WARN) /* the entry is there; whether it is any good its checks will tell */
        note("'%s': %s", r->path, archive_reason(r->tar, shown, sizeof(shown)));
    return take_member(r, e, ret, err);
}

ptrdiff_t archive_reader_read(struct archive_reader *r, void *buffer, size_t size, struct error *err)
{
    la_ssize_t n;

    if (!r->in_member)
        return 0;
    n = archive_read_data(r->tar, buffer, size);
    if (n < 0)
        return tar_failed(r, err);
    r->got += n;
    if (r->got > r->size || (n == 0 && r->got != r->size))
        return refuse(r, "is not as long as it says", err);
    if (n == 0) {
        r->in_member = false;
        r->data_end = archive_filter_bytes(r->tar, 0);
    }
    return n;
}
