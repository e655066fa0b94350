/* SPDX-License-Identifier: MIT */
/*
 * Files and paths. Everything opens with O_CLOEXEC. Errors name the path and are ERROR_ENVIRONMENT
 * (ERROR_NOT_FOUND when it does not exist); a full disk has a hint.
 */
#ifndef BENCHCTL_BASE_FS_H
#define BENCHCTL_BASE_FS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "benchctl/base/error.h"
#include "benchctl/base/strbuf.h"

/* For reading, a regular file only: never waits for a pipe, and takes nothing from a device. Of a directory
 * in which others write no link is to be followed. The caller closes. */
int fs_open_regular(const char *path, bool follow, int *ret_fd, struct error *err) MUST_CHECK;

/* Reads a whole file, at most `max` bytes (more is an error). Appends to `out`. Only a regular file, as
 * fs_copy(): never waits for a pipe, and takes nothing from a device. */
int fs_read(const char *path, size_t max, struct strbuf *out, struct error *err) MUST_CHECK;

/* Replaces a file atomically: temporary file, fsync, rename, fsync of the directory. Whatever else has that
 * name (a link, a pipe) is replaced as well, never followed or written to; a directory is an error. */
int fs_write_atomic(const char *path, const void *bytes, size_t len, struct error *err) MUST_CHECK;

/* The same for a file that a person names: a link is followed; a device or pipe is written to, never
 * replaced. */
int fs_write_output(const char *path, const void *bytes, size_t len, struct error *err) MUST_CHECK;

/* Writes a file plainly (no fsync), mode 0644. */
int fs_write(const char *path, const void *bytes, size_t len, struct error *err) MUST_CHECK;

/* All of `len` to `fd`, through EINTR and short writes; `name` is for the message. */
int fs_write_all(int fd, const void *bytes, size_t len, const char *name, struct error *err) MUST_CHECK;

int fs_mkdirs(const char *path, struct error *err) MUST_CHECK;      /* mkdir -p, mode 0755 */
int fs_remove_tree(const char *path, struct error *err) MUST_CHECK; /* never follows links; missing is fine */
int fs_sync_dir(const char *path, struct error *err) MUST_CHECK;
int fs_copy(const char *from, const char *to, struct error *err) MUST_CHECK;
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);

/* Calls `visit` for each regular file and directory below `root` in byte order of the relative path. */
typedef int fs_visit(const char *relative, bool is_dir, int64_t size, void *data, struct error *err);
int fs_walk(const char *root, fs_visit *visit, void *data, struct error *err) MUST_CHECK;

/* "DIR/NAME"; `name` alone if it is absolute or `dir` is NULL or empty. The caller frees. */
char *path_join(const char *dir, const char *name);
char *path_dirname(const char *path); /* the caller frees; "." when there is no slash */
const char *path_basename(const char *path);
/* `path` as seen from the directory `dir`, both absolute, by the text alone: "../b/x". "." for `dir` itself;
 * a path that is not absolute, or seen from the root, is as it was. The caller frees. */
char *path_relative(const char *dir, const char *path);

/* `**`, `*`, `?`, `[...]` on slash-separated paths; `**` crosses slashes, `*` does not. */
bool glob_match(const char *pattern, const char *path);

/* Free bytes on the file system that holds `path` (or its nearest existing parent). */
int fs_free_bytes(const char *path, int64_t *ret_bytes, struct error *err) MUST_CHECK;

/* Finds `name` on PATH (or checks it when it has a slash). The caller frees; NULL when there is none. */
char *fs_find_program(const char *name);

#endif
