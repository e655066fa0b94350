/* SPDX-License-Identifier: MIT */
/*
 * The one error rule of the whole project.
 *
 * A function that can fail returns int: 0, or -1 with `err` filled. `err` is the last parameter, is never
 * touched on success, and must not be NULL. Results go out through `ret_` pointers that are written only on
 * success. A caller that knows more adds it in front with error_wrap(); nobody replaces what is there.
 *
 * Text: lower case, no full stop, what is wrong first, the subject in single quotes. What to do about it goes
 * into the hint. The buffers live in the caller's struct, so reporting an error cannot fail.
 *
 * Bugs of our own assert(); only the world's failures are errors. Out of memory aborts (mem.h).
 */
#ifndef BENCHCTL_BASE_ERROR_H
#define BENCHCTL_BASE_ERROR_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

/* What went wrong, as far as a caller or the exit code cares. The table in error.c gives each its exit code.
 */
enum error_kind {
    ERROR_NONE = 0,
    ERROR_USAGE,       /* the command line is off */
    ERROR_INVALID,     /* a matrix, adapter, bundle or other input is not what it must be */
    ERROR_ENVIRONMENT, /* the machine cannot do it: no engine, image, database, generator, disk */
    ERROR_PARITY,      /* sources that must be the same differ */
    ERROR_TRIAL,       /* a trial failed for a reason that is not a finding */
    ERROR_NOT_FOUND,   /* the engine, repository or file system has no such thing */
    ERROR_CONFLICT,    /* the engine says that somebody holds it (HTTP 409) */
    ERROR_TIMEOUT,     /* a deadline passed */
    ERROR_INTERRUPTED, /* a signal asked for the end */
    ERROR_KINDS        /* how many there are */
};

struct error {
    enum error_kind kind;
    int code;           /* the wire's own number where there is one (HTTP status, errno), else 0 */
    char message[4096]; /* one line unless a log tail belongs to it */
    char hint[1024];    /* empty when there is none */
};

#define ERROR_INIT                                                                                           \
    {                                                                                                        \
        0                                                                                                    \
    }

/* Fills `err` and returns -1, so that `return error_set(...)` reads as what it does. Clears an older hint. */
int error_set(struct error *err, enum error_kind kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The same with ": STRERROR" of `errnum` appended and kept as the code. */
int error_errno(struct error *err, enum error_kind kind, int errnum, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* Puts "PREFIX: " before the message that is there, keeps kind, code and hint; returns -1. */
int error_wrap(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Sets the hint (what the reader can do about it); returns -1. */
int error_hint(struct error *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The exit code that the contract gives a kind: 2 usage and input, 3 environment, 4 parity, 130 interrupted,
 * else 1. */
int error_exit_code(enum error_kind kind);

/* The kind's name as records spell it, for instance "environment". Static storage. */
const char *error_kind_name(enum error_kind kind);

#endif
