/* SPDX-License-Identifier: MIT */
/*
 * Verbs of the command line. Each verb is one file src/cmd/cmd_NAME.c that defines `const struct command
 * cmd_NAME`; main.c lists them. Only this folder and main.c print: results on stdout, everything else on
 * stderr.
 */
#ifndef BENCHCTL_CMD_H
#define BENCHCTL_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "benchctl/base/error.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

struct command {
    const char *name;
    const char *usage; /* "run MATRIX [options]" */
    const char *help;  /* one line */
    /* argv[0] is the verb. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

enum option_kind {
    OPTION_FLAG,     /* bool * */
    OPTION_TEXT,     /* const char ** */
    OPTION_LIST,     /* struct option_list *: repeatable */
    OPTION_INT,      /* int64_t * */
    OPTION_DURATION, /* int64_t * ns */
};

struct option {
    const char *name; /* without the dashes */
    char letter;      /* 0: none */
    enum option_kind kind;
    void *value;
    const char *argument; /* what --help calls it */
    const char *help;
};

struct option_list {
    const char **items;
    size_t len, cap;
};
void option_list_release(struct option_list *l);

struct operands {
    const char *items[64];
    size_t len;
};

/*
 * Reads options anywhere and `min`..`max` operands ("--" ends the options; --name=value and --name value).
 * Prints --help or a usage error itself: then -1 with *ret_exit set; otherwise 0.
 */
int options_parse(const struct command *c, const struct option *options, size_t count, int argc, char **argv,
                  size_t min, size_t max, struct operands *ret, int *ret_exit);

/* Prints "benchctl: MESSAGE" and "hint: ..." to stderr; returns the kind's exit code. */
int report_error(const struct error *err);

/* Writes a line: `before`, and `text` without control characters that could do something to a terminal. */
void print_plain(FILE *out, const char *before, const char *text);

/* From here on what is noted or warned of goes to stderr as a line of its own. */
void notes_to_stderr(void);

/* Writes text to stdout and says whether all of it got out (a closed pipe or full disk is an error). */
int print_all(const char *text, size_t len, struct error *err) MUST_CHECK;
int print_buffer(const struct strbuf *b); /* the same as an exit code, reporting the error */

/* "table", "json", ...: an index into choices, or -1 after having printed a usage error. */
int format_option(const struct command *c, const char *text, const char *const *choices);

/* An estimate as one says it, in whole seconds: "57 s", "3 min 10 s". Returns buf (>= 32 bytes). */
const char *duration_about(int64_t ns, char *buf);

bool stdout_color(void);  /* a terminal, no NO_COLOR, TERM not dumb */
int terminal_width(void); /* of stdout; 0 when it is none */

extern const struct command cmd_run, cmd_plan, cmd_check, cmd_parity, cmd_resume, cmd_rerun, cmd_report,
    cmd_compare, cmd_bundle, cmd_load, cmd_adapter, cmd_schema, cmd_doctor, cmd_clean, cmd_status, cmd_audit;

#endif
