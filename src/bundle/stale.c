/* SPDX-License-Identifier: MIT */
/* Files that a process which is no more was about to put in place: the directory's lock says that none of
 * them is its own. */
#include <fcntl.h>
#include <sys/file.h>
#include "rundir.h"

#define TEMPORARY ".tmp"

/* Whoever writes a bundle holds a lock on what is not its final name yet. */
static void remove_unlocked(const char *path)
{
    CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(path);
}

static void remove_in(const char *dir, const char *start)
{
    CLEANUP(closedir) DIR *d = opendir(dir);

    for (struct dirent *e; d && (e = readdir(d));) {
        CLEANUP_FREE char *path = path_join(dir, e->d_name);
        if (text_starts(e->d_name, start) && text_ends(e->d_name, TEMPORARY) && !fs_is_dir(path))
            remove_unlocked(path);
    }
}

void rundir_remove_stale(const struct rundir *r)
{
    CLEANUP_FREE char *inputs = path_join(r->path, "inputs"), *parent = path_dirname(r->path);
    CLEANUP_FREE char *bundle = xasprintf("%s.tar.zst.", path_basename(r->path));

    remove_in(r->path, "");
    remove_in(inputs, "");
    remove_in(parent, bundle);
}
