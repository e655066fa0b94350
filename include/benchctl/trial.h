/* SPDX-License-Identifier: MIT */
/*
 * What one execution of a scenario produced: the record that everything after the run works on. Data only;
 * JSON in and out by the names of docs/outcomes.md. Quantities that were not measured are NAN (null in JSON),
 * never 0.
 */
#ifndef BENCHCTL_TRIAL_H
#define BENCHCTL_TRIAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/arena.h"
#include "benchctl/base/json.h"

enum outcome {
    OUTCOME_OK,
    OUTCOME_DEGRADED,
    OUTCOME_CRASHED,
    OUTCOME_NOT_READY,
    OUTCOME_INVALID,
    OUTCOME_ERROR,
    OUTCOME_SKIPPED,
    OUTCOMES
};
const char *
outcome_name(enum outcome o); /* "ok", "degraded", "crashed", "not-ready", "invalid", "error", "skipped" */
int outcome_parse(const char *text, enum outcome *ret);

struct step_time {
    const char *name;
    double start_ms, duration_ms; /* since the trial began */
};

struct latency {
    double min, mean, p50, p75, p90, p95, p99, p999, max; /* ms */
    double stdev;
};

struct error_count {
    const char *kind; /* connect, read, write, timeout, reset, status, status_5xx, ... */
    double count;
};

struct load_result {
    double requests, ok, failed, error_rate;
    double rps;         /* the generator's own figure */
    double goodput_rps; /* ok per second of the measured window */
    double received_bytes, dropped;
    double offered;     /* requests that the schedule asked for, dropped ones included; NAN: no schedule */
    double connections; /* opened by the generator */
    double concurrency; /* mean number of virtual users or connections of the measured window; NAN unknown */
    double think_ms;    /* mean pause of a closed load between an answer and the next request */
    double corrected_p99_ms; /* of a closed load, had requests not waited while the application stalled */
    double lag_p99_ms;       /* how late requests were sent by an open schedule */
    double fallbacks;        /* ok, but answered by a fallback; NAN: not looked for */
    const char *steady;    /* "flat", "warm-up", "slowdown", "no steady state"; NULL: no series, too short */
    double steady_from_ms; /* since the window began */
    struct latency latency_ms;
    struct latency service_ms; /* from the moment of sending, where latency_ms counts from the planned one */
    struct error_count *errors;
    size_t error_count;
    const char *generator, *version; /* adapter name, the tool's own version text */
    int exit_status;                 /* -1: killed by a signal or none */
    const char *exit_text;           /* NULL, or what the adapter says this status means */
    const char *model;               /* "closed", "open", "mixed" or NULL */
    const char *corrected;           /* "yes", "no" or NULL: latency corrected for coordinated omission */
    double window_ms;                /* the measured window by our own clock */
    double duration_ms;              /* by the generator's own figures; NAN when it does not say */
    double cpu_ms;                   /* CPU time the generator used; NAN when unknown */
    const char *phases, *by_request; /* figures of each, JSON as the generator gave it, or NULL */
};

struct container_exit {
    double at_ms; /* since the load began; negative before */
    int code;
    bool oom;
    const char *cause;    /* a few words that are always the same: failure.h's death_explain() */
    const char *evidence; /* which witness said what */
};

/* From one start of a container to its end. Times in ms since the load began, negative before. */
struct container_life {
    double start_ms, ready_ms, end_ms; /* ready: the first good answer; end: NAN while it lives */
    double down_before_ms; /* since the end of the life before: back-off and start; NAN: the first */
    double requests; /* answered as expected in it, within the window; NAN: the generator keeps no series */
};

/* Alive, and answering nothing. */
struct container_silence {
    double from_ms, to_ms; /* since the load began; to: NAN: to the end */
};

/* What each witness saw, so that a reader can judge where they differ. */
struct witnesses {
    double start_events, die_events, oom_events; /* of the engine */
    double restart_count, distinct_starts;       /* inspect's RestartCount; StartedAt values seen */
    double oom_flag;                             /* inspect's OOMKilled: 0 or 1 */
    double kernel_oom_kills;                     /* the cgroup's counter, over all lives */
};

/* What the JVM chose for itself under these limits, asked of the JVM. */
struct jvm_facts {
    const char *version, *collector, *options;
    double heap_max_bytes, cpus;
    const char *source; /* how it was asked */
};

/* Limits as the cgroup's own files have them. INFINITY: unlimited. */
struct kernel_limits {
    double memory_bytes, swap_bytes, cpus, pids;
    const char *cpuset;
};

struct effective {
    double memory_bytes, swap_bytes, cpus, pids; /* INFINITY: unlimited */
    const char *cpuset, *image_id, *warnings;
    struct kernel_limits kernel;
};

struct container_result {
    const char *role;
    struct {
        double limit, used_avg, used_peak, anon_avg, anon_peak, file_avg, file_peak; /* bytes */
        double shmem_avg, shmem_peak, swap_peak, peak;
        double headroom;         /* limit - used_peak; NAN without a limit */
        const char *peak_source; /* "kernel", "sampled", "limit" (died by it) */
    } memory_bytes;
    struct {
        double avg, peak, total_ms; /* cores */
    } cpu_cores;
    double cpu_throttled_ms, cpu_periods, cpu_throttled_periods; /* periods: of the CPU quota */
    double pids_peak, rx_bytes, tx_bytes;
    double restarts, oom_kills;
    double time_to_failure_ms; /* from its first start to its first death that is not ours, or silence */
    double down_ms;            /* of the window */
    double unresponsive_ms;    /* of the window */
    struct container_life *lives;
    size_t life_count;
    struct container_silence *silences;
    size_t silence_count;
    struct witnesses witnesses;
    bool has_jvm;
    struct jvm_facts jvm;
    struct container_exit *exits;
    size_t exit_count;
    double uptime_pct;         /* of the load window */
    double samples;            /* how many there were */
    const char *sample_source; /* "cgroup v1", "cgroup v2", "stats api" */
    struct effective effective;
    const char *address, *container_id;
};

struct metric_value {
    const char *name;
    double avg, max, last, increase;
    double gaps; /* scrapes without a usable value */
};

struct database_result {
    double reset_ms, commits, rollbacks, deadlocks, temp_bytes, size_bytes, checkpoints, autovacuum_runs;
    double rows_inserted, rows_updated, rows_deleted;
    double connections;           /* still open at the end of the window */
    double idle_in_transaction;   /* of these */
    double prepared_transactions; /* left behind */
    const char *strategy, *version;
};

struct host_result {
    double cpu_busy; /* cores, average over the window */
    double load1, psi_cpu_some, throttled, benchctl_cpu_cores, benchctl_rss_bytes, steal_pct;
    double oom_kills;         /* host-wide, /proc/vmstat delta */
    double foreign_cpu_cores; /* used by nobody of this sweep */
    double swapped_pages;     /* in and out */
    double kernel_messages; /* lines about memory, machine checks, throttling, hung tasks; NAN: unreadable */
};

/* Something that happened and that figures alone would not tell. */
struct finding {
    const char *id;   /* "java-heap", "oom-child", "unresponsive", "never-started", "connection-limit", ... */
    const char *role; /* whose */
    double at_ms;     /* since the load began; NAN: unknown */
    double count;
    const char *message; /* a sentence with the evidence */
};

/* The latency with one request at a time and nothing else going on, after the load. */
struct floor_result {
    double requests, p50_ms, cpu_ms_per_request; /* CPU of the app's container */
};

/* One request of the load asked by ourselves before it, to compare what scenarios answer. */
struct answer_sample {
    const char *request; /* "GET /path" */
    int status;
    double bytes;
    const char *sha256;
    const char *shape; /* of JSON: SHA-256 of its keys and types; else the media type */
};

/* One command of a build that is measured. */
struct build_count {
    const char *name;
    double value; /* NAN: no line told it */
};
struct build_step {
    const char *name;
    double duration_ms;
    double exit_code;    /* NAN: it did not end in time */
    const char *message; /* why it has no exit code; NULL: it has one */
    struct build_count *counts;
    size_t count_count;
};
struct build_result {
    const char *image;
    struct build_step *steps; /* those that were run */
    size_t step_count;
};

struct scrape_result {
    double count, failed, mean_ms, p99_ms, mean_bytes;
};

struct check_result {
    const char *name, *value, *expect;
    bool gated, passed;
    const char *message; /* NULL, or why it could not be evaluated */
};

struct validity_result {
    const char *id, *verdict, *message; /* PASS, WARN, FAIL */
    const char *check;                  /* "V9"; NULL: a rule without a number */
};

struct axis_pair {
    const char *axis, *value;
};

struct trial {
    const char *scenario;
    struct axis_pair *axes;
    size_t axis_count;
    int trial, attempt;
    const char *digest;
    enum outcome outcome;
    const char *reason;
    const char *started_at; /* RFC 3339 */
    double duration_ms;
    double setup_ms;    /* bringing up what outlives the trial: network, database server and seed, sweep-wide
                           services */
    double overhead_ms; /* neither warm-up, load, cooldown nor setup */
    struct step_time *steps;
    size_t step_count;
    double startup_ms, ready_ms; /* from the start call's return */
    bool has_load;
    struct load_result load;
    struct container_result app;
    struct container_result *services; /* database and generator container included, by role */
    size_t service_count;
    struct metric_value *metrics;
    size_t metric_count;
    bool has_database;
    struct database_result database;
    struct host_result host;
    struct check_result *checks;
    size_t check_count;
    struct finding *findings;
    size_t finding_count;
    bool has_floor;
    struct floor_result floor;
    struct answer_sample *answers;
    size_t answer_count;
    bool has_build;
    struct build_result build;
    bool has_scrapes;
    struct scrape_result scrapes;
    struct validity_result *validity;
    size_t validity_count;
    const char **notes;
    size_t note_count;
    bool canary;         /* no scenario's, but the one that is repeated to see what the host does */
    const char *control; /* "aa", "handicap": no result, but a twin of one; NULL: it is none */
    double cooldown_ms;  /* before it began; NAN: none */
};

/* Every double NAN, everything else zero. */
void trial_init(struct trial *t);
void load_result_init(struct load_result *r);
void container_result_init(struct container_result *c, const char *role);

struct json *trial_to_json(const struct trial *t);
struct json *trial_json_schema(void); /* of what trial_to_json() gives, draft 2020-12; the caller frees */
struct json *
load_result_to_json(const struct load_result *r); /* the `load` object; `adapter parse` prints it */
/* Strings and arrays go into `a`. Unknown members are ignored, missing ones are NAN; ERROR_INVALID when it is
 * not a trial. */
int trial_from_json(const struct json *j, struct arena *a, struct trial *ret, struct error *err) MUST_CHECK;

/*
 * A number of the trial by its recorded name ("load.error_rate", "app.memory_bytes.used_peak",
 * "database.rollbacks", "metrics.heap_used_bytes.max", "services.mock.restarts" or shorter "mock.restarts"):
 * NAN when not measured, INFINITY for an unlimited limit; -1 when there is no such name. A NULL trial tells
 * only whether the name can exist (names of metrics and services are free). For expect, checks, reports.
 */
int trial_number(const struct json *trial, const char *name, double *ret);

/*
 * Arithmetic between a trial's numbers: "${load.requests} - ${database.commits}", the names also bare; see
 * base/expr.h. ERROR_INVALID for a malformed text and a name that no trial records, ERROR_TRIAL for what was
 * not measured. A NULL trial only checks the text.
 */
int trial_value(const struct json *trial, const char *text, double *ret, struct error *err) MUST_CHECK;

/*
 * "load.error_rate <= 0.01": <, <=, >, >=, ==, !=. The bound is a number, a size (taken in bytes) or a
 * duration (taken in milliseconds). The name may be missing ("== 0", about a check's own value): then it is
 * "". Texts go into the arena; `op` is static.
 */
struct expectation {
    const char *name, *op;
    double bound;
};
int expectation_parse(const char *text, struct arena *a, struct expectation *ret,
                      struct error *err) MUST_CHECK;
/* Is it well formed, and about a number that a trial can record? For those of a matrix, before anything runs.
 */
int expectation_check(const char *text, struct error *err) MUST_CHECK;
bool expectation_holds(const struct expectation *e, double value); /* NAN never holds */

#endif
