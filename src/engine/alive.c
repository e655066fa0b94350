/* SPDX-License-Identifier: MIT */
/* Is anybody there? */
#include "engine_internal.h"

#define PING_NS (2 * NS_PER_S) /* it takes 0.3 ms */

#define LEAST_STATUS 200 /* above any errno, which the code is otherwise */

bool engine_answers(struct engine *e)
{
    const struct engine_request ping = {
        .path = "/_ping",
        .unversioned = true,
        .once = true, /* an engine that shuts down serves the connections that it has, and takes no others */
        .timeout_ns = PING_NS,
    };
    struct error err = ERROR_INIT;

    /* a refusal, whose code is the HTTP status, is an answer too */
    return engine_request(e, &ping, NULL, &err) == 0 || err.code >= LEAST_STATUS;
}
