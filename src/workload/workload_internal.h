/* SPDX-License-Identifier: MIT */
/* What the files of this module share: limits, tables, and rules for texts. */
#ifndef BENCHCTL_WORKLOAD_INTERNAL_H
#define BENCHCTL_WORKLOAD_INTERNAL_H

#include "benchctl/base/clock.h"
#include "benchctl/workload.h"

#define DAY_NS (86400 * NS_PER_S)
#define LONGEST_NS (30 * DAY_NS)
#define VUS_MAX INT64_C(1000000)
#define RATE_MAX 10000000.0 /* per second */
#define ITERATIONS_MAX INT64_C(1000000000000)
#define WEIGHT_MAX 1000000.0
#define ITEMS_MAX ((size_t)1000) /* requests, phases, stages of one phase */
#define ROWS_FILE_MAX ((size_t)64 << 20)

#define LIST_OF(list) .fields = (list), .field_count = ARRAY_LEN(list)

extern const char *const arrivals_names[];
extern const struct schema workload_stage_schema, workload_think_schema, workload_expect_schema;

/* The value under `key`, or the map itself: where an error about it stands. */
const struct node *workload_at(const struct node *map, const char *key);
/* The node of the key itself, or the map. */
const struct node *workload_key_at(const struct node *map, const char *key);

/* ---- texts (text_rules.c) ---- */

bool workload_is_token(const char *text); /* RFC 9110: names of headers, methods */
int workload_check_regex(const struct node *where, const char *key, const char *text,
                         struct error *err) MUST_CHECK;
int workload_check_method(const struct node *where, const char *method, struct error *err) MUST_CHECK;
int workload_check_path(const struct node *where, const char *path, struct error *err) MUST_CHECK;
int workload_check_headers(const struct text_map *headers, struct error *err) MUST_CHECK;
int workload_check_target(const struct node *where, const char *target, struct error *err) MUST_CHECK;
int workload_check_expect(const struct node *map, const struct workload_expect *e,
                          struct error *err) MUST_CHECK;

/* ---- phases ---- */

/* Keys in k6's spelling, an alternative in the phase's table. */
extern const struct schema workload_phase_k6_schema;
/* The same key in k6's spelling, or NULL. */
const char *workload_k6_spelling(const char *key);
/* Takes over what a phase says in k6's spelling. */
int workload_phase_take_k6(const struct node *n, struct arena *a, struct workload_phase *p,
                           struct error *err) MUST_CHECK;
int workload_phase_check_keys(const struct node *n, const struct workload_phase *p,
                              struct error *err) MUST_CHECK;
/* Value or key of a phase, in either spelling; `n` itself when there is none. */
const struct node *workload_phase_at(const struct node *n, const char *key);
bool workload_phase_has(const struct node *n, const char *key);

/* ---- the whole ---- */

/* Requests, phases and names that follow from others. */
int workload_fill(const struct node *n, struct arena *a, struct workload *w, struct error *err) MUST_CHECK;
int workload_check(const struct node *n, const struct workload *w, struct error *err) MUST_CHECK;

/* Words of other tools, with a hint what stands in their place. */
int workload_check_foreign(const struct node *n, struct error *err) MUST_CHECK;

/* The most VUs that a phase ever has. */
int64_t workload_phase_vus_max(const struct workload_phase *p);

/* ---- templates ---- */

/* Is every {{...}} known? Columns and environment variables are not looked at. *ret_rows: it takes rows. */
int workload_template_check(const char *text, bool *ret_rows, struct error *err) MUST_CHECK;

/* CSV from memory; `name` is for messages. */
int workload_rows_parse(const char *bytes, size_t len, const char *name, struct workload_rows **ret,
                        struct error *err) MUST_CHECK;
/* SIZE_MAX when there is no such column. */
size_t workload_rows_column(const struct workload_rows *r, const char *name, size_t len);
size_t workload_rows_columns(const struct workload_rows *r);
const char *workload_rows_column_name(const struct workload_rows *r, size_t column);
const char *workload_rows_cell(const struct workload_rows *r, size_t row, size_t column, size_t *ret_len);

#endif
