/* SPDX-License-Identifier: MIT */
/* How `benchctl adapter` shows what it knows. */
#ifndef BENCHCTL_CMD_ADAPTER_PRINT_H
#define BENCHCTL_CMD_ADAPTER_PRINT_H

#include "benchctl/load.h"
#include "benchctl/sample.h"

/* One adapter as text: what it is, its options, its call. `j` is load_adapter_to_json(). */
void adapter_print_form(const struct json *j, struct strbuf *out);

/* A result as lines "name  value", and what is remarkable about it. */
void adapter_print_result(const struct load_result *r, const struct load_problems *p, struct strbuf *out);
struct json *adapter_result_json(const struct load_result *r, const struct load_problems *p);

void adapter_print_metrics(const struct metric_value *values, size_t count, struct strbuf *out);
struct json *adapter_metrics_json(const struct metric_value *values, size_t count);

#endif
