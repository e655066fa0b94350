/* SPDX-License-Identifier: MIT */
/* The file system's calls, in place of the C library's. */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Defines `real` as the function that is replaced. */
#define REAL(type, name, ...)                                                                                \
    static type (*real)(__VA_ARGS__);                                                                        \
    if (!real)                                                                                               \
    real = (type(*)(__VA_ARGS__))fault_next(#name)

/* --- making and opening --- */

static bool writes(int flags)
{
    return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
}

typedef int open_fn(int dir, const char *path, int flags, mode_t mode);

/* Devices and the kernel's own files are not the disk. */
static bool on_disk(const char *path)
{
    return strncmp(path, "/dev/", 5) != 0 && strncmp(path, "/proc/", 6) != 0 &&
           strncmp(path, "/sys/", 5) != 0;
}

static int open_any(open_fn *call, int dir, const char *path, int flags, mode_t mode)
{
    if (!fault_active() || !writes(flags) || (flags & O_TMPFILE) == O_TMPFILE || !on_disk(path))
        return call(dir, path, flags, mode);
    enum how how = fault_strike(KIND_FS, "open", path);
    if (fault_fails(how))
        return -1;
    int before = errno;
    bool there = faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    errno = before;
    int fd = call(dir, path, flags, mode);
    if (fd >= 0 && (flags & O_TRUNC))
        power_written(fd);
    if (fd >= 0 && !there && dir == AT_FDCWD)
        power_made(path);
    fault_end(how);
    return fd;
}

static int real_openat(int dir, const char *path, int flags, mode_t mode)
{
    REAL(int, openat, int, const char *, int, ...);
    return real(dir, path, flags, mode);
}

/* By the same name as the program called: a sanitizer looks at each of them by itself. */
static int real_open(int dir, const char *path, int flags, mode_t mode)
{
    REAL(int, open, const char *, int, ...);
    (void)dir;
    return real(path, flags, mode);
}

static mode_t mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t)va_arg(args, int) : 0;
}

#define MODE_ARGUMENT                                                                                        \
    va_list args;                                                                                            \
    va_start(args, flags);                                                                                   \
    mode_t mode = mode_of(flags, args);                                                                      \
    va_end(args)

int open(const char *path, int flags, ...)
{
    MODE_ARGUMENT;
    return open_any(real_open, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    MODE_ARGUMENT;
    return open_any(real_open, AT_FDCWD, path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT;
    return open_any(real_openat, dir, path, flags, mode);
}

int openat64(int dir, const char *path, int flags, ...)
{
    MODE_ARGUMENT;
    return open_any(real_openat, dir, path, flags, mode);
}

int mkostemp(char *template, int flags)
{
    REAL(int, mkostemp, char *, int);
    enum how how = fault_strike(KIND_FS, "mkstemp", template);
    if (fault_fails(how))
        return -1;
    int fd = real(template, flags);
    fault_end(how);
    return fd;
}

int mkostemp64(char *template, int flags)
{
    return mkostemp(template, flags);
}

int mkostemps(char *template, int suffix_len, int flags)
{
    REAL(int, mkostemps, char *, int, int);
    enum how how = fault_strike(KIND_FS, "mkstemp", template);
    if (fault_fails(how))
        return -1;
    int fd = real(template, suffix_len, flags);
    if (fd >= 0 && fault_active())
        power_made(template);
    fault_end(how);
    return fd;
}

int mkostemps64(char *template, int suffix_len, int flags)
{
    return mkostemps(template, suffix_len, flags);
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t);
    enum how how = fault_strike(KIND_FS, "mkdir", path);
    if (fault_fails(how))
        return -1;
    int rc = real(path, mode);
    if (rc == 0)
        power_made(path);
    fault_end(how);
    return rc;
}

int close(int fd)
{
    REAL(int, close, int);
    enum how how = HOW_NOTHING;
    int flags = fault_active() ? fcntl(fd, F_GETFL) : -1;
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY)
        how = fault_strike_fd(fd, "close");
    int e = errno, rc = real(fd);
    fault_end(how);
    if (!fault_fails(how))
        return rc;
    errno = e;
    return -1;
}

/* --- bytes --- */

/* The part of `len` that a call which is to be cut does. */
static size_t part(enum how how, size_t len)
{
    return (how == HOW_SHORT || how == HOW_TORN) && len > 1 ? len / 2 : len;
}

ssize_t write(int fd, const void *bytes, size_t len)
{
    REAL(ssize_t, write, int, const void *, size_t);
    enum how how = fault_strike_fd(fd, "write");
    if (fault_fails(how))
        return -1;
    if (fault_active())
        power_written(fd);
    ssize_t n = real(fd, bytes, part(how, len));
    fault_end(how);
    return n;
}

ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    enum how how = fault_strike_fd(fd, "pwrite");
    if (fault_fails(how))
        return -1;
    if (fault_active())
        power_written(fd);
    ssize_t n = real(fd, bytes, part(how, len), at);
    fault_end(how);
    return n;
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    return pwrite(fd, bytes, len, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    enum how how = fault_strike_fd(fd, "writev");
    if (fault_fails(how))
        return -1;
    if (fault_active())
        power_written(fd);
    ssize_t n = real(fd, parts, how == HOW_SHORT || how == HOW_TORN ? (count + 1) / 2 : count);
    fault_end(how);
    return n;
}

int ftruncate(int fd, off_t len)
{
    REAL(int, ftruncate, int, off_t);
    enum how how = fault_strike_fd(fd, "ftruncate");
    if (fault_fails(how))
        return -1;
    int rc = real(fd, len);
    fault_end(how);
    return rc;
}

int ftruncate64(int fd, off64_t len)
{
    return ftruncate(fd, len);
}

int fsync(int fd)
{
    REAL(int, fsync, int);
    enum how how = fault_strike_fd(fd, "fsync");
    if (fault_fails(how))
        return -1;
    int rc = real(fd);
    if (rc == 0 && fault_active())
        power_synced(fd);
    fault_end(how);
    return rc;
}

int fdatasync(int fd)
{
    REAL(int, fdatasync, int);
    enum how how = fault_strike_fd(fd, "fdatasync");
    if (fault_fails(how))
        return -1;
    int rc = real(fd);
    if (rc == 0 && fault_active())
        power_synced(fd);
    fault_end(how);
    return rc;
}

int flock(int fd, int operation)
{
    REAL(int, flock, int, int);
    enum how how = fault_strike_fd(fd, "flock");
    if (fault_fails(how))
        return -1;
    int rc = real(fd, operation);
    fault_end(how);
    return rc;
}

/* --- names --- */

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    enum how how = fault_strike(KIND_FS, "rename", to);
    if (fault_fails(how))
        return -1;
    if (fault_active())
        power_renaming(to);
    int rc = real(from, to);
    if (rc == 0 && fault_active())
        power_renamed(from, to);
    fault_end(how);
    return rc;
}

int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    enum how how = fault_strike(KIND_FS, "unlink", path);
    if (fault_fails(how))
        return -1;
    int rc = real(path);
    fault_end(how);
    return rc;
}

int unlinkat(int dir, const char *path, int flags)
{
    REAL(int, unlinkat, int, const char *, int);
    enum how how = fault_strike(KIND_FS, "unlink", path);
    if (fault_fails(how))
        return -1;
    int rc = real(dir, path, flags);
    fault_end(how);
    return rc;
}
