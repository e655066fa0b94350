/* SPDX-License-Identifier: MIT */
/* One side of a check: what a ref's commit, or a folder, holds below a path. */
#ifndef BENCHCTL_PARITY_MEMBER_H
#define BENCHCTL_PARITY_MEMBER_H

#include "repository.h"

enum entry_kind { ENTRY_FILE, ENTRY_LINK, ENTRY_SUBMODULE };

/* A file, link or pinned submodule. Paths are relative to the member's path; a member that is one file has
 * its base name. */
struct entry {
    const char *path;
    enum entry_kind kind;
    bool executable;
    git_oid id; /* blob, or the submodule's commit */
};

struct member {
    const struct parity_member *settings;
    struct repository *repository;
    struct revision revision;
    git_oid object;
    const char *folder;            /* of working files; NULL: a commit is read */
    git_oid root;                  /* folders: the tree that is compared */
    bool changed;                  /* folders: not the same as in HEAD, whose commit `revision` has */
    const char *skipped, *outside; /* folders: files that git would ignore; links that lead out. Or NULL */
    const char *label;             /* what messages call it: the ref, with the path where refs are the same */
    struct entry *entries;         /* sorted by path */
    size_t len;
};

/* Reads everything below the path, without what the globs ignore. ERROR_PARITY when the path is missing or
 * nothing is left. */
int member_read(struct member *m, const struct text_list *ignore, struct arena *a,
                struct error *err) MUST_CHECK;

const struct entry *member_find(const struct member *m, const char *path);

/* The bytes of an entry's blob; the caller frees. */
int member_blob(const struct member *m, const struct entry *e, git_blob **ret, struct error *err) MUST_CHECK;

/* What the comparisons add to. */
struct findings {
    struct arena *arena;
    VEC(struct parity_difference) list;
    size_t compared;
    bool without_content; /* blobs that a hint would need were not there */
    const char *left_out; /* constants: what is not constant and was not asked for by name, or NULL */
};
void finding(struct findings *f, bool warning, const char *path, const char *fmt, ...) PRINTF_LIKE(4, 5);

void compare_blobs(const struct member *members, size_t count, struct findings *f);
/* The member's files in known languages, with their text. */
int member_sources(const struct member *m, struct arena *a, struct parity_source **ret, size_t *ret_len,
                   struct error *err) MUST_CHECK;
int compare_bindings(const struct member *members, size_t count, struct findings *f,
                     struct error *err) MUST_CHECK;
int compare_constants(const struct member *members, size_t count, struct findings *f,
                      struct error *err) MUST_CHECK;

/* A value on one line, about `at`, escaped and cut: for messages. */
const char *shown_part(const char *bytes, size_t len, size_t at, struct arena *a);

#endif
