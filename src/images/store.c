/* SPDX-License-Identifier: MIT */
/* Blobs: files named by the SHA-256 of their bytes. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"

#define BLOBS_DIR "blobs"
#define BLOB_PREFIX "sha256-"
#define BLOB_NAME_SIZE (sizeof(BLOB_PREFIX) + SHA256_HEX_SIZE)
#define UNFINISHED ".tmp" /* at a name's end: left out of bundles */

int store_open(const char *dir, bool make, struct store *ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, BLOBS_DIR);

    if (make && fs_mkdirs(path, err) < 0)
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot open '%s'", path);
    *ret = (struct store){.dir = TAKE(path), .fd = fd};
    return 0;
}

void store_close(struct store *s)
{
    if (!s->dir)
        return;
    (void)close(s->fd);
    free(s->dir);
    *s = (struct store){.fd = -1};
}

static void blob_name(const char *sha256, char ret[BLOB_NAME_SIZE])
{
    (void)snprintf(ret, BLOB_NAME_SIZE, BLOB_PREFIX "%s", sha256);
}

/* --- writing --- */

struct blob_writer {
    struct store *store;
    struct sha256 *hash;
    char name[48]; /* until it is finished */
    int fd;
    int64_t size;
};

void blob_writer_free(struct blob_writer *w)
{
    if (!w)
        return;
    if (w->fd >= 0) {
        (void)close(w->fd);
        (void)unlinkat(w->store->fd, w->name, 0);
    }
    sha256_free(w->hash);
    free(w);
}

static int cannot_write(const struct store *s, struct error *err)
{
    return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot write '%s'", s->dir);
}

int blob_writer_open(struct store *s, struct blob_writer **ret, struct error *err)
{
    CLEANUP(blob_writer_free) struct blob_writer *w = xcalloc(1, sizeof(*w));

    w->store = s;
    w->hash = sha256_new();
    (void)snprintf(w->name, sizeof(w->name), "unfinished-%d" UNFINISHED, (int)getpid());
    w->fd = openat(s->fd, w->name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (w->fd < 0)
        return cannot_write(s, err);
    *ret = TAKE(w);
    return 0;
}

int blob_writer_add(struct blob_writer *w, const void *bytes, size_t len, struct error *err)
{
    sha256_update(w->hash, bytes, len);
    w->size += (int64_t)len;
    return fs_write_all(w->fd, bytes, len, w->store->dir, err);
}

int blob_writer_finish(struct blob_writer *writer, struct blob *ret, struct error *err)
{
    CLEANUP(blob_writer_free) struct blob_writer *w = writer;
    char name[BLOB_NAME_SIZE];
    struct blob b = {.size = w->size};

    sha256_final(w->hash, b.sha256);
    blob_name(b.sha256, name);
    /* the index that names it must not come onto the disk before it */
    if (fdatasync(w->fd) < 0 || renameat(w->store->fd, w->name, w->store->fd, name) < 0)
        return cannot_write(w->store, err);
    (void)close(w->fd);
    w->fd = -1;
    *ret = b;
    return 0;
}

int store_sync(const struct store *s, struct error *err)
{
    return fsync(s->fd) < 0 && errno != EINVAL ? cannot_write(s, err) : 0;
}

/* --- reading --- */

static int bad_blob(const struct store *s, const struct blob *b, const char *what, struct error *err)
{
    return error_set(err, ERROR_INVALID, "'%s/" BLOB_PREFIX "%s' %s", s->dir, b->sha256, what);
}

int blob_open(const struct store *s, const struct blob *b, int *ret_fd, struct error *err)
{
    char name[BLOB_NAME_SIZE];
    struct stat st;

    blob_name(b->sha256, name);
    CLEANUP_CLOSE int fd = openat(s->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, errno == ENOENT || errno == ELOOP ? ERROR_INVALID : ERROR_ENVIRONMENT, errno,
                           "cannot read '%s/%s'", s->dir, name);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return bad_blob(s, b, "is not a file", err);
    if (st.st_size != b->size)
        return bad_blob(s, b, "is not what the list of images says: its size differs", err);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

static int read_all(int fd, struct strbuf *out)
{
    char chunk[16384];
    ssize_t n;

    while ((n = read(fd, chunk, sizeof(chunk))) != 0) {
        if (n < 0 && errno != EINTR)
            return -1;
        if (n > 0)
            strbuf_add(out, chunk, (size_t)n);
    }
    return 0;
}

int blob_document(const struct store *s, const struct blob *b, struct json **ret, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = {.max = DOCUMENT_MAX + 1};
    CLEANUP_CLOSE int fd = -1;
    char hex[SHA256_HEX_SIZE];

    if (b->size > (int64_t)DOCUMENT_MAX)
        return bad_blob(s, b, "is too large for a configuration", err);
    if (blob_open(s, b, &fd, err) < 0)
        return -1;
    if (read_all(fd, &text) < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read '%s'", s->dir);
    sha256_hex(strbuf_text(&text), text.len, hex);
    if (text.overflow || strcmp(hex, b->sha256) != 0)
        return bad_blob(s, b, "is not what its name says: its SHA-256 differs", err);
    return json_parse(strbuf_text(&text), text.len, b->sha256, ret, err);
}

/* --- what is not needed any more --- */

static bool holds(const struct image *i, const char *name)
{
    char mine[BLOB_NAME_SIZE];

    blob_name(i->config.sha256, mine);
    bool found = strcmp(mine, name) == 0;
    for (size_t k = 0; !found && k < i->parents.len; k++) {
        blob_name(i->parents.items[k].sha256, mine);
        found = strcmp(mine, name) == 0;
    }
    for (size_t k = 0; !found && k < i->layers.len; k++) {
        blob_name(i->layers.items[k].sha256, mine);
        found = strcmp(mine, name) == 0;
    }
    return found;
}

static bool is_ours(const char *name)
{
    return text_ends(name, UNFINISHED) ||
           (text_starts(name, BLOB_PREFIX) && is_digest_hex(name + strlen(BLOB_PREFIX)));
}

int store_sweep(const struct store *s, const struct image_index *x, struct error *err)
{
    CLEANUP(closedir) DIR *d = opendir(s->dir);

    if (!d)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot list '%s'", s->dir);
    for (struct dirent *e; (e = readdir(d));) {
        bool needed = !is_ours(e->d_name);

        for (size_t k = 0; !needed && k < x->images.len; k++)
            needed = holds(&x->images.items[k], e->d_name);
        if (!needed)
            (void)unlinkat(s->fd, e->d_name, 0);
    }
    return 0;
}
