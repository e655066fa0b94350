/* SPDX-License-Identifier: MIT */
/*
 * A container engine in memory, on top of scripted_server: containers that are created, started, die, restart
 * by policy and are removed, networks, events, logs. For tests of what uses an engine: it keeps count of all
 * that exists, so that a test can fail any call (server_fail_call on fake_engine_server()) and then prove
 * that nothing is left.
 *
 * What a container does is told by programs, matched by its name. Its address is 127.0.0.1: a test can serve
 * there.
 */
#ifndef WIRE_FAKE_ENGINE_H
#define WIRE_FAKE_ENGINE_H

#include "scripted_server.h"

struct fake_engine;

struct fake_program {
    const char *name;        /* glob on the container's name: "*-app" */
    int run_ms;              /* how long it lives; -1 (or no program): until it is stopped */
    int exit_code;           /* at its own end */
    bool oom;                /* ... which the kernel brings about: 137, an `oom` event and the flag */
    const char *log;         /* what it prints at its start, one line or more; NULL: nothing */
    const char *start_error; /* its start fails with this text; NULL: it does not */
};

/* Images whose reference begins with "missing" do not exist; every other does. Strings must live until the
 * end. */
struct fake_engine *fake_engine_start(const struct fake_program *programs, size_t count);
void fake_engine_finish(struct fake_engine *f); /* as server_finish() */

struct server *fake_engine_server(struct fake_engine *f);
const char *fake_engine_url(struct fake_engine *f);

/* Containers and networks that exist now, one a line; the caller frees. "" when there are none. */
char *fake_engine_left(struct fake_engine *f);
/* Ends the running containers whose name matches, as if by themselves; how many. */
int fake_engine_end(struct fake_engine *f, const char *name, int exit_code, bool oom);
/* How many containers were ever created and started (restarts included). */
int fake_engine_creates(struct fake_engine *f);
int fake_engine_starts(struct fake_engine *f);

#endif
