/* SPDX-License-Identifier: MIT */
/* Answers as bytes: made once per endpoint where nothing in them changes, rendered per request otherwise. */
#ifndef UPSTREAM_ANSWER_H
#define UPSTREAM_ANSWER_H

#include "benchctl/base/strbuf.h"
#include "config.h"
#include "fate.h"
#include "request.h"

#define ANSWER_MAX_BYTES ((size_t)1 << 20) /* of a rendered template */

enum ending { ENDING_DEFAULT, ENDING_KEEP_ALIVE, ENDING_CLOSE }; /* what the Connection header says */

struct answer_head {
    bool old; /* status line says HTTP/1.0 */
    int status;
    const char *content_type; /* NULL: none */
    enum ending ending;
};

/* Appends a head for `body_len` bytes; 204 and 304 get no length. */
void answer_add_head(struct strbuf *out, const struct answer_head *h, size_t body_len);
bool answer_has_body(int status);

struct answer_values {
    struct slice path, id;
    uint64_t counter, random;
};
/* Appends the endpoint's body with its {{...}} replaced; characters that could break out of a JSON text or a
 * header become '_'. Unknown names stay as they are. */
void answer_add_body(struct strbuf *out, const struct endpoint *e, const struct answer_values *v);

#endif
