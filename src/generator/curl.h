/* SPDX-License-Identifier: MIT */
/*
 * TLS, HTTP/2, gRPC and everything unusual, by libcurl's multi interface on the loop.
 *
 * Each channel has connections of its own, as it has on the plain path: with HTTP/2, too, where one exchange
 * at a time is under way on each. libcurl keeps connections in pools; what sets apart the connections of a
 * channel in its pool is the zone id (CURLOPT_ADDRESS_SCOPE), which is part of the pool's key and means
 * nothing to any address that is not link-local. Link-local targets share the pool.
 *
 * libcurl goes through a pool from its start at the end of each request and of each connection. So there is
 * one for every few channels (struct curl_shard) instead of one for all: a request costs the same whether
 * there are ten channels or ten thousand.
 *
 * HTTP/2 is what was asked for or nothing: an answer in another version is REQUEST_PROTOCOL. A cancelled
 * exchange ends its connection; with HTTP/2 libcurl only resets the stream.
 *
 * What libcurl watches on the loop stays watched while a connection is idle: it would be taken away and put
 * back for each request otherwise.
 */
#ifndef BENCHCTL_GENERATOR_CURL_H
#define BENCHCTL_GENERATOR_CURL_H

#include <curl/curl.h>
#include "transport_internal.h"

struct curl_channel;

/* One open descriptor of libcurl's, found by its number. */
struct curl_socket {
    struct loop_fd *watch;      /* NULL: not watched */
    unsigned events;            /* what libcurl wants; 0: nothing */
    bool is_h2;                 /* opened for HTTP/2 */
    struct curl_channel *owner; /* NULL once its channel is gone */
    int next_of_owner;          /* -1: none */
};

#define SHARD_CHANNELS 32

/* A pool of connections, of as many channels at most. It goes, and its connections, with the last of them. */
struct curl_shard {
    TAILQ_ENTRY(curl_shard) link; /* among those with room for one more */
    CURLSH *pool;
    uint32_t taken; /* a bit for each channel */
};

struct curl_transport {
    struct transport base;
    CURLM *multi;
    struct loop_timer *timer;
    bool due;                        /* libcurl wants to be called at once */
    bool settling;                   /* settle() is calling done functions, and will see to what is due */
    VEC(struct curl_socket) sockets; /* by descriptor */
    TAILQ_HEAD(, curl_shard) roomy;
    int ended_fd;               /* a socket whose peer is gone */
    bool scoped;                /* channels have zones of their own */
    bool prior_once;            /* libcurl 7.88: prior knowledge may only be said to new connections */
    struct curl_slist *resolve; /* the target's addresses */
};

/* What libcurl keeps of a kind. */
struct curl_kind {
    struct curl_slist *constant; /* headers that never change, with those that switch off libcurl's own */
    const struct request_header **dynamic;
    size_t dynamic_count;
    struct request_text body; /* with gRPC's prefix when constant */
    long version;
    int wanted_version; /* CURL_HTTP_VERSION_2_0: no other will do; 0: any */
};

struct curl_channel {
    struct channel base;
    CURL *easy;
    const struct request_kind *applied; /* whose options are set */
    struct strbuf path, body, headers;  /* rendered; libcurl reads body and headers in place */
    struct curl_slist *nodes;
    int64_t idle_since_ns;
    struct curl_shard *shard;
    unsigned place;   /* in it */
    int first_socket; /* -1: none */
    bool added;

    /* of this exchange */
    bool kept_only;  /* it may not make a new connection */
    bool written;    /* the request, at least in part */
    bool peer_gone;  /* when its connection was closed */
    bool headed;     /* the final head is whole */
    bool header_ok;  /* a header matched expect.header */
    bool has_length; /* `length` is its Content-Length */
    int status, grpc_status, connect_errnum;
    size_t head_bytes;
    uint64_t length;
    const char *problem;      /* why the answer was refused; static */
    struct strbuf *collected; /* body for a regular expression */
    char text[CURL_ERROR_SIZE];
};

/* curl_kind.c */
int curl_prepare(struct transport *t, struct request_kind *k, struct arena *a, struct error *err);
void grpc_prefix(char prefix[5], size_t len);
void curl_release(struct transport *t, struct request_kind *k);

/* curl_shard.c: gives it a place in a shard; and takes it back, when its handle is gone. */
void curl_shard_join(struct curl_channel *c);
void curl_shard_leave(struct curl_channel *c);

/* curl_request.c: sets what differs from the request before. NULL, or why it cannot be sent. */
const char *curl_apply(struct curl_channel *c, const struct exchange *x);
void curl_setup(struct curl_channel *c); /* once */

/* curl_answer.c: what comes in, and how it ended. */
void curl_answer_begin(struct curl_channel *c);
size_t curl_on_header(char *bytes, size_t size, size_t count, void *data);
size_t curl_on_body(char *bytes, size_t size, size_t count, void *data);
enum request_error curl_judge(struct curl_channel *c, CURLcode code, const char **ret_detail);

/* curl_socket.c: descriptors on the loop. */
int curl_want_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *socket_data);
curl_socket_t curl_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *at);
int curl_close_socket(void *data, curl_socket_t fd);
int curl_connected(void *data, char *peer, char *local, int peer_port, int local_port);
void curl_end_sockets(struct curl_channel *c);    /* ends its idle connections */
void curl_disown_sockets(struct curl_channel *c); /* the same, when the channel goes */
/* Before a request: ends those of them of which the end can be seen. Is there one left for HTTP/2? */
bool curl_check_sockets(struct curl_channel *c);

/* curl.c: runs libcurl for a socket, and ends what has ended. */
void curl_run(struct curl_transport *t, curl_socket_t fd, int action);

#endif
