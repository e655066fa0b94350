/* SPDX-License-Identifier: MIT */
/*
 * Load generators behind adapter files (adapters/load/NAME.yaml): how to find the program, how to call it,
 * how to read each value of its output. Gives argv and parses results; starting the process or the container
 * is the conductor's matter, so that a generator can run beside benchctl, in a container, or later on another
 * host.
 */
#ifndef BENCHCTL_LOAD_H
#define BENCHCTL_LOAD_H

#include "benchctl/base/loop.h"
#include "benchctl/base/schema.h"
#include "benchctl/base/strbuf.h"
#include "benchctl/trial.h"

struct load_adapter;

/* Directories searched for adapters, in order: $BENCHCTL_ADAPTERS, the matrix' directory's adapters/, the
 * source or installed data directory. NULL-terminated. */
char **adapter_directories(const char *matrix_dir);
void adapter_directories_free(char **dirs);
DEFINE_CLEANUP(char **, adapter_directories_free);

int load_adapter_read(const char *name, const char *matrix_dir, struct load_adapter **ret,
                      struct error *err) MUST_CHECK;
int load_adapter_parse(const char *bytes, size_t len, const char *file, struct load_adapter **ret,
                       struct error *err) MUST_CHECK;
void load_adapter_free(struct load_adapter *a);
DEFINE_CLEANUP(struct load_adapter *, load_adapter_free);

const char *load_adapter_name(const struct load_adapter *a);
const char *load_adapter_help(const struct load_adapter *a);
const char *load_adapter_file(const struct load_adapter *a);    /* where it was read from */
const char *load_adapter_program(const struct load_adapter *a); /* argv[0]; NULL: it runs nothing (idle) */
/* Does a call of it hold the load section as JSON (`${spec}`)? */
bool load_adapter_takes_spec(const struct load_adapter *a);
const char *load_adapter_package(const struct load_adapter *a); /* what installs it; may be NULL */
extern const struct schema load_adapter_schema;
void load_adapter_reference(struct strbuf *out);                 /* the key reference of docs/adapters.md */
struct json *load_adapter_to_json(const struct load_adapter *a); /* `adapter show`; the caller frees */

/* Is this option map what the adapter declares, and do its rules hold as far as options alone tell? Errors
 * have positions and "did you mean". */
int load_adapter_check_options(const struct load_adapter *a, const struct node *options,
                               struct error *err) MUST_CHECK;

/* What one call needs: texts are fully resolved. */
struct load_call {
    const char *target; /* http://10.0.0.2:8080 */
    const char *path;   /* "/" */
    const char *script; /* absolute, or NULL; inside a container: the path there */
    int64_t duration_ns;
    const struct node *options;
    const char *output_dir; /* where raw output goes (as the generator sees it) */
    /* The load section's own keys (target, path, duration, requests, phases and every option) as JSON, for
     * `${spec}`; NULL: "{}". */
    const char *spec;
    const char *version; /* the program's, for conditions on it; NULL: not known */
    bool warmup;
    bool in_image; /* it runs in a container */
};

/* The argv, environment and files to write beforehand (for instance the wrapper script that adds a JSON
 * report). */
struct load_command {
    struct text_list argv; /* empty: nothing to run, wait `duration` instead */
    struct text_map env;
    struct text_map files;                 /* name in output_dir: content */
    const char *stdout_name, *stderr_name; /* files in output_dir */
    /* A second call once the load has ended, outside of the measured window; empty: none. Its standard output
     * becomes the file of that name in output_dir, or goes nowhere (NULL). */
    struct text_list finish_argv;
    const char *finish_stdout_name;
};
int load_adapter_command(const struct load_adapter *a, const struct load_call *call, struct arena *arena,
                         struct load_command *ret, struct error *err) MUST_CHECK;

/* Could it be called with these options, script (may be NULL) and duration? For a target that is made up;
 * what an adapter cannot do (half a second, an option that misses) is found before anything is started. */
int load_adapter_try(const struct load_adapter *a, const struct node *options, const char *script,
                     int64_t duration_ns, struct error *err) MUST_CHECK;

/* The same; what is wrong with the duration alone is said where that is written. */
struct load_trying {
    const struct node *options;
    const char *script; /* NULL: none */
    int64_t duration_ns;
    struct position duration_at; /* line 0: nowhere */
};
int load_adapter_try_at(const struct load_adapter *a, const struct load_trying *t,
                        struct error *err) MUST_CHECK;

/* argv that prints the version, and how to read it from that output. Empty argv: none. */
int load_adapter_version_command(const struct load_adapter *a, struct arena *arena,
                                 struct text_list *ret_argv, struct error *err) MUST_CHECK;
const char *load_adapter_read_version(const struct load_adapter *a, const char *output,
                                      struct arena *arena); /* NULL: not found */

/* Is it the right program? ERROR_ENVIRONMENT when its output names another (wrk2's program is called wrk
 * too). */
int load_adapter_check_version(const struct load_adapter *a, const char *output,
                               struct error *err) MUST_CHECK;

struct load_outcome {
    bool ran; /* the program was started and ended by itself */
    int wait_status;
    double window_ms;             /* by our clock; NAN when unknown */
    int64_t started_wall_ns;      /* older output files are not this run's; 0: not checked */
    const struct load_call *call; /* what was asked for, to check what was delivered; may be NULL */
};

/* Why a result that stands is not to be trusted. */
struct load_doubt {
    const char *id; /* a stable name, as "load-delivered"; NULL: the adapter gives none */
    const char *sentence;
};

/* Sentences about a result that is there but not whole ("not measured: latency p99.9", "the load lasted 3.1 s
 * instead of 10 s"). */
struct load_problems {
    const char **items;
    size_t len;
    const char *nothing_measured; /* NULL, or why the result is none (load_adapter_parse_files() only) */
    /* What makes the trial invalid: the load was not delivered, the generator was the limit, ... */
    const struct load_doubt *invalid;
    size_t invalid_len;
};

/*
 * Reads the output files in `dir`. 0 with a result even when requests failed; -1 when there is no complete
 * result: an exit status that means failure (its meaning and the tool's own words are in the message), text
 * cut short, a value without its unit, numbers that contradict each other, nothing measured. An adapter that
 * runs nothing gives a result without numbers. `problems` may be NULL.
 */
int load_adapter_collect(const struct load_adapter *a, const char *dir, const struct load_outcome *o,
                         struct arena *arena, struct load_result *ret, struct load_problems *problems,
                         struct error *err) MUST_CHECK;

/*
 * Parses recorded output files (adapter parse): `files` are paths; which output each is, is found by content.
 * `options` is what was asked for, or NULL. A result in which nothing was measured is given too, if
 * `problems` is there to say so; without it that is an error.
 */
int load_adapter_parse_files(const struct load_adapter *a, const char *const *files, size_t count,
                             const struct node *options, struct arena *arena, struct load_result *ret,
                             struct load_problems *problems, struct error *err) MUST_CHECK;

/*
 * Takes out of the output files in `dir` what the adapter says must not be kept (`redact`), whatever became
 * of the run. A file of which that is not possible is removed; -1 says so.
 */
int load_adapter_redact(const struct load_adapter *a, const char *dir, struct error *err) MUST_CHECK;

/*
 * Once the generator has ended and before anything that it left is opened: removes what is neither a file nor
 * a directory, files that would run as somebody else, names that hold a secret, and what is too large, too
 * much or too deep to be read. `removed` is told the first names and why. By directory descriptors; follows
 * no link. ERROR_ENVIRONMENT when something has to stay: then nothing there may be opened. Hard links to
 * files of this machine cannot be made from a container (a mount is in between); those of a generator on this
 * machine are its user's own.
 */
struct load_tidying {
    const char *dir;
    bool links; /* symbolic links may stay: whoever made them has this machine's rights anyway */
    void (*removed)(const char *name, const char *why, void *data);
    void *data;
};
int load_output_tidy(const struct load_tidying *o, struct error *err) MUST_CHECK;

/* Names of all adapters of a kind ("load", "metrics") in `dirs`, sorted, each once; NULL-terminated. */
char **adapter_list(char *const *dirs, const char *kind);
char **load_adapter_list(char *const *dirs);
void adapter_list_free(char **names);
DEFINE_CLEANUP(char **, adapter_list_free);

/*
 * --- streams: an output of one JSON object a line, read while it is written ---
 *
 * The adapter says which members mean what (`format: ndjson`). Bytes are pushed in as they come, in any
 * pieces; memory does not grow with the stream. Kept are totals by metric, seconds, and one latency
 * histogram. The last 8 seconds may still change: lines that come late count in their own.
 */
struct histogram;
struct load_stream;

struct load_stream_second {
    int64_t start_wall_ns;            /* whole seconds since 1970 */
    double at_s;                      /* since the first one */
    double requests, failed, dropped; /* NAN: the adapter names no such metric */
    double vus;                       /* the last that was said in it; NAN: nothing was */
    const struct histogram *latency;  /* during the call */
};
typedef int load_stream_second_fn(const struct load_stream_second *s, void *data, struct error *err);

struct load_stream_options {
    load_stream_second_fn *on_second; /* once per second in order, also of empty ones between; may be NULL */
    void *data;
    const char *series_path; /* gets a CSV row per second as seconds pass; NULL: none */
    const char *log_path;    /* gets an HdrHistogram log, an interval per second; NULL: none */
};

struct load_stream_total {
    uint64_t count;
    double sum, min, max, first, last;
};

struct load_stream_counts {
    uint64_t lines;            /* that are not blank */
    uint64_t points;           /* that the adapter wants: with a metric and a value */
    uint64_t other;            /* JSON, but no points */
    uint64_t invalid;          /* no JSON */
    uint64_t first_invalid;    /* the number of the first such line; 0: none */
    uint64_t late, ahead;      /* in the totals, but in no second: older than 8 s, or an hour in the future */
    uint64_t timeless;         /* without a time that can be read */
    uint64_t unnamed;          /* points of metrics beyond 256 names */
    uint64_t slow;             /* read by the full JSON parser */
    bool cut;                  /* the last line was cut short */
    int64_t first_ns, last_ns; /* least and greatest time; 0 without any */
    char invalid_reason[160];
};

/* The name of the file that the stream is (in the output directory); NULL: the adapter has none. A FIFO may
 * stand there instead. */
const char *load_adapter_stream_file(const struct load_adapter *a);

/* `a` must outlive it. Opens the files that `o` names. */
int load_stream_new(const struct load_adapter *a, const struct load_stream_options *o,
                    struct load_stream **ret, struct error *err) MUST_CHECK;
void load_stream_free(struct load_stream *s);
DEFINE_CLEANUP(struct load_stream *, load_stream_free);
/* -1 only when a callback or a file fails; bad lines are counted. */
int load_stream_feed(struct load_stream *s, const char *bytes, size_t len, struct error *err) MUST_CHECK;
int load_stream_end(struct load_stream *s, struct error *err) MUST_CHECK; /* once */
int load_stream_read_file(struct load_stream *s, const char *path,
                          struct error *err) MUST_CHECK; /* feed and end */

void load_stream_get_counts(const struct load_stream *s, struct load_stream_counts *ret);
/* False: nothing came under that name. */
bool load_stream_get_total(const struct load_stream *s, const char *metric, struct load_stream_total *ret);
/* In order of appearance; NULL past the last. */
const char *load_stream_metric_name(const struct load_stream *s, size_t index);
/* Requests so far that were answered and did not fail; NAN: the adapter names no such metric. */
double load_stream_answered(const struct load_stream *s);
/* Of the latency metric, in ms: exact while values are few (65,536), then from the histogram. */
double load_stream_quantile_ms(const struct load_stream *s, double q);
const struct histogram *load_stream_histogram(const struct load_stream *s);

/* A FIFO that is read in the loop. `raw`, if not NULL, gets every piece before it is read (for a copy). */
struct load_fifo;
struct load_fifo_options {
    int (*raw)(const char *bytes, size_t len, void *data, struct error *err);
    void *data;
};
/* Makes the FIFO at `path` and feeds `s`. A failure later is kept for load_fifo_end(); reading goes on, so
 * that the writer is never stopped. */
int load_fifo_open(struct loop *l, const char *path, struct load_stream *s, const struct load_fifo_options *o,
                   struct load_fifo **ret, struct error *err) MUST_CHECK;
/* When the writer has ended: reads what is left and ends the stream. */
int load_fifo_end(struct load_fifo *f, struct error *err) MUST_CHECK;
void load_fifo_free(struct load_fifo *f); /* removes the FIFO; also before the end */
DEFINE_CLEANUP(struct load_fifo *, load_fifo_free);

#endif
