/* SPDX-License-Identifier: MIT */
/* Repositories as parity reads them: opened once each, never searched for, never written to. */
#ifndef BENCHCTL_PARITY_REPOSITORY_H
#define BENCHCTL_PARITY_REPOSITORY_H

#include <git2.h>
#include "benchctl/base/mem.h"
#include "benchctl/parity.h"

struct repository {
    char *path;
    git_repository *git;
    VEC(char *) remotes;            /* names of those that are configured */
    bool shallow, partial, foreign; /* foreign: belongs to somebody else, read nevertheless */
};

/* Opened repositories of one run. */
struct repositories {
    VEC(struct repository *) list;
    struct repository *memory; /* in the list: where working files are kept; NULL: none were read */
    bool any_owner;
};

/* Borrowed. ERROR_NOT_FOUND and ERROR_ENVIRONMENT with a hint what would help. */
int repository_get(struct repositories *all, const char *path, struct repository **ret,
                   struct error *err) MUST_CHECK;
void repositories_release(struct repositories *all);

/* What a ref means. */
struct revision {
    const char *full_ref, *commit, *tag; /* tag NULL unless annotated */
    git_oid id;
};
/*
 * A branch, a tag, a branch of the one configured remote that has it, a full ref name, HEAD or a full commit
 * id, in this order; never an expression. Several meanings are an error that lists them.
 */
int revision_find(struct repository *r, const char *ref, struct arena *a, struct revision *ret,
                  struct error *err) MUST_CHECK;

/* An object by id; a missing one says why (shallow, partial) and what would bring it. The caller frees. */
int repository_object(struct repository *r, const git_oid *id, git_object_t type, const char *what,
                      git_object **ret, struct error *err) MUST_CHECK;

/* "1f3a2b4c": the first digits, for messages. buf >= 12. */
const char *short_id(const git_oid *id, char *buf);

/* Fills err with libgit2's own last message behind ours; returns -1. */
int git_failure(struct error *err, enum error_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

#endif
