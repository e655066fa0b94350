/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <git2/sys/mempack.h>
#include <git2/sys/repository.h>
#include <unistd.h>
#include "benchctl/base/fs.h"

#define MAX_FILE_BYTES ((off_t)64 << 20)
#define MAX_ALL_BYTES ((off_t)512 << 20)
#define MAX_FILES ((size_t)500000)
#define MAX_DEPTH 200

struct reading {
    git_repository *store, *around; /* around: the one that the folder lies in, or NULL */
    git_index *tracked;             /* of `around`, or NULL */
    const char *top;                /* of `around`, without links; with '/' at the end */
    struct arena *arena;
    const char *skipped; /* "target/, .git", or NULL */
    const char *outside; /* links whose target is not below the path, or NULL */
    const char *root;    /* what is read, without links */
    size_t files;
    off_t bytes;
    int depth;
};

static void name_it(const struct reading *r, const char **list, const char *path, bool is_dir)
{
    size_t n = strlen(r->root);
    const char *below = path[n] == '/' ? path + n + 1 : path_basename(path);
    const char *name = arena_printf(r->arena, "%s%s", below, is_dir ? "/" : "");

    *list = *list ? arena_printf(r->arena, "%.2000s, %s", *list, name) : name;
}

/* What git would leave out: ignored, and not tracked all the same. */
static bool left_out(const struct reading *r, const char *path, bool is_dir)
{
    size_t at = 0;
    int ignored = 0;

    if (strcmp(path_basename(path), ".git") == 0)
        return true;
    if (!r->around || strncmp(path, r->top, strlen(r->top)) != 0)
        return false;
    CLEANUP_FREE char *inside = xasprintf("%s%s", path + strlen(r->top), is_dir ? "/" : "");
    if (git_ignore_path_is_ignored(&ignored, r->around, inside) < 0 || !ignored || !r->tracked)
        return ignored;
    return is_dir ? git_index_find_prefix(&at, r->tracked, inside) < 0
                  : !git_index_get_bypath(r->tracked, inside, 0);
}

/* ---- one file ---- */

static bool same_state(const struct stat *x, const struct stat *y)
{
    return x->st_size == y->st_size && x->st_ino == y->st_ino && x->st_mtim.tv_sec == y->st_mtim.tv_sec &&
           x->st_mtim.tv_nsec == y->st_mtim.tv_nsec && x->st_ctim.tv_sec == y->st_ctim.tv_sec &&
           x->st_ctim.tv_nsec == y->st_ctim.tv_nsec;
}

static int store_bytes(const struct reading *r, const char *bytes, size_t len, git_oid *ret,
                       struct error *err)
{
    return git_blob_create_from_buffer(ret, r->store, bytes, len) < 0
               ? git_failure(err, ERROR_ENVIRONMENT, "cannot keep a file in memory")
               : 0;
}

static int read_file(struct reading *r, const char *path, const struct stat *before, git_oid *ret,
                     struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf text = STRBUF_INIT;
    struct stat after;

    r->bytes += before->st_size;
    if (before->st_size > MAX_FILE_BYTES || r->bytes > MAX_ALL_BYTES)
        return error_set(err, ERROR_INVALID, "'%s': a source is at most %lld bytes, and all of them %lld",
                         path, (long long)MAX_FILE_BYTES, (long long)MAX_ALL_BYTES);
    if (fs_read(path, (size_t)MAX_FILE_BYTES, &text, err) < 0)
        return -1;
    if (lstat(path, &after) < 0 || !same_state(before, &after) || (off_t)text.len != before->st_size)
        return error_set(err, ERROR_ENVIRONMENT, "'%s' changed while it was read", path);
    return store_bytes(r, strbuf_text(&text), text.len, ret, err);
}

/* Does the link lead below what is compared? As written: the target need not exist. */
static bool stays_inside(const struct reading *r, const char *path, const char *target)
{
    long level = 0;

    if (*target == '/')
        return false;
    for (const char *p = path + strlen(r->root); *p; p++)
        level += *p == '/';
    level--; /* the link's own name */
    for (const char *p = target; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && memcmp(p, "..", 2) == 0)
            level--;
        else if (n && !(n == 1 && *p == '.'))
            level++;
        if (level < 0)
            return false;
        p += n + strspn(p + n, "/");
    }
    return true;
}

static int read_link(struct reading *r, const char *path, git_oid *ret, struct error *err)
{
    char target[4096];
    ssize_t n = readlink(path, target, sizeof(target) - 1);

    if (n < 0)
        return error_set(err, ERROR_ENVIRONMENT, "cannot read link '%s': %s", path, strerror(errno));
    target[n] = '\0';
    if (!stays_inside(r, path, target))
        name_it(r, &r->outside, path, false);
    return store_bytes(r, target, (size_t)n, ret, err);
}

/* ---- directories ---- */

static int read_tree(struct reading *r, const char *path, git_oid *ret, bool *ret_empty, struct error *err);

/* One name: *ret_mode is git's, 0 for what is left out and for directories without files. */
static int read_one(struct reading *r, const char *path, git_oid *ret, git_filemode_t *ret_mode,
                    struct error *err)
{
    struct stat st;
    bool empty = false;
    int rc = 0;

    *ret_mode = (git_filemode_t)0;
    if (lstat(path, &st) < 0)
        return error_set(err, ERROR_ENVIRONMENT, "cannot read '%s': %s", path, strerror(errno));
    if (left_out(r, path, S_ISDIR(st.st_mode))) {
        name_it(r, &r->skipped, path, S_ISDIR(st.st_mode));
        return 0;
    }
    if (++r->files > MAX_FILES)
        return error_set(err, ERROR_INVALID, "more than %zu files in '%s'", MAX_FILES, r->root);
    if (S_ISDIR(st.st_mode)) {
        rc = read_tree(r, path, ret, &empty, err);
        *ret_mode = empty ? (git_filemode_t)0 : GIT_FILEMODE_TREE;
    } else if (S_ISREG(st.st_mode)) {
        rc = read_file(r, path, &st, ret, err);
        *ret_mode = st.st_mode & S_IXUSR ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
    } else if (S_ISLNK(st.st_mode)) {
        rc = read_link(r, path, ret, err);
        *ret_mode = GIT_FILEMODE_LINK;
    } else {
        rc = error_set(err, ERROR_INVALID, "'%s' is neither a file, a directory nor a link", path);
    }
    return rc;
}

static int add_name(struct reading *r, git_treebuilder *tree, const char *dir, const char *name,
                    struct error *err)
{
    CLEANUP_FREE char *path = path_join(dir, name);
    git_filemode_t mode;
    git_oid id;

    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return 0;
    if (read_one(r, path, &id, &mode, err) < 0)
        return -1;
    if (mode && git_treebuilder_insert(NULL, tree, name, &id, mode) < 0)
        return git_failure(err, ERROR_INVALID, "git would not take '%s'", path);
    return 0;
}

static int read_names(struct reading *r, git_treebuilder *tree, const char *path, struct error *err)
{
    DIR *dir = opendir(path);
    struct dirent *one;
    int rc = 0;

    if (!dir)
        return error_set(err, ERROR_ENVIRONMENT, "cannot read '%s': %s", path, strerror(errno));
    errno = 0;
    while (rc == 0 && (one = readdir(dir))) {
        rc = add_name(r, tree, path, one->d_name, err);
        errno = 0;
    }
    if (rc == 0 && errno)
        rc = error_set(err, ERROR_ENVIRONMENT, "cannot read '%s': %s", path, strerror(errno));
    closedir(dir);
    return rc;
}

static int read_tree(struct reading *r, const char *path, git_oid *ret, bool *ret_empty, struct error *err)
{
    git_treebuilder *tree = NULL;

    if (r->depth >= MAX_DEPTH)
        return error_set(err, ERROR_INVALID, "'%s' is nested too deep", path);
    if (git_treebuilder_new(&tree, r->store, NULL) < 0)
        return git_failure(err, ERROR_ENVIRONMENT, "cannot keep a tree in memory");
    r->depth++;
    int rc = read_names(r, tree, path, err);
    r->depth--;
    *ret_empty = git_treebuilder_entrycount(tree) == 0;
    if (rc == 0 && git_treebuilder_write(ret, tree) < 0)
        rc = git_failure(err, ERROR_ENVIRONMENT, "cannot keep a tree in memory");
    git_treebuilder_free(tree);
    return rc;
}

/* The path is one file: a tree that holds nothing else. */
static int read_single(struct reading *r, struct member *m, struct error *err)
{
    git_treebuilder *tree = NULL;
    git_filemode_t mode;

    if (read_one(r, r->root, &m->object, &mode, err) < 0)
        return -1;
    if (git_treebuilder_new(&tree, r->store, NULL) < 0)
        return git_failure(err, ERROR_ENVIRONMENT, "cannot keep a tree in memory");
    int code = mode ? git_treebuilder_insert(NULL, tree, path_basename(r->root), &m->object, mode) : 0;
    if (code == 0)
        code = git_treebuilder_write(&m->root, tree);
    git_treebuilder_free(tree);
    return code < 0 ? git_failure(err, ERROR_INVALID, "git would not take '%s'", r->root) : 0;
}

/* ---- around it ---- */

/* A repository without a directory: objects live in memory, and no configuration is read. */
static int open_store(struct repositories *all, struct repository **ret, struct error *err)
{
    git_odb *odb = NULL;
    git_odb_backend *memory = NULL;
    git_config *config = NULL;
    git_repository *git = NULL;

    if (!all->memory) {
        bool ok = git_odb_new(&odb) == 0 && git_mempack_new(&memory) == 0 &&
                  git_odb_add_backend(odb, memory, 1) == 0 && git_repository_wrap_odb(&git, odb) == 0 &&
                  git_config_new(&config) == 0 && git_repository_set_config(git, config) == 0;
        git_config_free(config);
        git_odb_free(odb);
        if (!ok) {
            git_repository_free(git);
            return git_failure(err, ERROR_ENVIRONMENT, "cannot keep files in memory");
        }
        all->memory = xcalloc(1, sizeof(*all->memory));
        *all->memory = (struct repository){.path = xstrdup("the files in memory"), .git = git};
        vec_push(&all->list, all->memory);
    }
    *ret = all->memory;
    return 0;
}

/* Is the path in HEAD's tree with the same id? Without a commit everything is a change. */
static bool is_committed(const struct reading *r, const git_commit *head, const git_oid *object)
{
    git_tree *tree = NULL;
    git_tree_entry *e = NULL;
    bool same = false;
    size_t n = strlen(r->top);

    if (git_commit_tree(&tree, head) < 0)
        return false;
    if (strlen(r->root) < n)
        same = git_oid_equal(git_tree_id(tree), object);
    else if (git_tree_entry_bypath(&e, tree, r->root + n) == 0)
        same = git_oid_equal(git_tree_entry_id(e), object);
    git_tree_entry_free(e);
    git_tree_free(tree);
    return same;
}

static void describe_head(const struct reading *r, struct member *m)
{
    git_object *head = NULL;
    char hex[GIT_OID_HEXSZ + 1];

    if (!r->around || git_revparse_single(&head, r->around, "HEAD^{commit}") < 0)
        return;
    m->revision.id = *git_object_id(head);
    m->revision.commit = arena_strdup(r->arena, git_oid_tostr(hex, sizeof(hex), &m->revision.id));
    m->changed = !is_committed(r, (git_commit *)head, &m->object);
    git_object_free(head);
}

/* A folder need not lie in a repository; one that cannot be read would say what is ignored, and is an error.
 */
static int find_around(struct reading *r, const char *folder, bool any_owner, struct error *err)
{
    if (any_owner)
        (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
    int code = git_repository_open_ext(&r->around, folder, 0, NULL);
    if (any_owner)
        (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
    if (code == GIT_ENOTFOUND)
        return 0;
    if (code < 0)
        return git_failure(err, ERROR_ENVIRONMENT, "cannot open the repository around '%s'", folder);
    CLEANUP_FREE char *top =
        git_repository_workdir(r->around) ? realpath(git_repository_workdir(r->around), NULL) : NULL;
    if (!top) {
        git_repository_free(r->around);
        r->around = NULL;
        return 0;
    }
    r->top = arena_printf(r->arena, "%s/", strcmp(top, "/") == 0 ? "" : top);
    if (git_repository_index(&r->tracked, r->around) < 0)
        r->tracked = NULL;
    return 0;
}

static bool lies_in(const char *dir, const char *path)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 && (n == 1 || !path[n] || path[n] == '/');
}

/* Without links; the folder must lie in `repo`, and the path in the folder. */
static int find_root(struct reading *r, struct member *m, const char *repo, struct error *err)
{
    CLEANUP_FREE char *folder = path_join(repo, m->settings->ref);
    CLEANUP_FREE char *path = path_join(folder, m->settings->path);
    CLEANUP_FREE char *top = realpath(repo, NULL), *in = realpath(folder, NULL), *real = realpath(path, NULL);

    if (*m->settings->ref == '/' || *m->settings->path == '/')
        return error_set(err, ERROR_INVALID, "'%s' is not a path below '%s'",
                         *m->settings->ref == '/' ? m->settings->ref : m->settings->path, repo);
    if (!top || !in || !fs_is_dir(in)) {
        (void)error_set(err, ERROR_NOT_FOUND, "there is no folder '%s'", top ? folder : repo);
        return error_hint(err, "with sources: folders a ref names a folder below repo:");
    }
    if (!real)
        return error_set(err, errno == EACCES ? ERROR_ENVIRONMENT : ERROR_PARITY, "'%s' is missing in %s",
                         m->settings->path, m->label);
    if (!lies_in(top, in) || !lies_in(in, real))
        return error_set(err, ERROR_INVALID, "'%s' leads out of '%s'", path,
                         lies_in(top, in) ? folder : repo);
    m->folder = arena_strdup(r->arena, in);
    r->root = arena_strdup(r->arena, real);
    return 0;
}

int folder_read(struct member *m, struct repositories *all, const char *repo, struct arena *a,
                struct error *err)
{
    struct reading r = {.arena = a};
    bool empty = false;

    if (open_store(all, &m->repository, err) < 0 || find_root(&r, m, repo, err) < 0)
        return -1;
    r.store = m->repository->git;
    if (find_around(&r, m->folder, all->any_owner, err) < 0)
        return -1;
    int rc = fs_is_dir(r.root) ? read_tree(&r, r.root, &m->object, &empty, err) : read_single(&r, m, err);
    if (rc == 0 && fs_is_dir(r.root))
        m->root = m->object;
    if (rc == 0)
        describe_head(&r, m);
    m->skipped = r.skipped;
    m->outside = r.outside;
    git_index_free(r.tracked);
    git_repository_free(r.around);
    return rc;
}
