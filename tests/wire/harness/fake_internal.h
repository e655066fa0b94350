/* SPDX-License-Identifier: MIT */
/* Of fake_engine: what exists, and how its two halves (lives, calls) reach each other. All under the server's
 * lock. */
#ifndef WIRE_FAKE_INTERNAL_H
#define WIRE_FAKE_INTERNAL_H

#include <stdint.h>
#include "benchctl/base/json.h"
#include "benchctl/base/mem.h"
#include "benchctl/base/strbuf.h"
#include "fake_engine.h"

enum fake_status { FAKE_CREATED, FAKE_RUNNING, FAKE_RESTARTING, FAKE_EXITED };

struct fake_container {
    char *id, *name, *image, *policy;
    struct json *labels, *host; /* host: HostConfig as it was sent */
    enum fake_status status;
    int exit_code, restarts, max_restarts;
    bool oom, stopped;               /* stopped: by a call, so that no policy applies */
    int64_t started_ns, finished_ns; /* wall; 0: never */
    int64_t ends_ns;                 /* monotonic: its own end, or of its back-off */
    struct strbuf log;               /* framed and stamped */
};

struct fake_network {
    char *id, *name;
    struct json *labels;
};

struct fake_engine {
    struct server *server;
    const struct fake_program *programs;
    size_t program_count;
    struct rule rules[24];
    size_t rules_len;
    VEC(struct fake_container *) containers;
    VEC(struct fake_network) networks;
    int creates, starts;
};

/* fake_engine.c: lives */
struct fake_container *fake_find(struct fake_engine *f, const char *id_or_name);
char *fake_id(const char *kind, const char *seed);
void fake_begin(struct fake_engine *f, struct fake_container *c);
void fake_die(struct fake_engine *f, struct fake_container *c, int code, bool oom);
void fake_event(struct fake_engine *f, const struct fake_container *c, const char *action, const char *key,
                const char *value);
void fake_forget(struct fake_engine *f, struct fake_container *c);
const char *fake_start_error(const struct fake_engine *f, const struct fake_container *c);

/* fake_calls.c: what the API answers */
void fake_rules(struct fake_engine *f);
void fake_log_line(struct fake_engine *f, struct fake_container *c, const char *text);
void fake_end_streams(struct fake_engine *f, const struct fake_container *c);

#endif
