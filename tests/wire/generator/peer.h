/* SPDX-License-Identifier: MIT */
/*
 * A server on the test's own loop, on 127.0.0.1 or ::1, that does to each request what the script says next:
 * bytes as they are, in pieces of any size, and then the connection kept, closed, reset or left hanging.
 * Everything happens in an order that does not depend on the machine's speed.
 */
#ifndef TESTS_WIRE_GENERATOR_PEER_H
#define TESTS_WIRE_GENERATOR_PEER_H

#include "benchctl/base/loop.h"
#include "benchctl/base/strbuf.h"

enum peer_end {
    PEER_KEEP,
    PEER_CLOSE,
    PEER_RESET, /* RST */
    PEER_SILENT /* reads nothing and says nothing any more */
};

struct peer_step {
    const char *answer; /* NULL: none */
    size_t len;         /* 0: strlen() */
    size_t piece;       /* bytes per round of the loop; 0: all at once */
    enum peer_end end;
    bool at_once; /* when somebody connects, without waiting for a request */
};

struct peer {
    struct loop *loop;
    const struct peer_step *steps;
    size_t step_count, step; /* the last step is repeated */
    int port, listener;
    struct loop_fd *watch;
    struct strbuf seen; /* all requests, one behind the other */
    size_t connections, requests, open;
    struct peer_link *links;
    bool v6;
};

void peer_start(struct peer *p, struct loop *l, const struct peer_step *steps, size_t count);
void peer_stop(struct peer *p);
/* On every connection there is, now. */
void peer_say(struct peer *p, const char *bytes);
void peer_end_all(struct peer *p, enum peer_end how);

#endif
