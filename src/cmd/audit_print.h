/* SPDX-License-Identifier: MIT */
/* Of `benchctl audit`: results and the table of rules, for people and for programs. */
#ifndef BENCHCTL_AUDIT_PRINT_H
#define BENCHCTL_AUDIT_PRINT_H

#include "benchctl/validity.h"
#include "cmd.h"

enum audit_style { AUDIT_TABLE, AUDIT_JSON, AUDIT_MARKDOWN };

void audit_print(const struct audit *r, const char *file, enum audit_style style, struct strbuf *out);
void audit_print_rules(enum audit_style style, struct strbuf *out);

#endif
