/* SPDX-License-Identifier: MIT */
/* A tar.zst, the same bytes for the same members. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"
#include "internal.h"

struct archive_writer {
    struct archive *out;
    struct archive_entry *entry;
    char *path, *temporary;
    int fd;
    int64_t left;   /* bytes of the member that were announced and have not come */
    bool abandoned; /* libarchive frees everything only when it may finish: let it, into the void */
};

void archive_writer_free(struct archive_writer *w)
{
    if (!w)
        return;
    if (w->out) {
        w->abandoned = true;
        (void)archive_write_free(w->out);
    }
    archive_entry_free(w->entry);
    if (w->fd >= 0) {
        (void)close(w->fd);
        (void)unlink(w->temporary);
    }
    free(w->path);
    free(w->temporary);
    free(w);
}

static la_ssize_t write_out(struct archive *a, void *data, const void *bytes, size_t len)
{
    struct archive_writer *w = data;
    struct error err = ERROR_INIT;

    if (w->abandoned)
        return (la_ssize_t)len;
    if (fs_write_all(w->fd, bytes, len, w->path, &err) < 0) {
        archive_set_error(a, err.code ? err.code : EIO, "write failed");
        return -1;
    }
    return (la_ssize_t)len;
}

static int failed(struct archive_writer *w, struct error *err)
{
    return archive_fail(w->out, ERROR_ENVIRONMENT, "cannot write", w->path, err);
}

static int begin(struct archive_writer *w, struct error *err)
{
    LOCALE_UTF8;

    w->out = archive_write_new();
    w->entry = archive_entry_new();
    if (!w->out || !w->entry)
        abort();
    (void)archive_write_set_format_pax_restricted(w->out);
    (void)archive_write_set_bytes_per_block(w->out, (int)ARCHIVE_BLOCK);
    (void)archive_write_set_bytes_in_last_block(w->out, 1);
    if (archive_write_add_filter_zstd(w->out) != ARCHIVE_OK)
        return error_set(err, ERROR_ENVIRONMENT, "this libarchive cannot write zstd");
    if (archive_write_open(w->out, w, NULL, write_out, NULL) != ARCHIVE_OK)
        return failed(w, err);
    return 0;
}

int archive_writer_open(const char *path, struct archive_writer **ret, struct error *err)
{
    CLEANUP(archive_writer_free) struct archive_writer *w = xcalloc(1, sizeof(*w));
    mode_t mask = umask(0);

    struct stat st;
    (void)umask(mask);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) /* the rename at the end would replace it */
        return error_set(err, ERROR_USAGE, "'%s' is there and is no regular file", path);
    CLEANUP_FREE char *target = realpath(path, NULL); /* a link stays, what it names is replaced */
    w->path = xstrdup(target ? target : path);
    w->temporary = xasprintf("%s.XXXXXX.tmp", w->path);
    w->fd = mkostemps(w->temporary, 4, O_CLOEXEC);
    if (w->fd < 0 || fchmod(w->fd, 0644 & ~mask) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    (void)flock(w->fd, LOCK_EX | LOCK_NB); /* so that nobody takes it for one that was left behind */
    if (begin(w, err) < 0)
        return -1;
    *ret = TAKE(w);
    return 0;
}

int archive_writer_begin(struct archive_writer *w, const char *name, int64_t size, struct error *err)
{
    LOCALE_UTF8;

    if (w->left)
        return error_set(err, ERROR_INVALID, "a member of '%s' is %lld bytes short", w->path,
                         (long long)w->left);
    if (archive_name_check(name, err) < 0)
        return -1;
    archive_entry_plain(w->entry, name, S_IFREG | 0644, size);
    int r = archive_write_header(w->out, w->entry);
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return failed(w, err);
    w->left = size;
    return 0;
}

int archive_writer_data(struct archive_writer *w, const void *bytes, size_t len, struct error *err)
{
    if ((int64_t)len > w->left)
        return error_set(err, ERROR_INVALID, "a member of '%s' has more bytes than announced", w->path);
    if (len && archive_write_data(w->out, bytes, len) != (la_ssize_t)len)
        return failed(w, err);
    w->left -= (int64_t)len;
    return 0;
}

int archive_writer_add_bytes(struct archive_writer *w, const char *name, const void *bytes, size_t len,
                             struct error *err)
{
    if (archive_writer_begin(w, name, (int64_t)len, err) < 0)
        return -1;
    return archive_writer_data(w, bytes, len, err);
}

int archive_writer_add_file(struct archive_writer *w, const char *name, const char *path, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    char chunk[ARCHIVE_BLOCK];
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_INVALID, "'%s' is not a file", path);
    if (archive_writer_begin(w, name, st.st_size, err) < 0)
        return -1;
    while (w->left > 0) {
        ssize_t n = read(fd, chunk, w->left < (int64_t)sizeof(chunk) ? (size_t)w->left : sizeof(chunk));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", path);
        if (n == 0)
            return error_set(err, ERROR_ENVIRONMENT, "'%s' became shorter while it was read", path);
        if (archive_writer_data(w, chunk, (size_t)n, err) < 0)
            return -1;
    }
    return 0;
}

/* After libarchive has written all: onto the disk and under its name. */
static int put_in_place(struct archive_writer *w, struct error *err)
{
    CLEANUP_FREE char *dir = path_dirname(w->path);
    int fd = w->fd;

    if (fsync(fd) < 0 || rename(w->temporary, w->path) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", w->path);
    w->fd = -1;
    (void)close(fd);
    return fs_sync_dir(dir, err);
}

int archive_writer_close(struct archive_writer *writer, struct error *err)
{
    CLEANUP(archive_writer_free) struct archive_writer *w = writer;

    if (w->left)
        return error_set(err, ERROR_INVALID, "a member of '%s' is %lld bytes short", w->path,
                         (long long)w->left);
    if (archive_write_close(w->out) != ARCHIVE_OK)
        return failed(w, err);
    return put_in_place(w, err);
}
