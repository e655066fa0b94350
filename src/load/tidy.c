/* SPDX-License-Identifier: MIT */
/* What a generator left behind, before it is read. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/fs.h"
#include "benchctl/base/secrets.h"
#include "benchctl/load.h"

/* All of it is read three times, for secrets, for its hash and into the bundle; a sparse file is as long to
 * read as a full one. The raw results of an hour at 10,000 requests a second are about 3.5 GB. */
#define FILE_MAX (INT64_C(4) << 30)
#define ALL_MAX (INT64_C(8) << 30)
#define ENTRIES_MAX 100000 /* a report with pictures has some hundreds */
#define TOLD_MAX 20        /* each becomes a note of the trial */
#define DEPTH_MAX 32       /* each level holds a descriptor open; reports have three */

struct tidying {
    const struct load_tidying *options;
    int top;
    int64_t bytes;
    size_t entries, moved, told;
    int64_t unguessed; /* in the names of what is moved: nobody has made one before */
};

static void name_moved(const struct tidying *t, size_t i, char name[64])
{
    (void)snprintf(name, 64, ".removed-%" PRId64 "-%zu", t->unguessed, i);
}

static int failed(const char *name, struct error *err)
{
    return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot remove '%s' of the load generator's output",
                       name);
}

static DIR *open_dir(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(parent, name, flags);

    if (fd < 0 && errno == EACCES && fchmodat(parent, name, 0700, 0) == 0)
        fd =
            openat(parent, name, flags); /* it is a directory: nothing runs any more that could change that */
    struct stat st;
    if (fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IRWXU) != S_IRWXU)
        (void)fchmod(fd, st.st_mode | S_IRWXU); /* else nothing can be removed from it */
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !d)
        (void)close(fd);
    return d;
}

static bool is_itself(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Empties a directory and removes it; directories in it are moved to the top, `t->moved` counts them. */
static int remove_dir(struct tidying *t, int parent, const char *name, struct error *err)
{
    CLEANUP(closedir) DIR *d = open_dir(parent, name);
    char to[64];

    if (!d)
        return failed(name, err);
    for (struct dirent *e; (e = readdir(d));) {
        if (is_itself(e->d_name) || unlinkat(dirfd(d), e->d_name, 0) == 0)
            continue;
        name_moved(t, t->moved, to);
        if (renameat(dirfd(d), e->d_name, t->top, to) < 0)
            return failed(e->d_name, err);
        t->moved++;
    }
    return unlinkat(parent, name, AT_REMOVEDIR) < 0 ? failed(name, err) : 0;
}

/* However deep: with two descriptors. */
static int remove_all(struct tidying *t, int parent, const char *name, struct error *err)
{
    char at[64];

    if (unlinkat(parent, name, 0) == 0)
        return 0;
    size_t i = t->moved;
    if (remove_dir(t, parent, name, err) < 0)
        return -1;
    for (; i < t->moved; i++) {
        name_moved(t, i, at);
        if (remove_dir(t, t->top, at, err) < 0)
            return -1;
    }
    return 0;
}

/* Why it cannot stay; NULL: it can. */
static const char *unfit(struct tidying *t, const char *name, const struct stat *st, int depth)
{
    if (++t->entries > ENTRIES_MAX)
        return "there are too many files";
    if (secrets_in(name))
        return "its name holds a secret";
    if (S_ISDIR(st->st_mode))
        return depth >= DEPTH_MAX ? "directories are too deep" : NULL;
    if (S_ISLNK(st->st_mode) && t->options->links)
        return NULL;
    if (!S_ISREG(st->st_mode))
        return "it is no regular file";
    if (st->st_mode & (S_ISUID | S_ISGID))
        return "it would run with another user's rights";
    if (st->st_size > FILE_MAX)
        return "it is larger than 4 GiB";
    if (st->st_size > ALL_MAX - t->bytes)
        return "all files together are larger than 8 GiB";
    t->bytes += st->st_size;
    return NULL;
}

static int visit(struct tidying *t, int parent, const char *name, const char *shown, int depth,
                 struct error *err);

static int visit_all(struct tidying *t, DIR *d, const char *shown, int depth, struct error *err)
{
    for (struct dirent *e; (e = readdir(d));) {
        CLEANUP_FREE char *below = path_join(shown, e->d_name);
        if (!is_itself(e->d_name) && visit(t, dirfd(d), e->d_name, below, depth, err) < 0)
            return -1;
    }
    return 0;
}

static int visit(struct tidying *t, int parent, const char *name, const char *shown, int depth,
                 struct error *err)
{
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? 0 : failed(shown, err);
    const char *why = unfit(t, name, &st, depth);
    if (why) {
        if (remove_all(t, parent, name, err) < 0)
            return -1;
        if (t->told++ < TOLD_MAX)
            t->options->removed(shown, why, t->options->data);
        return 0;
    }
    if (!S_ISDIR(st.st_mode))
        return 0;
    CLEANUP(closedir) DIR *d = open_dir(parent, name);
    return d ? visit_all(t, d, shown, depth + 1, err) : failed(shown, err);
}

int load_output_tidy(const struct load_tidying *o, struct error *err)
{
    CLEANUP(closedir) DIR *d = open_dir(AT_FDCWD, o->dir);
    struct tidying t = {.options = o, .unguessed = clock_now_ns()};

    if (!d)
        return errno == ENOENT
                   ? 0
                   : error_errno(err, ERROR_ENVIRONMENT, errno, "cannot read directory '%s'", o->dir);
    t.top = dirfd(d);
    return visit_all(&t, d, NULL, 0, err);
}
