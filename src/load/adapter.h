/* SPDX-License-Identifier: MIT */
/*
 * An adapter file once it is read: the structs that the schema table fills, and what is made ready from them
 * (regular expressions, expressions). Everything lives in the adapter's arena and is immutable; only the
 * regexes need freeing.
 */
#ifndef BENCHCTL_LOAD_ADAPTER_H
#define BENCHCTL_LOAD_ADAPTER_H

#include <regex.h>
#include "benchctl/base/expr.h"
#include "benchctl/load.h"
#include "quantity.h"

#define STDOUT_NAME "stdout.txt"
#define STDERR_NAME "stderr.txt"

enum option_type {
    OPTION_TYPE_TEXT,
    OPTION_TYPE_INT,
    OPTION_TYPE_NUMBER,
    OPTION_TYPE_BOOL,
    OPTION_TYPE_DURATION,
    OPTION_TYPE_SIZE,
    OPTION_TYPE_LIST,
    OPTION_TYPE_MAP,
    OPTION_TYPE_ANY /* whatever may be nested: for ${spec}, and checked by who reads that */
};

struct adapter_option {
    const char *name;
    int type; /* enum option_type */
    const char *fallback;
    struct text_list flag, choices;
    bool required, one_line;
    double min, max;
    const char *help;
    struct position at;
};

struct adapter_argument {
    const char *text; /* or, when NULL, args under a condition */
    const char *when, *unless, *each;
    struct text_list args;
    struct position at;
};

struct adapter_version {
    struct text_list args;
    const char *match;
    struct text_map refuse;
    struct position at;
};

enum output_format { FORMAT_JSON, FORMAT_TEXT, FORMAT_CSV, FORMAT_HDRLOG, FORMAT_NDJSON };

/* What the members of a line mean: JSON pointers, and names of metrics. */
struct adapter_stream {
    const char *metric, *time, *value, *group;
    struct text_map where; /* pointer: text */
    int time_unit;         /* enum unit */
    const char *requests, *failed, *dropped, *vus, *latency;
    int latency_unit; /* enum unit */
    bool interpolate;
    struct position at;
};

struct adapter_output {
    const char *name, *file;
    int format; /* enum output_format */
    const char *delimiter;
    bool header;
    struct text_list columns;
    struct text_list skip, redact;       /* JSON pointers */
    int unit;                            /* hdrlog: enum unit of the values counted */
    const struct adapter_stream *stream; /* ndjson */
    int64_t limit_bytes;
    struct position at;
};

struct adapter_file {
    const char *name, *file, *content, *when;
    struct position at;
};

struct adapter_finish {
    struct text_list args;
    const char *into;
    struct position at;
};

/* One way to read a value. Exactly one of json, text, column, expr, histogram, metric. */
struct value_source {
    struct text_list json;
    const char *text, *column, *expr;
    const char *histogram, *tag;      /* hdrlog: what of it, and a regex */
    const char *metric, *group;       /* ndjson: its name, and a regex */
    const char *output;               /* NULL: the report's */
    const char *is;                   /* only such JSON */
    const char *item, *keys, *except; /* members of an object or elements of an array; lines */
    struct text_map where;
    const char *after, *until;
    const char *take;
    bool all, interpolate;
    int unit; /* enum unit */
    double fallback;
    struct position at;
};

struct adapter_check {
    const char *id, *that, *say;
    int level; /* enum check_level */
    struct position at;
};
enum check_level { CHECK_ERROR, CHECK_INVALID, CHECK_NOTE };

/* What options must not contradict. Without `that` the conditions alone are the contradiction. */
struct adapter_rule {
    const char *when, *unless, *that, *say, *hint;
    struct position at;
};

struct count_nodes {
    const struct node *requests, *ok, *failed, *rps, *duration, *received_bytes, *dropped, *offered,
        *connections, *concurrency, *think, *corrected_p99, *lag_p99, *fallbacks;
};
struct latency_nodes {
    const struct node *min, *mean, *stdev, *p50, *p75, *p90, *p95, *p99, *p999, *max;
};

struct adapter_report {
    const char *name, *output;
    struct text_list accept;
    const char *complete;
    bool parse_only, whole;
    const struct node *let, *errors;
    struct count_nodes counts;
    struct latency_nodes latency, service;
    struct text_map texts; /* NAME: JSON pointer */
    const char *measured_if, *latency_if;
    struct text_list required;
    struct schema_list checks; /* struct adapter_check */
    struct position at;
};

struct exit_meaning {
    struct text_list accept;
    struct text_map meaning;
    struct position at;
};

enum load_model { MODEL_UNKNOWN, MODEL_CLOSED, MODEL_OPEN };
enum corrected { CORRECTED_UNKNOWN, CORRECTED_YES, CORRECTED_NO };

/* The file as a whole. */
struct adapter_form {
    int64_t format;
    const char *help, *program, *package, *url;
    int model, corrected; /* enum load_model, enum corrected */
    const char *open_when, *corrected_when, *uncorrected_when;
    struct text_list closed_when;
    struct adapter_version version;
    struct schema_list options; /* struct adapter_option */
    struct schema_list rules;   /* struct adapter_rule */
    struct schema_list args;    /* struct adapter_argument */
    struct text_map env;
    struct schema_list files;     /* struct adapter_file */
    struct adapter_finish finish; /* no args: none */
    struct schema_list outputs;   /* struct adapter_output */
    struct schema_list reports;   /* struct adapter_report */
    struct exit_meaning exit;
};

extern const struct schema value_schema, report_schema, stream_schema;
extern const char *const option_type_names[];

/* ---- made ready ---- */

/* A regular expression and the literal text without which it cannot match (NULL: none known). */
struct pattern {
    regex_t regex;
    bool compiled;
    const char *text, *literal;
};

/* What `take` says: which of several numbers, or what is made of them. */
enum take {
    TAKE_FIRST,
    TAKE_LAST,
    TAKE_COUNT,
    TAKE_SUM,
    TAKE_MIN,
    TAKE_MAX,
    TAKE_MEAN,
    TAKE_STDEV,
    TAKE_QUANTILE
};

/* One alternative, ready to use. */
struct source {
    const struct value_source *form;
    const struct adapter_output *output; /* NULL for expr */
    struct pattern *text, *keys, *except, *after, *until, *tag, *group;
    struct pattern **where; /* per pair of form->where */
    const struct expr *expr;
    enum take take;
    double quantile; /* 0..1 */
};

/* A named value: its alternatives, the first that yields a number wins. */
struct value {
    const char *name; /* "requests", "latency.p50", "errors.connect", or a `let` */
    const struct source *sources;
    size_t source_count;
    struct position at;
};

struct check {
    const struct adapter_check *form;
    const struct expr *that;
};

struct report {
    const struct adapter_report *form;
    const struct adapter_output *output;
    struct pattern **accept_lines; /* text: per item of form->accept; else NULL */
    struct pattern *complete;
    const struct expr *measured_if, *latency_if;
    const struct value *values;
    size_t value_count;
    const struct check *checks;
    size_t check_count;
};

struct rule {
    const struct adapter_rule *form;
    const struct expr *that; /* NULL: none */
};

struct load_adapter {
    char *name, *file;
    bool own; /* its program is benchctl itself */
    struct arena *arena;
    const struct node *root; /* the file as written */
    struct adapter_form form;
    struct report *reports;
    size_t report_count;
    struct rule *rules;
    size_t rule_count;
    struct pattern *version_match, **version_refuse;
    VEC(struct pattern *) patterns; /* all, for freeing */
};

/* report.c: makes `form->reports` ready. */
int load_reports_prepare(struct load_adapter *a, struct error *err) MUST_CHECK;

/* pattern.c */
int pattern_new(struct load_adapter *a, const char *text, struct position at, struct pattern **ret,
                struct error *err) MUST_CHECK;
/* Matches one line (no newline in it). Group 1 (or the whole match without a group) goes to ret_start and
 * ret_end if given. */
bool pattern_match(const struct pattern *p, const char *line, size_t len, size_t *ret_start, size_t *ret_end);

const struct adapter_option *load_option_find(const struct load_adapter *a, const char *name);
const struct adapter_output *load_output_find(const struct load_adapter *a, const char *name);

#define form_each(T, var, list)                                                                              \
    for (const T *var = (list)->items; var && var < (const T *)(list)->items + (list)->len; var++)

#endif
