/* SPDX-License-Identifier: MIT */
/* Whose connections filled a database server, in one sentence. Pure. */
#ifndef BENCHCTL_RUN_DATABASE_SLOTS_H
#define BENCHCTL_RUN_DATABASE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include "benchctl/base/arena.h"

struct slots {
    int max_connections;
    int reserved, superuser_reserved; /* reserved: all of them */
    int own;                          /* benchctl's */
    double open;                      /* of the application, when the load ended; NAN unknown */
    int64_t declared;                 /* all pools together; 0 not said */
    bool nobody_else;                 /* the server is the scenario's own */
};

/* What is left for applications; at least 0. */
int slots_room(const struct slots *s);
const char *slots_story(const struct slots *s, struct arena *a);

#endif
