/* SPDX-License-Identifier: MIT */
/* What a ref means, by full names in a stated order. */
#include "repository.h"

#include <ctype.h>
#include <string.h>
#include "benchctl/base/strbuf.h"

#define MAX_HITS ((size_t)64)

struct hits {
    char *names[MAX_HITS];
    size_t len;
};

static void hits_release(struct hits *h)
{
    for (size_t i = 0; i < h->len; i++)
        free(h->names[i]);
}

/* Adds a full name if there is such a ref. */
static void try_name(struct repository *r, char *name, struct hits *h)
{
    git_reference *ref = NULL;
    int valid = 0;

    if (h->len < MAX_HITS && git_reference_name_is_valid(&valid, name) == 0 && valid &&
        git_reference_lookup(&ref, r->git, name) == 0)
        h->names[h->len++] = TAKE(name);
    git_reference_free(ref);
    free(name);
}

static void try_remotes(struct repository *r, const char *ref, bool prefixed, struct hits *h)
{
    for (size_t i = 0; i < r->remotes.len; i++) {
        const char *remote = r->remotes.items[i];
        size_t n = strlen(remote);
        if (!prefixed)
            try_name(r, xasprintf("refs/remotes/%s/%s", remote, ref), h);
        else if (strncmp(ref, remote, n) == 0 && ref[n] == '/')
            try_name(r, xasprintf("refs/remotes/%s", ref), h);
    }
}

/* Local names first; remote branches only when there is none. */
static void find_names(struct repository *r, const char *ref, struct hits *h)
{
    if (strncmp(ref, "refs/", 5) == 0) {
        try_name(r, xstrdup(ref), h);
        return;
    }
    try_name(r, xasprintf("refs/heads/%s", ref), h);
    try_name(r, xasprintf("refs/tags/%s", ref), h);
    try_remotes(r, ref, true, h);
    if (!h->len)
        try_remotes(r, ref, false, h);
}

static bool is_id(const char *ref)
{
    size_t n = strlen(ref);

    return (n == 40 || n == 64) && strspn(ref, "0123456789abcdefABCDEF") == n;
}

/* ---- when there is none ---- */

static int ambiguous(const struct hits *h, const char *ref, struct error *err)
{
    CLEANUP_VALUE(strbuf_release) struct strbuf all = STRBUF_INIT;

    for (size_t i = 0; i < h->len; i++)
        strbuf_addf(&all, "%s%s", i ? ", " : "", h->names[i]);
    (void)error_set(err, ERROR_INVALID, "ref '%s' means several things: %s", ref, strbuf_text(&all));
    return error_hint(err, "write one of these full names");
}

/* "HEAD~1" and the like are not read, but what they would mean can be said. */
static int expression(struct repository *r, const char *ref, struct error *err)
{
    CLEANUP(arena_free) struct arena *a = arena_new();
    const char *base = arena_strndup(a, ref, strcspn(ref, "~^"));
    git_commit *commit = NULL;
    struct error ignored = ERROR_INIT;
    struct revision v;
    char hex[GIT_OID_HEXSZ + 1] = "";
    bool there = false;

    if (*base && strcspn(base, "@:") == strlen(base) && revision_find(r, base, a, &v, &ignored) == 0 &&
        git_commit_lookup(&commit, r->git, &v.id) == 0) {
        const git_oid *parent = git_commit_parent_id(commit, 0);
        git_object *object = NULL;
        if (parent)
            (void)git_oid_tostr(hex, sizeof(hex), parent);
        there = parent && git_object_lookup(&object, r->git, parent, GIT_OBJECT_COMMIT) == 0;
        git_object_free(object);
    }
    git_commit_free(commit);
    (void)error_set(err, ERROR_INVALID, "ref '%s' is an expression; only names and full commit ids are read",
                    ref);
    if (*hex && !there && r->shallow) {
        (void)error_set(
            err, ERROR_NOT_FOUND,
            "ref '%s' is an expression, and the commit before '%s', %s, is missing in a shallow clone, '%s'",
            ref, base, hex, r->path);
        return error_hint(err, "deepen it with: git -C '%s' fetch --unshallow; then write the full id",
                          r->path);
    }
    return error_hint(err, "`git -C '%s' rev-parse '%s'` gives the id", r->path, ref);
}

static const char *nearest_branch(struct repository *r, const char *ref, struct arena *a)
{
    git_reference_iterator *it = NULL;
    VEC(const char *) names = {0};
    const char *name, *near = NULL;

    if (git_reference_iterator_new(&it, r->git) == 0)
        while (names.len < 5000 && git_reference_next_name(&name, it) == 0)
            if (strncmp(name, "refs/heads/", 11) == 0 || strncmp(name, "refs/tags/", 10) == 0)
                vec_push(&names, arena_strdup(a, strchr(name + 5, '/') + 1));
    git_reference_iterator_free(it);
    near = nearest_name(ref, names.items, names.len);
    vec_release(&names);
    return near;
}

static int not_found(struct repository *r, const char *ref, struct arena *a, struct error *err)
{
    const char *near;

    if (strpbrk(ref, "~^:") || strstr(ref, "@{"))
        return expression(r, ref, err);
    size_t n = strlen(ref);
    if (n >= 7 && n < 40 && strspn(ref, "0123456789abcdef") == n)
        (void)error_set(err, ERROR_NOT_FOUND, "'%s' has no branch or tag '%s'; a commit id must be whole",
                        r->path, ref);
    else
        (void)error_set(err, ERROR_NOT_FOUND, "'%s' has no branch, tag or remote branch '%s'%s", r->path, ref,
                        r->shallow ? " (it is a shallow clone)" : "");
    near = nearest_branch(r, ref, a);
    if (near)
        return error_hint(err, "did you mean '%s'?", near);
    return error_hint(err, "fetch it: git -C '%s' fetch origin '%s:%s'; benchctl never does", r->path, ref,
                      ref);
}

/* ---- to a commit ---- */

/* Through tags of tags to the commit; the first tag object is remembered. */
static int peel(struct repository *r, const char *ref, git_oid id, struct arena *a, struct revision *ret,
                struct error *err)
{
    git_object *object = NULL;
    char hex[GIT_OID_HEXSZ + 1];

    ret->tag = NULL;
    for (int depth = 0; depth < 100; depth++) {
        if (repository_object(r, &id, GIT_OBJECT_ANY, "object", &object, err) < 0)
            return error_wrap(err, "ref '%s'", ref);
        git_object_t type = git_object_type(object);
        if (type == GIT_OBJECT_TAG) {
            if (!ret->tag)
                ret->tag = arena_strdup(a, git_oid_tostr(hex, sizeof(hex), &id));
            id = *git_tag_target_id((git_tag *)object);
        }
        git_object_free(object);
        if (type == GIT_OBJECT_COMMIT) {
            ret->id = id;
            ret->commit = arena_strdup(a, git_oid_tostr(hex, sizeof(hex), &id));
            return 0;
        }
        if (type != GIT_OBJECT_TAG) {
            (void)error_set(err, ERROR_INVALID, "ref '%s' (%s) points to a %s, not to a commit", ref,
                            ret->full_ref, git_object_type2string(type));
            return error_hint(err, "name a branch, a commit, or a tag of a commit");
        }
    }
    return error_set(err, ERROR_INVALID, "ref '%s' is a tag of a tag without end", ref);
}

static int find_head(struct repository *r, git_oid *ret_id, const char **ret_name, struct arena *a,
                     struct error *err)
{
    git_reference *head = NULL;
    int code = git_repository_head(&head, r->git);

    if (code == GIT_EUNBORNBRANCH || code == GIT_ENOTFOUND)
        return error_set(err, ERROR_NOT_FOUND, "'%s' has no commit yet", r->path);
    if (code < 0)
        return git_failure(err, ERROR_ENVIRONMENT, "cannot read HEAD of '%s'", r->path);
    *ret_id = *git_reference_target(head);
    *ret_name = arena_strdup(a, git_reference_name(head));
    git_reference_free(head);
    return 0;
}

static int find_named(struct repository *r, const char *ref, git_oid *ret_id, const char **ret_name,
                      struct arena *a, struct error *err)
{
    CLEANUP_VALUE(hits_release) struct hits h = {.len = 0};
    git_reference *found = NULL, *direct = NULL;

    find_names(r, ref, &h);
    if (h.len > 1)
        return ambiguous(&h, ref, err);
    if (!h.len && is_id(ref)) {
        *ret_name = ref;
        if (git_oid_fromstrn(ret_id, ref, strlen(ref) > GIT_OID_HEXSZ ? GIT_OID_HEXSZ : strlen(ref)) < 0 ||
            strlen(ref) > GIT_OID_HEXSZ)
            return error_set(err, ERROR_ENVIRONMENT, "libgit2 %s does not read ids of 64 digits: '%s'",
                             LIBGIT2_VERSION, ref);
        return 0;
    }
    if (!h.len)
        return not_found(r, ref, a, err);
    if (git_reference_lookup(&found, r->git, h.names[0]) < 0 || git_reference_resolve(&direct, found) < 0) {
        git_reference_free(found);
        return git_failure(err, ERROR_NOT_FOUND, "ref '%s' of '%s' leads nowhere", h.names[0], r->path);
    }
    *ret_id = *git_reference_target(direct);
    *ret_name = arena_strdup(a, h.names[0]);
    git_reference_free(found);
    git_reference_free(direct);
    return 0;
}

int revision_find(struct repository *r, const char *ref, struct arena *a, struct revision *ret,
                  struct error *err)
{
    git_oid id;

    *ret = (struct revision){0};
    if (strcmp(ref, "HEAD") == 0 ? find_head(r, &id, &ret->full_ref, a, err) < 0
                                 : find_named(r, ref, &id, &ret->full_ref, a, err) < 0)
        return -1;
    return peel(r, ref, id, a, ret, err);
}
