/* SPDX-License-Identifier: MIT */
/*
 * Where a sweep lives: the run directory while it runs (journal, trials), and the bundle that it becomes.
 * Reads both behind one interface, so that a report does not care. Never trusts what it reads.
 *
 * Order of calls: rundir_create() or rundir_open(); for each trial rundir_trial_begin(), files written into
 * its directory and closed, rundir_trial_seal(); rundir_close(); bundle_write(). docs/bundle.md has the
 * formats.
 */
#ifndef BENCHCTL_BUNDLE_H
#define BENCHCTL_BUNDLE_H

#include "benchctl/archive.h"
#include "benchctl/base/fs.h"
#include "benchctl/trial.h"

#define BUNDLE_SCHEMA 1 /* of run directories, journals and bundles */

#define JOURNAL_FILE "journal.ndjson"
/* Events that readers know. Others are free. */
#define JOURNAL_OPENED "journal"  /* the first: schema */
#define JOURNAL_BEGIN "begin"     /* the sweep begins or goes on */
#define JOURNAL_END "end"         /* it is complete */
#define JOURNAL_STOPPED "stopped" /* it is not */
#define JOURNAL_TRIAL_BEGUN "trial begun"
#define JOURNAL_TRIAL_SEALED "trial sealed"
#define JOURNAL_REPAIRED "repaired" /* a damaged tail was moved aside */

/* What a run directory is given before its sweep begins; rundir_unbegun() knows it by these names. */
#define BUNDLE_MATRIX_FILE "matrix.yaml"
#define BUNDLE_PLAN_FILE "plan.json"
#define BUNDLE_INPUTS_DIR "inputs"
#define BUNDLE_INPUTS_FILE "inputs.json"
#define BUNDLE_INVOCATION_FILE "invocation.json"
#define BUNDLE_RERUN_FILE "rerun.json" /* only where a bundle is run again, as the next */
#define BUNDLE_RERUN_TREE "restored"
#define BUNDLE_STATUS_START "status." /* views: not in bundles, not waited for */

/* --- the run directory --- */

struct rundir;

/* Makes the directory (it must not exist, or be empty; an existing sweep: ERROR_INVALID with a hint at
 * `resume`) and an empty journal, and locks it (one benchctl at a time). */
int rundir_create(const char *path, struct rundir **ret, struct error *err) MUST_CHECK;
/*
 * Opens an existing one for going on. What the journal does not prove is moved aside (a torn, zeroed or
 * damaged tail) with a warn(); a newer schema is refused and left alone. Trials whose trial.json proves all
 * their files count even if their journal line is lost; trials that changed since they were sealed, or are
 * sealed twice, do not.
 */
int rundir_open(const char *path, struct rundir **ret, struct error *err) MUST_CHECK;
void rundir_close(struct rundir *r);
DEFINE_CLEANUP(struct rundir *, rundir_close);

const char *rundir_path(const struct rundir *r); /* absolute */
bool rundir_is(const char *path);                /* does it look like one? */
bool rundir_busy(const char *path);              /* does another process hold it? */
/* Does it hold no more than what a benchctl makes before it begins a sweep? rundir_create() takes such a
 * directory over. */
bool rundir_unbegun(const char *path);
/* After rundir_create(), when nothing was begun: removes what was made, the directory itself unless it was
 * there, empty, before, and those above it that were made with it and hold nothing else. Closes it; what
 * cannot be removed stays. */
void rundir_discard(struct rundir *r);

/* One line {"seq","at","event",...,"sum"}; takes `fields` (may be NULL) over. `sync` at trial boundaries. A
 * full disk is ERROR_ENVIRONMENT, and the journal stays as it was. */
int rundir_journal(struct rundir *r, const char *event, struct json *fields, bool sync,
                   struct error *err) MUST_CHECK;

/* Replaces a file atomically and durably; "status.*", which is only a view, without waiting for the disk. */
int rundir_write(struct rundir *r, const char *name, const void *bytes, size_t len,
                 struct error *err) MUST_CHECK;
int rundir_write_json(struct rundir *r, const char *name, const struct json *j, struct error *err) MUST_CHECK;
/*
 * Copies an input file to inputs/, a directory as one tar file (links and modes kept, .dockerignore
 * honoured). Named by content and last name part, so that the same content is there once; calling again with
 * the same path costs nothing. ret_name is its name below inputs/ (the caller frees).
 */
int rundir_add_input(struct rundir *r, const char *path, char **ret_name, struct error *err) MUST_CHECK;

/* trials/SCENARIO/N with its folders (metrics, load, logs, artifacts). What an earlier attempt left is moved
 * to N.attempt-K. The caller frees *ret_dir. */
int rundir_trial_begin(struct rundir *r, const char *scenario, int trial, char **ret_dir,
                       struct error *err) MUST_CHECK;
/* All files of the trial onto the disk, then trial.json, which lists them with their hashes, then the
 * journal's line with its hash: from here on it counts. The trial's other files must be closed. */
int rundir_trial_seal(struct rundir *r, const struct trial *t, struct error *err) MUST_CHECK;
/* Was it sealed (by this or an earlier process)? Optionally its digest must match. */
bool rundir_trial_sealed(const struct rundir *r, const char *scenario, int trial, const char *digest);
size_t rundir_sealed_count(const struct rundir *r); /* of any plan, canaries included */
/* The outcome that it was last sealed with; false when it was not, or with one that this version does not
 * know. After OUTCOME_ERROR nothing was measured, and going on may do it again. */
bool rundir_trial_outcome(const struct rundir *r, const char *scenario, int trial, enum outcome *ret);

/* How long a sealed trial took, by its record; NAN when that cannot be read. */
double rundir_trial_duration_ms(const struct rundir *r, const char *scenario, int trial);

/*
 * Reading a journal from memory, for tests and fuzzing: calls `line` per intact record; *ret_good is the
 * length of the intact part. -1 only for a journal of a newer schema.
 */
int journal_scan(const char *bytes, size_t len, void (*line)(const struct json *record, void *data),
                 void *data, size_t *ret_good, struct error *err) MUST_CHECK;
/* One journal line with its checksum, appended to out. `fields` may be NULL. */
void journal_format(uint64_t seq, int64_t wall_ns, const char *event, const struct json *fields,
                    struct strbuf *out);

/* --- bundles --- */

/* Packs a run directory as DIR.tar.zst beside it or as `path`; the same directory gives the same bytes. */
int bundle_write(const char *run_dir, const char *path, struct error *err) MUST_CHECK;
/* The same with the container images that were saved into DIR/images (images.h), which are left out
 * otherwise. Each must be what its name says. */
#define BUNDLE_IMAGES_DIR "images"
int bundle_write_with_images(const char *run_dir, const char *path, struct error *err) MUST_CHECK;

struct bundle_summary {
    int64_t members, bytes; /* manifest and seal not counted */
    int schema;
};
/* Reads everything once and checks each member against the manifest, and that nothing else is there. */
int bundle_verify(const char *path, struct bundle_summary *ret, struct error *err) MUST_CHECK;
int bundle_verify_memory(const void *bytes, size_t len, struct bundle_summary *ret,
                         struct error *err) MUST_CHECK;

/* All members in order, after the whole bundle has been verified. */
typedef int bundle_visit(const char *name, int64_t size, const char *sha256, void *data, struct error *err);
int bundle_list(const char *path, bundle_visit *visit, void *data, struct error *err) MUST_CHECK;
/* One member's bytes, at most `max`, checked; ERROR_USAGE when there is none. "manifest.json" is there, too.
 */
int bundle_show(const char *path, const char *member, size_t max, struct strbuf *out,
                struct error *err) MUST_CHECK;
/* Into a fresh or empty directory; a refused bundle leaves nothing there. */
int bundle_extract(const char *path, const char *dir, struct error *err) MUST_CHECK;

/* --- a sweep's results, from either --- */

struct sweep {
    struct json *info;    /* sweep.json; an empty object when the sweep ended before it was written */
    struct json *plan;    /* plan.json, or NULL */
    struct trial *trials; /* sealed ones that belong to the plan, in order of execution */
    size_t trial_count;
    size_t outside_count; /* sealed ones of an earlier form of the matrix: kept, not compared */
    size_t damaged_count; /* sealed ones that are gone, not what was sealed, or sealed twice: left out */
    struct arena *arena;
    bool complete; /* the journal says that the sweep ended */
    const char *path;
    /* Those of the plan's canary, in order of execution, apart from `trials`. */
    struct trial *canaries;
    size_t canary_count;
    size_t *canary_after; /* of each: how many of `trials` were sealed before it */
    /* Those of the plan's controls, in order of execution, apart from `trials`. */
    struct trial *controls;
    size_t control_count;
};
/* A run directory (also one that is still running, which is only looked at) or a bundle. */
int sweep_load(const char *path, struct sweep **ret, struct error *err) MUST_CHECK;
void sweep_free(struct sweep *s);

/* Files of its trials that their records do not hold. */
struct sweep_files {
    const char *const *names; /* below the trial's directory, as "load/series.csv"; NULL-terminated */
    size_t max;               /* a larger one is passed over */
    /* Asked before one is read, with `data` of the call; false: it is passed over. NULL: all are read. */
    bool (*wanted)(size_t trial, const char *name, void *data);
};
struct sweep_file {
    size_t trial;     /* index in s->trials */
    const char *name; /* which of the names */
    const char *bytes;
    size_t len;
};
typedef int sweep_file_fn(const struct sweep_file *f, void *data, struct error *err);
/* Calls `visit` for each that is there, in the order of the source. Those of a bundle are checked. */
int sweep_each_file(const struct sweep *s, const struct sweep_files *files, sweep_file_fn *visit, void *data,
                    struct error *err) MUST_CHECK;
DEFINE_CLEANUP(struct sweep *, sweep_free);

#endif
