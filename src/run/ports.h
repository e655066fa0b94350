/* SPDX-License-Identifier: MIT */
/* Local ports of this machine: a closed connection keeps its port for a minute (TIME_WAIT), and a load that
 * opens a connection for each request runs out of them. */
#ifndef BENCHCTL_RUN_PORTS_H
#define BENCHCTL_RUN_PORTS_H

#include <stdbool.h>

#define PORTS_SHARE 0.5 /* of the ports: fewer may be waiting when a load begins */

struct port_use {
    double waiting; /* connections in TIME_WAIT */
    double ports;   /* that there are for outgoing connections */
};

/* From the texts of /proc/net/sockstat and ip_local_port_range; -1 when they say something else. */
int ports_parse(const char *sockstat, const char *range, struct port_use *ret);
bool ports_scarce(const struct port_use *p);

#endif
