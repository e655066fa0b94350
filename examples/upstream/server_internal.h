/* SPDX-License-Identifier: MIT */
#ifndef UPSTREAM_SERVER_INTERNAL_H
#define UPSTREAM_SERVER_INTERNAL_H

#include "answer.h"
#include "config.h"
#include "fate.h"
#include "request.h"
#include "server.h"
#include "timers.h"

#define READ_BYTES 16384
#define LINGER_NS                                                                                            \
    (2 * INT64_C(1000000000)) /* how long what still comes is thrown away after the last answer */

struct counters {
    uint64_t requests;  /* heads read */
    uint64_t served;    /* whole answers that were no failure */
    uint64_t aborted;   /* the client went away before */
    uint64_t in_flight; /* from the end of the request to the end of its answer */
    uint64_t peak;
    uint64_t failures[UPSTREAM_MAX_FAILURES]; /* as the endpoint's list */
};

/* One endpoint at work. */
struct station {
    const struct endpoint *endpoint;
    uint64_t counted; /* requests without an id: the next one's key */
    struct counters counters;
    struct strbuf answers[3]; /* head and body by enum ending; empty for templates */
    size_t head_len[3];
};

enum connection_state {
    CONNECTION_HEAD,  /* reads a request */
    CONNECTION_BODY,  /* reads its body */
    CONNECTION_WAIT,  /* the answer is not due */
    CONNECTION_WRITE, /* the socket takes no more */
    CONNECTION_DRAIN  /* answered for the last time: throws away what comes */
};

struct connection {
    struct timer timer; /* first: a timer is its connection */
    struct connection *previous, *next;
    int fd;
    unsigned char state; /* enum connection_state */
    bool readable;       /* as far as known: the socket has bytes or its end */
    bool half_closed;    /* the client sends no more */
    bool ends;           /* closed behind this answer */
    bool only_head;      /* HEAD */
    bool old;            /* HTTP/1.0 */
    bool counts;         /* in flight */
    struct body body;
    struct fate fate;
    struct station *station; /* NULL: the answer lies in `out` */
    struct strbuf in;        /* read and not used */
    struct strbuf out;       /* not written from out_at on */
    size_t out_at;
};

struct server {
    const struct config *config;
    int epoll, listener, signals, spare;
    int port;
    bool ended;
    int64_t started_ns, now_ns;
    struct station *stations;
    struct timers timers;
    struct connection *first;
    struct counters all;
    uint64_t connections, connections_peak, accepted, refused, not_found, malformed, stalls;
    char bytes[READ_BYTES];
};

/* connection.c */
void connection_new(struct server *s, int fd);
void connection_close(struct server *s, struct connection *c, bool reset);
void connection_event(struct server *s, struct connection *c, uint32_t events);
void connection_due(struct server *s, struct connection *c);

/* stats.c */
void stats_write(const struct server *s, struct strbuf *out); /* JSON */
void stats_reset(struct server *s);

#endif
