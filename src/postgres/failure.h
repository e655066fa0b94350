/* SPDX-License-Identifier: MIT */
/*
 * What libpq and the server say when something fails, read into what it means: is it worth trying again, and
 * one clean line for people. Pure text work.
 */
#ifndef BENCHCTL_POSTGRES_FAILURE_H
#define BENCHCTL_POSTGRES_FAILURE_H

#include <stdbool.h>
#include <stddef.h>
#include "benchctl/base/error.h"

#define SQLSTATE_SIZE 6

struct connect_failure {
    char sqlstate[SQLSTATE_SIZE]; /* "" when the server did not say */
    bool not_yet;                 /* refused, reset, starting up: may go away by itself */
    char text[1024];              /* one line, with the SQLSTATE in parentheses */
};

/*
 * Reads the text of a connection that failed, written with PQERRORS_VERBOSE (the only way in which libpq
 * gives the SQLSTATE of a refused connection). `connecting`: it failed before a byte was exchanged.
 */
void connect_failure_read(const char *libpq_text, bool connecting, struct connect_failure *ret);

/* The kind of error that an SQLSTATE means to us; `otherwise` for those that say nothing about the server's
 * state. */
enum error_kind sqlstate_kind(const char *sqlstate, enum error_kind otherwise);

/* Copies `text` as one line: LOCATION lines and advice after a tab go, newlines become blanks. */
void one_line(const char *text, char *out, size_t size);

#endif
