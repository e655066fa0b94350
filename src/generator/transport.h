/* SPDX-License-Identifier: MIT */
/*
 * How one request gets to the server and its answer back: plain keep-alive HTTP/1.1 over TCP (plain.c), or
 * libcurl for TLS, HTTP/2, gRPC and everything unusual (curl.c), behind one interface. A channel is what one
 * virtual user has: at most one exchange at a time; it keeps its connection between exchanges unless told
 * otherwise. Transports know nothing of schedules, statistics and timeouts: who starts an exchange cancels it
 * when its time is up.
 *
 * Everything happens on the loop. An exchange ends by exactly one call of its `done`, never from inside
 * channel_start() (what fails at once is reported from the loop's next round), unless it is cancelled.
 */
#ifndef BENCHCTL_GENERATOR_TRANSPORT_H
#define BENCHCTL_GENERATOR_TRANSPORT_H

#include <regex.h>
#include "benchctl/base/loop.h"
#include "benchctl/generator.h"

/* A request kind made ready: what does not change from one to the next. Immutable. */
struct request_kind {
    const struct workload_request *form;
    size_t index;
    /* Templates; NULL: there is none of it. `head` and `path` include target's path prefix. */
    const struct workload_template *path, *body;
    struct {
        const char *name;
        const struct workload_template *value;
    } * headers;
    size_t header_count;
    /* plain: the whole message when nothing in it changes, else NULL. */
    const char *message;
    size_t message_len;
    bool status_ok[600]; /* by HTTP status */
    regex_t body_regex, header_regex;
    const char *header_name; /* of expect.header; NULL: not checked */
    bool check_body;
    bool is_head; /* its answer has no body whatever it says */
    int64_t timeout_ns;
};

struct exchange {
    /* in */
    const struct request_kind *kind;
    const struct workload_values *values; /* for templates; valid during channel_start() */
    void (*done)(struct exchange *x, void *data);
    void *data;
    /* out, valid in done() */
    enum request_error error;
    int status;      /* HTTP; 0: none came */
    int grpc_status; /* -1: none came */
    int64_t sent_ns; /* when the first byte was handed to the kernel (connect included in what follows only
                        when a connection had to be made: then the moment connecting began); 0: never */
    int64_t done_ns;
    uint64_t received_bytes; /* head and body */
    bool new_connection;
    const char *detail; /* a few static words or a static errno text; NULL */
};

struct transport;
struct channel;

/* `w` outlives it. The target's host is resolved once, here: an unknown host is ERROR_ENVIRONMENT. */
int transport_new(struct loop *l, const struct workload *w, struct transport **ret,
                  struct error *err) MUST_CHECK;
void transport_free(struct transport *t); /* all channels must be closed */
DEFINE_CLEANUP(struct transport *, transport_free);
const char *transport_name(const struct transport *t); /* "plain" or "curl" */

/* What a workload needs: why plain cannot carry it, or NULL when it can. */
const char *transport_needs_curl(const struct workload *w);

/* Compiles the workload's requests for this transport. Errors have positions. */
int transport_prepare(struct transport *t, const struct workload *w, const struct workload_rows *rows,
                      struct arena *a, struct request_kind **ret, size_t *ret_len,
                      struct error *err) MUST_CHECK;

struct channel *channel_new(struct transport *t);
void channel_free(struct channel *c); /* cancels; NULL is fine */
void channel_start(struct channel *c, struct exchange *x);
/* Ends an exchange without calling done: its connection is closed, received_bytes is filled in. */
void channel_cancel(struct channel *c);
void channel_disconnect(struct channel *c); /* while nothing is under way: the next one connects anew */

#endif
