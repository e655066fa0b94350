/* SPDX-License-Identifier: MIT */
#ifndef BENCHCTL_GENERATOR_PLAIN_ANSWER_INTERNAL_H
#define BENCHCTL_GENERATOR_PLAIN_ANSWER_INTERNAL_H

#include "plain_answer.h"

enum answer_state {
    STATE_STATUS, /* these five take lines */
    STATE_HEADER,
    STATE_CHUNK_SIZE,
    STATE_CHUNK_END,
    STATE_TRAILER,
    STATE_LENGTH, /* these three bytes of a body */
    STATE_CHUNK,
    STATE_UNTIL_CLOSE,
    STATE_WHOLE
};

bool answer_refuse(struct answer *a, const char *problem); /* false */
/* One line of the head, without its end. */
bool answer_header(struct answer *a, const char *line, size_t len);

#endif
