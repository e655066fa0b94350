/* SPDX-License-Identifier: MIT */
/*
 * A sweep's results as tables. Knows results and numbers only, never an engine or a database: a bundle must
 * re-report on a machine with neither. report_build() decides everything; renderers print what is there.
 */
#ifndef BENCHCTL_REPORT_H
#define BENCHCTL_REPORT_H

#include "benchctl/bundle.h"
#include "benchctl/stats.h"

/* Beside the axes' own names: the figures, wherever an axis may stand. */
#define REPORT_FIGURE "figure"

/* What is read of the files beside the trials' records; a bundle's are unpacked all the same. */
enum report_reads {
    REPORT_READS_ALL,
    REPORT_READS_HISTOGRAMS, /* without courses and events of trials, which only HTML shows */
    REPORT_READS_RECORDS     /* without merged percentiles, too: for formats that have trials alone */
};

/*
 * How the results are laid out. Every axis, and the figures, are in one of three places: rows, columns, or
 * (named in neither) tables of their own, one per combination. With no options the axes are the rows and the
 * figures the columns. `cols` alone puts all other axes into the rows: a table per figure. `rows` with
 * REPORT_FIGURE in it has a row per figure, and needs `cols`.
 */
struct report_options {
    const char *const *rows; /* axis names */
    size_t row_count;
    const char *cols; /* one axis name, or NULL */
    /* names of trial.json, or what such a name ends with ("p90"), "phases.NAME.FIGURE" and
     * "requests.NAME.FIGURE" of parts of the load; none: the main ones */
    const char *const *figures;
    size_t figure_count;
    int width;  /* of the terminal; 0: unlimited */
    bool color; /* on a terminal */
    enum report_reads reads;
    bool validity; /* every rule with its verdicts on a terminal, too */
};

enum report_format {
    REPORT_TABLE,
    REPORT_MARKDOWN,
    REPORT_CSV,
    REPORT_JSON,
    REPORT_HTML,
    REPORT_TIDY,
    REPORT_JUNIT,
    REPORT_OPENMETRICS,
    REPORT_FORMATS
};
int report_format_parse(const char *text, enum report_format *ret); /* -1: unknown */
enum report_reads report_format_reads(enum report_format f);        /* that it needs */

struct report;
/* `s` must stay; ERROR_USAGE for an unknown axis or figure and for a layout of too many tables. */
int report_build(const struct sweep *s, const struct report_options *o, struct report **ret,
                 struct error *err) MUST_CHECK;
void report_free(struct report *r);
DEFINE_CLEANUP(struct report *, report_free);

/* What REPORT_JSON gives, as a JSON Schema (draft 2020-12); the caller frees. */
struct json *report_json_schema(const char *id);

/* Only tables and documents are laid out by the options; formats for programs always have every scenario and
 * figure. Check out->overflow. */
void report_render(const struct report *r, enum report_format f, struct strbuf *out);

#endif
