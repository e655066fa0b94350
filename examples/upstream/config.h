/* SPDX-License-Identifier: MIT */
/*
 * What the mock answers, read from YAML: endpoints with latencies, bodies and shares of failures. Everything
 * lives in the arena it was read into and does not change while the server runs.
 */
#ifndef UPSTREAM_CONFIG_H
#define UPSTREAM_CONFIG_H

#include "benchctl/base/schema.h"

#define UPSTREAM_MAX_CONFIG_BYTES ((size_t)1 << 20)
#define UPSTREAM_MAX_BODY_BYTES ((int64_t)64 << 20)
#define UPSTREAM_MAX_FAILURES 16
#define UPSTREAM_NEVER INT64_MAX

enum latency_kind { LATENCY_CONSTANT, LATENCY_UNIFORM, LATENCY_NORMAL, LATENCY_LOGNORMAL };

struct latency_normal {
    int64_t mean_ns, sd_ns;
};

struct latency_lognormal {
    int64_t median_ns, p99_ns;
    double sigma; /* of the logarithm */
};

/* How long an answer takes. As written, and below it what fate.c draws from. */
struct latency {
    int64_t constant_ns;
    struct text_list uniform;
    const struct latency_normal *normal;
    const struct latency_lognormal *lognormal;

    enum latency_kind kind;
    double a, b; /* ns: the value; from, to; mean, sd. lognormal: ln(median), sigma */
};

enum failure_kind {
    FAILURE_NONE,
    FAILURE_STATUS,   /* that status, at once */
    FAILURE_TIMEOUT,  /* the answer comes after `timeout_after` */
    FAILURE_RESET,    /* RST, at once */
    FAILURE_CLOSE,    /* FIN without an answer */
    FAILURE_TRUNCATE, /* half of the body, then FIN */
    FAILURE_GARBAGE   /* bytes that are no HTTP, then FIN */
};

struct failure {
    enum failure_kind kind;
    int status;       /* FAILURE_STATUS */
    const char *name; /* as written: "500", "timeout", ... */
    double share;     /* 0..1 */
};

struct failures {
    struct failure items[UPSTREAM_MAX_FAILURES];
    size_t len;
};

struct behaviour {
    const struct latency *latency;
    const struct node *failures;
    const char *timeout_after;
};

struct endpoint {
    const char *path; /* "/exact" or "/prefix/" followed by a star */
    int64_t status;
    const char *content_type;
    const char *body, *body_file;
    int64_t body_bytes;
    struct behaviour behaviour;
    struct position at;

    /* Made from the above. */
    size_t path_len; /* without the star */
    bool is_prefix;
    const char *body_text;
    size_t body_len;
    bool is_template;
    struct latency latency;
    struct failures failures;
    int64_t timeout_after_ns; /* UPSTREAM_NEVER */
};

struct stall {
    int64_t every_ns, for_ns; /* 0: none */
};

struct config {
    int64_t version;
    const char *host;
    int64_t port;
    int64_t seed;
    const char *id_header; /* names the header that decides a request's fate; "" for none */
    int64_t max_connections;
    const struct stall *stall;
    bool close;
    int http; /* 0: 1.1, 1: 1.0 */
    struct behaviour defaults;
    struct schema_list endpoints; /* struct endpoint */
};

extern const struct schema config_schema;

/* `file` names the text in messages; body files are relative to `dir` (NULL: not allowed). */
int config_read(const char *bytes, size_t len, const char *file, const char *dir, struct arena *a,
                struct config *ret, struct error *err) MUST_CHECK;

/* "EVERY/FOR", for instance "10s/2s". */
int stall_parse(const char *text, struct stall *ret, struct error *err) MUST_CHECK;

/* The endpoint that answers this path (without its query): the exact one, else the longest prefix; NULL. */
struct endpoint *config_find(const struct config *c, const char *path, size_t len);

#endif
