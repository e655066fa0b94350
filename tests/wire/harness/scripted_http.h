/* SPDX-License-Identifier: MIT */
/* Of scripted_server: HTTP/1.1 requests taken apart, replies put together. */
#ifndef WIRE_SCRIPTED_HTTP_H
#define WIRE_SCRIPTED_HTTP_H

#include "scripted_server.h"
#include "benchctl/base/strbuf.h"

/* Takes one whole request from the front of `in`: 1, 0 when more bytes are needed, -1 when it is none. */
int seen_take(struct strbuf *in, struct seen *ret);
void seen_release(struct seen *s);
bool seen_matches(const struct seen *s, const char *pattern);

/* The bytes of a reply (of a stream: its head and first chunk). */
void reply_compose(const struct reply *r, struct strbuf *out);
void chunk_add(struct strbuf *out, const void *bytes, size_t len);

#endif
