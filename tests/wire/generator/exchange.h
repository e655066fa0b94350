/* SPDX-License-Identifier: MIT */
/* A scripted server and a caller for it, on one loop. */
#ifndef TESTS_WIRE_GENERATOR_EXCHANGE_H
#define TESTS_WIRE_GENERATOR_EXCHANGE_H

#include "caller.h"
#include "peer.h"

#define IS_PLAIN (UNDER_TEST == TRANSPORT_AUTO)
#define OK2 "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static inline void begin(struct caller *c, struct peer *p, const struct peer_step *steps, size_t count)
{
    caller_init(c);
    *p = (struct peer){0};
    peer_start(p, c->loop, steps, count);
    assert_true(p->port > 0);
}

static inline void end(struct caller *c, struct peer *p)
{
    peer_stop(p);
    caller_close(c);
}

#endif
