/* SPDX-License-Identifier: MIT */
/*
 * How scenarios fare as memory gets less: where an axis is the application's memory limit, one curve for each
 * combination of the other axes, and the smallest limit from which on every trial was ok.
 */
#ifndef BENCHCTL_REPORT_MEMORY_CURVE_H
#define BENCHCTL_REPORT_MEMORY_CURVE_H

#include "report_internal.h"

struct curve_point {
    const char *limit; /* as the matrix has it */
    double bytes;      /* INFINITY: unlimited */
    const struct cell *cell;
    size_t decided, ok; /* decided: trials that say something about the application; ok: those that pass */
    const char *cause;  /* "memory: oom", "not memory: connection-limit"; NULL: none failed */
};

struct curve {
    struct curve_point *points; /* smallest limit first; only those with trials */
    size_t len;
    size_t viable;      /* the point from which on all are ok; len: none */
    size_t failing;     /* the largest below it that is not; len: none */
    size_t stray;       /* the largest below the cliff that is ok nevertheless; len: none */
    const char *words;  /* "between 128m and 144m", "everything ok down to 64m", "none up to 1g" */
    const char *broken; /* why it is not monotone; NULL: it is */
};

struct memory_curves {
    size_t axis;
    bool searched;         /* its values were probes of a search */
    bool passes[OUTCOMES]; /* what is enough: "ok", or what the search was told */
    VEC(struct curve) items;
};

/* Is this size one that a search of the plan would run only if it asks for it? */
bool search_candidate(const struct report *r, const char *axis, const char *value);

/* False when no axis is a memory limit with at least two values in one combination. Texts go into the arena.
 */
bool memory_curves_of(const struct report *r, struct memory_curves *ret);
void memory_curves_release(struct memory_curves *m);

bool point_ok(const struct curve_point *p); /* every trial that says something */
/* "flask, async": the values of the other axes; "" where there are none. */
const char *curve_name(const struct report *r, const struct memory_curves *m, const struct curve *c);

/* memory_cause.c: why trials of this limit failed, when the curve's cliff is known; NULL: none did. */
const char *memory_cause(const struct report *r, const struct memory_curves *m, const struct curve *c,
                         size_t point);
bool cause_is_memory(const char *cause); /* or there is none */
/* Of the largest limit that failed; NULL: none did. */
const char *curve_cause(const struct curve *c);

/* memory_tables.c; html_memory.c */
void list_memory(struct report *r);
void html_memory(const struct report *r, struct strbuf *out);
const char *memory_curve_member(size_t i); /* a figure of each point; NULL: no more */
struct json *memory_curves_json(const struct report *r);

#endif
