/* SPDX-License-Identifier: MIT */
/*
 * What load the built-in generator makes: requests with weights, phases with executors. Data and pure
 * schedule arithmetic; sends nothing. The matrix' `load.requests` and `load.phases` are read by the same
 * tables as the file of `benchctl load --spec`, so that both are checked with positions before anything runs.
 *
 * Executors have k6's names and meaning. Keys are spelled as everywhere here (pre_allocated_vus); k6's own
 * spelling (preAllocatedVUs, startTime, timeUnit, ...) is understood in phases, too.
 */
#ifndef BENCHCTL_WORKLOAD_H
#define BENCHCTL_WORKLOAD_H

#include "benchctl/base/schema.h"

enum executor {
    EXECUTOR_CONSTANT_VUS,
    EXECUTOR_RAMPING_VUS,
    EXECUTOR_CONSTANT_ARRIVAL_RATE,
    EXECUTOR_RAMPING_ARRIVAL_RATE,
    EXECUTOR_PER_VU_ITERATIONS,
    EXECUTOR_SHARED_ITERATIONS
};
extern const char *const executor_names[]; /* "constant-vus", ...; NULL-terminated */

enum arrivals { ARRIVALS_CONSTANT, ARRIVALS_POISSON };

struct workload_stage {
    int64_t duration_ns; /* 0: jumps */
    double target;       /* VUs, or arrivals per time unit */
};

struct workload_phase {
    const char *name; /* default: executor, with a number when there are several */
    int executor;     /* enum executor */
    int64_t vus;      /* closed executors; default 1 */
    int64_t duration_ns;
    struct schema_list stages;     /* struct workload_stage */
    double start_vus;              /* ramping-vus; default 1 */
    double rate, start_rate;       /* arrivals per time unit */
    int64_t time_unit_ns;          /* default 1 s */
    int64_t pre_allocated_vus;     /* arrival rate */
    int64_t max_vus;               /* default: pre_allocated_vus */
    int arrivals;                  /* enum arrivals */
    int64_t iterations;            /* per VU, or shared */
    int64_t max_duration_ns;       /* of iterations; default 10 min */
    int64_t graceful_stop_ns;      /* default 30 s */
    int64_t graceful_ramp_down_ns; /* default 30 s */
    int64_t start_time_ns;         /* since the load began; default: when the phase before it has ended */
    struct text_list requests;     /* names of the requests that it makes; none: all */
    bool warmup;                   /* counted apart: not in the summary's figures */
    struct position at;
};

struct workload_think {
    int64_t min_ns, max_ns; /* uniform between both */
};

struct workload_expect {
    struct text_list status; /* "200", "2xx", "200-204"; default 200-399 */
    const char *body;        /* POSIX extended regular expression that the body must match; NULL: any */
    const char *header;      /* "Name: REGEX"; NULL */
    int64_t grpc_status;     /* default 0 */
};

/* One kind of request. Texts may hold {{...}}: see workload_template_*. */
struct workload_request {
    const char *name; /* default: METHOD PATH */
    const char *method, *path;
    double weight; /* default 1 */
    struct text_map headers;
    const char *body, *body_file; /* one of them, or none; the file's content is a template unless `raw` */
    bool raw;
    const char *grpc; /* "package.Service/Method": a unary call; body is the encoded message */
    const struct workload_think *think; /* after each answer; NULL: the workload's */
    struct workload_expect expect;
    int64_t timeout_ns;                              /* default: the workload's */
    struct position at, path_at, body_at, expect_at; /* the request's own where it has no such key */
    /* POSIX extended regular expression: an answer that is ok and whose body matches was a fallback (a
     * default, a cached value): it counts as ok, and as a fallback. NULL: nobody looks. */
    const char *fallback;
    struct position fallback_at;
};

enum http_version { HTTP_VERSION_1_1, HTTP_VERSION_2, HTTP_VERSION_2_PRIOR };
enum transport_choice { TRANSPORT_AUTO, TRANSPORT_PLAIN, TRANSPORT_CURL };

struct workload {
    const char *target; /* http://127.0.0.1:8080 or https://...; paths are appended */
    const char *path;   /* of the one request when `requests` is empty; default "/" */
    const char *method; /* the same */
    const char *body, *body_file;
    struct text_map headers;     /* of every request */
    struct schema_list requests; /* struct workload_request; never empty once read */
    struct schema_list phases;   /* struct workload_phase; never empty once read */
    const char *data;            /* CSV file whose rows {{row.COLUMN}} takes in turn */
    const char
        *id_header; /* header that gets a unique id per request, for instance X-Request-Id; NULL: none */
    struct workload_think think;
    int64_t timeout_ns;         /* default 10 s: connect, send, wait and receive together */
    int64_t connect_timeout_ns; /* default 5 s */
    /* Without phases: rate given: constant-arrival-rate; iterations given: shared-iterations; else
     * constant-vus. */
    int64_t vus, iterations, max_vus;
    double rate;
    int arrivals;
    int64_t duration_ns;
    bool keepalive; /* default true; false: a new connection for each request */
    int http;       /* enum http_version */
    int transport;  /* enum transport_choice; auto: plain where it can */
    bool insecure;  /* TLS: do not check the peer */
    const char *ca_file;
    int64_t processes; /* default 1 */
    int64_t seed;      /* of weights, think times, random values and Poisson arrivals; default 1 */
    struct position at, data_at;
};

extern const struct schema workload_schema, workload_request_schema, workload_phase_schema;

/* From a tree (the spec file, or a matrix' load map without its own keys): checked, defaults filled in.
 * `dir`: what relative paths are relative to. Strings live in `a`. */
int workload_read(const struct node *n, const char *dir, struct arena *a, struct workload *ret,
                  struct error *err) MUST_CHECK;

/* "200", "2xx" or "200-204" as the first and last status (100 to 599); false when it is none of these. */
bool workload_status_range(const char *pattern, int *ret_first, int *ret_last);

/* ---- schedule: pure ---- */

bool executor_is_open(int executor);
/* When the phase starts (since the load began), how long it lasts without graceful stop. Sequential phases
 * begin when the one before has ended (its graceful stop included only as long as it needs; planned without).
 */
int64_t workload_phase_start_ns(const struct workload *w, size_t phase);
int64_t workload_phase_duration_ns(const struct workload_phase *p);
int64_t workload_duration_ns(const struct workload *w); /* planned, without graceful stops */
int64_t workload_longest_ns(const struct workload *w);  /* with them */
/* The most VUs that are ever active at once, over all phases. */
int64_t workload_max_vus(const struct workload *w);

/* Closed: how many VUs are to be active `t_ns` after the phase began. Linear between stage targets as in k6:
 * rounded down on the way up, and on the way down a VU goes when the line has come down to the number below
 * it. Behind the end the last target stays. Open: 0. */
int64_t phase_vus_at(const struct workload_phase *p, int64_t t_ns);

/* Open: the moment (since the phase began) of arrival k (0, 1, ...): where the integral of the rate is k for
 * constant arrivals; INT64_MAX behind the last one. Exact to the nanosecond for constant rates (k * unit /
 * rate). Poisson arrivals: `exponential_sum` is the sum of k exponential variates of mean 1, used in the
 * place of k. */
int64_t phase_arrival_ns(const struct workload_phase *p, double k);
uint64_t phase_planned_arrivals(const struct workload_phase *p);    /* rate * duration, integrated */
double phase_rate_at(const struct workload_phase *p, int64_t t_ns); /* per second */

/* ---- templates ---- */

/*
 * {{counter}} (0, 1, ... over the run), {{vu}}, {{iteration}} (of that VU), {{uuid}} (version 4, from the
 * seed),
 * {{id}} (the request's unique id), {{random A B}} (whole number, both ends included), {{choice a b c}},
 * {{row.COLUMN}}, {{env.NAME}} (once, at the start), {{time}} (RFC 3339), {{time_ms}}. "{{{{" is a literal
 * "{{". Anything else in {{...}} is an error with the nearest known name.
 */
struct workload_template;
struct workload_rows; /* a CSV file in memory: RFC 4180, first line names the columns */

int workload_rows_read(const char *path, struct workload_rows **ret, struct error *err) MUST_CHECK;
void workload_rows_free(struct workload_rows *r);
DEFINE_CLEANUP(struct workload_rows *, workload_rows_free);
size_t workload_rows_count(const struct workload_rows *r);

int workload_template_compile(const char *text, size_t len, const struct workload_rows *rows, struct arena *a,
                              struct workload_template **ret, struct error *err) MUST_CHECK;

/* Which variables of the environment a text would carry, read as the compiler reads it (NUL bytes included),
 * without looking at any of them. Fails where compiling would, but not for want of rows or variables; `env`
 * may have been called by then. */
struct workload_text {
    const char *text;
    size_t len;
};
typedef void workload_env_fn(const char *name, void *data);
int workload_template_each_env(const struct workload_text *text, workload_env_fn *env, void *data,
                               struct error *err) MUST_CHECK;
bool workload_template_is_constant(const struct workload_template *t);

struct rng;
struct workload_values {
    uint64_t counter, vu, iteration, row;
    const char *id;
    struct rng *rng;
};
void workload_template_render(const struct workload_template *t, const struct workload_values *v,
                              struct strbuf *out);

#endif
