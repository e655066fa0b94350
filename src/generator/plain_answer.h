/* SPDX-License-Identifier: MIT */
/*
 * An HTTP/1.x answer read as its bytes come. Whatever pieces they come in, the result is the same. Only what
 * is cut by the end of a piece is copied; a body is skipped, unless a regular expression is to see it.
 *
 * Strict where leniency would make a wrong figure: what frames the message must be unambiguous. With both
 * Transfer-Encoding and Content-Length the former counts, and the connection is not used again (RFC 9112,
 * 6.3). A line may end in a bare LF. Interim answers (1xx) are passed over; 101 is refused.
 */
#ifndef BENCHCTL_GENERATOR_PLAIN_ANSWER_H
#define BENCHCTL_GENERATOR_PLAIN_ANSWER_H

#include "transport.h"

enum answer_result {
    ANSWER_MORE,  /* not yet whole */
    ANSWER_WHOLE, /* bytes behind it, if any, belong to nothing that was asked for */
    ANSWER_BAD    /* no HTTP answer, or one that passes a limit; `problem` says why */
};

struct answer {
    const struct request_kind *kind;
    int status;          /* of the final head once `headed` */
    bool headed;         /* the final head is whole */
    bool keep;           /* the connection can carry another exchange */
    bool header_ok;      /* a header matched expect.header */
    const char *problem; /* static */
    const char *body;    /* when WHOLE and a regular expression is to see it */
    size_t body_len;     /* (in the bytes fed last, or a copy that lives until the next answer_begin()) */
    /* the reader's own */
    uint8_t state, version; /* version: the minor one */
    bool chunked, coded, has_length, said_close, said_keep, framing_line;
    uint32_t line_bytes; /* of the head, the trailers or one chunk's size so far */
    uint64_t left;       /* of the body or chunk; the Content-Length while in the head */
    struct answer_store *store;
};

void answer_begin(struct answer *a, const struct request_kind *k); /* a zeroed one, or one used before */
enum answer_result answer_feed(struct answer *a, const char *bytes, size_t len, size_t *ret_used);
/* The connection ended: WHOLE for a body that lasts until then, else MORE. */
enum answer_result answer_close(struct answer *a);
/* How many bytes that follow are skipped unseen; 0 unless all of the rest is. */
uint64_t answer_skippable(const struct answer *a);
/* That many of them have come. */
enum answer_result answer_skip(struct answer *a, uint64_t count);
/* Of a whole one: did the server say that it closes the connection? */
bool answer_promises_close(const struct answer *a);
void answer_release(struct answer *a);

#endif
