/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "benchctl/base/fs.h"

int place_open(const char *root, struct place *ret, struct error *err)
{
    if (fs_mkdirs(root, err) < 0)
        return -1;
    int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot open '%s'", root);
    *ret = (struct place){.fd = fd, .root = root};
    return 0;
}

void place_close(struct place *p)
{
    if (p->root)
        (void)close(p->fd);
}

static int cannot(const char *path, struct error *err)
{
    int e = errno;
    char shown[200];

    return error_errno(
        err, e == EEXIST || e == ELOOP || e == ENOTDIR || e == EISDIR ? ERROR_INVALID : ERROR_ENVIRONMENT, e,
        "cannot lay out '%s'", archive_printable(path, shown, sizeof(shown)));
}

/* --- paths as lists of names --- */

struct names {
    VEC(char *) items;
};

static void names_release(struct names *n)
{
    vec_each (name, &n->items)
        free(*name);
    vec_release(&n->items);
}

static int open_names(const struct place *p, const struct names *n, int *ret_fd)
{
    int at = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);

    vec_each (name, &n->items) {
        if (at < 0)
            return -1;
        if (mkdirat(at, *name, 0755) < 0 && errno != EEXIST) {
            int e = errno;
            (void)close(at);
            errno = e;
            return -1;
        }
        int next = openat(at, *name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), e = errno;
        (void)close(at);
        at = next;
        errno = e;
    }
    *ret_fd = at;
    return at < 0 ? -1 : 0;
}

/* A ".." needs what is in front of it to be there. */
static int go_up(const struct place *p, struct names *n, const char *path, struct error *err)
{
    CLEANUP_CLOSE int fd = -1;
    char shown[200];

    if (!n->items.len)
        return error_set(err, ERROR_INVALID, "'%s' leads out of the bundle's own files",
                         archive_printable(path, shown, sizeof(shown)));
    if (open_names(p, n, &fd) < 0)
        return cannot(path, err);
    free(n->items.items[--n->items.len]);
    return 0;
}

static int add_names(const struct place *p, struct names *n, const char *path, struct error *err)
{
    for (const char *at = path; *at; at += strspn(at, "/")) {
        size_t len = strcspn(at, "/");
        if (len == 2 && at[0] == '.' && at[1] == '.') {
            if (go_up(p, n, path, err) < 0)
                return -1;
        } else if (len && !(len == 1 && *at == '.')) {
            vec_push(&n->items, xstrndup(at, len));
        }
        at += len;
    }
    return 0;
}

/* The directory that holds `path`, and its name there. */
static int open_parent(const struct spot *s, const char *path, int *ret_fd, char **ret_name,
                       struct error *err)
{
    CLEANUP_VALUE(names_release) struct names n = {0};

    if (add_names(s->place, &n, s->base, err) < 0 || add_names(s->place, &n, path, err) < 0)
        return -1;
    if (!n.items.len)
        return error_set(err, ERROR_INVALID, "'%s' cannot be a file", path);
    CLEANUP_FREE char *name = n.items.items[--n.items.len];
    if (open_names(s->place, &n, ret_fd) < 0)
        return cannot(path, err);
    *ret_name = TAKE(name);
    return 0;
}

/* --- what is put there --- */

int place_dir(const struct spot *s, const char *path, struct error *err)
{
    CLEANUP_VALUE(names_release) struct names n = {0};
    CLEANUP_CLOSE int fd = -1;

    if (add_names(s->place, &n, s->base, err) < 0 || add_names(s->place, &n, path, err) < 0)
        return -1;
    return open_names(s->place, &n, &fd) < 0 ? cannot(path, err) : 0;
}

/* Is it a regular file with just this content? */
static bool holds(int parent, const char *name, const struct strbuf *content)
{
    CLEANUP_CLOSE int fd = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;
    char chunk[65536];
    size_t at = 0;
    ssize_t n = 0;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size != content->len)
        return false;
    while (at < content->len && (n = read(fd, chunk, sizeof(chunk))) > 0) {
        if ((size_t)n > content->len - at || memcmp(chunk, content->data + at, (size_t)n) != 0)
            return false;
        at += (size_t)n;
    }
    return at == content->len;
}

static int twice(const char *path, struct error *err)
{
    char shown[200];

    return error_set(err, ERROR_INVALID, "two different inputs are to lie at '%s'",
                     archive_printable(path, shown, sizeof(shown)));
}

int place_file(const struct spot *s, const struct placed_file *f, struct error *err)
{
    CLEANUP_FREE char *name = NULL;
    CLEANUP_CLOSE int parent = -1;
    mode_t mode = f->executable ? 0755 : 0644;

    if (open_parent(s, f->path, &parent, &name, err) < 0)
        return -1;
    if (f->replace && unlinkat(parent, name, 0) < 0 && errno != ENOENT)
        return cannot(f->path, err);
    CLEANUP_CLOSE int fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return holds(parent, name, f->content) ? 0 : twice(f->path, err);
    if (fd < 0)
        return cannot(f->path, err);
    return fs_write_all(fd, strbuf_text(f->content), f->content->len, f->path, err);
}

int place_link(const struct spot *s, const char *path, const char *target, struct error *err)
{
    CLEANUP_FREE char *name = NULL;
    CLEANUP_CLOSE int parent = -1;
    char there[4096];

    if (open_parent(s, path, &parent, &name, err) < 0)
        return -1;
    if (symlinkat(target, parent, name) == 0)
        return 0;
    if (errno != EEXIST)
        return cannot(path, err);
    ssize_t n = readlinkat(parent, name, there, sizeof(there));
    return n >= 0 && (size_t)n == strlen(target) && memcmp(there, target, (size_t)n) == 0 ? 0
                                                                                          : twice(path, err);
}

bool link_stays(const char *path, const char *target)
{
    size_t depth = 0, up = 0;
    bool down = false;

    for (const char *p = path; *p; p++)
        depth += *p == '/' && p[1] && p[1] != '/';
    if (!*target || *target == '/')
        return false;
    for (const char *p = target; *p; p += strspn(p, "/")) {
        size_t n = strcspn(p, "/");
        bool parent = n == 2 && p[0] == '.' && p[1] == '.';
        if (parent && down)
            return false;
        up += parent;
        down |= !parent && !(n == 1 && *p == '.');
        p += n;
    }
    return up <= depth;
}
