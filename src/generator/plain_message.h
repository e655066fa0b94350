/* SPDX-License-Identifier: MIT */
/* The bytes of a request in HTTP/1.1. */
#ifndef BENCHCTL_GENERATOR_PLAIN_MESSAGE_H
#define BENCHCTL_GENERATOR_PLAIN_MESSAGE_H

#include "transport_internal.h"

enum piece_kind { PIECE_TEXT, PIECE_PATH, PIECE_HEADER };

struct request_piece {
    enum piece_kind kind;
    struct request_text what;
};

/* Fills in the kind's pieces, and its message when nothing in it changes. */
void message_prepare(struct request_kind *k, struct arena *a);

/* Renders it into `out`, which is cleared; `body` is scratch. NULL, or why it cannot be sent. */
const char *message_render(const struct request_kind *k, const struct workload_values *v, struct strbuf *out,
                           struct strbuf *body);

#endif
