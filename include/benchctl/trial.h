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
    const char *
        cause; /* "oom", "killed by benchctl", "signal 11 (SEGV)", "exit 1", "sigkill, cause unknown (...)" */
};

struct effective {
    double memory_bytes, swap_bytes, cpus, pids; /* INFINITY: unlimited */
    const char *cpuset, *image_id, *warnings;
};

struct container_result {
    const char *role;
    struct {
        double limit, used_avg, used_peak, anon_avg, anon_peak, file_avg, peak; /* bytes */
        const char *peak_source;                                                /* "kernel" or "sampled" */
    } memory_bytes;
    struct {
        double avg, peak, total_ms; /* cores */
    } cpu_cores;
    double cpu_throttled_ms, pids_peak, rx_bytes, tx_bytes;
    double restarts, oom_kills;
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
    const char *strategy, *version;
};

struct host_result {
    double cpu_busy; /* cores, average over the window */
    double load1, psi_cpu_some, throttled, benchctl_cpu_cores, benchctl_rss_bytes, steal_pct;
    double oom_kills; /* host-wide, /proc/vmstat delta */
};

struct check_result {
    const char *name, *value, *expect;
    bool gated, passed;
    const char *message; /* NULL, or why it could not be evaluated */
};

struct validity_result {
    const char *id, *verdict, *message; /* PASS, WARN, FAIL */
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
    struct validity_result *validity;
    size_t validity_count;
    const char **notes;
    size_t note_count;
};

/* Every double NAN, everything else zero. */
void trial_init(struct trial *t);
void load_result_init(struct load_result *r);
void container_result_init(struct container_result *c, const char *role);

struct json *trial_to_json(const struct trial *t);
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
