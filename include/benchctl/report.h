/* SPDX-License-Identifier: MIT */
/*
 * A sweep's results as tables. Knows results and numbers only, never an engine or a database: a bundle must
 * re-report on a machine with neither. report_build() decides everything; renderers print what is there.
 */
#ifndef BENCHCTL_REPORT_H
#define BENCHCTL_REPORT_H

#include "benchctl/bundle.h"
#include "benchctl/stats.h"

struct report_options {
    const char *const *rows; /* axis names; none: all but the columns' axis */
    size_t row_count;
    const char *cols; /* axis whose values become columns of the pivot tables, or NULL */
    int width;        /* terminal width; 0: unlimited */
    bool color;
};

enum report_format { REPORT_TABLE, REPORT_MARKDOWN, REPORT_CSV, REPORT_JSON, REPORT_HTML };
int report_format_parse(const char *text, enum report_format *ret); /* -1: unknown */

struct report;
int report_build(const struct sweep *s, const struct report_options *o, struct report **ret,
                 struct error *err) MUST_CHECK;
void report_free(struct report *r);
DEFINE_CLEANUP(struct report *, report_free);

void report_render(const struct report *r, enum report_format f, struct strbuf *out);

#endif
