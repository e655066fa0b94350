/* SPDX-License-Identifier: MIT */
/* Is this answer to a readiness probe a good one? Pure. */
#ifndef BENCHCTL_RUN_READY_ANSWER_H
#define BENCHCTL_RUN_READY_ANSWER_H

#include "benchctl/http.h"
#include "benchctl/settings.h"

/*
 * By status, and by what it says: a line must match `body` where that is given. Otherwise an answer that says
 * itself that it is not well is not good whatever its status, nor is a page where a state was asked for, nor
 * a bare "UP" of Spring's health endpoint, which may be liveness alone. When it is not good `why` says so:
 * "was answered 503, 200 was expected".
 */
bool ready_answer_good(const struct ready_settings *r, const struct http_result *answer, char *why,
                       size_t size);

#endif
