/* SPDX-License-Identifier: MIT */
/*
 * HTTP requests on the loop: the only place that knows libcurl (multi interface, driven by socket and timer
 * callbacks). The engine client, scrapes, readiness checks and webhooks are built on it. Not a load
 * generator.
 *
 * A request is started, its body arrives by callback or is collected, and `done` tells how it ended. Nothing
 * here waits; http_fetch() is the convenience that does.
 */
#ifndef BENCHCTL_HTTP_H
#define BENCHCTL_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/error.h"
#include "benchctl/base/loop.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"

struct http;
struct http_request;

int http_new(struct loop *l, struct http **ret, struct error *err) MUST_CHECK;
void http_free(struct http *h); /* ends requests that are still open without calling them back */
DEFINE_CLEANUP(struct http *, http_free);

/* Where requests of one kind go. Strings stay the caller's and must outlive the requests. */
struct http_endpoint {
    const char *unix_socket;                    /* NULL for TCP */
    const char *ca_file, *cert_file, *key_file; /* TLS; NULL: the system's, or none */
    bool verify;                                /* TLS: check the peer */
};

/* Gives up to `size` body bytes: the count, 0 at the end, -1 on failure (which fails the request). */
typedef ptrdiff_t http_read_fn(char *buffer, size_t size, void *data);
/* Gets body bytes as they come. Returns 0, or -1 to end the request with an error. */
typedef int http_write_fn(const char *bytes, size_t len, void *data);

struct http_result {
    bool ok;                  /* a whole reply arrived (whatever its status) */
    int status;               /* HTTP status, 0 when there was none */
    const char *content_type; /* "" when there was none; valid during the callback */
    const char *body;         /* collected body when no on_body was given; valid during the callback */
    size_t body_len;
    bool truncated; /* the body passed max_body and was cut */
    struct error
        error; /* why not ok: ERROR_TIMEOUT, ERROR_ENVIRONMENT (message names the peer), ERROR_INTERRUPTED */
    int64_t started_ns, finished_ns;
};
typedef void http_done_fn(const struct http_result *r, void *data);

struct http_options {
    const struct http_endpoint *endpoint; /* may be NULL: plain TCP */
    const char *method;                   /* NULL: GET */
    const char *url;
    const char *const *headers; /* NULL-terminated "Name: value"; may be NULL */
    const char *body;           /* sent as is; NULL: none */
    size_t body_len;
    http_read_fn *read_body;    /* instead of body: chunked upload */
    http_write_fn *on_body;     /* stream the reply instead of collecting it */
    size_t max_body;            /* collected at most; 0: 16 MiB */
    int64_t timeout_ns;         /* whole request; 0: none (streams) */
    int64_t connect_timeout_ns; /* 0: 10 s */
    int64_t idle_timeout_ns;    /* no byte for this long ends it with ERROR_TIMEOUT; 0: none */
    bool fresh_connection;      /* do not reuse (streams, first readiness probe) */
    http_done_fn *done;         /* called exactly once, unless cancelled */
    void *data;                 /* for read_body, on_body and done */
};

/* The request belongs to `h` until done has been called. */
int http_start(struct http *h, const struct http_options *options, struct http_request **ret,
               struct error *err) MUST_CHECK;
void http_cancel(struct http_request *r); /* NULL is fine; done is not called */

/* The same and waits. The body is collected into ret_body (may be NULL); *ret_status is the HTTP status. */
int http_fetch(struct http *h, const struct http_options *options, int *ret_status, struct strbuf *ret_body,
               struct error *err) MUST_CHECK;

#endif
