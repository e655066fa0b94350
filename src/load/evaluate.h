/* SPDX-License-Identifier: MIT */
/* The values of one report, read when first asked for. */
#ifndef BENCHCTL_LOAD_EVALUATE_H
#define BENCHCTL_LOAD_EVALUATE_H

#include "document.h"

enum value_state { VALUE_UNREAD, VALUE_READING, VALUE_KNOWN };

struct evaluation {
    const struct load_adapter *adapter;
    const struct report *report;
    struct document *documents; /* the report's own first */
    size_t document_count;
    const struct load_call *call; /* what was asked for, or NULL */
    struct arena *arena;
    double *numbers; /* one per value of the report */
    enum value_state *states;
    bool *non_numbers; /* something stood there that is no number */
    bool failed;       /* error holds why */
    struct error error;
};

/* The value by name, `option.NAME` or `asked.duration`; NAN when it is not measured. After a failure, look at
 * `failed`. */
double evaluation_number(const char *name, void *evaluation);

/* What `texts` says of it: text as it is, anything else as JSON; NULL: nothing there. In the arena. */
const char *evaluation_text(const char *name, const struct evaluation *e);

/* -1 with the evaluation's error when one occurred. */
int evaluation_check(const struct evaluation *e, struct error *err) MUST_CHECK;

/* Was anything? */
bool evaluation_measured(struct evaluation *e);

/* ret_result from the values. */
int evaluation_fill(struct evaluation *e, struct load_result *ret, struct error *err) MUST_CHECK;

#endif
