/* SPDX-License-Identifier: MIT */
/* What .dockerignore says. */
#ifndef BENCHCTL_ARCHIVE_IGNORE_H
#define BENCHCTL_ARCHIVE_IGNORE_H

#include <stdbool.h>
#include "benchctl/base/mem.h"

struct ignore;
/* Never fails: every text means something. */
struct ignore *ignore_parse(const char *text, size_t len);
void ignore_free(struct ignore *g);
DEFINE_CLEANUP(struct ignore *, ignore_free);

/* Is `path` (relative, no leading or trailing slash) left out? The last rule that matches it or a parent
 * decides. */
bool ignore_matches(const struct ignore *g, const char *path);
/* Are there `!` rules, so that something below a directory that is left out may be in? */
bool ignore_has_exceptions(const struct ignore *g);

#endif
