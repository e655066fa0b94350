/* SPDX-License-Identifier: MIT */
/* One compressed file. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "internal.h"

struct archive_file {
    struct archive *out;
    char *path;
    int fd;
};

static void file_free(struct archive_file *f)
{
    if (f->out)
        (void)archive_write_free(f->out);
    if (f->fd >= 0)
        (void)close(f->fd);
    free(f->path);
    free(f);
}
DEFINE_CLEANUP(struct archive_file *, file_free);

static int begin(struct archive_file *f, struct error *err)
{
    CLEANUP(archive_entry_free) struct archive_entry *e = archive_entry_new();

    f->out = archive_write_new();
    if (!f->out || !e)
        abort();
    archive_entry_plain(e, "data", S_IFREG | 0644, 0);
    archive_entry_unset_size(e);
    (void)archive_write_set_bytes_in_last_block(f->out, 1);
    if (archive_write_set_format_raw(f->out) != ARCHIVE_OK ||
        archive_write_add_filter_zstd(f->out) != ARCHIVE_OK ||
        archive_write_open_fd(f->out, f->fd) != ARCHIVE_OK || archive_write_header(f->out, e) != ARCHIVE_OK)
        return archive_fail(f->out, ERROR_ENVIRONMENT, "cannot write", f->path, err);
    return 0;
}

int archive_file_create(const char *path, struct archive_file **ret, struct error *err)
{
    CLEANUP(file_free) struct archive_file *f = xcalloc(1, sizeof(*f));

    f->path = xstrdup(path);
    f->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (f->fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create '%s'", path);
    if (begin(f, err) < 0)
        return -1;
    *ret = TAKE(f);
    return 0;
}

int archive_file_write(struct archive_file *f, const void *bytes, size_t len, struct error *err)
{
    if (len && archive_write_data(f->out, bytes, len) != (la_ssize_t)len)
        return archive_fail(f->out, ERROR_ENVIRONMENT, "cannot write", f->path, err);
    return 0;
}

int archive_file_close(struct archive_file *file, struct error *err)
{
    CLEANUP(file_free) struct archive_file *f = file;

    if (!f)
        return 0;
    if (archive_write_close(f->out) != ARCHIVE_OK)
        return archive_fail(f->out, ERROR_ENVIRONMENT, "cannot write", f->path, err);
    int fd = f->fd;
    f->fd = -1;
    if (close(fd) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot close '%s'", f->path);
    return 0;
}

int archive_file_read(const char *path, size_t max, struct strbuf *out, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(archive_free) struct archive *in = archive_read_new();
    struct archive_entry *e;
    char chunk[ARCHIVE_BLOCK];
    size_t total = 0;
    la_ssize_t n;

    if (!in)
        abort();
    if (fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s'", path);
    (void)archive_read_support_format_raw(in);
    (void)archive_read_support_format_empty(in);
    if (archive_read_support_filter_zstd(in) != ARCHIVE_OK ||
        archive_read_open_fd(in, fd, ARCHIVE_BLOCK) != ARCHIVE_OK)
        return archive_fail(in, ERROR_INVALID, "cannot unpack", path, err);
    int first = archive_read_next_header(in, &e);
    if ((first != ARCHIVE_OK && first != ARCHIVE_EOF) || archive_filter_code(in, 0) != ARCHIVE_FILTER_ZSTD)
        return archive_fail(in, ERROR_INVALID, "cannot unpack", path, err);
    if (first == ARCHIVE_EOF)
        return 0;
    while ((n = archive_read_data(in, chunk, sizeof(chunk))) > 0) {
        total += (size_t)n;
        if (total > max)
            return error_set(err, ERROR_INVALID, "'%s' unpacks to more than %zu bytes", path, max);
        strbuf_add(out, chunk, (size_t)n);
    }
    return n < 0 ? archive_fail(in, ERROR_INVALID, "cannot unpack", path, err) : 0;
}
