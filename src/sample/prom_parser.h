/* SPDX-License-Identifier: MIT */
/* The inside of prom_parse(), for the two files that make it. */
#ifndef BENCHCTL_SAMPLE_PROM_PARSER_H
#define BENCHCTL_SAMPLE_PROM_PARSER_H

#include "benchctl/sample.h"

/* Open addressing over an array: slots hold index + 1. */
struct prom_table {
    uint32_t *slots;
    size_t mask;
};

struct prom_parser {
    struct arena *a;
    struct prom_scrape *out;
    struct prom_table series, families;
    bool *has_help, *has_type; /* by family */
    bool eof;
    size_t unknown_escapes; /* in this line */
    struct prom_label labels[PROM_MAX_LABELS];
};

static inline char *prom_skip_blanks(char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/*
 * One line, NAME[{LABELS}] VALUE [TIMESTAMP] [# {EXEMPLAR}], read in place: names and values are ended by NUL
 * bytes written over separators that have been read, and escapes only ever shrink a value. The labels stand
 * in p->labels, sorted. False when it is no sample; `ret` and the line are then spoilt.
 */
bool prom_parse_sample(struct prom_parser *p, char *line, struct prom_sample *ret);

#endif
