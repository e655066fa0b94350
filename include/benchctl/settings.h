/* SPDX-License-Identifier: MIT */
/*
 * What one scenario is to do: the matrix language below `axes`, typed. Read from a tree by the schema table
 * in src/matrix/schema_settings.c; lives in the arena it was read into and is immutable. Texts may still hold
 * run-time references (`${app.host}`, `${load.ok}`) and `${secret:NAME}`, which the conductor fills in at the
 * last moment. Absent numbers: NAN; absent sizes, durations and integers: SCHEMA_ABSENT.
 */
#ifndef BENCHCTL_SETTINGS_H
#define BENCHCTL_SETTINGS_H

#include "benchctl/base/schema.h"
#include "benchctl/base/units.h"
#include "benchctl/workload.h"

enum network_mode { NETWORK_BRIDGE, NETWORK_HOST };
enum restart_mode {
    RESTART_MODE_NO,
    RESTART_MODE_ON_FAILURE,
    RESTART_MODE_ALWAYS,
    RESTART_MODE_UNLESS_STOPPED
};
enum service_scope { SCOPE_TRIAL, SCOPE_SWEEP };
enum if_missing { IF_MISSING_FAIL, IF_MISSING_SKIP };
enum reset_mode { RESET_TEMPLATE, RESET_TRUNCATE, RESET_RECREATE, RESET_NONE };
enum order_mode { ORDER_LISTED, ORDER_INTERLEAVED, ORDER_RANDOM };
enum on_problem { ON_PROBLEM_WARN, ON_PROBLEM_FAIL };
enum compare_mode { COMPARE_BLOBS, COMPARE_CONSTANTS, COMPARE_BINDINGS };
enum parity_sources { PARITY_REFS, PARITY_FOLDERS };

struct build_settings {
    const char *context; /* absolute once the plan is made */
    const char *dockerfile;
    struct text_map args;
};

/* When is a container ready? Exactly one of http, tcp, log, healthcheck. */
struct ready_settings {
    const char *http; /* path, starting with '/' */
    int64_t status;   /* expected HTTP status, 200 */
    bool tcp;
    const char *log; /* regular expression (POSIX extended) */
    bool healthcheck;
    int64_t timeout_ns;
    int64_t consecutive; /* good answers in a row, 1 */
    const char *body;    /* of http: regular expression (POSIX extended) that a line of the answer matches */
};

/* When is a running application called unresponsive? */
struct liveness_settings {
    int64_t after_ns;   /* without a sign of life for so long; 0: never */
    int64_t give_up_ns; /* silent for so long, the load is ended; 0: never */
    const char *http;   /* path to ask for instead of what `ready` asks; NULL: as `ready` */
};
/* A collection of garbage or a failover may take seconds, ten hardly; who comes back at all does so within
 * half a minute, which a sweep over night can afford. */
#define LIVENESS_AFTER_S 10
#define LIVENESS_GIVE_UP_S 30

struct startup_settings {
    const char *log;
};

struct metrics_settings {
    const char *path;
    int64_t port; /* absent: the container's port */
    int64_t every_ns;
    struct text_list adapters; /* names; what several give is taken from the first that has it */
};

/* One container: the app, a service, or the database's own. */
struct container_settings {
    const char *name; /* role: "app", "database", or the service's name */
    const char *image;
    const struct build_settings *build;
    enum if_missing if_missing; /* the engine does not have the image */
    struct text_map env;
    struct text_list command, entrypoint;
    int64_t memory_bytes; /* SIZE_UNLIMITED when unlimited or absent */
    int64_t swap_bytes;   /* 0 = off (default) */
    double cpus;
    const char *cpuset;
    int64_t pids, shm_bytes;
    enum restart_mode restart;
    int64_t restart_max;      /* of on-failure:N; 0: none */
    const char *restart_text; /* as written */
    int64_t port;             /* SCHEMA_ABSENT: none */
    const struct ready_settings *ready;
    const struct startup_settings *startup;
    const struct metrics_settings *metrics;
    enum service_scope scope;
    struct text_map settings; /* database only: server settings, `-c key=value` */
    struct text_list binds, tmpfs;
    const char *user, *stop_signal;
    bool init; /* default true: a reaping PID 1 */
    struct position at;
    const struct liveness_settings *liveness; /* of the app; NULL: the defaults */
};

enum build_every { BUILD_EVERY_SCENARIO, BUILD_EVERY_TRIAL };

struct build_step_settings {
    const char *name;
    struct text_list command;
    struct text_map counts; /* name: regular expression, whose first group is a number of the output */
    struct position at;
};

/* Building the application as a measurement: in a container of its own, before the application is started. */
struct build_measurement {
    struct container_settings container; /* first: its fields are this section's */
    const char *workdir;                 /* NULL: the image's */
    struct schema_list steps;            /* struct build_step_settings */
    int64_t timeout_ns;                  /* of all steps together */
    enum build_every every;
};

struct database_settings {
    const struct container_settings *service; /* or */
    const char *url;                          /* an existing server (may hold a secret) */
    const char *name, *user, *password;
    struct text_list schema; /* SQL files, absolute once planned */
    enum reset_mode reset;
    int64_t ready_timeout_ns, statement_timeout_ns;
    struct position at;
    int64_t connections;        /* that the scenario's pools open together; absent: not said */
    double commits_per_request; /* expected; NAN: not said */
};
/* Sessions that benchctl itself opens at once: one that stays, and one for what is asked. */
#define DATABASE_OWN_SESSIONS 2

struct parity_member {
    const char *repo, *ref, *path, *match; /* repo NULL: the section's */
    struct position at;
};
struct parity_check {
    const char *name;
    enum compare_mode compare;
    struct schema_list members; /* struct parity_member */
    struct text_list ignore;
    struct position at;
};
struct parity_settings {
    const char *repo; /* absolute once read */
    enum parity_sources sources;
    enum on_problem on_mismatch;
    struct schema_list checks; /* struct parity_check */
};

struct warmup_settings {
    int64_t duration_ns;
};

struct load_settings {
    const char *adapter;
    const struct node *adapters; /* as a matrix has it; NULL once the adapter's own are merged in */
    const char *image;           /* run the generator in a container */
    const char *cpuset;
    int64_t memory_bytes;
    const char *script; /* absolute once planned */
    const char *target; /* default ${app.url} */
    const char *path;   /* default "/" */
    const struct warmup_settings *warmup;
    int64_t duration_ns;   /* of builtin's iterations: the longest */
    double max_error_rate; /* default 0.01 */
    int64_t timeout_ns; /* how long past warm-up or duration before the generator is stopped; default 30 s */
    bool raw;           /* keep the generator's stream, compressed */
    struct text_map env;
    const struct node *options; /* every other key: the adapter's own options, checked by the load module */
    struct schema_list requests, phases; /* builtin only: struct workload_request, struct workload_phase */
    /* builtin: what all of it comes to, with a target that is made up; NULL: another adapter. Without a
     * duration of its own the load's is the workload's without its warm-up phases. */
    const struct workload *workload;
    struct position at;
};

struct sample_settings {
    int64_t
        engine_ns; /* period of resource samples; default 100 ms where cgroup files are readable, else 1 s */
    int64_t host_ns;  /* default 1 s */
    int64_t floor_ns; /* default 1 s; 0: not at all */
};

struct check_settings {
    const char *name, *sql, *expect; /* expect: "== 0", "<= 10", ...; NULL: only recorded */
    struct position at;
    const char *value; /* arithmetic over the trial's numbers; instead of sql */
};
struct artifact_settings {
    const char *from, *path;
};

/* What is waited for after a trial, before the next one begins. */
struct cooldown_settings {
    int64_t time_ns;         /* in any case */
    const char *temperature; /* as written; NULL: not waited for */
    double load;             /* load average of a minute; NAN: not waited for */
    bool sockets;            /* connections in TIME_WAIT */
    int64_t at_most_ns;      /* of all that */
    double temperature_c;    /* NAN: not waited for */
    bool relative;           /* it counts from the temperature at the sweep's begin */
};

/* One scenario. */
struct settings {
    enum network_mode network;
    struct container_settings app;
    struct schema_list services; /* struct container_settings */
    const struct database_settings *database;
    const struct build_measurement *build; /* NULL: not measured */
    struct load_settings load;
    struct sample_settings sample;
    struct schema_list checks;    /* struct check_settings */
    struct schema_list artifacts; /* struct artifact_settings */
    struct text_list expect;      /* "load.error_rate <= 0.01" */
    struct cooldown_settings cooldown;
    int64_t timeout_ns;
    int64_t retry;
};

extern const struct schema settings_schema;
extern const struct schema parity_schema;

#endif
