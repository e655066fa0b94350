/* SPDX-License-Identifier: MIT */
/*
 * The same remark about several trials, told once: with the lowest and the highest of each number in it, and
 * with the trials of which it is true.
 */
#ifndef BENCHCTL_REPORT_REMARKS_H
#define BENCHCTL_REPORT_REMARKS_H

#include "report_internal.h"
#include "wording.h"

enum {
    TRIALS_NAMED = 8,
    ALL_MIN = 4,        /* fewer are named one by one */
    WORDINGS_SHOWN = 3, /* of one rule; what is beyond is counted */
};

struct remark {
    const char *label; /* "WARN V18 host-quiet: ", or "" */
    struct wording wording;
    double least, most; /* how often in a trial; NAN: not counted */
    double first_ms;    /* the earliest moment; NAN: no moments */
    size_t trials;
    const struct trial *last, *worst; /* worst: of those of which it is true */
    struct strbuf names;
    const char *last_scenario;
    enum tone tone;
    size_t order; /* what stands first: the least */
    size_t group; /* of those with the same label, if it is a rule's */
    size_t at;    /* in the order of their coming */
};

struct remarks {
    struct report *r;
    struct name_index index, groups;
    VEC(struct remark) items;
    size_t more;
};

/* What is said of one trial. Texts must stay. */
struct said {
    const char *label, *message;
    bool by_rule; /* those with this label stand together, the worst first, and only some of them */
    size_t order; /* of the line: the least first */
    enum tone tone;
    double count, at_ms; /* NAN: none */
};

void remark_on(struct remarks *all, const struct trial *t, const struct said *s);
/* As lines of it, and releases them; `s` may be NULL when there are none. */
void add_remarks(struct remarks *all, struct section *s);
/* As a section, if there are any; releases them. NULL: there were none. */
struct section *write_remarks(struct remarks *all, const char *heading);

#endif
