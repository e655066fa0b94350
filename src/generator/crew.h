/* SPDX-License-Identifier: MIT */
/*
 * Several processes that share one load. They are forked before anything is opened; each sends its seconds
 * over a socket, and is told when to begin, which phase comes next, and to stop. One that dies ends the load:
 * what came until then is kept, and said to be incomplete.
 */
#ifndef BENCHCTL_GENERATOR_CREW_H
#define BENCHCTL_GENERATOR_CREW_H

#include "benchctl/base/loop.h"
#include "collector.h"

struct crew;

/* Must be called before there is a loop, a socket or a file that the children should not have. */
int crew_fork(const struct workload *w, size_t processes, uint64_t run_id, struct crew **ret,
              struct error *err) MUST_CHECK;
/* Waits until all are ready to begin. The first error of one is the error. */
int crew_watch(struct crew *c, struct loop *l, struct collector *to, struct error *err) MUST_CHECK;
/* Who is not through at `latest_ns` hangs: it is killed, and counts as one that died. */
void crew_begin(struct crew *c, int64_t begin_ns, int64_t latest_ns);
void crew_stop(struct crew *c); /* the same, after five seconds */
const bool *crew_over(const struct crew *c);
const char *crew_lost(const struct crew *c); /* what became of one that died; NULL: none did */
const char *crew_transport(const struct crew *c);
void crew_free(struct crew *c); /* ends those that are left */
DEFINE_CLEANUP(struct crew *, crew_free);

/* ---- between the two ends (crew.c, crew_child.c) ---- */

enum crew_news { NEWS_READY, NEWS_FAILED, NEWS_SECOND, NEWS_PHASE_OVER, NEWS_DONE };
#define NEWS_MAX ((uint32_t)64 << 20)

struct crew_head {
    uint32_t len; /* of what follows */
    uint32_t news;
};

enum crew_order { ORDER_BEGIN, ORDER_RELEASE, ORDER_STOP };

struct crew_message {
    enum crew_order order;
    uint64_t phase;
    int64_t at_ns;
};

struct crew_place {
    const struct workload *workload;
    uint64_t process, processes, run_id;
    int fd;
};
/* The whole life of a child; the exit status. */
int crew_child(const struct crew_place *p);

#endif
