/* SPDX-License-Identifier: MIT */
/* Working files in the place of a commit's tree: read into a repository in memory, as git would store them.
 */
#ifndef BENCHCTL_PARITY_FOLDER_H
#define BENCHCTL_PARITY_FOLDER_H

#include "member.h"

/*
 * Reads what the member's path names below `repo`/ref, and fills its repository (of `all`, in memory), root,
 * object, revision and folder. Nothing is written to disk, and no filter is applied: ids are those of the
 * bytes. ERROR_NOT_FOUND without the folder, ERROR_PARITY without the path in it; ERROR_INVALID and
 * ERROR_ENVIRONMENT for what is not a source or cannot be read.
 */
int folder_read(struct member *m, struct repositories *all, const char *repo, struct arena *a,
                struct error *err) MUST_CHECK;

#endif
