/* SPDX-License-Identifier: MIT */
#include "member.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "benchctl/base/fs.h"

#define MAX_ENTRIES ((size_t)500000)
#define MAX_DEPTH 200
#define MAX_BLOB_BYTES ((git_object_size_t)64 << 20)

struct walk {
    struct member *m;
    const struct text_list *ignore;
    struct arena *arena;
    VEC(struct entry) list;
    size_t ignored;
    int depth;
};

void finding(struct findings *f, bool warning, const char *path, const char *fmt, ...)
{
    char text[4096];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    vec_push(&f->list,
             (struct parity_difference){arena_strdup(f->arena, path), arena_strdup(f->arena, text), warning});
}

static bool ignored(const struct walk *w, const char *path)
{
    for (size_t i = 0; i < w->ignore->len; i++)
        if (glob_match(w->ignore->items[i], path))
            return true;
    return false;
}

static int walk_tree(struct walk *w, git_tree *tree, const char *prefix, struct error *err);

static int walk_subtree(struct walk *w, const git_oid *id, const char *path, struct error *err)
{
    git_object *tree = NULL;

    if (w->depth >= MAX_DEPTH)
        return error_set(err, ERROR_INVALID, "'%s' is nested too deep", path);
    if (repository_object(w->m->repository, id, GIT_OBJECT_TREE, "tree", &tree, err) < 0)
        return -1;
    w->depth++;
    int rc = walk_tree(w, (git_tree *)tree, path, err);
    w->depth--;
    git_object_free(tree);
    return rc;
}

/* Exact modes only: a submodule's shares bits with a directory's. 100664 of old counts as 100644. */
static int add_entry(struct walk *w, const git_tree_entry *e, const char *path, struct error *err)
{
    unsigned mode = (unsigned)git_tree_entry_filemode_raw(e);
    enum entry_kind kind = mode == 0160000 ? ENTRY_SUBMODULE : mode == 0120000 ? ENTRY_LINK : ENTRY_FILE;

    if (mode == 040000)
        return walk_subtree(w, git_tree_entry_id(e), path, err);
    if (ignored(w, path)) {
        w->ignored++;
        return 0;
    }
    if ((mode & 0170000) != 0100000 && kind == ENTRY_FILE)
        return error_set(err, ERROR_INVALID, "'%s' has the unknown mode %o", path, mode);
    if (w->list.len >= MAX_ENTRIES)
        return error_set(err, ERROR_INVALID, "more than %zu files", MAX_ENTRIES);
    vec_push(&w->list, (struct entry){arena_strdup(w->arena, path), kind, kind == ENTRY_FILE && (mode & 0111),
                                      *git_tree_entry_id(e)});
    return 0;
}

static int walk_tree(struct walk *w, git_tree *tree, const char *prefix, struct error *err)
{
    for (size_t i = 0; i < git_tree_entrycount(tree); i++) {
        const git_tree_entry *e = git_tree_entry_byindex(tree, i);
        CLEANUP_FREE char *path = xasprintf("%s%s%s", prefix, *prefix ? "/" : "", git_tree_entry_name(e));
        if (add_entry(w, e, path, err) < 0)
            return -1;
    }
    return 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->path, ((const struct entry *)b)->path);
}

/* "./src//dao/" as git names it: "src/dao"; "" is the whole tree. */
static char *plain_path(const char *path, struct arena *a)
{
    char *out = arena_alloc(a, strlen(path) + 2), *end = out;

    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n && !(n == 1 && *p == '.')) {
            if (end != out)
                *end++ = '/';
            memcpy(end, p, n);
            end += n;
        }
        p += n + strspn(p + n, "/");
    }
    *end = '\0';
    return out;
}

/* Walks what the path names in the commit's tree. */
static int walk_path(struct walk *w, git_tree *root, const char *path, struct error *err)
{
    struct member *m = w->m;
    git_tree_entry *e = NULL;

    if (!*path) {
        m->object = *git_tree_id(root);
        return walk_tree(w, root, "", err);
    }
    int code = git_tree_entry_bypath(&e, root, path);
    if (code < 0)
        return code == GIT_ENOTFOUND
                   ? error_set(err, ERROR_PARITY, "'%s' is missing in %s (%.8s)", path, m->label,
                               m->revision.commit)
                   : git_failure(err, ERROR_ENVIRONMENT, "cannot find '%s' in %s", path, m->label);
    m->object = *git_tree_entry_id(e);
    int rc = git_tree_entry_filemode_raw(e) == GIT_FILEMODE_TREE ? walk_subtree(w, &m->object, "", err)
                                                                 : add_entry(w, e, path_basename(path), err);
    git_tree_entry_free(e);
    return rc;
}

static int walk_commit(struct walk *w, const char *path, struct error *err)
{
    git_object *commit = NULL, *tree = NULL;

    if (repository_object(w->m->repository, &w->m->revision.id, GIT_OBJECT_COMMIT, "commit", &commit, err) <
        0)
        return -1;
    int rc = repository_object(w->m->repository, git_commit_tree_id((git_commit *)commit), GIT_OBJECT_TREE,
                               "tree", &tree, err);
    if (rc == 0)
        rc = walk_path(w, (git_tree *)tree, path, err);
    git_object_free(tree);
    git_object_free(commit);
    return rc;
}

static int walk_folder(struct walk *w, struct error *err)
{
    git_object *tree = NULL;

    if (repository_object(w->m->repository, &w->m->root, GIT_OBJECT_TREE, "tree", &tree, err) < 0)
        return -1;
    int rc = walk_tree(w, (git_tree *)tree, "", err);
    git_object_free(tree);
    return rc;
}

int member_read(struct member *m, const struct text_list *ignore, struct arena *a, struct error *err)
{
    struct walk w = {.m = m, .ignore = ignore, .arena = a};
    const char *path = plain_path(m->settings->path, a);
    int rc = m->folder ? walk_folder(&w, err) : walk_commit(&w, path, err);

    if (rc == 0 && !w.list.len)
        rc = w.ignored ? error_set(err, ERROR_PARITY,
                                   "nothing is left to compare in '%s' of %s: all of %zu files are ignored",
                                   *path ? path : ".", m->label, w.ignored)
                       : error_set(err, ERROR_PARITY, "'%s' of %s is empty", *path ? path : ".", m->label);
    if (rc == 0 && w.list.len) {
        qsort(w.list.items, w.list.len, sizeof(*w.list.items), by_path);
        m->entries = arena_copy(a, w.list.items, w.list.len * sizeof(*w.list.items));
        m->len = w.list.len;
    }
    vec_release(&w.list);
    return rc;
}

const struct entry *member_find(const struct member *m, const char *path)
{
    const struct entry key = {.path = path};

    return m->len ? bsearch(&key, m->entries, m->len, sizeof(*m->entries), by_path) : NULL;
}

int member_blob(const struct member *m, const struct entry *e, git_blob **ret, struct error *err)
{
    git_object *object = NULL;

    if (repository_object(m->repository, &e->id, GIT_OBJECT_BLOB, "blob", &object, err) < 0)
        return error_wrap(err, "'%s' of %s", e->path, m->label);
    if (git_blob_rawsize((git_blob *)object) > MAX_BLOB_BYTES) {
        git_object_free(object);
        return error_set(err, ERROR_INVALID, "'%s' of %s is larger than %lld bytes", e->path, m->label,
                         (long long)MAX_BLOB_BYTES);
    }
    *ret = (git_blob *)object;
    return 0;
}

const char *shown_part(const char *bytes, size_t len, size_t at, struct arena *a)
{
    const size_t before = 20, most = 60;
    size_t from = at > before ? at - before : 0, to = len - from > most ? from + most : len;
    struct strbuf out = STRBUF_INIT;

    strbuf_adds(&out, from ? "'..." : "'");
    for (size_t i = from; i < to; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (c == '\n' || c == '\r' || c == '\t')
            strbuf_adds(&out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
        else if (c < ' ' || c == 0x7f)
            strbuf_addf(&out, "\\x%02x", c);
        else
            strbuf_addc(&out, (char)c);
    }
    strbuf_adds(&out, to < len ? "...'" : "'");
    const char *text = arena_strdup(a, strbuf_text(&out));
    strbuf_release(&out);
    return text;
}
