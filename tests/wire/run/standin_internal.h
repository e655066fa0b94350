/* SPDX-License-Identifier: MIT */
/* Of standin: what its halves share. The server's lock is taken before the engine's, never after. */
#ifndef WIRE_RUN_STANDIN_INTERNAL_H
#define WIRE_RUN_STANDIN_INTERNAL_H

#include <pthread.h>
#include <stdint.h>
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"
#include "standin.h"

enum life { LIFE_CREATED, LIFE_RUNNING, LIFE_RESTARTING, LIFE_EXITED };

struct log_line {
    const char *text;
    int64_t wall_ns;
};

struct object {
    bool is_network, foreign, removed;
    char *id, *name, *role;
    struct json *request, *labels;
    struct behaviour behaviour;
    enum life life;
    int code, restarts;
    bool oom_flag, paused;
    int64_t started_ns, finished_ns; /* wall clock; 0: never */
    const char *health, *address, *error;
    VEC(struct log_line) log;
};

struct past_event {
    char *text;
    int64_t wall_ns;
};

struct behaves {
    char *role;
    struct behaviour behaviour;
};

struct standin {
    struct server *server; /* NULL once it has been stopped */
    char *url;
    pthread_mutex_t lock;
    struct rule rule;
    VEC(struct object *) objects;
    VEC(struct behaves) behaves;
    VEC(char *) missing;
    VEC(char *) kept; /* bodies of replies */
    VEC(char *) calls;
    VEC(char *) events; /* to be told: those of slow containers wait for the next request */
    int64_t last_ns;
    size_t requests, alarm_at, running_app;
    int alarm_fd;
    bool silent, away, deaf;
    VEC(struct past_event) past; /* all that was told, or should have been */
    VEC(struct behaves) most;    /* role and, as `code`, how many */
};

/* standin_calls.c: the engine's API. */
void standin_answer(struct server *s, const struct seen *request, struct reply *ret, void *engine);

/* standin.c, with the lock held. */
int64_t standin_now(struct standin *f); /* wall clock, always later than before */
struct object *standin_add(struct standin *f, bool is_network, const char *name, const struct json *body);
struct object *standin_find(struct standin *f, const char *id);
void standin_begin(struct standin *f, struct object *o);
void standin_finish(struct standin *f, struct object *o, int code, bool oom, bool policy);
void standin_tell(struct standin *f, const struct object *o, const char *action, const char *key, int value);
bool standin_wants_restart(const struct object *o, int code); /* by its policy: standin_engine.c */
void standin_note(struct standin *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A command in a container, whose id is the container's: made, started, asked for (standin_engine.c). The
 * body is malloc()ed, `ret` has the rest. */
char *standin_exec(struct standin *f, const struct object *o, const char *path, struct reply *ret);
/* Hands queued events to the streams. Without the lock, except in the server's thread. */
void standin_deliver(struct standin *f, struct server *s);

#endif
