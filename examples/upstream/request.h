/* SPDX-License-Identifier: MIT */
/*
 * Reads HTTP/1.x requests from bytes: heads as a whole, bodies as they come. Strict where two readers could
 * disagree about where a request ends. Pure.
 */
#ifndef UPSTREAM_REQUEST_H
#define UPSTREAM_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_MAX_HEAD 16384

struct slice {
    const char *text;
    size_t len;
};

struct body {
    uint64_t left; /* bytes of the body, or of this chunk */
    uint32_t line; /* bytes of the line that is being read: chunk size, trailer */
    uint8_t state;
};

struct request {
    struct slice method, target, path; /* path: without query */
    struct slice id;                   /* of the header asked for; text NULL: none */
    bool old;                          /* HTTP/1.0 */
    bool keep_alive;
    bool expects_continue;
    bool has_body;
    struct body body;
};

/* Returns the head's length, 0 when its end has not come, or minus the status that refuses it. `id_header`:
 * "" for none. */
int request_parse(const char *bytes, size_t len, const char *id_header, struct request *ret);

/* Takes what belongs to the body: bytes used, or -1 when it is malformed. `*done` is set at its end. */
int64_t body_take(struct body *b, const char *bytes, size_t len, bool *done);

bool slice_equal(struct slice s, const char *text);

#endif
