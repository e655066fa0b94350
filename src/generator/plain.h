/* SPDX-License-Identifier: MIT */
/*
 * Keep-alive HTTP/1.1 over TCP with as little work per request as can be: a kept connection costs one send()
 * and one recv() per exchange, into a buffer that all channels share; no allocation, no change of what is
 * watched, two readings of the clock.
 */
#ifndef BENCHCTL_GENERATOR_PLAIN_H
#define BENCHCTL_GENERATOR_PLAIN_H

#include "plain_answer.h"
#include "transport_internal.h"

TAILQ_HEAD(plain_endings, plain_ending);

struct plain {
    struct transport base;
    struct plain_endings endings; /* connections that servers are about to close */
    size_t ending_count;
    size_t preferred;            /* the address that was reached last */
    struct strbuf message, body; /* what is being rendered */
    char *buffer;
};

enum plain_state { PLAIN_CLOSED, PLAIN_CONNECTING, PLAIN_OPEN };

struct plain_channel {
    struct channel base;
    struct loop_fd *watch;
    const char *unsent; /* the rest of the message */
    size_t unsent_len;
    char *copy; /* holds `unsent` when it was rendered and could not be sent at once */
    struct answer answer;
    int64_t idle_since_ns;
    int fd;
    enum plain_state state;
    bool peer_closed;       /* it will send nothing more */
    uint8_t address, tried; /* index of the one being connected to; how many before it failed */
};

/* plain_connect.c. 0, or the errno of what is wrong with the last address. */
int plain_connect(struct plain_channel *c);
int plain_connect_next(struct plain_channel *c, int errnum); /* after one failed with errnum */
void plain_close(struct plain_channel *c);
/* The server said that it closes: who closes first keeps the port for a minute, and ports are what a load
 * with a new connection for each request runs out of. So the server is waited for, as long as there are not
 * too many. */
void plain_close_after_peer(struct plain_channel *c);
void plain_end_all(struct plain *t);
/* A connection that was idle: false when its end, or bytes that nobody asked for, can be seen. */
bool plain_still_good(const struct plain_channel *c);

void plain_on_event(int fd, unsigned events, void *data);

#endif
