/* SPDX-License-Identifier: MIT */
/* Of transport_prepare(): one request on its way from the workload's form to a kind. */
#ifndef BENCHCTL_GENERATOR_PREPARE_H
#define BENCHCTL_GENERATOR_PREPARE_H

#include "transport_internal.h"

struct prepare {
    struct transport *transport;
    const struct workload_rows *rows;
    struct arena *arena;
    const struct workload_request *form;
    struct request_kind *kind;
};

/* "FILE:LINE:COL: WHAT: " before what `inner` says; returns -1. */
int prepare_error(struct position at, const char *what, const struct error *inner, struct error *err);
bool is_token(const char *text, size_t len); /* RFC 9110 */

/* prepare_expect.c: statuses and regular expressions. */
int prepare_expect(struct prepare *p, struct error *err) MUST_CHECK;

#endif
