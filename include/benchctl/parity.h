/* SPDX-License-Identifier: MIT */
/*
 * Proves that sources which must be the same are the same (libgit2): trees of commits compared by path, kind,
 * mode class and blob id, or the named string constants of sources compared by name, value and order. With
 * PARITY_FOLDERS the working files below folders are read as they are. Never fetches, never writes.
 */
#ifndef BENCHCTL_PARITY_H
#define BENCHCTL_PARITY_H

#include <stdbool.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/json.h"
#include "benchctl/settings.h"

struct parity_difference {
    const char *path; /* file, or constant name */
    const char *what; /* readable: "missing in springboot/imperative-synth", "content differs: 1f3a… / 9c0b…
                         (line ends only)" */
    bool warning;     /* mode only */
};

struct parity_member_result {
    const char *repo, *ref, *full_ref, *commit, *path; /* commit: 40 or 64 hex digits */
    const char *tag;                                   /* tag object id of an annotated tag, or NULL */
    const char *object;                                /* tree or blob id of the path */
    const char *folder; /* of working files, or NULL; then `commit` is HEAD's, NULL outside of repositories */
    bool changed;       /* with folder: the files are not those of that commit */
    bool shallow;
    size_t files;
};

struct parity_check_result {
    const char *name;
    enum compare_mode compare;
    bool ok;
    const char *error; /* NULL, or why it could not be compared (also not ok) */
    bool unavailable;  /* with error: a repository, ref or object is not there or cannot be read; without it
                          the  sources are there and not what they must be (a missing path, an empty tree) */
    size_t compared;   /* files or constants */
    struct parity_member_result *members;
    size_t member_count;
    struct parity_difference *differences;
    size_t difference_count;
    const char *note; /* "compared without content (partial clone)", ... or NULL */
};

struct parity_result {
    bool ok;
    bool broken, unavailable; /* some check failed; some check could not be tried. Neither: ok */
    struct parity_check_result *checks;
    size_t check_count;
};

struct parity_options {
    bool any_owner; /* read repositories that belong to somebody else (noted in the result) */
};

/* Everything goes into `a`. -1 only when nothing could be tried; a check that fails or cannot run is in the
 * result. When a check's error is a missing repository or ref its text says what would provide it. */
int parity_run(const struct parity_settings *s, const struct parity_options *options, struct arena *a,
               struct parity_result *ret, struct error *err) MUST_CHECK;

struct json *parity_to_json(const struct parity_result *r);

/* ---- constants ---- */

/* One file; the language follows from the path's extension (Java, Kotlin, Scala, Groovy, C#, Go, JavaScript,
 * TypeScript, Python), and is not known for others. */
struct parity_source {
    const char *path, *text;
    size_t len;
};
bool parity_source_known(const char *path);

/* A named string constant with its value: concatenations, other constants, text blocks, escapes and templates
 * folded. */
struct source_constant {
    const char *name, *value; /* value: NUL-terminated; NULL when there is a problem */
    size_t value_len;
    const char *file;
    int line;
    const char *problem; /* NULL, or why the value is not constant */
};

/*
 * The constants of sources that belong together (they may refer to each other), in the order of sources and
 * lines, whose name matches the glob (NULL: all). A string that is not constant is in the list, with its
 * problem. Never fails on content; -1 past a size limit.
 */
int parity_scan_constants(const struct parity_source *sources, size_t count, const char *name_glob,
                          struct arena *a, struct source_constant **ret, size_t *ret_len,
                          struct error *err) MUST_CHECK;

#endif
