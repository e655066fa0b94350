/* SPDX-License-Identifier: MIT */
/*
 * Files below one directory, and nowhere else: every part of a path is opened by itself and no link is ever
 * followed, whatever the paths are and whatever has been put there before.
 */
#ifndef BENCHCTL_RERUN_PLACE_H
#define BENCHCTL_RERUN_PLACE_H

#include "benchctl/rerun.h"

struct place {
    int fd; /* the top */
    const char *root;
};

/* A directory below the top, relative paths start there: "bench" or "". */
struct spot {
    const struct place *place;
    const char *base;
};

int place_open(const char *root, struct place *ret, struct error *err) MUST_CHECK; /* makes it */
void place_close(struct place *p);

/* Makes the directory, and those that lead to it; a ".." leads no higher than the top. */
int place_dir(const struct spot *s, const char *path, struct error *err) MUST_CHECK;
/* What is there already must be the same. */
struct placed_file {
    const char *path;
    const struct strbuf *content;
    bool executable;
    bool replace; /* instead of what is there */
};
int place_file(const struct spot *s, const struct placed_file *f, struct error *err) MUST_CHECK;
int place_link(const struct spot *s, const char *path, const char *target, struct error *err) MUST_CHECK;
/* Does a link at `path` below some directory stay below that directory? Only if all its ".." come first:
 * behind another link a ".." leads to nobody knows where. */
bool link_stays(const char *path, const char *target);

#endif
