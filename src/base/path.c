/* SPDX-License-Identifier: MIT */
/* Paths, globs and walks of fs.h. */
#include "benchctl/base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "benchctl/base/mem.h"

char *path_join(const char *dir, const char *name)
{
    if (name[0] == '/' || !dir || !dir[0])
        return xstrdup(name);
    return xasprintf("%s%s%s", dir, text_ends(dir, "/") ? "" : "/", name);
}

char *path_relative(const char *dir, const char *path)
{
    struct strbuf out = STRBUF_INIT;
    size_t i = 0, common = 0, dir_len = strlen(dir);

    if (path[0] != '/' || dir[0] != '/')
        return xstrdup(path);
    while (dir_len > 1 && dir[dir_len - 1] == '/')
        dir_len--;
    if (dir_len == 1)
        return xstrdup(path);
    for (; i < dir_len && path[i] == dir[i]; i++)
        common = path[i] == '/' ? i : common;
    if ((i == dir_len || dir[i] == '/') && (path[i] == '/' || path[i] == '\0'))
        common = i;
    for (size_t up = common; up < dir_len; up++) {
        if (dir[up] == '/')
            strbuf_adds(&out, "../");
    }
    strbuf_adds(&out, path + common + (path[common] == '/'));
    if (!out.len)
        strbuf_adds(&out, ".");
    return strbuf_detach(&out);
}

char *path_dirname(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return xstrdup(".");
    if (slash == path)
        return xstrdup("/");
    return xstrndup(path, (size_t)(slash - path));
}

const char *path_basename(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* A "[...]" at p against c: where the class ends, or NULL when it is not closed. */
static const char *match_class(const char *p, char c, bool *ret_matches)
{
    bool negated = p[1] == '!' || p[1] == '^', found = false;
    const char *q = p + 1 + negated;

    for (bool first = true; *q && (*q != ']' || first); q++, first = false) {
        if (q[1] == '-' && q[2] && q[2] != ']') {
            found |= c >= q[0] && c <= q[2];
            q += 2;
        } else {
            found |= c == *q;
        }
    }
    if (*q != ']')
        return NULL;
    *ret_matches = found != negated && c != '/';
    return q + 1;
}

/* One pattern element that is not a star, against one character. NULL: no match. */
static const char *match_one(const char *p, char c)
{
    bool in_class = false;

    if (*p == '[') {
        const char *end = match_class(p, c, &in_class);
        if (end)
            return in_class ? end : NULL;
    }
    if (*p == '?')
        return c != '/' ? p + 1 : NULL;
    if (*p == '\\' && p[1])
        p++;
    return *p == c ? p + 1 : NULL;
}

/*
 * Backtracks to the last star and to the last double star only: a later double star makes every earlier one
 * final, so the time is bounded by the product of the lengths.
 */
bool glob_match(const char *p, const char *s)
{
    const char *star_p = NULL, *star_s = NULL, *deep_p = NULL, *deep_s = NULL;

    for (;;) {
        if (p[0] == '*' && p[1] == '*') {
            while (*p == '*')
                p++;
            if (*p == '/') /* "a/ ** /b" also matches "a/b" */
                p++;
            deep_p = p;
            deep_s = s;
            star_p = NULL;
            continue;
        }
        if (*p == '*') {
            star_p = ++p;
            star_s = s;
            continue;
        }
        if (!*s && !*p)
            return true;
        const char *next = *s && *p ? match_one(p, *s) : NULL;
        if (next) {
            p = next;
            s++;
        } else if (star_p && *star_s && *star_s != '/') {
            p = star_p;
            s = ++star_s;
        } else if (deep_p && *deep_s) {
            p = deep_p;
            s = ++deep_s;
            star_p = NULL;
        } else {
            return false;
        }
    }
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

typedef VEC(char *) name_list;

static void free_names(name_list *names)
{
    vec_each (n, names)
        free(*n);
    vec_release(names);
}

static int list_dir(const char *path, name_list *ret, struct error *err)
{
    CLEANUP(closedir) DIR *d = opendir(path);

    if (!d)
        return error_errno(err, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_ENVIRONMENT, errno,
                           "cannot read directory '%s'", path);
    for (struct dirent *e; (e = readdir(d));)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            vec_push(ret, xstrdup(e->d_name));
    if (ret->len)
        qsort(ret->items, ret->len, sizeof(*ret->items), compare_names);
    return 0;
}

static int walk_below(const char *root, const char *relative, fs_visit *visit, void *data, struct error *err)
{
    CLEANUP_VALUE(free_names) name_list names = {0};
    CLEANUP_FREE char *dir = relative[0] ? path_join(root, relative) : xstrdup(root);

    if (list_dir(dir, &names, err) < 0)
        return -1;
    vec_each (name, &names) {
        CLEANUP_FREE char *below = path_join(relative, *name);
        CLEANUP_FREE char *full = path_join(root, below);
        struct stat st;
        if (lstat(full, &st) < 0)
            return error_errno(err, ERROR_ENVIRONMENT, errno, "cannot look at '%s'", full);
        bool is_dir = S_ISDIR(st.st_mode);
        if (!is_dir && !S_ISREG(st.st_mode))
            continue;
        if (visit(below, is_dir, is_dir ? 0 : (int64_t)st.st_size, data, err) < 0)
            return -1;
        if (is_dir && walk_below(root, below, visit, data, err) < 0)
            return -1;
    }
    return 0;
}

int fs_walk(const char *root, fs_visit *visit, void *data, struct error *err)
{
    return walk_below(root, "", visit, data, err);
}
