/* SPDX-License-Identifier: MIT */
/* Rules that the settings tables share: what a text must look like to mean something. */
#ifndef BENCHCTL_SETTINGS_RULES_H
#define BENCHCTL_SETTINGS_RULES_H

#include "benchctl/settings.h"

#define CPU_COUNT_MAX 8192
#define BUILTIN_ADAPTER "builtin"           /* the generator of our own */
#define MEMORY_MIN_BYTES (INT64_C(6) << 20) /* what engines take at least */
#define LIST_OF(FIELDS) .fields = (FIELDS), .field_count = ARRAY_LEN(FIELDS)

/* The value under `key` for a message's position; the map itself when it is not there. */
const struct node *rule_at(const struct node *n, const char *key);

/* Letters, digits, `_` and `-`, beginning with a letter or digit: names of services, adapters. */
int rule_name(const struct node *n, const char *what, const char *text, struct error *err) MUST_CHECK;
int rule_regex(const struct node *n, const char *key, const char *text, struct error *err) MUST_CHECK;
int rule_cpuset(const struct node *n, const char *text, struct error *err) MUST_CHECK;
int rule_http_path(const struct node *n, const char *key, const char *text, struct error *err) MUST_CHECK;
int rule_memory(const struct node *n, int64_t bytes, struct error *err) MUST_CHECK;
int rule_image(const struct node *n, const char *text, struct error *err) MUST_CHECK;

/* "NAME OPERATOR NUMBER"; without the name when `with_name` is false. */
int rule_expectation(const struct node *n, const char *text, bool with_name, struct error *err) MUST_CHECK;

/* What holds for any container: image, limits, environment, mounts. */
int rule_container(const struct node *n, const struct container_settings *c, struct error *err) MUST_CHECK;
/* A command as a list of words, without secrets in it. */
int rule_words(const struct node *n, const char *key, struct error *err) MUST_CHECK;

/* Names of roles and sections that a service cannot have. */
int rule_service_name(const struct node *n, const char *name, struct error *err) MUST_CHECK;

extern const struct schema app_schema, service_schema, database_service_schema;
extern const struct schema build_schema, ready_schema, liveness_schema, startup_schema, metrics_schema;
extern const struct schema database_schema, load_schema, cooldown_schema, build_measurement_schema;
extern const char *const if_missing_names[];

#endif
