/* SPDX-License-Identifier: MIT */
/*
 * Where a sweep lives: the run directory while it runs (journal, trials), and the bundle that it becomes.
 * Reads both behind one interface, so that a report does not care. Never trusts what it reads.
 */
#ifndef BENCHCTL_BUNDLE_H
#define BENCHCTL_BUNDLE_H

#include "benchctl/archive.h"
#include "benchctl/base/fs.h"
#include "benchctl/trial.h"

#define BUNDLE_SCHEMA 1

/* --- the run directory
 * -------------------------------------------------------------------------------------------- */

struct rundir;

/* Makes the directory (it must not exist, or be empty; an existing sweep: ERROR_INVALID with a hint at
 * `resume`) and an empty journal, and locks it (one benchctl at a time). */
int rundir_create(const char *path, struct rundir **ret, struct error *err) MUST_CHECK;
/* Opens an existing one for going on: reads the journal, moves a damaged tail aside. */
int rundir_open(const char *path, struct rundir **ret, struct error *err) MUST_CHECK;
void rundir_close(struct rundir *r);
DEFINE_CLEANUP(struct rundir *, rundir_close);

const char *rundir_path(const struct rundir *r); /* absolute */

/* One line {"seq","at","event",...,"sum"}; takes `fields` over. `sync` at trial boundaries. A full disk is
 * ERROR_ENVIRONMENT. */
int rundir_journal(struct rundir *r, const char *event, struct json *fields, bool sync,
                   struct error *err) MUST_CHECK;

int rundir_write(struct rundir *r, const char *name, const void *bytes, size_t len,
                 struct error *err) MUST_CHECK; /* atomically */
int rundir_write_json(struct rundir *r, const char *name, const struct json *j, struct error *err) MUST_CHECK;
/* Copies an input file or directory to inputs/, once; ret_name is its name below inputs/ (the caller frees).
 */
int rundir_add_input(struct rundir *r, const char *path, char **ret_name, struct error *err) MUST_CHECK;

/* trials/SCENARIO/N with its folders (metrics, load, logs, artifacts). A leftover of an interrupted attempt
 * is moved aside or removed. */
int rundir_trial_begin(struct rundir *r, const char *scenario, int trial, char **ret_dir,
                       struct error *err) MUST_CHECK;
/* trial.json written and fsynced, then the journal's "trial sealed" line with its hash: from here on it
 * counts. */
int rundir_trial_seal(struct rundir *r, const struct trial *t, struct error *err) MUST_CHECK;
/* Was it sealed (by this or an earlier process)? Optionally its digest must match. */
bool rundir_trial_sealed(const struct rundir *r, const char *scenario, int trial, const char *digest);

/* Reading a journal from memory, for tests and fuzzing: calls `line` per intact record; *ret_good is the
 * length of the intact part. */
int journal_scan(const char *bytes, size_t len, void (*line)(const struct json *record, void *data),
                 void *data, size_t *ret_good, struct error *err) MUST_CHECK;
/* One journal line with its checksum, appended to out. */
void journal_format(uint64_t seq, int64_t wall_ns, const char *event, const struct json *fields,
                    struct strbuf *out);

/* --- bundles
 * ---------------------------------------------------------------------------------------------------------
 */

/* Packs a finished run directory as DIR.tar.zst beside it or as `path`; the same directory gives the same
 * bytes. */
int bundle_write(const char *run_dir, const char *path, struct error *err) MUST_CHECK;

struct bundle_summary {
    int64_t members, bytes;
    int schema;
};
/* Reads everything once and checks each member against the manifest. */
int bundle_verify(const char *path, struct bundle_summary *ret, struct error *err) MUST_CHECK;

typedef int bundle_visit(const char *name, int64_t size, const char *sha256, void *data, struct error *err);
int bundle_list(const char *path, bundle_visit *visit, void *data, struct error *err) MUST_CHECK;
/* One member's bytes, at most `max`. */
int bundle_show(const char *path, const char *member, size_t max, struct strbuf *out,
                struct error *err) MUST_CHECK;
/* Into a fresh or empty directory; a refused bundle leaves nothing there. */
int bundle_extract(const char *path, const char *dir, struct error *err) MUST_CHECK;

/* --- a sweep's results, from either
 * -------------------------------------------------------------------------------- */

struct sweep {
    struct json *info;    /* sweep.json */
    struct json *plan;    /* plan.json, or NULL */
    struct trial *trials; /* sealed ones, in order of execution */
    size_t trial_count;
    struct arena *arena;
    bool complete; /* the journal says that the sweep ended */
    const char *path;
};
/* A run directory (also one that is still running) or a bundle. */
int sweep_load(const char *path, struct sweep **ret, struct error *err) MUST_CHECK;
void sweep_free(struct sweep *s);
DEFINE_CLEANUP(struct sweep *, sweep_free);

#endif
