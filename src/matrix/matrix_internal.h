/* SPDX-License-Identifier: MIT */
/* What the steps of reading a matrix share. */
#ifndef BENCHCTL_MATRIX_INTERNAL_H
#define BENCHCTL_MATRIX_INTERNAL_H

#include "benchctl/base/interpolate.h"
#include "benchctl/base/name_index.h"
#include "benchctl/matrix.h"

#define MATRIX_MAX_AXES 64

/* The top level as matrix_schema reads it. */
struct matrix_file {
    int64_t version;
    const char *name, *title;
    const struct node *vars, *axes, *zip, *exclude, *include, *overrides, *contrasts;
    int64_t trials;
    struct order_settings {
        enum order_mode mode;
        int64_t seed;
    } order;
    struct host_settings host;
    const struct parity_settings *parity;
    struct notify_settings notify;
    const struct canary_settings *canary;
    const struct controls_settings *controls;
};

/* A matrix being read, step by step. */
struct builder {
    struct matrix *m;
    const struct matrix_options *options;
    struct matrix_file file;
    const struct node *top; /* root with vars and env filled in, but for settings and what overrides set */
    struct name_index
        *value_index;       /* per axis: text → index, values that includes bring after the listed ones */
    const char *missing[4]; /* required keys that are not there: said last */
    size_t missing_count;
    struct error first;
    size_t problems;
};

/* Somebody found a problem: 0 to go on, -1 to stop. */
int builder_problem(struct builder *b, const struct error *err);

/* The steps, in order. -1 stops; problems found on the way are told to builder_problem(). */
int builder_apply_sets(struct builder *b, struct error *err);
int builder_read_vars(struct builder *b, struct error *err);
int builder_read_top(struct builder *b, struct error *err);
int builder_read_axes(struct builder *b, struct error *err);
int builder_read_zip(struct builder *b, struct error *err);
int builder_read_contrasts(struct builder *b, struct error *err);
int builder_read_includes(struct builder *b, struct error *err);
int builder_read_excludes(struct builder *b, struct error *err);
int builder_read_overrides(struct builder *b, struct error *err);
int builder_read_base(struct builder *b, struct error *err);

/* The index of an axis by its name; axis_count when there is none. */
size_t builder_find_axis(const struct builder *b, const char *name);

/* The same; -1 with a suggestion when there is none. */
int builder_axis(const struct builder *b, const struct node *key, const char *rule, size_t *ret,
                 struct error *err);

/* The text that a value goes by: a scalar's own, a structured one's `name`. */
int axis_value_text(const struct node *n, const char *axis, const char **ret, struct error *err);

/* search.c: fills the values of axis `x`, which is written as the map `n`. */
int builder_read_search(struct builder *b, struct axis *x, const struct node *n, struct error *err);

/* The top-level keys that belong to the matrix, not to a scenario, as they are before anything runs. */
int builder_fill_key(struct builder *b, const char *key, const struct node *value, const struct node **ret,
                     struct error *err);
/* canary.c: the same of `canary`, but for what it sets. */
int builder_fill_canary(struct builder *b, const struct node *map, const struct node **ret,
                        struct error *err);

/* rules.c: is `set` a map of settings? `who` sets them: "overrides". */
int rule_set(const struct node *set, const char *who, struct error *err) MUST_CHECK;

extern const struct schema canary_schema, controls_schema;

/* Is this key one of the settings, so that overrides may set it? */
bool is_settings_key(const char *key);
bool is_matrix_key(const char *key);

struct container_use {
    const char *container; /* "app", "database" or a service */
    bool port;             /* it must have one */
    struct position at;
};

/*
 * What `${...}` means. `combination` is NULL while the matrix is being read. Lookups go to the kinds of names
 * that are allowed where the text stands.
 */
struct names {
    const struct matrix *m;
    const struct matrix_combination *combination;
    bool run_time;                  /* app.host and the like stay */
    bool numbers;                   /* load.ok and the like stay */
    VEC(struct container_use) uses; /* containers that references need */
};
enum lookup_result names_lookup(const char *name, struct strbuf *out, void *data, struct error *err);

/* The list or map that a lone reference `${axis.field}` stands for; NULL when it is something else. */
const struct node *names_structure(const struct names *names, const char *text);

/* Copies a tree with its references replaced; parts without any are shared. */
struct filling {
    struct arena *a;
    struct names names;
    bool final;         /* nobody fills in again: "$${" becomes "${" */
    struct strbuf text; /* scratch */
    size_t bytes;       /* filled in so far */
    struct position at; /* of the scalar being filled */
    /* Gets what is wrong, and that text stays as it is; NULL: the first one ends it. */
    void (*report)(const struct error *err, void *data);
    void *data;
    bool failed; /* something was reported */
};
int fill_tree(struct filling *f, const struct node *n, const struct node **ret, struct error *err) MUST_CHECK;
void filling_release(struct filling *f);

/* Replaces only references that stand for lists and maps, so that overrides can be merged into these. */
const struct node *fill_structures(struct filling *f, const struct node *n);

/* adapters.c: settings with the load's section for the adapter that is chosen merged in, the others gone. */
int matrix_choose_adapter(struct arena *a, const struct node *tree, const struct node **ret,
                          struct error *err) MUST_CHECK;

/* workload.c: what the built-in generator is asked for, once the load section is read. */
int workload_of_load(const struct node *load, const char *dir, struct arena *a, struct load_settings *l,
                     struct error *err) MUST_CHECK;

/* Puts the position of `n` before a message that has none yet; kind and hint stay. Returns -1. */
int fill_place_error(const struct node *n, struct error *err);

#endif
