/* SPDX-License-Identifier: MIT */
/* Members of a tar as files below one directory, and nowhere else. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"
#include "internal.h"

struct archive_target {
    char *dir;
    char *made; /* the topmost directory that did not exist before, or NULL */
    int fd;
    bool keep;
};

/* What has been put into a directory that was there before. */
static void empty_dir(const char *dir)
{
    CLEANUP(closedir) DIR *d = opendir(dir);
    struct error ignored = ERROR_INIT;

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *path = path_join(dir, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            (void)(fs_remove_tree(path, &ignored) < 0);
    }
}

void archive_target_free(struct archive_target *t)
{
    struct error ignored = ERROR_INIT;

    if (!t)
        return;
    if (t->fd >= 0)
        (void)close(t->fd);
    if (!t->keep && t->made)
        (void)(fs_remove_tree(t->made, &ignored) < 0);
    else if (!t->keep && t->fd >= 0)
        empty_dir(t->dir);
    free(t->made);
    free(t->dir);
    free(t);
}

static int check_empty(const char *dir, struct error *err)
{
    CLEANUP(closedir) DIR *d = opendir(dir);

    if (!d)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open '%s'", dir);
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) {
            (void)error_set(err, ERROR_USAGE, "'%s' is not empty", dir);
            return error_hint(err, "name a directory that does not exist yet");
        }
    }
    return 0;
}

/* The first of the directories that lead to `dir` that is not there. */
static char *topmost_missing(const char *dir)
{
    CLEANUP_FREE char *at = xstrdup(dir);

    for (;;) {
        char *up = path_dirname(at);
        if (fs_exists(up) || strcmp(up, at) == 0) {
            free(up);
            return TAKE(at);
        }
        free(at);
        at = up;
    }
}

int archive_target_open(const char *dir, struct archive_target **ret, struct error *err)
{
    CLEANUP(archive_target_free) struct archive_target *t = xcalloc(1, sizeof(*t));
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    t->dir = xstrndup(dir, len);
    t->fd = -1;
    if (!len)
        return error_set(err, ERROR_USAGE, "the directory to extract to has no name");
    if (fs_exists(t->dir)) {
        if (check_empty(t->dir, err) < 0)
            return -1;
    } else {
        t->made = topmost_missing(t->dir);
        if (fs_mkdirs(t->dir, err) < 0)
            return -1;
    }
    t->fd = open(t->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (t->fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open '%s'", t->dir);
    *ret = TAKE(t);
    return 0;
}

void archive_target_keep(struct archive_target *t)
{
    t->keep = true;
}

static int cannot_create(const struct archive_target *t, const char *name, struct error *err)
{
    int e = errno;
    char shown[200];

    return error_errno(err, e == EEXIST || e == ELOOP || e == ENOTDIR ? ERROR_INVALID : ERROR_ENVIRONMENT, e,
                       "cannot create '%s' in '%s'", archive_printable(name, shown, sizeof(shown)), t->dir);
}

/* Opens the directory `len` bytes of `name` below the target, made where it is missing, one part at a time.
 */
static int open_parent(struct archive_target *t, const char *name, size_t len, int *ret_fd, struct error *err)
{
    CLEANUP_CLOSE int at = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);

    for (size_t from = 0; at >= 0 && from < len;) {
        size_t n = strcspn(name + from, "/");
        CLEANUP_FREE char *part = xstrndup(name + from, n);

        if (mkdirat(at, part, 0755) < 0 && errno != EEXIST)
            return cannot_create(t, name, err);
        int next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        (void)close(at);
        at = next;
        from += n + 1;
    }
    if (at < 0)
        return cannot_create(t, name, err);
    *ret_fd = at;
    at = -1;
    return 0;
}

static int write_member(struct archive_reader *r, int fd, const char *path, archive_see *see, void *data,
                        struct error *err)
{
    char chunk[ARCHIVE_BLOCK];
    ptrdiff_t n;

    while ((n = archive_reader_read(r, chunk, sizeof(chunk), err)) > 0) {
        if (see)
            see(chunk, (size_t)n, data);
        if (fs_write_all(fd, chunk, (size_t)n, path, err) < 0)
            return -1;
    }
    return n < 0 ? -1 : 0;
}

int archive_target_add(struct archive_target *t, struct archive_reader *r, const struct archive_member *m,
                       archive_see *see, void *data, struct error *err)
{
    const char *slash = strrchr(m->name, '/');
    CLEANUP_CLOSE int parent = -1;
    char shown[200];

    if (archive_name_check(m->name, err) < 0)
        return -1;
    if (m->link)
        return error_set(err, ERROR_INVALID, "'%s' is a link",
                         archive_printable(m->name, shown, sizeof(shown)));
    if (open_parent(t, m->name,
                    m->is_dir ? strlen(m->name)
                    : slash   ? (size_t)(slash - m->name)
                              : 0,
                    &parent, err) < 0)
        return -1;
    if (m->is_dir)
        return 0;
    CLEANUP_CLOSE int fd = openat(parent, slash ? slash + 1 : m->name,
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return cannot_create(t, m->name, err);
    if (write_member(r, fd, archive_printable(m->name, shown, sizeof(shown)), see, data, err) < 0)
        return -1;
    int closing = fd;
    fd = -1;
    return close(closing) < 0 ? cannot_create(t, m->name, err) : 0;
}

int archive_extract(const char *path, const char *dir, const struct archive_limits *limits, struct error *err)
{
    CLEANUP(archive_reader_free) struct archive_reader *r = NULL;
    CLEANUP(archive_target_free) struct archive_target *t = NULL;
    struct archive_member m;
    int more;

    if (archive_reader_open(path, limits, &r, err) < 0 || archive_target_open(dir, &t, err) < 0)
        return -1;
    while ((more = archive_reader_next(r, &m, err)) > 0) {
        if (archive_target_add(t, r, &m, NULL, NULL, err) < 0)
            return -1;
    }
    if (more == 0)
        archive_target_keep(t);
    return more;
}
