/* SPDX-License-Identifier: MIT */
/*
 * The matrix file: bytes → tree (base/tree.h) → checked, immutable struct matrix. Says what a person wrote;
 * what follows from it (scenarios, order) is plan.h's matter. Nothing here touches engine, database or
 * network; `check` of referenced files is matrix_check_files().
 */
#ifndef BENCHCTL_MATRIX_H
#define BENCHCTL_MATRIX_H

#include "benchctl/settings.h"

/* `memory: 256m` or `runtime: {name: jvm, tag: jvm}`: the value's text is its name. */
struct axis_value {
    const char *text;          /* as written; of a structured value its `name` */
    const struct node *fields; /* NODE_MAP or NULL */
    struct position at;
};
/*
 * `memory: {search: {from: 64m, to: 1g, step: 16m, until: ok}}`: of this axis' values only those are run that
 * the search for the smallest one that will do asks for. The values are the whole grid, smallest first: from,
 * from + step, ..., and `to` at the end, as text in the shortest form (64m, 80m, ..., 1g).
 */
struct axis_search {
    int64_t from_bytes, to_bytes, step_bytes;
    unsigned until; /* a bit 1 << enum outcome for each outcome with which a trial passes */
    struct position at;
};
#define MATRIX_MAX_CANDIDATES 1024 /* sizes of a search */

struct axis {
    const char *name;
    struct axis_value *values;
    size_t len;
    struct position at;
    const struct axis_search *search; /* NULL: every value is run */
};

/* A rule's condition: axis index and the values (indexes) that match. */
struct condition_term {
    size_t axis;
    const uint32_t *values;
    size_t len;
};
struct condition {
    struct condition_term *terms; /* all must match; none: always */
    size_t len;
    struct position at;
};
struct override_rule {
    struct condition when;
    const struct node *set;
};
struct include_rule {
    const char **values;      /* one text per axis, in axis order; may be new values */
    const struct node *extra; /* NODE_MAP of variables beyond the axes, or NULL */
    const struct node *item;  /* the item itself: values with fields are found here */
    struct position at;
};

struct host_settings {
    double max_load;
    struct text_list require;
    enum on_problem on_violation;
};
struct notify_settings {
    const char *webhook;
    struct text_list on;
};

/* `canary: {every: 10}`: one scenario repeated through the sweep, to see what the host does meanwhile. */
struct canary_settings {
    int64_t every;          /* trials between two of its own */
    const char *scenario;   /* id; NULL: the plan chooses */
    const char *band_text;  /* as written */
    double band;            /* a share; NAN: as the canaries' own spread says */
    const char *metric;     /* a recorded name of a trial */
    const struct node *set; /* merged into the scenario's settings, or NULL */
    struct position at;
};

/* `controls: {aa: true, handicap: {cpus: half}}`: twins of one scenario, in every round. */
struct handicap_settings {
    const char *cpus_text; /* as written */
    double cpus;           /* NAN: half of what the scenario has */
    struct position at;
};
struct controls_settings {
    bool aa;                                  /* a twin alike in everything */
    const struct handicap_settings *handicap; /* one that is slower on purpose; NULL: none */
    const char *scenario;                     /* id; NULL: the first */
    struct position at;
};

/* `contrasts: ["stack within framework, memory"]`: the values of one axis, compared while all others are
 * equal. */
struct contrast {
    const char *text; /* as written */
    size_t axis;
    size_t by; /* "stack x memory": does what stack makes of it change with memory? SIZE_MAX: not asked */
};

struct matrix {
    const char *file, *dir; /* as given; the directory that relative paths are relative to (absolute) */
    const char *name, *title;
    const struct node *root; /* the whole tree after --set */
    const struct node *vars; /* NODE_MAP or NULL */
    struct axis *axes;
    size_t axis_count;
    struct schema_list zip; /* struct zip_group */
    struct condition *excludes;
    size_t exclude_count;
    struct include_rule *includes;
    size_t include_count;
    struct override_rule *overrides;
    size_t override_count;
    int64_t trials, seed, retry;
    enum order_mode order;
    struct host_settings host;
    struct notify_settings notify;
    const struct parity_settings *parity; /* interpolated with vars and env; NULL when absent */
    const struct node *base;    /* the settings part of the tree (app, services, database, load, ...) */
    struct text_list services;  /* names of all services, in base and overrides, for ${...} */
    bool has_structures;        /* some axis value has a field that is a list or map */
    struct text_list extras;    /* names of all variables that includes bring, for ${...} */
    const struct text_map *env; /* as in matrix_options */
    struct arena *arena;
    const struct canary_settings *canary;     /* NULL: none */
    const struct controls_settings *controls; /* NULL: none */
    struct contrast *contrasts;
    size_t contrast_count;
};

struct zip_group {
    const size_t *axes;
    size_t len;
};

struct matrix_options {
    const char *const *sets; /* "path.to.key=VALUE" (VALUE is YAML), applied before checking */
    size_t set_count;
    int64_t trials; /* 0: as the matrix says */
    int64_t seed;   /* SCHEMA_ABSENT: as the matrix says */
    /* Gets every independent problem instead of stopping at the first one; the result is still -1, `err` the
     * first. */
    void (*report)(const struct error *err, void *data);
    void *report_data;
    /* What `${env:NAME}` finds, and nothing else; must outlive the matrix. NULL: the process' environment. */
    const struct text_map *env;
};

/* `options` may be NULL. ERROR_INVALID for what is wrong in the file, ERROR_USAGE for a file that cannot be
 * read. */
int matrix_parse(const char *bytes, size_t len, const char *file, const struct matrix_options *options,
                 struct matrix **ret, struct error *err) MUST_CHECK;
int matrix_read(const char *path, const struct matrix_options *options, struct matrix **ret,
                struct error *err) MUST_CHECK;
void matrix_free(struct matrix *m);
DEFINE_CLEANUP(struct matrix *, matrix_free);

/* The top-level table, for `benchctl schema` and docs/matrix.md. */
extern const struct schema matrix_schema;

/* The index of the axis that is searched: at most one. axis_count when there is none. */
size_t matrix_searched(const struct matrix *m);

/* How the axis calls a value that somebody writes as `text`: on a searched axis a size has its shortest form
 * (1024m is 1g); `buf` may hold it. */
#define AXIS_NAME_SIZE 32
const char *axis_value_name(const struct axis *x, const char *text, char buf[AXIS_NAME_SIZE]);

/*
 * Settings of one combination: base + matching overrides, `${...}` filled in, read by settings_schema into
 * `a`. `values` holds, per axis, the axis value; `extra` an include's variables or NULL; `overrides` says
 * which apply.
 *
 * Names: an axis (its value's text) and its fields (`${runtime.tag}`), an include's variables, vars,
 * `${env:NAME}`. A value that is nothing but a reference to a field that is a list or map becomes that list
 * or map. Run-time names, `${secret:NAME}` and `$${` stay: the conductor's interpolate() has the last word.
 * In `checks` and `expect` the trial's own numbers (`${load.ok}`) stay too. Anything else is an error with
 * its position. Relative paths become absolute. Subtrees without references are shared with the matrix, which
 * must outlive `ret`.
 */
struct matrix_combination {
    const struct axis_value *const *values; /* axis_count of them */
    const struct node *extra;
    const bool *overrides; /* override_count flags: which apply; NULL when there are none */
    void (*report)(const struct error *err, void *data); /* as in matrix_options; may be NULL */
    void *report_data;
    const struct node *set; /* merged after all overrides (the canary's), or NULL */
};
int matrix_resolve(const struct matrix *m, const struct matrix_combination *c, struct arena *a,
                   struct settings *ret, const struct node **ret_tree, struct error *err) MUST_CHECK;

/*
 * What can be told of the settings without any combination: unknown keys, values that are none, whatever
 * needs no axis. For a matrix that has no scenarios because something else is wrong; otherwise
 * matrix_resolve() of each scenario finds more. A matrix that cannot be read is looked at by itself.
 */
void matrix_check_settings(const struct matrix *m, void (*report)(const struct error *err, void *data),
                           void *data);

/*
 * Of a load section what `benchctl load --spec` takes: without the keys that are the conductor's own, and
 * with `request_timeout` under the name that it has there. References and relative paths stay as they are.
 */
const struct node *matrix_workload_tree(const struct node *load, struct arena *a);

/* The leading phases with `warmup: true`, which are made before the measurement, or all others; their start
 * times count from the begin of that part. No phases: there are none of the kind. Borrows the rest of `w`. */
void matrix_workload_part(const struct workload *w, bool warmup, struct arena *a, struct workload *ret);

/* Every file the settings name (schemas, scripts, contexts, Dockerfiles) exists and can be read. */
int matrix_check_files(const struct matrix *m, const struct settings *s, struct error *err) MUST_CHECK;

/* Calls visit(path, data) for each input file and directory that a scenario refers to (absolute paths). */
int matrix_each_input(const struct matrix *m, const struct settings *s,
                      int (*visit)(const char *path, void *data, struct error *err), void *data,
                      struct error *err) MUST_CHECK;

#endif
