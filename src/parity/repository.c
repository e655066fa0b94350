/* SPDX-License-Identifier: MIT */
#include "repository.h"

#include <pwd.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include "benchctl/base/fs.h"

/* libgit2 1.5 loses what pcre2 made for each regular expression that does not match, also while opening a
 * repository: that is not our leak, and the leak checker of a build with sanitizers is told so. */
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libpcre2\n";
}

const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "print_suppressions=0";
}
#endif

int git_failure(struct error *err, enum error_kind kind, const char *fmt, ...)
{
    char text[1024];
    const git_error *last = git_error_last();
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return error_set(err, kind, "%s: %s", text, last && last->message ? last->message : "libgit2 failed");
}

const char *short_id(const git_oid *id, char *buf)
{
    return git_oid_tostr(buf, 9, id);
}

static void repository_free(struct repository *r)
{
    git_repository_free(r->git);
    for (size_t i = 0; i < r->remotes.len; i++)
        free(r->remotes.items[i]);
    vec_release(&r->remotes);
    free(r->path);
    free(r);
}

void repositories_release(struct repositories *all)
{
    for (size_t i = 0; i < all->list.len; i++)
        repository_free(all->list.items[i]);
    vec_release(&all->list);
}

/* "name (uid 1000)" */
static char *user_text(uid_t uid)
{
    const struct passwd *p = getpwuid(uid);

    return xasprintf("%s (uid %u)", p ? p->pw_name : "an unknown user", (unsigned)uid);
}

static int not_ours(const char *path, struct error *err)
{
    struct stat st = {0};
    CLEANUP_FREE char *dot_git = path_join(path, ".git");

    if (stat(path, &st) == 0 && st.st_uid == geteuid())
        (void)stat(dot_git, &st);
    CLEANUP_FREE char *owner = user_text(st.st_uid);
    CLEANUP_FREE char *us = user_text(geteuid());
    (void)error_set(err, ERROR_ENVIRONMENT, "repository '%s' belongs to %s, and this is %s", path, owner, us);
    return error_hint(err,
                      "if you trust it: git config --global --add safe.directory '%s'; libgit2 %s does not "
                      "accept '*' there",
                      path, LIBGIT2_VERSION);
}

/* "extensions.worktreeconfig" of libgit2's message, or NULL. */
static char *extension_name(const char *message)
{
    const char *p = strstr(message, "extension");
    const char *dot = p ? strstr(p, "extensions.") : NULL;

    if (!p)
        return NULL;
    p = dot ? dot : p;
    size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.");
    return xstrndup(p, n);
}

static int cannot_open(const char *path, int code, struct error *err)
{
    const git_error *last = git_error_last();
    const char *message = last && last->message ? last->message : "";

    if (code == GIT_EOWNER || strstr(message, "safe.directory") || strstr(message, "safe directory"))
        return not_ours(path, err);
    CLEANUP_FREE char *extension =
        strstr(message, "extension") || strstr(message, "object format") ? extension_name(message) : NULL;
    if (extension || strstr(message, "objectformat") || strstr(message, "repository version")) {
        (void)error_set(err, ERROR_ENVIRONMENT, "repository '%s' needs what libgit2 %s cannot read: %s", path,
                        LIBGIT2_VERSION, message);
        return error_hint(err, "%s",
                          extension && strcasecmp(extension, "extensions.worktreeconfig") == 0
                              ? "name a clone of it instead: `git clone --bare` leaves the extension behind"
                              : "name a clone in the usual format instead");
    }
    if (code == GIT_ENOTFOUND) {
        (void)error_set(err, ERROR_NOT_FOUND, "there is no repository at '%s'%s", path,
                        fs_exists(path) ? " (it is no repository's top directory)" : "");
        return error_hint(err, "clone it there, or change repo: in the matrix");
    }
    return git_failure(err, ERROR_ENVIRONMENT, "cannot open repository '%s'", path);
}

/* The flag lies in the common directory, not in a linked worktree's own. */
static bool is_shallow(git_repository *git)
{
    CLEANUP_FREE char *file = path_join(git_repository_commondir(git), "shallow");
    struct stat st;

    return stat(file, &st) == 0 && st.st_size > 0;
}

static void add_remote(struct repository *r, const char *name, size_t len)
{
    for (size_t i = 0; i < r->remotes.len; i++)
        if (strlen(r->remotes.items[i]) == len && memcmp(r->remotes.items[i], name, len) == 0)
            return;
    vec_push(&r->remotes, xstrndup(name, len));
}

/*
 * The names of remotes, and whether one promised to bring objects later (a partial clone). Each entry is
 * looked at here, since libgit2 1.5 leaks memory when it matches names by regular expressions, as
 * git_remote_list() does.
 */
static void read_remotes(struct repository *r)
{
    git_config *config = NULL;
    git_config_iterator *it = NULL;
    git_config_entry *entry;

    if (git_repository_config_snapshot(&config, r->git) == 0 && git_config_iterator_new(&it, config) == 0) {
        while (git_config_next(&entry, it) == 0) {
            const char *name = entry->name + strlen("remote."), *last = strrchr(entry->name, '.');
            if (strncmp(entry->name, "remote.", 7) != 0 || last < name)
                continue;
            if (strcmp(last, ".url") == 0 || strcmp(last, ".pushurl") == 0 || strcmp(last, ".fetch") == 0)
                add_remote(r, name, (size_t)(last - name));
            if (strcmp(last, ".promisor") == 0 || strcmp(last, ".partialclonefilter") == 0)
                r->partial = r->partial || strcmp(entry->value ? entry->value : "true", "false") != 0;
        }
    }
    git_config_iterator_free(it);
    git_config_free(config);
}

static int open_at(const char *path, git_repository **ret)
{
    git_error_clear();
    return git_repository_open_ext(ret, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
}

int repository_get(struct repositories *all, const char *path, struct repository **ret, struct error *err)
{
    git_repository *git = NULL;
    bool foreign = false;

    for (size_t i = 0; i < all->list.len; i++) {
        if (strcmp(all->list.items[i]->path, path) == 0) {
            *ret = all->list.items[i];
            return 0;
        }
    }
    int code = open_at(path, &git);
    struct error why = ERROR_INIT;
    if (code < 0)
        (void)cannot_open(path, code, &why);
    if (code < 0 && all->any_owner && strstr(why.message, "belongs to")) {
        (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
        code = open_at(path, &git);
        (void)git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1);
        foreign = code == 0;
        if (code < 0)
            (void)cannot_open(path, code, &why);
    }
    if (code < 0) {
        *err = why;
        return -1;
    }
    struct repository *r = xcalloc(1, sizeof(*r));
    *r = (struct repository){
        .path = xstrdup(path), .git = git, .shallow = is_shallow(git), .foreign = foreign};
    read_remotes(r);
    vec_push(&all->list, r);
    *ret = r;
    return 0;
}

int repository_object(struct repository *r, const git_oid *id, git_object_t type, const char *what,
                      git_object **ret, struct error *err)
{
    char hex[GIT_OID_HEXSZ + 1];

    git_error_clear();
    int code = git_object_lookup(ret, r->git, id, type);
    if (code == 0)
        return 0;
    (void)git_oid_tostr(hex, sizeof(hex), id);
    if (code != GIT_ENOTFOUND)
        return git_failure(err, ERROR_ENVIRONMENT, "cannot read %s %s of '%s'", what, hex, r->path);
    if (r->partial) {
        (void)error_set(err, ERROR_NOT_FOUND, "%s %s is missing in a partial clone, '%s'", what, hex,
                        r->path);
        return error_hint(err, "fetch it with: git -C '%s' cat-file -p %s", r->path, hex);
    }
    if (r->shallow) {
        (void)error_set(err, ERROR_NOT_FOUND, "%s %s is missing in a shallow clone, '%s'", what, hex,
                        r->path);
        return error_hint(err, "deepen it with: git -C '%s' fetch --unshallow", r->path);
    }
    (void)error_set(err, ERROR_NOT_FOUND, "'%s' has no %s %s", r->path, what, hex);
    return error_hint(err, "fetch it into that repository; benchctl never does");
}
