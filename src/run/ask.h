/* SPDX-License-Identifier: MIT */
/* Requests of the load that benchctl asks itself: one at a time, before or after the load. */
#ifndef BENCHCTL_RUN_ASK_H
#define BENCHCTL_RUN_ASK_H

#include "run_internal.h"

/* A GET request of the load. Its texts may hold run-time references and {{...}}. */
struct load_get {
    const char *path;
    const struct text_map *headers[2];    /* of the load, of the request; NULL: none */
    const struct workload_expect *expect; /* NULL: any good status */
};
/* load_gets.c: those that can be asked without knowing more than their text; at most `max` different ones.
 * None when the load is a script's own matter. */
size_t load_gets(struct trial_run *t, struct load_get *ret, size_t max);

struct asked {
    bool ok; /* a whole answer came, with a status that the load expects */
    int status;
    int64_t took_ns;
    const char *request; /* "GET /path" as it is written: what is filled in may be a secret */
    const char *content_type;
    struct strbuf body;
};
void asked_release(struct asked *a);

/* ask.c: asks once, on a kept connection; `number` fills in counters. 0 also when no answer came (not ok); -1
 * when the sweep cannot go on. */
int ask(struct trial_run *t, const struct load_get *get, uint64_t number, struct asked *ret,
        struct error *err) MUST_CHECK;

/* answer_shape.c: of JSON, SHA-256 over its keys and the types of its values (the order of keys and how many
 * elements an array has do not matter); else the media type. In `a`. */
const char *answer_shape(const char *content_type, const char *body, size_t len, struct arena *a);

#endif
