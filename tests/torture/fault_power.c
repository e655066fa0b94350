/* SPDX-License-Identifier: MIT */
/* What a power cut takes: bytes written since their file was synced, and names made or changed since their
 * directory was. */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILES_MAX 256
#define NAMES_MAX 2048

struct dirty_file {
    int fd; /* a duplicate of our own; -1: free */
    dev_t dev;
    ino_t ino;
    off_t synced; /* so many bytes are on the disk */
};
struct new_name {
    char *path, *from; /* from: of a rename, else NULL */
    char *kept;        /* a link to what was replaced, or NULL */
};

static char *keep_dir;
static struct dirty_file files[FILES_MAX];
static struct new_name names[NAMES_MAX];
static size_t name_count, kept_count;
static char *pending; /* a link to what the rename that comes will replace */

bool power_watching(void)
{
    return keep_dir != NULL;
}

void power_init(const char *keep)
{
    keep_dir = strdup(keep);
    for (size_t i = 0; i < FILES_MAX; i++)
        files[i].fd = -1;
}

static char *absolute(const char *path)
{
    char *text = NULL, here[PATH_MAX] = "";

    if (path[0] == '/')
        return strdup(path);
    (void)!getcwd(here, sizeof(here));
    if (asprintf(&text, "%s/%s", here, path) < 0)
        abort();
    return text;
}

static struct dirty_file *find_file(const struct stat *st)
{
    for (size_t i = 0; i < FILES_MAX; i++)
        if (files[i].fd >= 0 && files[i].dev == st->st_dev && files[i].ino == st->st_ino)
            return &files[i];
    return NULL;
}

void power_written(int fd)
{
    struct stat st;

    if (!keep_dir || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || find_file(&st))
        return;
    for (size_t i = 0; i < FILES_MAX; i++)
        if (files[i].fd < 0) {
            files[i] = (struct dirty_file){(int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 500), st.st_dev,
                                           st.st_ino, st.st_size};
            return;
        }
    abort();
}

static bool lies_in(const char *path, const char *dir)
{
    const char *slash = strrchr(path, '/');

    return slash && strlen(dir) == (size_t)(slash - path) && strncmp(path, dir, strlen(dir)) == 0;
}

static void forget(size_t i)
{
    free(names[i].path);
    free(names[i].from);
    if (names[i].kept)
        (void)syscall(SYS_unlinkat, AT_FDCWD, names[i].kept, 0);
    free(names[i].kept);
    memmove(&names[i], &names[i + 1], (name_count - i - 1) * sizeof(names[0]));
    name_count--;
}

void power_synced(int fd)
{
    char link[64], path[PATH_MAX];
    struct stat st;

    if (!keep_dir || fstat(fd, &st) < 0)
        return;
    struct dirty_file *f = find_file(&st);
    if (f) {
        (void)syscall(SYS_close, f->fd);
        f->fd = -1;
    }
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (!S_ISDIR(st.st_mode) || n <= 0)
        return;
    path[n] = '\0';
    for (size_t i = name_count; i-- > 0;)
        if (lies_in(names[i].path, path))
            forget(i);
}

static void add_name(const char *path, const char *from, char *kept)
{
    if (name_count == NAMES_MAX)
        abort();
    names[name_count++] = (struct new_name){absolute(path), from ? absolute(from) : NULL, kept};
}

void power_made(const char *path)
{
    if (keep_dir)
        add_name(path, NULL, NULL);
}

void power_renaming(const char *to)
{
    free(pending);
    pending = NULL;
    if (!keep_dir || asprintf(&pending, "%s/%zu", keep_dir, ++kept_count) < 0)
        return;
    if (syscall(SYS_linkat, AT_FDCWD, to, AT_FDCWD, pending, 0) < 0) {
        free(pending);
        pending = NULL;
    }
}

void power_renamed(const char *from, const char *to)
{
    if (keep_dir)
        add_name(to, from, pending);
    pending = NULL;
}

/* --- the cut --- */

static void remove_all(const char *path)
{
    if (syscall(SYS_unlinkat, AT_FDCWD, path, 0) == 0 || errno == ENOENT)
        return;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        char below[PATH_MAX];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (snprintf(below, sizeof(below), "%s/%s", path, e->d_name) < (int)sizeof(below))
            remove_all(below);
    }
    if (d)
        (void)closedir(d);
    (void)syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR);
}

static void lose_bytes(const struct dirty_file *f, bool zeroed)
{
    static const char zeros[4096];
    struct stat st;

    if (fstat(f->fd, &st) < 0)
        return;
    if (!zeroed) {
        (void)!syscall(SYS_ftruncate, f->fd, f->synced < st.st_size ? f->synced : st.st_size);
        return;
    }
    char link[64];
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", f->fd);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, link, O_WRONLY | O_CLOEXEC); /* ours may be for appending */
    for (off_t at = f->synced; fd >= 0 && at < st.st_size; at += (off_t)sizeof(zeros)) {
        size_t n = st.st_size - at < (off_t)sizeof(zeros) ? (size_t)(st.st_size - at) : sizeof(zeros);
        (void)!syscall(SYS_pwrite64, fd, zeros, n, at);
    }
}

void power_cut(bool zeroed)
{
    for (size_t i = 0; keep_dir && i < FILES_MAX; i++)
        if (files[i].fd >= 0)
            lose_bytes(&files[i], zeroed);
    while (keep_dir && !zeroed && name_count) {
        struct new_name *n = &names[--name_count];
        if (!n->from) {
            remove_all(n->path);
            continue;
        }
        (void)syscall(SYS_renameat2, AT_FDCWD, n->path, AT_FDCWD, n->from, 0);
        if (n->kept)
            (void)syscall(SYS_renameat2, AT_FDCWD, n->kept, AT_FDCWD, n->path, 0);
    }
}
