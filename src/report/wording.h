/* SPDX-License-Identifier: MIT */
/*
 * Sentences that differ only in their numbers, as one: with the lowest and the highest of each. What somebody
 * else said in them (in quotes, behind "the first:", a process's id) is nobody's range: it stays as the first
 * of the sentences has it.
 */
#ifndef BENCHCTL_REPORT_WORDING_H
#define BENCHCTL_REPORT_WORDING_H

#include "benchctl/base/arena.h"
#include "benchctl/base/strbuf.h"

enum { NUMBERS_MAX = 16 }; /* of one sentence: what comes behind stays as it is */

struct number {
    double low, high;
    const char *low_text, *high_text;
    bool several; /* the word behind it has an s in one of them: "2 restarts" */
};

struct wording {
    const char *message; /* the first */
    const char *form;    /* what those that are told as one have in common: '#' for each number */
    struct number numbers[NUMBERS_MAX];
};

/* Into the arena; `message` must stay. */
struct wording wording_of(const char *message, struct arena *a);
/* `seen` has the same form. */
void wording_widen(struct wording *w, const struct wording *seen);
/* The first message with its numbers as ranges: "2–14 times", "-1676 to -1090". */
void wording_add(const struct wording *w, struct strbuf *out);

#endif
