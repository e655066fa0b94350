/* SPDX-License-Identifier: MIT */
/* One question to a running application, without waiting for its answer. */
#ifndef BENCHCTL_RUN_LIFE_PROBE_H
#define BENCHCTL_RUN_LIFE_PROBE_H

#include "run_internal.h"

/* Connected says only that the kernel keeps the port open: it accepts for a process that does nothing more.
 */
enum life_news { LIFE_CONNECTED, LIFE_ANSWERED, LIFE_READY };

struct life_probe {
    struct sweep_run *sweep;
    struct unit *unit;
    void (*told)(enum life_news news, void *data); /* from the loop, never from the functions here */
    void *data;
    /* of the one under way */
    bool under_way, for_readiness, connected;
    struct http_request *request;
    int fd;
    struct loop_fd *watch;
    int64_t ends_ns;
    char asked[200]; /* the last one, and how it went where that was not well; "" */
};

#define LIFE_PROBE_INIT                                                                                      \
    {                                                                                                        \
        .fd = -1                                                                                             \
    }

/* What is asked: a path, whose every answer is a sign of life, and with `for_readiness` the one that `ready`
 * accepts is LIFE_READY; NULL: whatever listens at the port is asked in a way that does nothing. Nothing is
 * done while one is under way. */
struct life_question {
    const char *path;
    bool for_readiness;
    int64_t timeout_ns;
};
void life_probe_start(struct life_probe *p, const struct life_question *q);
void life_probe_tick(struct life_probe *p); /* looks at the clock */
void life_probe_stop(struct life_probe *p);

#endif
