/* SPDX-License-Identifier: MIT */
/*
 * The recorded text of a trial's scrapes: the bodies one after the other, each behind a comment line that
 * says when it was taken and how many bytes it has, so that nothing in a body can pass for one. Read again it
 * gives the same values.
 */
#ifndef BENCHCTL_SAMPLE_RECORD_H
#define BENCHCTL_SAMPLE_RECORD_H

#include "benchctl/sample.h"

enum record_kind { RECORD_SCRAPE, RECORD_FAILED, RECORD_WINDOW, RECORD_RESTARTED };

struct record {
    enum record_kind kind;
    double at_ms, wall_ms; /* NAN: not known */
    int status;
    const char *body; /* of a scrape; within the text */
    size_t len;
    char type[128];   /* content type of a scrape; "" unknown */
    char reason[256]; /* why it failed */
};

/* Appends the line and, for a scrape, its body. */
void record_write(const struct record *r, struct strbuf *out);

/* The next record at *at, which moves past it; false at the end. A text that does not begin with such a line
 * is one scrape as a whole. */
bool record_next(const char *text, size_t len, size_t *at, struct record *ret);

#endif
