/* SPDX-License-Identifier: MIT */
/* What the files of this module share. */
#ifndef BENCHCTL_BUNDLE_INTERNAL_H
#define BENCHCTL_BUNDLE_INTERNAL_H

#include "benchctl/base/arena.h"
#include "benchctl/base/hash.h"
#include "benchctl/bundle.h"

#define MANIFEST_FILE "manifest.json"
#define SEAL_FILE "seal.json"
#define TRIAL_FILE "trial.json"
#define TRIALS_DIR "trials"
#define JOURNAL_MAX ((size_t)256 << 20)
#define TRIAL_FILE_MAX ((size_t)64 << 20)
#define INFO_FILE_MAX ((size_t)256 << 20)

/* --- journal.c --- */

struct journal {
    char *path;
    int fd;
    int64_t end; /* where the next line goes */
    uint64_t seq;
    bool torn; /* behind the end lies a part of a line that did not fit */
};
void journal_release(struct journal *j);
int journal_create(const char *path, struct journal *ret, struct error *err) MUST_CHECK;
/* Moves what is not intact to DIR/journal.damaged-N and says so in *ret_moved (bytes). */
int journal_open(const char *path, void (*line)(const struct json *record, void *data), void *data,
                 struct journal *ret, int64_t *ret_moved, struct error *err) MUST_CHECK;
int journal_append(struct journal *j, const char *event, const struct json *fields, bool sync,
                   struct error *err) MUST_CHECK;

/* --- seals.c: which trials the journal says are sealed --- */

struct seal {
    char *scenario, *digest;
    int trial;
    char sha256[SHA256_HEX_SIZE]; /* of trial.json */
    bool conflict;                /* sealed twice with different results */
    bool void_;                   /* does not count: begun again, or not what was sealed */
    bool begun_again;
    bool has_outcome; /* the record names one that is known */
    enum outcome outcome;
    size_t order;
};
struct seals {
    void *tree;               /* by scenario and trial */
    VEC(struct seal *) order; /* as sealed; may hold void ones */
    size_t count;             /* how many sealings there were */
    bool complete;            /* the last word of the journal is that the sweep ended */
};
void seals_release(struct seals *s);
void seals_apply(const struct json *record, void *seals); /* a journal_scan() callback */
struct seal *seals_find(const struct seals *s, const char *scenario, int trial);

/* --- proof.c: trial.json as the seal of a trial's directory --- */

/* {name: {size, sha256}} of every file below `dir` but trial.json; with `sync` each is put onto the disk. */
int proof_files(const char *dir, bool sync, struct json **ret, struct error *err) MUST_CHECK;
/* Does the text of trial.json belong to this trial and list exactly the files that are in `dir`? */
bool proof_holds(const char *dir, const struct json *trial, const char *scenario, int number);
/* trials/SCENARIO/N/trial.json: "SCENARIO" and N from a name below trials/; false when it is something else.
 */
bool proof_parse_name(const char *name, char **ret_scenario, int *ret_trial);

int hash_file(const char *path, int64_t *ret_size, char hex[SHA256_HEX_SIZE], bool sync,
              struct error *err) MUST_CHECK;

/* --- manifest.c --- */

struct manifest_member {
    const char *name;
    int64_t size;
    char sha256[SHA256_HEX_SIZE];
};
struct manifest {
    VEC(struct manifest_member) members; /* sorted by name */
    struct arena *arena;                 /* names */
    int schema;
    int64_t bytes;
};
void manifest_init(struct manifest *m);
void manifest_release(struct manifest *m);
void manifest_format(const struct manifest *m, struct strbuf *out);
int manifest_parse(const char *text, size_t len, struct manifest *ret, struct error *err) MUST_CHECK;
void seal_format(const struct manifest *m, const char *manifest_sha256, struct strbuf *out);
int seal_check(const struct manifest *m, const char *manifest_sha256, const char *text, size_t len,
               struct error *err) MUST_CHECK;
/* A member's name: printable ASCII, a valid path, none of the reserved two. */
bool member_name_ok(const char *name);
/* A container image's blob is named by its own hash: ERROR_INVALID when the member has another. */
int member_check_blob(const struct manifest_member *m, struct error *err) MUST_CHECK;
/* A member's name with what it cannot hold as %XX. */
void member_name_from(const char *relative, struct strbuf *out);

/* --- reader.c: a bundle, member by member, checked --- */

struct bundle_reader;
int bundle_reader_open(const char *path, struct bundle_reader **ret, struct error *err) MUST_CHECK;
int bundle_reader_open_memory(const void *bytes, size_t len, struct bundle_reader **ret,
                              struct error *err) MUST_CHECK;
void bundle_reader_free(struct bundle_reader *b);
DEFINE_CLEANUP(struct bundle_reader *, bundle_reader_free);
const struct manifest *bundle_reader_manifest(const struct bundle_reader *b);
const char *bundle_reader_manifest_text(const struct bundle_reader *b, size_t *ret_len);
/* 1 with the next member in the manifest's order, 0 when all were there and the seal fits, -1. What was not
 * read of the one before is read and checked. */
int bundle_reader_next(struct bundle_reader *b, const struct manifest_member **ret,
                       struct error *err) MUST_CHECK;
/* The current member's bytes appended to out, checked. */
int bundle_reader_take(struct bundle_reader *b, size_t max, struct strbuf *out, struct error *err) MUST_CHECK;
/* The current member into a target directory, checked. */
int bundle_reader_extract(struct bundle_reader *b, struct archive_target *t, struct error *err) MUST_CHECK;

#endif
