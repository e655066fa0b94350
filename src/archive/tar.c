/* SPDX-License-Identifier: MIT */
/* A plain tar into a buffer. */
#include <errno.h>
#include <sys/stat.h>
#include "internal.h"

struct archive_tar {
    struct archive *out;
    struct archive_entry *entry;
    struct strbuf *to;
    int64_t left; /* bytes of the member that were announced and have not come */
};

void archive_tar_free(struct archive_tar *t)
{
    if (!t)
        return;
    t->to = NULL; /* libarchive frees everything only when it may finish: let it, into the void */
    (void)archive_write_free(t->out);
    archive_entry_free(t->entry);
    free(t);
}

static la_ssize_t write_out(struct archive *a, void *data, const void *bytes, size_t len)
{
    struct archive_tar *t = data;

    if (t->to) {
        strbuf_add(t->to, bytes, len);
        if (t->to->overflow) {
            archive_set_error(a, ENOBUFS, "nobody takes it");
            return -1;
        }
    }
    return (la_ssize_t)len;
}

struct archive_tar *archive_tar_new(struct strbuf *out)
{
    struct archive_tar *t = xcalloc(1, sizeof(*t));

    t->out = archive_write_new();
    t->entry = archive_entry_new();
    t->to = out;
    if (!t->out || !t->entry)
        abort();
    (void)archive_write_set_format_pax_restricted(t->out);
    (void)archive_write_set_bytes_per_block(t->out, (int)ARCHIVE_BLOCK);
    (void)archive_write_set_bytes_in_last_block(t->out, 1);
    if (archive_write_open(t->out, t, NULL, write_out, NULL) != ARCHIVE_OK)
        abort(); /* it has nothing to do but to remember the callback */
    return t;
}

static int failed(struct archive_tar *t, struct error *err)
{
    return archive_fail(t->out, ERROR_ENVIRONMENT, "cannot write", "tar", err);
}

static int short_member(const struct archive_tar *t, struct error *err)
{
    return error_set(err, ERROR_INVALID, "a member of the tar is %lld bytes short", (long long)t->left);
}

int archive_tar_begin(struct archive_tar *t, const char *name, int64_t size, struct error *err)
{
    LOCALE_UTF8;

    if (t->left)
        return short_member(t, err);
    if (archive_name_check(name, err) < 0)
        return -1;
    archive_entry_plain(t->entry, name, S_IFREG | 0644, size);
    int r = archive_write_header(t->out, t->entry);
    if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
        return failed(t, err);
    t->left = size;
    return 0;
}

int archive_tar_data(struct archive_tar *t, const void *bytes, size_t len, struct error *err)
{
    if ((int64_t)len > t->left)
        return error_set(err, ERROR_INVALID, "a member of the tar has more bytes than announced");
    if (len && archive_write_data(t->out, bytes, len) != (la_ssize_t)len)
        return failed(t, err);
    t->left -= (int64_t)len;
    return 0;
}

int archive_tar_end(struct archive_tar *t, struct error *err)
{
    if (t->left)
        return short_member(t, err);
    return archive_write_close(t->out) == ARCHIVE_OK ? 0 : failed(t, err);
}
