/* SPDX-License-Identifier: MIT */
/* What the searches of a sweep have found, one line each, for `run`, `resume` and `plan`. */
#ifndef BENCHCTL_CMD_SEARCH_PRINT_H
#define BENCHCTL_CMD_SEARCH_PRINT_H

#include "benchctl/bundle.h"
#include "benchctl/plan.h"

/* "micronaut/jvm: smallest memory that is ok: 144m (128m: crashed: ...)", from the sweep's trials; nothing
 * for a plan without a search. */
void search_findings(const struct plan *p, const struct sweep *sweep, struct strbuf *out);

/* Was the trial a try that did not pass, for which no gate can be held against the sweep? */
bool search_expects_failure(const struct plan *p, const struct trial *t);

/* "memory 64m..1g by 16m until ok" as the matrix has it; nothing without a search. */
void search_text(const struct matrix *m, struct strbuf *out);

#endif
