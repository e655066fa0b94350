/* SPDX-License-Identifier: MIT */
/*
 * The load generator of our own: makes the load that a workload describes and writes what it measured. Runs
 * in a process of its own (`benchctl load`), never inside the conductor's, so that what it costs is measured
 * like any other generator and a crash of one is not a crash of the other.
 *
 * Two latencies are kept of each request: the service time, from the moment its first byte was written (where
 * a connection had to be made, from the moment that began), and the response time, from the moment it was to
 * be sent. In open phases they differ by how late it was sent; in closed ones they are the same.
 */
#ifndef BENCHCTL_GENERATOR_H
#define BENCHCTL_GENERATOR_H

#include "benchctl/workload.h"

/* What went wrong with a request; the names are those of `load.errors`. */
enum request_error {
    REQUEST_OK,
    REQUEST_CONNECT,   /* no connection: refused, unreachable, unknown host */
    REQUEST_TLS,       /* no TLS session */
    REQUEST_RESET,     /* the connection broke before the whole answer was there */
    REQUEST_TIMEOUT,   /* no whole answer in time; it counts with its latency in no quantile, but in errors */
    REQUEST_PROTOCOL,  /* what came is no HTTP answer, or passes a limit */
    REQUEST_STATUS,    /* a whole answer with another status than expected (HTTP or gRPC) */
    REQUEST_MISMATCH,  /* a whole answer whose body or header is not what was expected */
    REQUEST_GENERATOR, /* no local port, no descriptor: a limit of the machine that makes the load */
    REQUEST_ABORTED,   /* was under way when its phase ended: interrupted, neither ok nor failed */
    REQUEST_ERRORS
};
extern const char *const request_error_names[REQUEST_ERRORS];

struct generator_second {
    double at_s;                          /* since the load began: end of that second */
    double planned_s;                     /* how long all of it is to last */
    int64_t vus;                          /* active */
    double requests, ok, failed, dropped; /* of that second */
    double p50_ms, p99_ms;                /* response time in that second; NAN */
};

struct generator_options {
    const char *out_dir; /* report.json, histogram.hlog, series.csv are written there; NULL: nothing is */
    /* Once a second while it runs, for a live line (may be NULL). */
    void (*on_second)(const struct generator_second *s, void *data);
    void *data;
};

/*
 * Runs the whole load; returns when it is over or the process was told to stop (SIGINT, SIGTERM: what was
 * measured so far is written, and the report says `interrupted`). -1 when it could not begin, or when results
 * could not be written. *ret: report.json's content, the caller frees; of a load that was made it is there
 * even when it could not be written, else untouched.
 */
int generator_run(const struct workload *w, const struct generator_options *o, struct json **ret,
                  struct error *err) MUST_CHECK;

#endif
