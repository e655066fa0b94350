/* SPDX-License-Identifier: MIT */
/* The options of `benchctl load` as a workload: the same tree that a file would give, read by the same table.
 */
#ifndef BENCHCTL_CMD_LOAD_SPEC_H
#define BENCHCTL_CMD_LOAD_SPEC_H

#include "benchctl/workload.h"
#include "cmd.h"

struct load_spec {
    const char *url;  /* may be NULL with a file */
    const char *file; /* --spec; NULL: none */
    /* Keys of the workload by their options, as given; NULL: not given. */
    const char *vus, *duration, *iterations, *rate, *max_vus, *arrivals, *method, *body, *body_file, *timeout,
        *http, *processes, *think, *seed, *transport, *ca_file;
    const char *expect_body, *expect_status;
    bool insecure, no_keepalive;
    struct option_list headers, stages;
};

int load_spec_read(const struct load_spec *s, struct arena *a, struct workload *ret,
                   struct error *err) MUST_CHECK;

#endif
