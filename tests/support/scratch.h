/* SPDX-License-Identifier: MIT */
/* A directory of a test's own, and shell help that the tests of archives and bundles share. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <cmocka.h>
#include "benchctl/base/fs.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

/* Makes /tmp/benchctl-test-XXXXXX as *state. */
static inline int scratch_setup(void **state)
{
    char *dir = xstrdup("/tmp/benchctl-test-XXXXXX");

    if (!mkdtemp(dir))
        return -1;
    *state = dir;
    return 0;
}

static inline int scratch_teardown(void **state)
{
    struct error err = ERROR_INIT;
    int r = fs_remove_tree(*state, &err);

    if (r < 0)
        print_error("%s\n", err.message);
    free(*state);
    return r;
}

/* Runs a command line through the shell; its exit status. Only with texts of the test's own. */
__attribute__((format(printf, 1, 2))) static inline int shell(const char *fmt, ...)
{
    va_list args;
    char line[8192];

    va_start(args, fmt);
    int n = vsnprintf(line, sizeof(line), fmt, args);
    va_end(args);
    assert_true(n > 0 && (size_t)n < sizeof(line));
    return system(line);
}

static inline void put(const char *dir, const char *name, const char *text)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_FREE char *parent = path_dirname(path);
    struct error err = ERROR_INIT;

    if (fs_mkdirs(parent, &err) < 0 || fs_write(path, text, strlen(text), &err) < 0)
        fail_msg("%s", err.message);
}

static inline char *get(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    struct strbuf out = STRBUF_INIT;
    struct error err = ERROR_INIT;

    if (fs_read(path, (size_t)64 << 20, &out, &err) < 0)
        fail_msg("%s", err.message);
    return strbuf_detach(&out);
}

/* What a command prints. */
static inline char *shell_output(const char *dir, const char *command)
{
    assert_int_equal(shell("cd '%s' && ( %s ) > .shell-output 2>&1", dir, command), 0);
    char *text = get(dir, ".shell-output");
    CLEANUP_FREE char *path = path_join(dir, ".shell-output");
    (void)unlink(path);
    return text;
}

/* A file system of `size` ("1m") on DIR/NAME, for full disks. False where that is not allowed: skip then. */
static inline bool small_disk(const char *dir, const char *name, const char *size)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    CLEANUP_FREE char *options = xasprintf("size=%s,mode=0755", size);

    if (mkdir(path, 0755) < 0 || mount("tmpfs", path, "tmpfs", 0, options) < 0) {
        print_message("skipped: cannot mount a small file system here\n");
        return false;
    }
    return true;
}

static inline void small_disk_end(const char *dir, const char *name)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    assert_int_equal(umount2(path, MNT_DETACH), 0);
}

#endif
