/* SPDX-License-Identifier: MIT */
/* Of scripted_server: what its two halves share. */
#ifndef WIRE_SCRIPTED_INTERNAL_H
#define WIRE_SCRIPTED_INTERNAL_H

#include <pthread.h>
#include <stdint.h>
#include "benchctl/base/clock.h"
#include "benchctl/base/mem.h"
#include "scripted_http.h"

struct piece {
    char *bytes;
    size_t len, sent;
    int64_t due_ns;
};

struct connection {
    int fd, number;
    struct strbuf in;
    VEC(struct piece) out;
    size_t out_at;             /* the first piece that is not sent */
    bool close_after, hanging; /* hanging: no more requests are read */
    struct seen *stream;       /* the request of an open stream (points into `seen`) */
};

struct server {
    struct server_options options;
    pthread_t thread;
    pthread_mutex_t lock;
    int listening, wake, port;
    char *directory, *socket, *url;
    bool stopping;
    VEC(struct connection *) connections;
    int connection_count;
    VEC(struct seen *) seen;
    VEC(char *) texts;
    size_t script_at;
    char *problem; /* the first one */
    size_t fail_in;
    const char *fail_pattern;
    enum failure fail_how;
};

/* scripted_serve.c: the thread, which holds the lock except while it waits. */
void *serve_thread(void *server);
void peer_free(struct connection *c);
void connection_queue(struct connection *c, const char *bytes, size_t len, int64_t due_ns);

#endif
