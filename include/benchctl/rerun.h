/* SPDX-License-Identifier: MIT */
/*
 * A bundle that is to run again on another machine: what it brings (inputs.json), its files laid out so that
 * the matrix finds them, what it asks for that not everybody's bundle may have, and how that machine differs
 * from this one. Reads and writes files and decides nothing about engines: images, plans and the run itself
 * are the caller's matter.
 *
 * A bundle is not trusted: no path of it leaves the directory that its files are laid out in, no link is
 * followed, and what it wants of this machine is listed before anything of it runs.
 */
#ifndef BENCHCTL_RERUN_H
#define BENCHCTL_RERUN_H

#include "benchctl/archive.h"
#include "benchctl/base/arena.h"
#include "benchctl/base/json.h"
#include "benchctl/settings.h"

/* --- inputs.json: what the matrix refers to, and what it read --- */

#define RERUN_INPUTS_FILE "inputs.json"
#define RERUN_INPUTS_SCHEMA 1

struct rerun_input {
    const char
        *path; /* relative to the matrix, as it was written or as digests have it; may begin with ../ */
    const char *name; /* below inputs/ */
    bool is_dir;      /* a tar */
};
struct rerun_adapter {
    const char *kind, *name; /* "load" or "metrics"; as the matrix calls it */
    const char *file;        /* below inputs/ */
    bool shipped;            /* it came with benchctl, not from its user */
};
struct rerun_inputs {
    const char *matrix; /* where the matrix lies below the top of all inputs: "bench/m.yaml" */
    struct rerun_input *inputs;
    size_t input_count;
    struct rerun_adapter *adapters;
    size_t adapter_count;
    struct text_map env;      /* environment variables that the matrix read, with their values */
    struct text_list secrets; /* names of those whose values were not kept */
};

struct json *rerun_inputs_json(const struct rerun_inputs *in);
/* Texts go into `a`. ERROR_INVALID for what benchctl would not have written. */
int rerun_inputs_read(const struct json *j, struct arena *a, struct rerun_inputs *ret,
                      struct error *err) MUST_CHECK;

/* How many directories above the one it starts in a relative path comes to at most: 1 for "a/../../b". */
size_t rerun_path_height(const char *path);

/* --- the files, laid out --- */

struct rerun_tree {
    char *root;   /* absolute */
    char *matrix; /* below it */
    /* symbolic links that lead out of the directory that they came in: "PATH -> TARGET" */
    VEC(char *) leaving;
};
struct rerun_restore {
    const struct rerun_inputs *inputs;
    const char *bundle; /* the extracted bundle: matrix.yaml and inputs/ are there */
    const char *root;   /* to be made */
};
/*
 * Lays everything out below `root`, so that the matrix' relative paths lead to what they led to when the
 * bundle was made. Adapters that are not benchctl's own go to adapters/ beside the matrix. Links that leave
 * are only told of, not made. Names two things at one place: ERROR_INVALID. On failure `root` is removed.
 */
int rerun_restore(const struct rerun_restore *r, struct rerun_tree *ret, struct error *err) MUST_CHECK;
void rerun_tree_release(struct rerun_tree *t); /* leaves the files */

/* --- what it asks for --- */

/* Why a bundle is not run without the word of somebody who knows it: one clause each, each once. */
struct rerun_reasons {
    VEC(char *) items;
};
void rerun_reasons_release(struct rerun_reasons *r);
void rerun_reason(struct rerun_reasons *r, const char *fmt, ...) PRINTF_LIKE(2, 3);

struct rerun_asked {
    const char *scenario, *root; /* id; the restored tree */
    const struct settings *settings;
    bool generator_here; /* the load adapter starts a program on this machine that is not benchctl itself */
};
/*
 * Over resolved settings, not over text. Asked for and told: bind mounts; host networking; a database server
 * that is there already; load against anything but the sweep's own containers; a program on this machine with
 * a script, an environment or options that may name files; files outside of the restored tree.
 */
void rerun_ask(const struct rerun_asked *a, struct rerun_reasons *ret);
/* Does that target lead to a container of the sweep, whatever its reference becomes? */
bool rerun_target_is_own(const char *target);

/* --- the machine --- */

struct rerun_fact {
    const char *what, *then, *now; /* NULL: not known on that side */
};
struct rerun_environment {
    VEC(struct rerun_fact) same, differs;
};
/*
 * Two sweep.json, or what is known of one before it ran: `host`, `engine`, `generators`, `benchctl` and
 * versions, member by member whatever there is. What changes by itself (load, temperatures, ids, times) is
 * left out. Texts go into `a`.
 */
void rerun_environment(const struct json *then, const struct json *now, struct arena *a,
                       struct rerun_environment *ret);
void rerun_environment_release(struct rerun_environment *e);
void rerun_environment_text(const struct rerun_environment *e, struct strbuf *out);
struct json *rerun_environment_json(const struct rerun_environment *e);

#endif
