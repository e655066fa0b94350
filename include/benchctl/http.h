/* SPDX-License-Identifier: MIT */
/*
 * HTTP requests on the loop: libcurl (multi interface, driven by socket and timer callbacks) for everything
 * but the load, whose own use of it is in src/generator. The engine client, scrapes, readiness checks and
 * webhooks are built on it. Not a load generator.
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

/*
 * Where requests of one kind go. Strings are copied by http_start().
 * The environment's proxies (HTTPS_PROXY, NO_PROXY, ...) are for calls that leave the lab, such as webhooks.
 * They are off by default: a proxy between us and a socket, a container or the engine can only do harm.
 */
struct http_endpoint {
    const char *unix_socket;                    /* NULL for TCP */
    const char *ca_file, *cert_file, *key_file; /* TLS; NULL: the system's, or none */
    bool verify;                                /* TLS: check the peer (without an endpoint it is checked) */
    bool use_proxy;
    const char *name; /* what messages call the peer; NULL: the URL's origin in quotes */
};

/* Gives up to `size` body bytes: the count, 0 at the end, -1 on failure (which fails the request). */
typedef ptrdiff_t http_read_fn(char *buffer, size_t size, void *data);
/* Gets body bytes as they come. Returns 0, or -1 to end the request with an error. */
typedef int http_write_fn(const char *bytes, size_t len, void *data);
/* Gets status and content type ("" when there is none) before the first body byte: a stream is connected now.
 */
typedef void http_head_fn(int status, const char *content_type, void *data);

struct http_result {
    bool ok;                  /* a whole reply arrived (whatever its status) */
    int status;               /* HTTP status, 0 when there was none */
    const char *content_type; /* "" when there was none; valid during the callback */
    /* The same for Content-Encoding: bodies are never decoded. */
    const char *content_encoding;
    const char *body; /* collected body when no on_body was given; valid during the callback */
    size_t body_len;
    bool truncated; /* the body passed max_body: the request was ended, not ok */
    /* Why not ok: ERROR_TIMEOUT or ERROR_ENVIRONMENT. The message names the peer; the code is the errno of a
     * connection that could not be made, else 0. */
    struct error error;
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
    http_head_fn *on_head;      /* may be NULL */
    http_write_fn *on_body;     /* stream the body of a 2xx reply instead of collecting it */
    size_t max_body;            /* collected at most; 0: 16 MiB */
    int64_t timeout_ns;         /* whole request; 0: none (streams) */
    int64_t connect_timeout_ns; /* 0: 10 s */
    int64_t idle_timeout_ns;    /* no byte for this long ends it with ERROR_TIMEOUT; 0: none */
    bool fresh_connection;      /* do not reuse (streams, first readiness probe) */
    http_done_fn *done;         /* called exactly once, unless cancelled */
    void *data;                 /* for read_body, on_head, on_body and done */
};

/*
 * The request belongs to `h` until done has been called. Redirects are not followed. All callbacks come from
 * the loop, never from inside these functions; they may start and cancel requests, and must not free `h`.
 */
int http_start(struct http *h, const struct http_options *options, struct http_request **ret,
               struct error *err) MUST_CHECK;
void http_cancel(struct http_request *r); /* NULL is fine; done is not called */

/* The same and waits. The body is collected into ret_body (may be NULL); *ret_status is the HTTP status.
 * `done` and `on_head` of the options are not used. Not from a callback. */
int http_fetch(struct http *h, const struct http_options *options, int *ret_status, struct strbuf *ret_body,
               struct error *err) MUST_CHECK;

/* Appends `text` percent-encoded, as a query value or a path segment ('/' is encoded too). */
void http_escape(struct strbuf *out, const char *text);

#endif
