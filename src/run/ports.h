/* SPDX-License-Identifier: MIT */
/* Local ports of this machine: a closed connection keeps its port for a minute (TIME_WAIT), and a load that
 * opens a connection for each request runs out of them. */
#ifndef BENCHCTL_RUN_PORTS_H
#define BENCHCTL_RUN_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#define PORTS_SHARE 0.5 /* of the ports: fewer may be waiting when a load begins */

struct port_use {
    double waiting; /* connections in TIME_WAIT: all, or those to the target where that is known */
    double ports;   /* that there are for outgoing connections */
};

/* From the texts of /proc/net/sockstat and ip_local_port_range; -1 when they say something else. */
int ports_parse(const char *sockstat, const char *range, struct port_use *ret);
bool ports_scarce(const struct port_use *p);

/* How many connections in TIME_WAIT are no more than a quiet machine has: a share of the ports. */
#define PORTS_SETTLED_SHARE 0.01
int64_t ports_settled(void); /* 0: not known */

/* A line of /proc/net/tcp: a connection in TIME_WAIT to this address (as in sin_addr.s_addr) and port? */
bool ports_line_waits(const char *line, uint32_t address, unsigned port);

#endif
