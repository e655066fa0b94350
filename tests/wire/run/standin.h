/* SPDX-License-Identifier: MIT */
/*
 * An engine with a memory, behind a scripted server: it knows images, keeps containers and networks, restarts
 * by policy, and tells events. What a container does is set before (standin_behave) or made to happen while
 * the conductor runs (standin_die and the like, from the test's thread). Containers have no process: whatever
 * is sampled comes from the stats stream.
 */
#ifndef WIRE_RUN_STANDIN_ENGINE_H
#define WIRE_RUN_STANDIN_ENGINE_H

#include "benchctl/base/json.h"
#include "scripted_server.h"

struct standin;

struct standin *standin_start(void);
/* Ends the server (unless it was stopped), frees everything, fails on requests that the engine does not know.
 */
void standin_end(struct standin *f);
struct server *standin_server(struct standin *f);
/* The engine goes: its socket is gone and open streams are cut. What it held is still known. */
void standin_stop(struct standin *f);

/* --- before --- */

/* Every image is there but those named here (a pull then fails for want of a registry). */
void standin_no_image(struct standin *f, const char *reference);

struct behaviour {
    int start_status;        /* of POST /start; 0: 204 */
    const char *start_error; /* its message */
    bool dies;               /* as soon as it is started, every time */
    int code;                /* with this exit code */
    bool oom;                /* for want of memory */
    bool slow_events;        /* its events come a little later than the replies that know already */
    bool unhealthy;          /* has a health check that says "starting" until standin_health() */
    int create_ms;           /* how long the engine takes to make it */
    const char *address;     /* NULL: 127.0.0.1 */
    const char *log;         /* one line that it prints at once */
    double memory_bytes;     /* what inspect says was applied; 0: what was asked for */
    int remove_status;       /* of DELETE, which then does nothing; 0: it is removed */
    const char *remove_error;
    bool stuck;            /* DELETE is never answered, and does nothing */
    int exec_code;         /* how a command that is run in it ends */
    const char *exec_says; /* one line that such a command prints; NULL: none */
    bool exec_hangs;       /* such a command does not end */
    double needs_bytes;    /* under a lower limit it dies at once for want of memory; 0: needs nothing */
};
/* Of all containers of that role that are created from now on. The texts must live as long as the engine. */
void standin_behave(struct standin *f, const char *role, struct behaviour b);
/* A container or network that is there already, with these labels ("k=v", NULL-terminated). Returns its id.
 */
const char *standin_foreign(struct standin *f, bool is_network, const char *name, const char *const *labels);
/* From its n-th request on (from 1) the engine lets the test know, once: writes to this eventfd. */
void standin_alarm(struct standin *f, size_t n, int eventfd);

/* --- while it runs --- */

/* The main process of the newest container of that role ends; restarted when its policy says so. False: it
 * does not run. */
bool standin_die(struct standin *f, const char *role, int code, bool oom);
bool standin_oom_child(struct standin *f, const char *role);        /* only a child is killed */
bool standin_kill(struct standin *f, const char *role, int signal); /* by somebody else, fatally */
bool standin_remove(struct standin *f, const char *role); /* by somebody else, without a trace in events */
bool standin_restart_by_hand(struct standin *f, const char *role); /* stop and start: RestartCount stays */
bool standin_move(struct standin *f, const char *role, const char *address);
bool standin_health(struct standin *f, const char *role, const char *status);
bool standin_log(struct standin *f, const char *role, const char *line);
/* The engine goes: with kill, die and stop of all that runs when it is `gracefully` stopped, without a word
 * when not. It answers nobody until it comes back; then it starts by policy, with counts that begin again and
 * events that nobody has heard. */
void standin_engine_goes(struct standin *f, bool gracefully);
void standin_engine_comes(struct standin *f);
void standin_break_events(struct standin *f);               /* the stream of events breaks, that is all */
void standin_silent_events(struct standin *f, bool silent); /* happens, but no event tells of it */
/* Streams of events stay open and say nothing; who asks for the past hears all of it. */
void standin_deaf_events(struct standin *f, bool deaf);
bool standin_pause(struct standin *f, const char *role); /* by somebody else */
/* Somebody removes a network, with everybody in it. */
void standin_lose_networks(struct standin *f);

/* --- after --- */

size_t standin_left(struct standin *f); /* containers and networks that are still there, foreign ones apart */
char *standin_left_names(struct standin *f); /* "container app, network x"; the caller frees */
bool standin_exists(struct standin *f, const char *id);
size_t standin_created(struct standin *f); /* containers so far */
size_t standin_most_at_once(struct standin *f,
                            const char *role); /* how many of a role have run at the same time */
/* The request that created container n (from 0). Valid until the end. */
const struct json *standin_request(struct standin *f, size_t n);
/* What was asked of the engine, in order: "create app", "start app", "inspect app", "remove app", ... one a
 * line, without the lines that contain one of the words (separated by blanks). The caller frees. */
char *standin_calls(struct standin *f, const char *without);

#endif
