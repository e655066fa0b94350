/* SPDX-License-Identifier: MIT */
/* What `benchctl load` shows: a line that lives on a terminal, and its results as text. */
#ifndef BENCHCTL_CMD_LOAD_PRINT_H
#define BENCHCTL_CMD_LOAD_PRINT_H

#include "benchctl/generator.h"
#include "cmd.h"

struct load_line {
    bool live; /* stderr is a terminal, and nobody said --quiet */
    bool drawn;
    double at_s; /* end of the last second */
};

void load_line_open(struct load_line *l, bool quiet);
void load_line_draw(const struct generator_second *s, void *data); /* data: the line */
void load_line_close(struct load_line *l);

/* report.json's content for people. */
void load_print(const struct json *report, struct strbuf *out);

#endif
