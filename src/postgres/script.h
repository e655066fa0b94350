/* SPDX-License-Identifier: MIT */
/*
 * An SQL file cut into statements the way psql cuts it, so that files that people load with `psql -f` mean
 * the same here: quotes, dollar quotes, nested comments, parentheses (rules) and BEGIN ATOMIC bodies keep
 * their semicolons. Data that follows COPY ... FROM stdin is handed out on demand (what pg_dump writes).
 * psql's backslash commands are refused, except \restrict and \unrestrict, by which pg_dump forbids them.
 * Bytes in, pieces out; no server, no copies.
 */
#ifndef BENCHCTL_POSTGRES_SCRIPT_H
#define BENCHCTL_POSTGRES_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"

struct script {
    const char *name, *text;
    size_t len;
    size_t at;
    int line;     /* of `at`, from 1 */
    bool escapes; /* the session's standard_conforming_strings is off: backslashes escape in every text; the
                     caller's to set */
};

struct statement {
    const char *text; /* without the semicolon; not NUL-terminated */
    size_t len;
    int line;
};

/* Checks that it is SQL text at all (not an archive of pg_dump, UTF-16, or compressed). */
int script_open(struct script *s, const char *name, const char *text, size_t len,
                struct error *err) MUST_CHECK;

/* *ret_end is true when there is none left. ERROR_INVALID with "NAME:LINE: ...". */
int script_next(struct script *s, struct statement *ret, bool *ret_end, struct error *err) MUST_CHECK;

/* The lines after the statement that was given last, up to "\." or the end of the file. *ret_line is the
 * first's number. */
int script_data(struct script *s, const char **ret, size_t *ret_len, int *ret_line,
                struct error *err) MUST_CHECK;

/* Line of the `position`-th character (from 1, as the server counts) of a statement; 0 gives its first line.
 */
int statement_line(const struct statement *s, int position);

/* The statement's beginning on one line, for messages. */
#define SNIPPET_SIZE 96
void statement_snippet(const struct statement *s, char buf[SNIPPET_SIZE]);

#endif
