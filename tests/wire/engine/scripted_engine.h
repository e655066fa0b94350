/* SPDX-License-Identifier: MIT */
/* An engine that is a script: a server with what every conversation begins with, and a client that has opened
 * it. */
#ifndef WIRE_ENGINE_SCRIPTED_ENGINE_H
#define WIRE_ENGINE_SCRIPTED_ENGINE_H

#include "engine_fixture.h"
#include "scripted_server.h"

#define ID_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define ID_NET "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

#define VERSION_REPLY "{\"Version\": \"20.10.24\", \"ApiVersion\": \"1.41\", \"MinAPIVersion\": \"1.12\"}"
#define INFO_REPLY                                                                                           \
    "{\"ID\": \"ABCD\", \"Driver\": \"overlay2\", \"CgroupDriver\": \"cgroupfs\", \"CgroupVersion\": "       \
    "\"2\", "                                                                                                \
    "\"MemoryLimit\": true, \"SwapLimit\": true, \"NCPU\": 2, \"MemTotal\": 1000}"
#define OPENING                                                                                              \
    {"GET /version", .reply = {.body = VERSION_REPLY}},                                                      \
    {                                                                                                        \
        "GET /info", .reply = {.body = INFO_REPLY }                                                          \
    }

#define GONE                                                                                                 \
    {                                                                                                        \
        .status = 404, .body = "{\"message\": \"No such container: it\"}"                                    \
    }
#define STATE_REPLY(status, started)                                                                         \
    {                                                                                                        \
        .body = "{\"Id\": \"x\", \"Name\": \"/it\", \"State\": {\"Status\": \"" status                       \
                "\", \"Running\": false, "                                                                   \
                "\"StartedAt\": \"" started "\"}, \"Config\": {\"Tty\": false}}"                             \
    }

struct play {
    struct server *server;
    struct lab lab;
};

static inline void play_start(struct play *p, const struct server_options *o)
{
    p->server = server_start(o);
    lab_start(&p->lab);
    must(engine_open(p->lab.loop, p->lab.http, server_url(p->server), &p->lab.engine, &why));
}

static inline void play_end(struct play *p)
{
    lab_end(&p->lab);
    server_finish(p->server);
}

/* Plays a script with an engine that is open already. */
#define play_script(p, script)                                                                               \
    play_start((p), &(struct server_options){.script = (script), .script_len = ARRAY_LEN(script)})

/* The bytes of a file of tests/cases; the caller frees. */
static inline char *case_bytes(const char *name, size_t *ret_len)
{
    CLEANUP_FREE char *path = xasprintf("%s/cases/%s", TESTS_DIR, name);
    struct strbuf b = STRBUF_INIT;

    must(fs_read(path, 1 << 20, &b, &why));
    if (ret_len)
        *ret_len = b.len;
    return strbuf_detach(&b);
}

#define assert_has(text, part)                                                                               \
    do {                                                                                                     \
        const char *text_ = (text), *part_ = (part);                                                         \
        if (!strstr(text_, part_))                                                                           \
            fail_msg("'%s' does not contain '%s'", text_, part_);                                            \
    } while (0)

#endif
