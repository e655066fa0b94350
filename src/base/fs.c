/* SPDX-License-Identifier: MIT */
#include "benchctl/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include "benchctl/base/mem.h"

static int path_error(struct error *err, const char *what, const char *path)
{
    int e = errno;

    return error_errno(err, e == ENOENT || e == ENOTDIR ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, e,
                       "cannot %s '%s'", what, path);
}

/* A pipe would keep us waiting for a writer, and a device need not end: neither is read. */
int fs_open_regular(const char *path, bool follow, int *ret_fd, struct error *err)
{
    CLEANUP_CLOSE int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0)
        return path_error(err, "read", path);
    if (S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return path_error(err, "read", path);
    }
    if (!S_ISREG(st.st_mode))
        return error_set(err, ERROR_ENVIRONMENT, "cannot read '%s': it is not a regular file", path);
    *ret_fd = fd;
    fd = -1;
    return 0;
}

int fs_read(const char *path, size_t max, struct strbuf *out, struct error *err)
{
    CLEANUP_CLOSE int fd = -1;
    size_t total = 0;
    char chunk[65536];

    if (fs_open_regular(path, true, &fd, err) < 0)
        return -1;
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return path_error(err, "read", path);
        if (n == 0)
            return 0;
        total += (size_t)n;
        if (total > max)
            return error_set(err, ERROR_INVALID, "'%s' is larger than %zu bytes", path, max);
        strbuf_add(out, chunk, (size_t)n);
    }
}

int fs_write_all(int fd, const void *bytes, size_t len, const char *name, struct error *err)
{
    const char *p = bytes;

    while (len) {
        ssize_t n = write(fd, p, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return path_error(err, "write", name);
        p += n;
        len -= (size_t)n;
    }
    return 0;
}

static int write_new(const char *path, const void *bytes, size_t len, bool sync, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return path_error(err, "create", path);
    if (fs_write_all(fd, bytes, len, path, err) < 0)
        return -1;
    if (sync && fsync(fd) < 0)
        return path_error(err, "sync", path);
    int closing = fd;
    fd = -1;
    if (close(closing) < 0)
        return path_error(err, "close", path);
    return 0;
}

int fs_write(const char *path, const void *bytes, size_t len, struct error *err)
{
    return write_new(path, bytes, len, false, err);
}

int fs_sync_dir(const char *path, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return path_error(err, "sync", path);
    return 0;
}

/* A device, pipe or socket takes the bytes; renaming over it would replace it. */
static int write_special(const char *path, const void *bytes, size_t len, struct error *err)
{
    CLEANUP_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

    if (fd < 0)
        return path_error(err, "open", path);
    return fs_write_all(fd, bytes, len, path, err);
}

int fs_write_atomic(const char *path, const void *bytes, size_t len, struct error *err)
{
    CLEANUP_FREE char *temporary = xasprintf("%s.tmp", path);
    CLEANUP_FREE char *dir = path_dirname(path);
    struct stat st;

    if (lstat(temporary, &st) == 0 && !S_ISREG(st.st_mode))
        (void)unlink(temporary); /* nobody's file of ours: neither written through nor waited for */
    if (write_new(temporary, bytes, len, true, err) < 0) {
        (void)unlink(temporary);
        return -1;
    }
    if (rename(temporary, path) < 0) {
        (void)path_error(err, "replace", path);
        (void)unlink(temporary);
        return -1;
    }
    return fs_sync_dir(dir, err);
}

int fs_write_output(const char *path, const void *bytes, size_t len, struct error *err)
{
    struct stat st;

    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) { /* the link stays, what it names is replaced */
        CLEANUP_FREE char *target = realpath(path, NULL);
        if (target)
            return fs_write_output(target, bytes, len, err);
    } else if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        return write_special(path, bytes, len, err);
    }
    return fs_write_atomic(path, bytes, len, err);
}

int fs_mkdirs(const char *path, struct error *err)
{
    CLEANUP_FREE char *copy = xstrdup(path);

    for (char *p = copy + 1; copy[0]; p++) {
        if (*p != '/' && *p)
            continue;
        char end = *p;
        *p = '\0';
        if (mkdir(copy, 0755) < 0 && errno != EEXIST)
            return path_error(err, "make directory", copy);
        *p = end;
        if (!end)
            break;
    }
    if (!fs_is_dir(path)) {
        errno = ENOTDIR;
        return path_error(err, "make directory", path);
    }
    return 0;
}

static int remove_at(int parent, const char *name, const char *shown, struct error *err)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return path_error(err, "remove", shown);
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return path_error(err, "remove", shown);
    CLEANUP(closedir) DIR *d = fdopendir(fd);
    if (!d) {
        (void)close(fd);
        return path_error(err, "remove", shown);
    }
    for (struct dirent *e; (e = readdir(d));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        CLEANUP_FREE char *below = path_join(shown, e->d_name);
        if (remove_at(dirfd(d), e->d_name, below, err) < 0)
            return -1;
    }
    if (unlinkat(parent, name, AT_REMOVEDIR) < 0)
        return path_error(err, "remove", shown);
    return 0;
}

int fs_remove_tree(const char *path, struct error *err)
{
    return remove_at(AT_FDCWD, path, path, err);
}

int fs_copy(const char *from, const char *to, struct error *err)
{
    CLEANUP_CLOSE int in = -1;
    char chunk[65536];

    if (fs_open_regular(from, true, &in, err) < 0)
        return -1;
    CLEANUP_CLOSE int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (out < 0)
        return path_error(err, "create", to);
    for (;;) {
        ssize_t n = read(in, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return path_error(err, "read", from);
        if (n == 0)
            return 0;
        if (fs_write_all(out, chunk, (size_t)n, to, err) < 0)
            return -1;
    }
}

bool fs_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool fs_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int fs_free_bytes(const char *path, int64_t *ret_bytes, struct error *err)
{
    CLEANUP_FREE char *at = xstrdup(path);
    struct statvfs vfs;

    while (statvfs(at, &vfs) < 0) {
        if (errno != ENOENT || strcmp(at, "/") == 0 || strcmp(at, ".") == 0)
            return path_error(err, "look at the file system of", path);
        char *up = path_dirname(at);
        free(at);
        at = up;
    }
    *ret_bytes = (int64_t)vfs.f_bavail * (int64_t)vfs.f_frsize;
    return 0;
}

char *fs_find_program(const char *name)
{
    if (strchr(name, '/'))
        return access(name, X_OK) == 0 && !fs_is_dir(name) ? xstrdup(name) : NULL;
    const char *path = getenv("PATH");
    if (!path)
        path = "/usr/local/bin:/usr/bin:/bin";
    while (*path) {
        size_t n = strcspn(path, ":");
        CLEANUP_FREE char *dir = n ? xstrndup(path, n) : xstrdup(".");
        CLEANUP_FREE char *candidate = path_join(dir, name);
        if (access(candidate, X_OK) == 0 && !fs_is_dir(candidate))
            return TAKE(candidate);
        path += n + (path[n] == ':');
    }
    return NULL;
}
