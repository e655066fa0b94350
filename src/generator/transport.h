/* SPDX-License-Identifier: MIT */
/*
 * How one request gets to the server and its answer back: plain keep-alive HTTP/1.1 over TCP (plain.c), or
 * libcurl for TLS, HTTP/2, gRPC and everything unusual (curl.c), behind one interface. A channel is what one
 * virtual user has: at most one exchange at a time; it keeps its connection between exchanges unless told
 * otherwise. Transports know nothing of schedules, statistics and request timeouts: who starts an exchange
 * cancels it when its time is up. Only the time to connect is watched here (REQUEST_CONNECT when it is over).
 *
 * Everything happens on the loop. An exchange ends by exactly one call of its `done`, never from inside
 * channel_start() (what fails at once is reported from the loop's next round), unless it is cancelled. `done`
 * may start the channel's next exchange, and may free the channel.
 *
 * A server may close a kept connection at any time. When that could be seen before the request was written, a
 * new connection is made and nothing is counted. When it shows only afterwards, nobody can know whether the
 * request took effect: it counts as REQUEST_RESET and is not sent again.
 */
#ifndef BENCHCTL_GENERATOR_TRANSPORT_H
#define BENCHCTL_GENERATOR_TRANSPORT_H

#include <regex.h>
#include "benchctl/base/loop.h"
#include "benchctl/generator.h"

#define ANSWER_HEAD_MAX ((size_t)64 << 10) /* bytes of an answer's head, and of its trailers */
#define ANSWER_BODY_MAX ((size_t)1 << 20)  /* bytes of a body that a regular expression gets to see */
#define REQUEST_BODY_MAX ((size_t)64 << 20)

/* What stands in a request: `text` when it never changes, else NULL and `value` renders it. */
struct request_text {
    const char *text;
    size_t len;
    const struct workload_template *value;
};

struct request_header {
    const char *name;
    struct request_text value;
};

/* A request kind made ready: what does not change from one to the next. Immutable. */
struct request_kind {
    const struct workload_request *form;
    size_t index;
    const char *method;
    struct request_text path; /* with the target's own path in front */
    struct request_text body; /* without gRPC's length prefix */
    bool has_body;
    struct request_header *headers; /* all of them but Content-Length */
    size_t header_count;
    bool close; /* asks for the end of the connection */
    /* plain: the head in pieces, and the whole message when nothing in it changes, else NULL. */
    const struct request_piece *pieces;
    size_t piece_count;
    const char *message;
    size_t message_len;
    void *curl;                               /* curl: what of it libcurl keeps */
    bool status_ok[1000];                     /* by HTTP status */
    const char *header_name;                  /* of expect.header; NULL: not checked */
    const regex_t *header_regex, *body_regex; /* body_regex NULL: not checked */
    bool is_head;                             /* its answer has no body whatever it says */
    bool is_grpc;
    int64_t timeout_ns;
    const regex_t *fallback_regex; /* NULL: nobody looks for fallbacks */
    bool wants_body;               /* some regular expression does */
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
    uint64_t received_bytes; /* head and body; libcurl leaves out what frames chunks */
    bool new_connection;     /* one was made, or at least begun, for it */
    const char *detail;      /* a few static words or a static errno text; NULL */
    bool fallback;           /* ok, and by a fallback */
};

struct transport;
struct channel;

/*
 * `w` outlives it. The target's host is resolved once, here: an unknown host is ERROR_ENVIRONMENT. Raises the
 * soft limit of open files to the hard one.
 */
int transport_new(struct loop *l, const struct workload *w, struct transport **ret,
                  struct error *err) MUST_CHECK;
void transport_free(struct transport *t); /* all channels must be closed */
DEFINE_CLEANUP(struct transport *, transport_free);
const char *transport_name(const struct transport *t); /* "plain" or "curl" */

/* What a workload needs: why plain cannot carry it, or NULL when it can. */
const char *transport_needs_curl(const struct workload *w);

/*
 * Compiles the workload's requests for this transport. Errors have positions. What it gives lives in `a`,
 * which must outlive the transport.
 *
 * Host, User-Agent and Content-Length are filled in; the workload's headers replace the first two, and the
 * request's own replace the workload's. Content-Length, Transfer-Encoding and what else frames a message may
 * not be given. Bytes that cannot stand in a path are percent-encoded. A header's value with a line break is
 * an error here when it is constant; when only its rendering has one, that request fails as
 * REQUEST_GENERATOR and is not sent.
 */
int transport_prepare(struct transport *t, const struct workload *w, const struct workload_rows *rows,
                      struct arena *a, struct request_kind **ret, size_t *ret_len,
                      struct error *err) MUST_CHECK;

struct channel *channel_new(struct transport *t);
void channel_free(struct channel *c); /* cancels; NULL is fine */
void channel_start(struct channel *c, struct exchange *x);
/* Ends an exchange without calling done: its connection is closed, received_bytes is filled in. Does nothing
 * when none is under way. */
void channel_cancel(struct channel *c);
void channel_disconnect(struct channel *c); /* while nothing is under way: the next one connects anew */

#endif
