/* SPDX-License-Identifier: MIT */
/* A directory as a tar for the engine's build call. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/log.h"
#include "ignore.h"
#include "internal.h"

#define IGNORE_FILE ".dockerignore"
#define IGNORE_MAX ((size_t)1 << 20)
#define DEPTH_MAX 200

struct pack {
    struct archive *out;
    struct archive_entry *entry;
    const struct ignore *ignore;
    const char *dir, *dockerfile;
    int depth;
};

static int cannot(const struct pack *p, const char *what, const char *path, struct error *err)
{
    int e = errno;

    return error_errno(err, ERROR_ENVIRONMENT, e, "cannot %s '%s' of the build context '%s'", what, path,
                       p->dir);
}

static int write_header(struct pack *p, const char *path, struct error *err)
{
    int r = archive_write_header(p->out, p->entry);

    /* a name that is not UTF-8 is written as it is, with a warning that tells nobody anything */
    return r == ARCHIVE_OK || r == ARCHIVE_WARN
               ? 0
               : archive_fail(p->out, ERROR_ENVIRONMENT, "cannot pack", path, err);
}

static int pack_file(struct pack *p, int fd, const char *path, const struct stat *st, struct error *err)
{
    char chunk[ARCHIVE_BLOCK];
    int64_t left = st->st_size;

    archive_entry_plain(p->entry, path, S_IFREG | (st->st_mode & 07777), st->st_size);
    if (write_header(p, path, err) < 0)
        return -1;
    while (left > 0) {
        ssize_t n = read(fd, chunk, left < (int64_t)sizeof(chunk) ? (size_t)left : sizeof(chunk));

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cannot(p, "read", path, err);
        if (n == 0)
            return error_set(err, ERROR_ENVIRONMENT,
                             "'%s' of the build context '%s' became shorter while it was read", path, p->dir);
        if (archive_write_data(p->out, chunk, (size_t)n) != n)
            return archive_fail(p->out, ERROR_ENVIRONMENT, "cannot pack", path, err);
        left -= n;
    }
    return 0;
}

static int pack_link(struct pack *p, int parent, const char *name, const char *path, struct error *err)
{
    char target[4097];
    ssize_t n = readlinkat(parent, name, target, sizeof(target) - 1);

    if (n < 0)
        return cannot(p, "read the link", path, err);
    target[n] = '\0';
    archive_entry_plain(p->entry, path, S_IFLNK | 0777, 0);
    archive_entry_set_symlink(p->entry, target);
    return write_header(p, path, err);
}

static int pack_below(struct pack *p, int dir_fd, const char *path, struct error *err);

static int pack_dir(struct pack *p, int fd, const char *path, bool left_out, struct error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return cannot(p, "look at", path, err);
    if (p->depth >= DEPTH_MAX)
        return error_set(err, ERROR_INVALID,
                         "'%s' of the build context '%s' lies more than %d directories deep", path, p->dir,
                         DEPTH_MAX);
    if (!left_out) {
        CLEANUP_FREE char *slashed = xasprintf("%s/", path);
        archive_entry_plain(p->entry, slashed, S_IFDIR | (st.st_mode & 07777), 0);
        if (write_header(p, path, err) < 0)
            return -1;
    }
    p->depth++;
    int r = pack_below(p, fd, path, err);
    p->depth--;
    return r;
}

static int pack_one(struct pack *p, int parent, const char *name, const char *path, struct error *err)
{
    bool always = strcmp(path, IGNORE_FILE) == 0 || strcmp(path, p->dockerfile) == 0;
    bool left_out = !always && ignore_matches(p->ignore, path);
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return cannot(p, "look at", path, err);
    if (S_ISDIR(st.st_mode)) {
        /* the Dockerfile may lie below a directory that is left out */
        CLEANUP_FREE char *slashed = xasprintf("%s/", path);
        if (left_out && !ignore_has_exceptions(p->ignore) && !text_starts(p->dockerfile, slashed))
            return 0;
        CLEANUP_CLOSE int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? cannot(p, "open", path, err) : pack_dir(p, fd, path, left_out, err);
    }
    if (left_out)
        return 0;
    if (S_ISLNK(st.st_mode))
        return pack_link(p, parent, name, path, err);
    if (!S_ISREG(st.st_mode)) {
        note("'%s' of the build context '%s' is left out: neither file, directory nor link", path, p->dir);
        return 0;
    }
    CLEANUP_CLOSE int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return cannot(p, "read", path, err);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return error_set(err, ERROR_ENVIRONMENT, "'%s' of the build context '%s' changed while it was read",
                         path, p->dir);
    return pack_file(p, fd, path, &st, err);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
    VEC(char *) list;
};

static void names_release(struct names *n)
{
    vec_each (name, &n->list)
        free(*name);
    vec_release(&n->list);
}

static int read_names(const struct pack *p, int dir_fd, const char *path, struct names *ret,
                      struct error *err)
{
    int copy = dup(dir_fd);
    CLEANUP(closedir) DIR *d = copy < 0 ? NULL : fdopendir(copy);

    if (!d) {
        int r = cannot(p, "list", path, err);
        if (copy >= 0)
            (void)close(copy);
        return r;
    }
    errno = 0;
    for (struct dirent *e; (e = readdir(d)); errno = 0) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            vec_push(&ret->list, xstrdup(e->d_name));
    }
    if (errno)
        return cannot(p, "list", path, err);
    if (ret->list.len)
        qsort(ret->list.items, ret->list.len, sizeof(char *), compare_texts);
    return 0;
}

static int pack_below(struct pack *p, int dir_fd, const char *path, struct error *err)
{
    CLEANUP_VALUE(names_release) struct names names = {0};

    if (read_names(p, dir_fd, *path ? path : ".", &names, err) < 0)
        return -1;
    vec_each (name, &names.list) {
        CLEANUP_FREE char *below = path_join(path, *name);
        if (pack_one(p, dir_fd, *name, below, err) < 0)
            return -1;
    }
    return 0;
}

static int read_ignore(const char *dir, struct ignore **ret, struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, IGNORE_FILE);
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;

    if (fs_exists(path) && fs_read(path, IGNORE_MAX, &text, err) < 0)
        return -1;
    *ret = ignore_parse(strbuf_text(&text), text.len);
    return 0;
}

static int temporary_file(int *ret_fd, struct error *err)
{
    const char *dir = getenv("TMPDIR");
    CLEANUP_FREE char *path = path_join(dir && *dir ? dir : "/tmp", "benchctl-XXXXXX");
    int fd = mkostemp(path, O_CLOEXEC);

    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot create a temporary file '%s'", path);
    (void)unlink(path);
    *ret_fd = fd;
    return 0;
}

/* The tar's frame: begins it, packs everything, finishes it. */
static int pack_all(struct pack *p, int dir_fd, int out_fd, struct error *err)
{
    LOCALE_UTF8;
    CLEANUP(archive_free) struct archive *out = archive_write_new();
    CLEANUP(archive_entry_free) struct archive_entry *entry = archive_entry_new();

    if (!out || !entry)
        abort();
    p->out = out;
    p->entry = entry;
    (void)archive_write_set_format_pax_restricted(out);
    (void)archive_write_set_bytes_per_block(out, (int)ARCHIVE_BLOCK);
    (void)archive_write_set_bytes_in_last_block(out, 1);
    if (archive_write_open_fd(out, out_fd) != ARCHIVE_OK)
        return archive_fail(out, ERROR_ENVIRONMENT, "cannot pack", p->dir, err);
    if (pack_below(p, dir_fd, "", err) < 0)
        return -1;
    return archive_write_close(out) == ARCHIVE_OK
               ? 0
               : archive_fail(out, ERROR_ENVIRONMENT, "cannot pack", p->dir, err);
}

int archive_pack_build(const char *dir, const char *dockerfile, int *ret_fd, int64_t *ret_bytes,
                       struct error *err)
{
    CLEANUP_CLOSE int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CLEANUP_CLOSE int out_fd = -1;
    CLEANUP(ignore_free) struct ignore *ignore = NULL;
    struct pack p = {.dir = dir, .dockerfile = dockerfile ? dockerfile : "Dockerfile"};
    struct stat st;

    if (dir_fd < 0)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot open the build context '%s'", dir);
    while (text_starts(p.dockerfile, "./"))
        p.dockerfile += 2;
    if (read_ignore(dir, &ignore, err) < 0 || temporary_file(&out_fd, err) < 0)
        return -1;
    p.ignore = ignore;
    if (pack_all(&p, dir_fd, out_fd, err) < 0)
        return -1;
    if (fstat(out_fd, &st) < 0 || lseek(out_fd, 0, SEEK_SET) < 0)
        return cannot(&p, "rewind the tar of", ".", err);
    *ret_bytes = st.st_size;
    *ret_fd = out_fd;
    out_fd = -1;
    return 0;
}

int archive_pack_context(const char *dir, int *ret_fd, int64_t *ret_bytes, struct error *err)
{
    return archive_pack_build(dir, NULL, ret_fd, ret_bytes, err);
}
